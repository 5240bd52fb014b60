// The option table, row by row: what each field becomes for NVRTC, nvJitLink and libNVVM.
#include "cucore/program_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cucore/error.hpp"

namespace cucore {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Flags = std::vector<std::string>;

struct OptionRow {
  const char* field;
  ProgramOptions options;
  Flags nvrtc;
  Flags ptx;      // flags for nvJitLink
  bool ptx_uses;  // false: refused
  Flags nvvm;
  bool nvvm_refuses;
};

constexpr bool used = true;
constexpr bool unused = false;
constexpr bool is_refused = true;

OptionRow row(const char* field, ProgramOptions options, Flags nvrtc, Flags ptx, bool ptx_uses, Flags nvvm = {},
              bool nvvm_refuses = false) {
  return {field, std::move(options), std::move(nvrtc), std::move(ptx), ptx_uses, std::move(nvvm), nvvm_refuses};
}

std::vector<OptionRow> option_table() {
  return {
      row("name", {.name = "n.cu"}, {}, {}, used),
      row("arch", {.arch = "sm_90a"}, {"-arch=sm_90a"}, {"-arch=sm_90a"}, used, {"-arch=compute_90a"}),
      row("arch", {.arch = "compute_80"}, {"-arch=compute_80"}, {"-arch=compute_80"}, used, {"-arch=compute_80"}),
      row("relocatable_device_code", {.relocatable_device_code = true}, {"--relocatable-device-code=true"}, {}, unused,
          {}, is_refused),
      row("relocatable_device_code", {.relocatable_device_code = false}, {"--relocatable-device-code=false"}, {}, used,
          {}, is_refused),
      row("extensible_whole_program", {.extensible_whole_program = true}, {"--extensible-whole-program"}, {}, unused,
          {}, is_refused),
      row("debug", {.debug = true}, {"--device-debug"}, {"-g"}, used, {"-g"}),
      row("lineinfo", {.lineinfo = true}, {"--generate-line-info"}, {"-lineinfo"}, used, {}, is_refused),
      row("device_code_optimize", {.device_code_optimize = true}, {"--dopt=on"}, {"-O3"}, used, {"-opt=3"}),
      row("device_code_optimize", {.device_code_optimize = false}, {}, {}, used, {"-opt=0"}),
      row("ptxas_options", {.ptxas_options = {"-v", "-O2"}}, {"--ptxas-options=-v", "--ptxas-options=-O2"},
          {"-Xptxas=-v", "-Xptxas=-O2"}, used, {}, is_refused),
      row("max_register_count", {.max_register_count = 32}, {"--maxrregcount=32"}, {"-maxrregcount=32"}, used, {},
          is_refused),
      row("ftz", {.ftz = true}, {"--ftz=true"}, {"-ftz=true"}, used, {"-ftz=1"}),
      row("ftz", {.ftz = false}, {"--ftz=false"}, {"-ftz=false"}, used, {"-ftz=0"}),
      row("prec_sqrt", {.prec_sqrt = false}, {"--prec-sqrt=false"}, {"-prec-sqrt=false"}, used, {"-prec-sqrt=0"}),
      row("prec_div", {.prec_div = false}, {"--prec-div=false"}, {"-prec-div=false"}, used, {"-prec-div=0"}),
      row("fma", {.fma = true}, {"--fmad=true"}, {"-fma=true"}, used, {"-fma=1"}),
      row("use_fast_math", {.use_fast_math = true}, {"--use_fast_math"},
          {"-ftz=true", "-prec-div=false", "-prec-sqrt=false", "-fma=true"}, used, {}, is_refused),
      row("use_fast_math", {.fma = false, .use_fast_math = true}, {"--fmad=false", "--use_fast_math"},
          {"-ftz=true", "-prec-div=false", "-prec-sqrt=false", "-fma=false"}, used, {}, is_refused),
      row("extra_device_vectorization", {.extra_device_vectorization = true}, {"--extra-device-vectorization"}, {},
          unused, {}, is_refused),
      row("link_time_optimization", {.link_time_optimization = true}, {"--dlink-time-opt"}, {"-lto"}, used),
      row("gen_opt_lto", {.gen_opt_lto = true}, {"--gen-opt-lto"}, {}, unused, {}, is_refused),
      row("define_macro", {.define_macro = {"A", "B=2"}}, {"--define-macro=A", "--define-macro=B=2"}, {}, unused, {},
          is_refused),
      row("undefine_macro", {.undefine_macro = {"A"}}, {"--undefine-macro=A"}, {}, unused, {}, is_refused),
      row("include_path", {.include_path = {"a", "b"}}, {"--include-path=a", "--include-path=b"}, {}, unused, {},
          is_refused),
      row("use_bundled_headers", {.use_bundled_headers = true}, {}, {}, unused, {}, is_refused),
      row("pre_include", {.pre_include = {"p.h"}}, {"--pre-include=p.h"}, {}, unused, {}, is_refused),
      row("no_source_include", {.no_source_include = true}, {"--no-source-include"}, {}, unused, {}, is_refused),
      row("std", {.std = "c++20"}, {"--std=c++20"}, {}, unused, {}, is_refused),
      row("builtin_move_forward", {.builtin_move_forward = false}, {"--builtin-move-forward=false"}, {}, unused, {},
          is_refused),
      row("builtin_initializer_list", {.builtin_initializer_list = false}, {"--builtin-initializer-list=false"}, {},
          unused, {}, is_refused),
      row("disable_warnings", {.disable_warnings = true}, {"--disable-warnings"}, {}, unused, {}, is_refused),
      row("restrict", {.restrict = true}, {"--restrict"}, {}, unused, {}, is_refused),
      row("device_as_default_execution_space", {.device_as_default_execution_space = true},
          {"--device-as-default-execution-space"}, {}, unused, {}, is_refused),
      row("device_int128", {.device_int128 = true}, {"--device-int128"}, {}, unused, {}, is_refused),
      row("optimization_info", {.optimization_info = "inline"}, {"--optimization-info=inline"}, {}, unused, {},
          is_refused),
      row("no_display_error_number", {.no_display_error_number = true}, {"--no-display-error-number"}, {}, unused, {},
          is_refused),
      row("diag_error", {.diag_error = {1, 2}}, {"--diag-error=1", "--diag-error=2"}, {}, unused, {}, is_refused),
      row("diag_suppress", {.diag_suppress = {177}}, {"--diag-suppress=177"}, {}, unused, {}, is_refused),
      row("diag_warn", {.diag_warn = {3}}, {"--diag-warn=3"}, {}, unused, {}, is_refused),
      row("brief_diagnostics", {.brief_diagnostics = true}, {"--brief-diagnostics=true"}, {}, unused, {}, is_refused),
      row("split_compile", {.split_compile = 0}, {"--split-compile=0"}, {"-split-compile=0"}, used, {}, is_refused),
      row("fdevice_syntax_only", {.fdevice_syntax_only = true}, {"--fdevice-syntax-only"}, {}, used, {}, is_refused),
      row("minimal", {.minimal = true}, {"--minimal"}, {}, unused, {}, is_refused),
      row("no_cache", {.no_cache = true}, {"--no-cache"}, {"-no-cache"}, used),
      row("fdevice_time_trace", {.fdevice_time_trace = "t.json"}, {"--fdevice-time-trace=t.json"}, {}, unused),
      row("device_float128", {.device_float128 = true}, {"--device-float128"}, {}, unused),
      row("frandom_seed", {.frandom_seed = "x"}, {"--frandom-seed=x"}, {}, unused),
      row("ofast_compile", {.ofast_compile = "min"}, {"--Ofast-compile=min"}, {}, unused),
      row("pch", {.pch = true}, {"--pch"}, {}, unused),
      row("create_pch", {.create_pch = "a.pch"}, {"--create-pch=a.pch"}, {}, unused),
      row("use_pch", {.use_pch = "a.pch"}, {"--use-pch=a.pch"}, {}, unused),
      row("pch_dir", {.pch_dir = "d"}, {"--pch-dir=d"}, {}, unused),
      row("pch_verbose", {.pch_verbose = true}, {"--pch-verbose=true"}, {}, unused),
      row("pch_messages", {.pch_messages = false}, {"--pch-messages=false"}, {}, unused),
      row("instantiate_templates_in_pch", {.instantiate_templates_in_pch = true},
          {"--instantiate-templates-in-pch=true"}, {}, unused),
      row("use_libdevice", {.use_libdevice = true}, {}, {}, used),
      row("numba_debug", {.numba_debug = true}, {"--numba-debug"}, {}, used, {"-numba-debug"}),
  };
}

TEST(program_options, each_field_becomes_its_flags) {
  for (const OptionRow& r : option_table()) {
    SCOPED_TRACE(r.field);
    EXPECT_NO_THROW(validate(r.options));
    EXPECT_EQ(nvrtc_flags(r.options), r.nvrtc);
    EXPECT_EQ(nvjitlink_flags(r.options), r.ptx);
    EXPECT_THAT(unsupported_options(r.options, "c++"), IsEmpty());
    if (r.ptx_uses) {
      EXPECT_THAT(unsupported_options(r.options, "ptx"), IsEmpty());
    } else {
      EXPECT_THAT(unsupported_options(r.options, "ptx"), ElementsAre(r.field));
    }
    if (!r.nvvm_refuses) {
      EXPECT_EQ(nvvm_flags(r.options), r.nvvm);
      continue;
    }
    try {
      nvvm_flags(r.options);
      ADD_FAILURE() << "accepted";
    } catch (const UnsupportedOptionError& error) {
      EXPECT_THAT(error.what(), HasSubstr("not supported by NVVM backend"));
      EXPECT_THAT(error.what(), HasSubstr(r.field));
    }
  }
}

TEST(program_options, what_is_not_set_sends_nothing) {
  EXPECT_THAT(nvrtc_flags({}), IsEmpty());
  EXPECT_THAT(nvjitlink_flags(ProgramOptions{}), IsEmpty());
  EXPECT_THAT(nvvm_flags({}), IsEmpty());
}

TEST(program_options, a_switch_that_is_false_is_as_one_not_set) {
  const ProgramOptions off = {.extensible_whole_program = false,
                              .debug = false,
                              .lineinfo = false,
                              .device_code_optimize = false,
                              .use_fast_math = false,
                              .extra_device_vectorization = false,
                              .link_time_optimization = false,
                              .gen_opt_lto = false,
                              .no_source_include = false,
                              .disable_warnings = false,
                              .restrict = false,
                              .device_as_default_execution_space = false,
                              .device_int128 = false,
                              .no_display_error_number = false,
                              .fdevice_syntax_only = false,
                              .minimal = false,
                              .no_cache = false,
                              .device_float128 = false,
                              .pch = false,
                              .numba_debug = false};
  EXPECT_THAT(nvrtc_flags(off), IsEmpty());
  EXPECT_THAT(nvjitlink_flags(off), IsEmpty());
}

TEST(program_options, time_is_a_file_for_nvrtc_and_a_switch_for_the_linker) {
  const ProgramOptions file = {.time = "times.csv"};
  EXPECT_THAT(nvrtc_flags(file), ElementsAre("--time=times.csv"));
  EXPECT_THAT(unsupported_options(file, "c++"), IsEmpty());
  EXPECT_THAT(unsupported_options(file, "ptx"), IsEmpty());
  EXPECT_THAT(unsupported_options(file, "nvvm"), ElementsAre("time"));
  const ProgramOptions log = {.time = true};
  EXPECT_THAT(nvjitlink_flags(log), ElementsAre("-time"));
  EXPECT_THAT(nvrtc_flags(log), IsEmpty());
  EXPECT_THAT(unsupported_options(log, "c++"), IsEmpty());
  EXPECT_THAT(unsupported_options(log, "ptx"), IsEmpty());
  EXPECT_THAT(unsupported_options(log, "nvvm"), ElementsAre("time"));
  const ProgramOptions off = {.time = false};
  EXPECT_THAT(nvjitlink_flags(off), IsEmpty());
  EXPECT_THAT(nvrtc_flags(off), IsEmpty());
  for (const char* source : {"c++", "ptx", "nvvm"}) EXPECT_THAT(unsupported_options(off, source), IsEmpty());
}

TEST(program_options, modules_of_ir_are_for_nvvm) {
  const ProgramOptions options = {.extra_sources = {{"m", "ir"}}};
  EXPECT_THAT(unsupported_options(options, "c++"), ElementsAre("extra_sources"));
  EXPECT_THAT(unsupported_options(options, "ptx"), ElementsAre("extra_sources"));
  EXPECT_THAT(unsupported_options(options, "nvvm"), IsEmpty());
}

TEST(program_options, ltoir_asks_for_link_time_optimization_once) {
  EXPECT_THAT(nvrtc_flags({}, "ltoir"), ElementsAre("--dlink-time-opt"));
  EXPECT_THAT(nvrtc_flags({.link_time_optimization = true}, "ltoir"), ElementsAre("--dlink-time-opt"));
  EXPECT_THAT(nvvm_flags({.link_time_optimization = true}, "ltoir"), ElementsAre("-gen-lto"));
}

TEST(program_options, flags_keep_the_order_of_the_table) {
  EXPECT_THAT(nvrtc_flags({.arch = "sm_90",
                           .debug = true,
                           .device_int128 = true,
                           .minimal = true,
                           .device_float128 = true,
                           .numba_debug = true}),
              ElementsAre("-arch=sm_90", "--device-debug", "--device-int128", "--device-float128", "--minimal",
                          "--numba-debug"));
  EXPECT_THAT(nvvm_flags({.arch = "sm_90",
                          .debug = true,
                          .device_code_optimize = true,
                          .ftz = true,
                          .prec_sqrt = true,
                          .prec_div = true,
                          .fma = true,
                          .numba_debug = true}),
              ElementsAre("-arch=compute_90", "-g", "-numba-debug", "-opt=3", "-ftz=1", "-prec-sqrt=1", "-prec-div=1",
                          "-fma=1"));
}

TEST(program_options, nvvm_names_every_option_it_cannot_take) {
  try {
    nvvm_flags({.lineinfo = true, .max_register_count = 8, .std = "c++17"});
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), HasSubstr("lineinfo, max_register_count, std"));
  }
}

struct Fault {
  ProgramOptions options;
  const char* says;
};

TEST(program_options, each_bad_value_is_named_with_what_is_allowed) {
  const std::vector<Fault> faults = {
      {{.arch = "sm90"}, "arch='sm90'"},
      {{.arch = "native"}, "arch='native'"},
      {{.arch = "sm_9"}, "arch='sm_9'"},
      {{.arch = "sm_90x"}, "use sm_NN or compute_NN"},
      {{.arch = ""}, "arch=''"},
      {{.ptxas_options = {""}}, "ptxas_options"},
      {{.max_register_count = -1}, "max_register_count=-1"},
      {{.define_macro = {"=1"}}, "Expected define_macro"},
      {{.define_macro = {""}}, "Expected define_macro"},
      {{.include_path = {std::string("a\0b", 3)}}, "NUL"},
      {{.std = "17"}, "std='17'"},
      {{.optimization_info = "all"}, "optimization_info='all'"},
      {{.diag_suppress = {-3}}, "diag_suppress=-3"},
      {{.time = ""}, "time=''"},
      {{.split_compile = -2}, "split_compile=-2"},
      {{.ofast_compile = "fast"}, "use one of 0 min mid max"},
      {{.extra_sources = {{"m", ""}}}, "cannot be empty"},
      {{.relocatable_device_code = true, .extensible_whole_program = true}, "exclude each other"},
      {{.headers = {{"", "x"}}}, "headers"},
      {{.headers = {{"a.h", std::string("\0", 1)}}}, "NUL"},
  };
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.says);
    try {
      validate(fault.options);
      ADD_FAILURE() << "accepted";
    } catch (const ValueError& error) {
      EXPECT_THAT(error.what(), HasSubstr(fault.says));
    }
  }
}

TEST(program_options, all_faults_are_told_at_once) {
  try {
    validate({.arch = "x", .max_register_count = -1, .std = "y"});
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), HasSubstr("arch='x'"));
    EXPECT_THAT(error.what(), HasSubstr("max_register_count"));
    EXPECT_THAT(error.what(), HasSubstr("std='y'"));
  }
}

TEST(program_options, what_the_back_end_lacks_is_told_with_the_other_faults) {
  try {
    validate({.arch = "x", .std = "c++17", .restrict = true}, "ptx");
    FAIL();
  } catch (const UnsupportedOptionError& error) {
    EXPECT_THAT(error.what(), HasSubstr("arch='x'"));
    EXPECT_THAT(error.what(), HasSubstr("not supported by linker backend: std, restrict"));
  }
  EXPECT_NO_THROW(validate({.std = "c++17", .restrict = true}, "c++"));
}

TEST(program_options, every_form_of_architecture_is_accepted) {
  for (const char* arch : {"sm_75", "sm_90a", "sm_100f", "sm_120", "compute_80", "compute_103a"}) {
    EXPECT_NO_THROW(validate(ProgramOptions{.arch = arch})) << arch;
  }
}

}  // namespace
}  // namespace cucore
