// Logs of every compiler as lists of messages. The logs are the compilers' own words.
#include "cucore/diagnostic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cucore {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* nvrtc = R"(dir (1)/axpy.cu(1): error: identifier "undefined" is undefined
  __global__ void k(){ int u; undefined; }
                              ^

axpy.cu(12): warning #177-D: variable "u" was declared but never referenced
  __global__ void k(){ int u; undefined; }
                           ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

axpy.cu(2): error: expression must have class type but it has type "int"
   template<class T> __device__ T f(T t){ return t.x; }
                                                 ^
          detected during instantiation of "T f(T) [with T=int]" at line 3

axpy.cu(3): remark #20200-D: #pragma message: "error: not one"
axpy.cu(4): catastrophic error: cannot open source file "nope.h"

2 errors detected in the compilation of "axpy.cu".
Compilation terminated.)";

TEST(diagnostic, messages_of_nvrtc_have_place_severity_number_and_context) {
  const auto messages = parse_diagnostics(nvrtc);
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[0].file, "dir (1)/axpy.cu");
  EXPECT_EQ(messages[0].line, 1);
  EXPECT_EQ(messages[0].column, 29);
  EXPECT_EQ(messages[0].severity, Severity::error);
  EXPECT_EQ(messages[0].text, "identifier \"undefined\" is undefined");
  EXPECT_THAT(messages[0].context, HasSubstr("int u; undefined;"));
  EXPECT_EQ(messages[1].severity, Severity::warning);
  EXPECT_EQ(messages[1].number, 177);
  EXPECT_EQ(messages[1].line, 12);
  EXPECT_THAT(messages[2].context, HasSubstr("detected during instantiation"));
  EXPECT_EQ(messages[3].severity, Severity::remark);
  EXPECT_EQ(messages[3].text, "#pragma message: \"error: not one\"");
  EXPECT_EQ(messages[4].severity, Severity::fatal);
  EXPECT_THAT(messages[4].context, IsEmpty());
}

TEST(diagnostic, a_refused_option_has_no_place) {
  EXPECT_EQ(parse_diagnostics("nvrtc: error: invalid value for --std(-std)"),
            (std::vector<Diagnostic>{{.severity = Severity::error, .text = "invalid value for --std(-std)"}}));
}

TEST(diagnostic, messages_of_ptxas_and_the_linker_have_their_line) {
  const auto messages = parse_diagnostics(
      "ptxas application ptx input, line 4; fatal   : Parsing error near 'nonsense': syntax error\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n"
      "ptxas warning : For profile sm_90 adjusting\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n"
      "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (name)");
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[0].file, "application ptx input");
  EXPECT_EQ(messages[0].line, 4);
  EXPECT_EQ(messages[0].severity, Severity::fatal);
  EXPECT_EQ(messages[0].text, "Parsing error near 'nonsense': syntax error");
  EXPECT_EQ(messages[1].line, 0);
  EXPECT_EQ(messages[2].severity, Severity::warning);
  EXPECT_EQ(messages[3].severity, Severity::info);
  EXPECT_THAT(messages[4].text, HasSubstr("JIT the PTX (name)"));
}

TEST(diagnostic, messages_of_libnvvm_have_line_and_column) {
  const auto messages = parse_diagnostics("m.ll (3, 15): parse expected type\nlibnvvm : error: -bogus is an option");
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].file, "m.ll");
  EXPECT_EQ(messages[0].line, 3);
  EXPECT_EQ(messages[0].column, 15);
  EXPECT_EQ(messages[0].severity, Severity::error);
  EXPECT_EQ(messages[0].text, "parse expected type");
  EXPECT_EQ(messages[1].text, "-bogus is an option");
}

TEST(diagnostic, any_text_may_be_given) {
  EXPECT_THAT(parse_diagnostics(""), IsEmpty());
  EXPECT_THAT(parse_diagnostics("\n\n  ^\nno message here\n"), IsEmpty());
  for (const char* text : {"(", "(): ", "a(99999999999999999999): error: x", "x (1): y", "x (1, ): y", "ptxas ",
                           "ptxas a, line ; error : b", "warning #: x", "error", "): ): ): error: ", "\r\n\t"}) {
    EXPECT_NO_THROW(parse_diagnostics(text)) << text;
  }
  EXPECT_THAT(parse_diagnostics(std::string("\0error: x\0", 10)), IsEmpty());
}

}  // namespace
}  // namespace cucore
