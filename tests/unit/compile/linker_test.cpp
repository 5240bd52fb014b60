// Linker and LinkerOptions without a driver: flags, checks, and what a linked cubin carries.
#include "cucore/linker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cucore/error.hpp"
#include "cucore/program.hpp"
#include "src/compile/linker_options.hpp"
#include "src/formats/code_symbols.hpp"

namespace {

using cucore::Linker;
using cucore::LinkerOptions;
using cucore::ObjectCode;
using cucore::detail::CodeSymbol;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ObjectCode compiled(const std::string& name, const std::string& source, const std::string& target) {
  cucore::ProgramOptions options{.name = name, .arch = "sm_80"};
  if (target != "ltoir") options.relocatable_device_code = true;
  return cucore::Program(source, "c++", options).compile(target.c_str());
}
ObjectCode caller(const std::string& target) {
  return compiled("caller",
                  "extern \"C\" __device__ int f(int);\n"
                  "extern \"C\" __global__ void k(int* p) { *p = f(*p); }",
                  target);
}
ObjectCode callee(const std::string& target) {
  return compiled("callee", "extern \"C\" __device__ int f(int a) { return 2 * a; }", target);
}

template <class Error = cucore::ValueError, class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.what()) + error.log();
  }
  return "accepted";
}

TEST(linker, links_without_a_driver_and_carries_the_ptx_of_its_inputs) {
  const ObjectCode code = Linker({caller("ptx"), callee("cubin")}, {.name = "both", .arch = "sm_80"}).link("cubin");
  EXPECT_EQ(code.name(), "both");
  EXPECT_EQ(code.images().size(), 3U);
  EXPECT_THAT(code.kernel_names(), ElementsAre("k"));
  EXPECT_FALSE(code.is_loaded());
}

TEST(linker, gives_the_same_bytes_for_the_same_inputs) {
  const auto link = [] { return Linker({caller("ltoir"), callee("ltoir")}, {.arch = "sm_80"}).link("cubin"); };
  EXPECT_EQ(link().code(), link().code());
}

TEST(linker, names_undefined_symbols_and_their_input) {
  const std::string text =
      refusal<cucore::NvJitLinkError>([] { (void)Linker({caller("ptx")}, {.arch = "sm_80"}).link("cubin"); });
  EXPECT_THAT(text, HasSubstr("symbol 'f' is declared but defined by no input"));
  EXPECT_THAT(text, HasSubstr("in 'caller'"));
}

TEST(linker, names_symbols_that_are_defined_twice_and_both_inputs) {
  EXPECT_THAT(
      refusal([] { Linker({callee("ptx"), callee("cubin")}); }),
      HasSubstr("symbol 'f' is defined by input 'callee, input 1' (ptx) and by input 'callee, input 2' (cubin)"));
}

TEST(linker, refuses_use_after_close) {
  Linker linker({caller("ptx"), callee("ptx")}, {.arch = "sm_80"});
  linker.close();
  linker.close();
  EXPECT_FALSE(linker);
  EXPECT_THAT(refusal<cucore::StateError>([&] { (void)linker.link("cubin"); }), HasSubstr("has been closed"));
}

TEST(linker, refuses_ltoir_from_a_linker_that_cannot_give_it) {
  const std::string text =
      refusal<cucore::Error>([] { (void)Linker({caller("ltoir"), callee("ltoir")}, {.arch = "sm_80"}).link("ltoir"); });
  EXPECT_TRUE(text == "accepted" || text.find("use version 13.4 or newer") != std::string::npos) << text;
}

TEST(linker, refuses_an_architecture_at_which_nvjitlink_ends_the_process) {
  for (const char* const arch : {"sm_1", "sm_9"}) {
    const std::string text = refusal<cucore::NvJitLinkError>(
        [&] { (void)Linker({caller("ptx"), callee("ptx")}, {.arch = arch}).link("cubin"); });
    EXPECT_NE(text.find(arch), std::string::npos) << text;
  }
}

TEST(code_symbols, of_ptx_are_what_other_modules_can_see) {
  const auto symbols = cucore::detail::ptx_symbols(
      ".version 8.0 .target sm_80 .address_size 64\n"
      "// .visible .func comment();\n"
      ".extern .func (.param .b32 r) needed(.param .b32 a);\n"
      ".visible .func (.param .b32 r) given(.param .b32 a) { .reg .b32 x; { ret; } }\n"
      ".weak .global .align 4 .u32 table[2] = {1, 2};\n"
      ".global .u32 own;\n"
      ".visible .entry k(.param .u64 p) .maxntid 32, 1, 1 { ret; }\n");
  ASSERT_EQ(symbols.size(), 4U);
  EXPECT_EQ(symbols[0].name, "needed");
  EXPECT_EQ(symbols[0].kind, CodeSymbol::undefined);
  EXPECT_EQ(symbols[1].name, "given");
  EXPECT_EQ(symbols[1].kind, CodeSymbol::strong);
  EXPECT_EQ(symbols[2].name, "table");
  EXPECT_EQ(symbols[2].kind, CodeSymbol::weak);
  EXPECT_TRUE(symbols[3].is_kernel);
  EXPECT_TRUE(symbols[2].is_variable);
  EXPECT_FALSE(symbols[1].is_variable);
}

}  // namespace
