// The table of LinkerOptions, row by row: what each field becomes for nvJitLink and for the driver's linker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cucore/error.hpp"
#include "cucore/linker.hpp"
#include "src/compile/linker_options.hpp"
#include "src/driver/abi.hpp"

namespace cucore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Flags = std::vector<std::string>;
using JitOptions = std::vector<std::pair<int, std::uintptr_t>>;

enum class Driver { takes, ignores, refuses };

struct Row {
  const char* field;
  LinkerOptions options;
  Flags flags;  // of nvJitLink
  Driver driver = Driver::takes;
  JitOptions jit_options = {};
};

std::vector<Row> table() {
  constexpr auto ignores = Driver::ignores;
  constexpr auto refuses = Driver::refuses;
  return {
      {"name", {.name = "both"}, {}},
      {"arch", {.arch = "sm_90"}, {"-arch=sm_90"}, Driver::takes, {{driver::CU_JIT_TARGET, 90}}},
      {"arch", {.arch = "sm_90a"}, {"-arch=sm_90a"}, Driver::takes, {{driver::CU_JIT_TARGET, 0x10000 + 90}}},
      {"arch", {.arch = "sm_100f"}, {"-arch=sm_100f"}, Driver::takes, {{driver::CU_JIT_TARGET, 0x20000 + 100}}},
      {"max_register_count",
       {.max_register_count = 32},
       {"-maxrregcount=32"},
       Driver::takes,
       {{driver::CU_JIT_MAX_REGISTERS, 32}}},
      {"time", {.time = true}, {"-time"}, refuses},
      {"time", {.time = false}, {}, refuses},
      {"verbose", {.verbose = true}, {"-verbose"}, Driver::takes, {{driver::CU_JIT_LOG_VERBOSE, 1}}},
      {"verbose", {.verbose = false}, {}},
      {"link_time_optimization", {.link_time_optimization = true}, {"-lto"}, ignores},
      {"link_time_optimization", {.link_time_optimization = false}, {}},
      {"ptx", {.ptx = true}, {"-ptx"}, refuses},
      {"ptx", {.ptx = false}, {}},
      {"optimization_level",
       {.optimization_level = 0},
       {"-O0"},
       Driver::takes,
       {{driver::CU_JIT_OPTIMIZATION_LEVEL, 0}}},
      {"optimization_level",
       {.optimization_level = 3},
       {"-O3"},
       Driver::takes,
       {{driver::CU_JIT_OPTIMIZATION_LEVEL, 3}}},
      {"debug", {.debug = true}, {"-g"}, Driver::takes, {{driver::CU_JIT_GENERATE_DEBUG_INFO, 1}}},
      {"debug", {.debug = false}, {}},
      {"lineinfo", {.lineinfo = true}, {"-lineinfo"}, Driver::takes, {{driver::CU_JIT_GENERATE_LINE_INFO, 1}}},
      {"lineinfo", {.lineinfo = false}, {}},
      {"ftz", {.ftz = true}, {"-ftz=true"}, ignores},
      {"ftz", {.ftz = false}, {"-ftz=false"}, ignores},
      {"prec_div", {.prec_div = false}, {"-prec-div=false"}, ignores},
      {"prec_sqrt", {.prec_sqrt = false}, {"-prec-sqrt=false"}, ignores},
      {"fma", {.fma = true}, {"-fma=true"}, ignores},
      {"kernels_used", {.kernels_used = {"a", "b"}}, {"-kernels-used=a", "-kernels-used=b"}, ignores},
      {"variables_used", {.variables_used = {"v"}}, {"-variables-used=v"}, ignores},
      {"optimize_unused_variables", {.optimize_unused_variables = true}, {"-optimize-unused-variables"}, ignores},
      {"optimize_unused_variables", {.optimize_unused_variables = false}, {}, ignores},
      {"ptxas_options", {.ptxas_options = {"-v", "-O2"}}, {"-Xptxas=-v", "-Xptxas=-O2"}, refuses},
      {"split_compile", {.split_compile = 0}, {"-split-compile=0"}, refuses},
      {"split_compile_extended", {.split_compile_extended = 2}, {"-split-compile-extended=2"}, refuses},
      {"no_cache",
       {.no_cache = true},
       {"-no-cache"},
       Driver::takes,
       {{driver::CU_JIT_CACHE_MODE, driver::CU_JIT_CACHE_OPTION_NONE}}},
      {"no_cache", {.no_cache = false}, {}},
      {"incremental", {.incremental = true}, {"-r"}, refuses},
      {"embed_ptx", {.embed_ptx = false}, {}},
  };
}

TEST(linker_options, each_field_becomes_its_flags_or_is_refused_or_told_to_be_ignored) {
  for (const Row& r : table()) {
    SCOPED_TRACE(r.field);
    EXPECT_NO_THROW(validate(r.options));
    EXPECT_EQ(nvjitlink_flags(r.options), r.flags);
    EXPECT_THAT(ignored_options(r.options, LinkerBackend::nvjitlink), IsEmpty());
    EXPECT_EQ(detail::driver_options(r.options), r.jit_options);
    const Flags itself = {r.field};
    EXPECT_EQ(ignored_options(r.options, LinkerBackend::driver), r.driver == Driver::ignores ? itself : Flags());
    EXPECT_EQ(detail::refused_by_driver(r.options), r.driver == Driver::refuses ? itself : Flags());
  }
}

TEST(linker_options, what_no_linker_has_is_told) {
  for (const LinkerBackend backend : {LinkerBackend::nvjitlink, LinkerBackend::driver}) {
    EXPECT_THAT(ignored_options({.numba_debug = true}, backend), ElementsAre("numba_debug"));
    EXPECT_THAT(ignored_options({.numba_debug = false}, backend), IsEmpty());
  }
}

TEST(linker_options, what_is_not_set_sends_nothing) {
  EXPECT_THAT(nvjitlink_flags(LinkerOptions()), IsEmpty());
  EXPECT_THAT(detail::driver_options({}), IsEmpty());
  EXPECT_THAT(detail::refused_by_driver({}), IsEmpty());
}

TEST(linker_options, all_faults_are_told_at_once) {
  try {
    validate(LinkerOptions{
        .arch = std::string("a\0b", 3), .max_register_count = -1, .optimization_level = 7, .kernels_used = {""}});
    FAIL();
  } catch (const ValueError& error) {
    for (const char* option : {"arch", "max_register_count", "optimization_level", "kernels_used"}) {
      EXPECT_THAT(error.what(), HasSubstr(option));
    }
  }
}

}  // namespace
}  // namespace cucore
