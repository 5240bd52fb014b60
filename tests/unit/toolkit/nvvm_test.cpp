// Programs of NVVM IR with the real libNVVM; no driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cucore/error.hpp"
#include "cucore/program.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

using testing::HasSubstr;
using testing::Not;

// A kernel `k` that stores what `body` makes, with what `declarations` declare.
std::string module(const std::string& declarations, const std::string& body) {
  return R"(target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
)" + declarations +
         "define void @k(float* %p) {\n" + body + R"(  store float %v, float* %p, align 4
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (float*)* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
)";
}

std::string simple() { return module("", "  %v = load float, float* %p, align 4\n"); }
std::string with_sine() {
  return module("declare float @__nv_sinf(float)\n", "  %v = call float @__nv_sinf(float 1.0)\n");
}

TEST(nvvm, ir_becomes_ptx_and_ltoir_as_often_as_wanted) {
  Program program(simple(), "nvvm", {.name = "m.ll", .arch = "sm_90"});
  EXPECT_EQ(program.backend(), "NVVM");
  const ObjectCode ptx = program.compile("ptx");
  EXPECT_THAT(std::string(ptx.code()), HasSubstr(".entry k"));
  EXPECT_THAT(std::string(ptx.code()), HasSubstr(".target sm_90"));
  EXPECT_FALSE(ptx.code().ends_with('\0'));
  EXPECT_EQ(ptx.name(), "m.ll");
  EXPECT_EQ(program.compile("ptx").code(), ptx.code());
  EXPECT_GT(program.compile("ltoir").code().size(), 500U);
}

TEST(nvvm, cubins_are_refused) {
  try {
    Program(simple(), "nvvm", {.arch = "sm_90"}).compile("cubin");
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Unsupported target_type=\"cubin\" for NVVM"));
    EXPECT_THAT(error.what(), HasSubstr("('ptx', 'ltoir')"));
  }
}

TEST(nvvm, libdevice_is_linked_when_it_is_asked_for) {
  const auto compile = [](std::optional<bool> use) {
    const ProgramOptions options = {.arch = "sm_90", .use_libdevice = use};
    return std::string(Program(with_sine(), "nvvm", options).compile("ptx").code());
  };
  EXPECT_THAT(compile(true), Not(HasSubstr(".extern .func")));
  EXPECT_THAT(compile(std::nullopt), HasSubstr("__nv_sinf"));
}

TEST(nvvm, further_modules_are_linked) {
  const std::string other = R"(target triple = "nvptx64-nvidia-cuda"
define float @seven() {
  ret float 7.0
}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
)";
  const std::string main = module("declare float @seven()\n", "  %v = call float @seven()\n");
  const ProgramOptions options = {.arch = "sm_80", .extra_sources = {{"other.ll", other}}};
  EXPECT_THAT(std::string(Program(main, "nvvm", options).compile("ptx").code()), Not(HasSubstr(".extern")));
}

TEST(nvvm, bad_ir_is_an_error_with_its_place) {
  std::string source = simple();
  source.replace(source.find("ret void"), 8, "ret voi");
  CompileReport report;
  try {
    Program(source, "nvvm", {.name = "bad.ll", .arch = "sm_90"}).compile("ptx", {}, {.report = &report});
    FAIL();
  } catch (const NvvmError& error) {
    EXPECT_EQ(error.call(), "nvvmVerifyProgram");
    EXPECT_EQ(error.code_name(), "NVVM_ERROR_INVALID_IR");
    EXPECT_THAT(error.log(), HasSubstr("bad.ll"));
  }
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].file, "bad.ll");
  EXPECT_GT(report.diagnostics[0].line, 0);
}

TEST(nvvm, options_it_lacks_are_refused_together_when_the_program_is_made) {
  try {
    const Program program(simple(), "nvvm", {.arch = "sm_90", .lineinfo = true, .std = "c++17", .pch = true});
    FAIL();
  } catch (const UnsupportedOptionError& error) {
    EXPECT_THAT(error.what(), HasSubstr("not supported by NVVM backend: lineinfo, std"));
  }
}

TEST(nvvm, its_programs_are_cached_with_libdevice_in_the_key) {
  test::TemporaryFolder folder;
  ProgramCache cache({.path = folder.path() / "cache"});
  CompileReport report;
  const Program program(with_sine(), "nvvm", {.arch = "sm_90", .use_libdevice = true});
  const std::string first(program.compile("ptx", {}, {.cache = &cache, .report = &report}).code());
  EXPECT_EQ(report.cache, CacheResult::miss);
  EXPECT_EQ(program.compile("ptx", {}, {.cache = &cache, .report = &report}).code(), first);
  EXPECT_EQ(report.cache, CacheResult::hit);
  const auto key = program.cache_key("ptx");
  EXPECT_TRUE(
      std::any_of(key->parts.begin(), key->parts.end(), [](const auto& part) { return part.first == "libdevice"; }));
}

TEST(nvvm, the_handle_is_the_librarys_program) {
  const Program program(simple(), "nvvm", {.arch = "sm_90"});
  void* before = program.handle();
  EXPECT_NE(before, nullptr);
  (void)program.compile("ptx");
  EXPECT_EQ(program.handle(), before);
}

}  // namespace
}  // namespace cucore
