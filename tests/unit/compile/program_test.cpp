// Program with the real NVRTC and nvJitLink; no driver.
#include "cucore/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "cucore/error.hpp"
#include "cucore/toolkit.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* scale = R"(
namespace ns {
template <class T> __global__ void scale(T a, T* x) { x[threadIdx.x] *= a; }
__device__ int counter;
}
extern "C" __global__ void plain(int* x) { *x = 1; }
)";

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another error: ") + error.what();
  }
  return "no error";
}

TEST(program, compiles_to_every_target_with_no_nul_at_the_end) {
  const Program program(scale, "c++", {.name = "scale", .arch = "sm_90"});
  const ObjectCode ptx = program.compile("ptx");
  EXPECT_EQ(ptx.code_type(), CodeType("ptx"));
  EXPECT_EQ(ptx.name(), "scale");
  EXPECT_THAT(std::string(ptx.code()), HasSubstr(".target sm_90"));
  EXPECT_NE(ptx.code().back(), '\0');
  EXPECT_THAT(std::string(program.compile("CUBIN").code()), StartsWith("\x7f"
                                                                       "ELF"));
  EXPECT_FALSE(program.compile("ltoir").code().empty());
  EXPECT_EQ(program.backend(), "NVRTC");
}

TEST(program, a_cubin_carries_its_ptx_unless_told_not_to) {
  const Program program(scale, "c++", {.arch = "sm_90"});
  EXPECT_EQ(program.compile("cubin").ptx(), program.compile("ptx").code());
  EXPECT_EQ(program.compile("ptx").ptx(), program.compile("ptx").code());
  EXPECT_EQ(Program(scale, "c++", {.arch = "sm_90", .embed_ptx = false}).compile("cubin").ptx(), std::nullopt);
  EXPECT_EQ(program.compile("ltoir").ptx(), std::nullopt);
}

TEST(program, kernel_names_come_from_the_ptx) {
  EXPECT_THAT(Program(scale, "c++", {.arch = "sm_90"}).compile("cubin", {"ns::scale<float>"}).kernel_names(),
              testing::UnorderedElementsAre("plain", "_ZN2ns5scaleIfEEvT_PS1_"));
}

TEST(program, name_expressions_are_mapped_to_symbols) {
  const Program program(scale, "c++", {.arch = "sm_90"});
  const ObjectCode code = program.compile("ptx", {"ns::scale<float>", "ns :: scale<double>", "&ns::counter"});
  EXPECT_EQ(code.symbol_mapping().at("ns::scale<float>"), "_ZN2ns5scaleIfEEvT_PS1_");
  EXPECT_EQ(code.symbol_mapping().at("ns :: scale<double>"), "_ZN2ns5scaleIdEEvT_PS1_");
  EXPECT_EQ(code.symbol_mapping().at("&ns::counter"), "_ZN2ns7counterE");
}

TEST(program, compiles_again_to_other_targets_and_names) {
  const Program program(scale, "c++", {.arch = "sm_90"});
  EXPECT_EQ(program.compile("ptx", {"ns::scale<float>"}).symbol_mapping().size(), 1U);
  EXPECT_THAT(std::string(program.compile("ptx", {"ns::scale<int>"}).code()), HasSubstr("_ZN2ns5scaleIiEEvT_PS1_"));
  EXPECT_FALSE(program.compile("cubin").code().empty());
  EXPECT_EQ(program.compile("cubin").code(), program.compile("cubin").code());
}

TEST(program, an_unknown_name_expression_is_an_error_that_names_it) {
  const Program program(scale, "c++", {.arch = "sm_90"});
  EXPECT_THAT(message_of<NvrtcError>([&] { program.compile("ptx", {"ns::absent<float>"}); }), HasSubstr("absent"));
  EXPECT_THAT(message_of<ValueError>([&] { program.compile("ptx", {""}); }), HasSubstr("name expression"));
}

TEST(program, a_compile_error_carries_code_name_and_log) {
  try {
    Program("__global__ void f() { undefined_thing(); }", "c++", {.name = "bad.cu", .arch = "sm_90"}).compile("cubin");
    FAIL();
  } catch (const NvrtcError& error) {
    EXPECT_EQ(error.code(), 6);
    EXPECT_EQ(error.code_name(), "NVRTC_ERROR_COMPILATION");
    EXPECT_EQ(error.call(), "nvrtcCompileProgram");
    EXPECT_THAT(error.log(), HasSubstr("undefined_thing"));
    EXPECT_THAT(error.log(), HasSubstr("bad.cu(1)"));
    EXPECT_NE(error.log().back(), '\0');
    EXPECT_THAT(error.what(), HasSubstr("compilation log"));
  }
}

TEST(program, an_option_the_compiler_does_not_take_names_its_version) {
  EXPECT_THAT(message_of<NvrtcError>([] { Program("", "c++", {.arch = "sm_90", .std = "c++21"}).compile("ptx"); }),
              HasSubstr("this NVRTC is version"));
}

TEST(program, warnings_are_in_the_report_and_the_log) {
  const Program program("__global__ void f() { int unused; }", "c++", {.arch = "sm_90"});
  EXPECT_EQ(program.log(), "");
  CompileReport report;
  program.compile("ptx", {}, {.report = &report});
  EXPECT_THAT(report.log, HasSubstr("unused"));
  EXPECT_EQ(program.log(), report.log);
  EXPECT_EQ(report.cache, CacheResult::not_used);
}

TEST(program, a_target_that_the_options_cannot_give_is_refused) {
  const Program virtual_arch(scale, "c++", {.arch = "compute_90"});
  EXPECT_THAT(message_of<ValueError>([&] { virtual_arch.compile("cubin"); }), HasSubstr("arch='compute_90'"));
  EXPECT_FALSE(virtual_arch.compile("ptx").code().empty());
  const Program lto(scale, "c++", {.arch = "sm_90", .link_time_optimization = true});
  EXPECT_FALSE(lto.compile("ltoir").code().empty());
  EXPECT_THAT(message_of<ValueError>([&] { lto.compile("fatbin"); }),
              HasSubstr("Unsupported target_type=\"fatbin\" for NVRTC"));
}

TEST(program, link_time_optimization_is_left_out_for_targets_that_it_would_leave_empty) {
  const Program lto(scale, "c++", {.arch = "sm_90", .link_time_optimization = true});
  const Program plain(scale, "c++", {.arch = "sm_90"});
  for (const char* target : {"ptx", "cubin"}) EXPECT_EQ(lto.compile(target).code(), plain.compile(target).code());
}

TEST(program, a_check_of_the_syntax_gives_what_the_compiler_gives_and_nothing_empty) {
  const Program syntax(scale, "c++", {.arch = "sm_90", .fdevice_syntax_only = true});
  for (const char* target : {"ptx", "cubin", "ltoir"}) EXPECT_FALSE(syntax.compile(target).code().empty());
}

TEST(program, the_source_is_text_without_nul) {
  const std::string terminated = std::string("extern \"C\" __global__ void f() {}") + '\0';
  EXPECT_FALSE(Program(terminated, "c++", {.arch = "sm_90"}).compile("ptx").code().empty());
  EXPECT_THAT(message_of<ValueError>([] { Program(std::string_view("a\0b", 3), "c++"); }), HasSubstr("offset 1"));
}

TEST(program, bad_options_are_refused_when_it_is_made) {
  EXPECT_THROW(Program("", "c++", {.arch = "sm90"}), ValueError);
  EXPECT_THROW(Program("", "c++", {.extra_sources = {{"m", "x"}}}), ValueError);
  EXPECT_THROW(Program("", "nvvm", {.std = "c++17"}), ValueError);
  EXPECT_THROW(Program("", "rust"), ValueError);
}

TEST(program, an_empty_name_is_the_default) {
  EXPECT_EQ(Program("", "c++", {.name = ""}).options().name, "default_program");
}

TEST(program, macros_headers_and_standards_reach_the_compiler) {
  const ObjectCode code =
      Program("#include \"size.h\"\nextern \"C\" __global__ void f(int* x) { static_assert(SIZE == 4); *x = N; }",
              "c++",
              {.arch = "sm_90", .define_macro = {"N=77"}, .std = "c++17", .headers = {{"size.h", "#define SIZE 4"}}})
          .compile("ptx");
  EXPECT_THAT(std::string(code.code()), HasSubstr("77"));
}

TEST(program, the_toolkits_headers_are_found_without_an_option) {
  constexpr const char* source =
      "#include <cuda_fp16.h>\n#include <cooperative_groups.h>\n#include <cuda/std/array>\n"
      "__global__ void f(__half* x) { *x = cuda::std::array<__half, 1>{}[0]; }";
  EXPECT_FALSE(Program(source, "c++", {.arch = "sm_90"}).compile("ptx").code().empty());
  EXPECT_THROW(Program(source, "c++", {.arch = "sm_90", .toolkit_headers = false}).compile("ptx"), NvrtcError);
}

TEST(program, ptx_becomes_a_cubin_that_carries_it) {
  const std::string ptx(Program(scale, "c++", {.arch = "sm_90"}).compile("ptx").code());
  const Program program(ptx, "ptx", {.name = "linked", .arch = "sm_90"});
  EXPECT_EQ(program.backend(), "nvJitLink");
  const ObjectCode cubin = program.compile("cubin");
  EXPECT_THAT(std::string(cubin.code()), StartsWith("\x7f"
                                                    "ELF"));
  EXPECT_EQ(cubin.ptx(), ptx);
  EXPECT_EQ(cubin.name(), "linked");
  EXPECT_EQ(program.compile("cubin").code(), cubin.code());  // a second time
  EXPECT_EQ(program.compile("ptx").code(), ptx);
  EXPECT_THAT(message_of<ValueError>([&] { program.compile("ltoir"); }), HasSubstr("for nvJitLink"));
}

TEST(program, ptx_errors_carry_the_linkers_log) {
  try {
    Program(".version 8.0\n.target sm_90\n.address_size 64\nnonsense", "ptx", {.name = "bad", .arch = "sm_90"})
        .compile("cubin");
    FAIL();
  } catch (const NvJitLinkError& error) {
    EXPECT_EQ(error.code_name(), "NVJITLINK_ERROR_PTX_COMPILE");
    EXPECT_THAT(error.log(), HasSubstr("nonsense"));
    EXPECT_THAT(error.message(), HasSubstr("'bad'"));
  }
}

TEST(program, a_closed_program_says_so) {
  Program program(scale, "c++", {.arch = "sm_90"});
  EXPECT_TRUE(program);
  program.close();
  program.close();
  EXPECT_FALSE(program);
  EXPECT_THAT(message_of<StateError>([&] { program.compile("ptx"); }), HasSubstr("has been closed"));
  const Program moved = std::move(program);
  EXPECT_THAT(message_of<StateError>([&] { program.compile("ptx"); }),
              HasSubstr("moved from"));  // NOLINT(bugprone-use-after-move)
}

TEST(program, one_program_compiles_from_many_threads) {
  const Program program(scale, "c++", {.arch = "sm_90"});
  const std::string expected(program.compile("ptx").code());
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (std::string& result : results) threads.emplace_back([&] { result = program.compile("ptx").code(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, expected);
}

TEST(program, a_precompiled_header_has_a_status) {
  const test::TemporaryFolder folder;
  const std::string header = folder.write("a.h", "#pragma once\ntemplate <class T> struct S { T t; };\n");
  const Program plain("", "c++", {.arch = "sm_90"});
  plain.compile("ptx");
  EXPECT_EQ(plain.pch_status(), std::nullopt);
  const Program program("#include \"a.h\"\n__global__ void f(S<int>* s) {}", "c++",
                        {.arch = "sm_90", .include_path = {folder.path()}, .create_pch = folder.path() / "a.pch"});
  EXPECT_EQ(program.pch_status(), std::nullopt);
  program.compile("ptx");
  EXPECT_EQ(program.pch_status(), PchStatus::created);
}

TEST(program, messages_are_told_on_success_and_on_failure) {
  CompileReport report;
  const Program warned("extern \"C\" __global__ void k() { int unused; }", "c++", {.name = "w.cu", .arch = "sm_90"});
  (void)warned.compile("ptx", {}, {.report = &report});
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].file, "w.cu");
  EXPECT_EQ(report.diagnostics[0].severity, Severity::warning);
  EXPECT_EQ(warned.diagnostics(), report.diagnostics);
  const Program broken("__global__ void k() {\n nothing_known; }", "c++", {.name = "b.cu", .arch = "sm_90"});
  EXPECT_THROW(broken.compile("ptx", {}, {.report = &report}), NvrtcError);
  ASSERT_EQ(report.diagnostics.size(), 1U);
  EXPECT_EQ(report.diagnostics[0].line, 2);
  EXPECT_EQ(report.diagnostics[0].severity, Severity::error);
  EXPECT_EQ(broken.diagnostics(), report.diagnostics);
}

TEST(program, ptx_source_refuses_what_the_linker_lacks_by_name) {
  const char* ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
  try {
    const Program program(ptx, "ptx",
                          {.arch = "sm_80", .relocatable_device_code = true, .define_macro = {"A"}, .std = "c++17"});
    FAIL();
  } catch (const UnsupportedOptionError& error) {
    EXPECT_THAT(error.what(), HasSubstr("relocatable_device_code, define_macro, std"));
  }
  const ProgramOptions all = {.arch = "sm_80",
                              .debug = false,
                              .lineinfo = true,
                              .device_code_optimize = true,
                              .ptxas_options = {"-v"},
                              .max_register_count = 32,
                              .ftz = true,
                              .prec_sqrt = false,
                              .prec_div = false,
                              .fma = true,
                              .use_fast_math = true,
                              .time = true,
                              .split_compile = 1,
                              .no_cache = true};
  EXPECT_GT(Program(ptx, "ptx", all).compile("cubin").code().size(), 100U);
}

TEST(program, an_option_of_a_newer_compiler_names_the_version_that_has_it) {
  const ToolkitLibrary nvrtc = toolkit_info().nvrtc;
  if (nvrtc.major > 13 || (nvrtc.major == 13 && nvrtc.minor >= 2)) GTEST_SKIP() << "this NVRTC has numba_debug";
  try {
    const Program program("", "c++",
                          {.arch = "sm_90",
                           .use_bundled_headers = true,
                           .std = "c89",
                           .extra_sources = {{"m", "x"}},
                           .numba_debug = true});
    FAIL();
  } catch (const UnsupportedOptionError& error) {  // one error for everything, when it is made
    EXPECT_THAT(error.what(), HasSubstr("numba_debug (13.2)"));
    EXPECT_THAT(error.what(), HasSubstr("use_bundled_headers (13.3)"));
    EXPECT_THAT(error.what(), HasSubstr("std='c89'"));
    EXPECT_THAT(error.what(), HasSubstr("NVRTC backend: extra_sources"));
  }
}

TEST(program, an_unknown_architecture_is_answered_with_the_known_ones) {
  try {
    Program("", "c++", {.arch = "sm_10"}).compile("ptx");
    FAIL();
  } catch (const NvrtcError& error) {
    EXPECT_THAT(error.hint(), HasSubstr("sm_90"));
  }
}

TEST(program, the_handle_is_the_compilers_program) {
  Program program("extern \"C\" __global__ void k() {}", "c++", {.arch = "sm_90"});
  void* before = program.handle();
  EXPECT_NE(before, nullptr);
  (void)program.compile("ptx");
  EXPECT_EQ(program.handle(), before);
  program.close();
  EXPECT_THROW(program.handle(), StateError);
  const std::string ptx(compile_ptx("extern \"C\" __global__ void k() {}", {.arch = "sm_90"}).code());
  EXPECT_NE(Program(ptx, "ptx", {.arch = "sm_90"}).handle(), nullptr);
}

TEST(program, short_forms_exist_for_every_target) {
  EXPECT_EQ(compile_cubin("__global__ void k() {}", {.arch = "sm_90"}).code_type(), CodeType("cubin"));
  EXPECT_EQ(compile_ltoir("__global__ void k() {}", {.arch = "sm_90"}).code_type(), CodeType("ltoir"));
}

TEST(program, compile_ptx_is_the_short_form) {
  const ObjectCode code = compile_ptx("extern \"C\" __global__ void f() {}", {.arch = "sm_80"});
  EXPECT_EQ(code.code_type(), CodeType("ptx"));
  EXPECT_THAT(code.kernel_names(), testing::ElementsAre("f"));
}

TEST(program, the_same_inputs_give_the_same_bytes) {
  const auto compile = [] { return std::string(Program(scale, "c++", {.arch = "sm_90"}).compile("cubin").code()); };
  EXPECT_EQ(compile(), compile());
}

}  // namespace
}  // namespace cucore
