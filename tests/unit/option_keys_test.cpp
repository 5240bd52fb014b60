// The canonical form of every option: what keys of compiles and links are made of. An entry of a cache is found again
// only if this stays, so a change here is a change of key_schema in src/compile/compile_key.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cucore/cucore.hpp"
#include "src/compile/program_option_table.hpp"

namespace cucore {
namespace {

using testing::HasSubstr;
using Flags = std::vector<std::string>;

// A value for each option, which all of them may have at once but for archs and extensible_whole_program.
void give(std::optional<bool>& option, std::string_view) { option = true; }
void give(std::optional<int>& option, std::string_view) { option = 3; }
void give(std::optional<std::string>& option, std::string_view name) {
  option = name == "arch"                ? "sm_100"
           : name == "std"               ? "c++20"
           : name == "optimization_info" ? "inline"
           : name == "ofast_compile"     ? "min"
                                         : "a";
}
void give(std::vector<std::string>& option, std::string_view name) {
  option = name == "archs" ? Flags{"sm_100", "sm_120"} : Flags{"a", "b=c"};
}
void give(std::vector<int>& option, std::string_view) { option = {1, 2}; }
void give(detail::PathOrTrue& option, std::string_view) { option = "t.csv"; }
void give(detail::NamedTexts& option, std::string_view) { option = {{"a.h", "x"}, {"b.h", "y"}}; }

ProgramOptions program_with_all() {
  ProgramOptions o;
#define NAME(value, what) o.name = "named";
#define OPTION(member, ...) give(o.member, #member);
#include "cucore/detail/program_options.def"
  o.archs = {};
  return o;
}

TEST(option_keys, all_options_at_once_are_these_flags_of_nvrtc) {
  const Flags expected = {"-arch=sm_100",
                          "--relocatable-device-code=true",
                          "--extensible-whole-program",
                          "--device-debug",
                          "--generate-line-info",
                          "--dopt=on",
                          "--ptxas-options=a",
                          "--ptxas-options=b=c",
                          "--maxrregcount=3",
                          "--ftz=true",
                          "--prec-sqrt=true",
                          "--prec-div=true",
                          "--fmad=true",
                          "--use_fast_math",
                          "--extra-device-vectorization",
                          "--dlink-time-opt",
                          "--gen-opt-lto",
                          "--define-macro=a",
                          "--define-macro=b=c",
                          "--undefine-macro=a",
                          "--undefine-macro=b=c",
                          "--include-path=a",
                          "--include-path=b=c",
                          "--pre-include=a",
                          "--pre-include=b=c",
                          "--no-source-include",
                          "--std=c++20",
                          "--builtin-move-forward=true",
                          "--builtin-initializer-list=true",
                          "--disable-warnings",
                          "--restrict",
                          "--device-as-default-execution-space",
                          "--device-int128",
                          "--device-float128",
                          "--optimization-info=inline",
                          "--no-display-error-number",
                          "--diag-error=1",
                          "--diag-error=2",
                          "--diag-suppress=1",
                          "--diag-suppress=2",
                          "--diag-warn=1",
                          "--diag-warn=2",
                          "--brief-diagnostics=true",
                          "--time=t.csv",
                          "--split-compile=3",
                          "--fdevice-syntax-only",
                          "--minimal",
                          "--no-cache",
                          "--fdevice-time-trace=a",
                          "--frandom-seed=a",
                          "--Ofast-compile=min",
                          "--pch",
                          "--create-pch=a",
                          "--use-pch=a",
                          "--pch-dir=a",
                          "--pch-verbose=true",
                          "--pch-messages=true",
                          "--instantiate-templates-in-pch=true",
                          "--numba-debug"};
  EXPECT_EQ(nvrtc_flags(program_with_all()), expected);
  EXPECT_EQ(nvrtc_flags(program_with_all(), "ltoir"), expected);
}

TEST(option_keys, all_options_at_once_are_these_flags_of_the_linker_and_of_nvvm) {
  ProgramOptions o = program_with_all();
  o.time = true;
  EXPECT_EQ(nvjitlink_flags(o), Flags({"-arch=sm_100", "-maxrregcount=3", "-time", "-lto", "-O3", "-g", "-lineinfo",
                                       "-ftz=true", "-prec-div=true", "-prec-sqrt=true", "-fma=true", "-Xptxas=a",
                                       "-Xptxas=b=c", "-split-compile=3", "-no-cache"}));
  ProgramOptions nvvm = {.arch = o.arch, .debug = true, .device_code_optimize = true, .ftz = true, .prec_sqrt = true};
  nvvm.prec_div = nvvm.fma = nvvm.link_time_optimization = nvvm.no_cache = nvvm.numba_debug = true;
  EXPECT_EQ(nvvm_flags(nvvm, "ltoir"), Flags({"-arch=compute_100", "-g", "-numba-debug", "-opt=3", "-ftz=1",
                                              "-prec-sqrt=1", "-prec-div=1", "-fma=1", "-gen-lto"}));
}

TEST(option_keys, all_options_of_a_linker_at_once_are_these_flags) {
  LinkerOptions o;
#define NAME(value, what) o.name = "named";
#define OPTION(member, ...) give(o.member, #member);
#include "cucore/detail/linker_options.def"
  EXPECT_EQ(nvjitlink_flags(o), Flags({"-arch=sm_100",
                                       "-maxrregcount=3",
                                       "-time",
                                       "-verbose",
                                       "-lto",
                                       "-ptx",
                                       "-O3",
                                       "-g",
                                       "-lineinfo",
                                       "-ftz=true",
                                       "-prec-div=true",
                                       "-prec-sqrt=true",
                                       "-fma=true",
                                       "-kernels-used=a",
                                       "-kernels-used=b=c",
                                       "-variables-used=a",
                                       "-variables-used=b=c",
                                       "-optimize-unused-variables",
                                       "-Xptxas=a",
                                       "-Xptxas=b=c",
                                       "-split-compile=3",
                                       "-split-compile-extended=3",
                                       "-no-cache",
                                       "-r"}));
}

// The part of a key that is made from the flags, which no build of a compiler changes.
std::string options_part(const ProgramOptions& options, SourceType source, CodeType target) {
  for (const auto& [label, digest] : make_compile_key("x", source, options, target).parts) {
    if (label == "options") return digest;
  }
  return "none";
}

TEST(option_keys, the_part_for_options_is_the_same_bytes_as_ever) {
  ProgramOptions o = program_with_all();
  o.toolkit_headers = false;  // else the folders of this machine are among the flags
  o.use_bundled_headers = std::nullopt;
  o.extensible_whole_program = std::nullopt;
  EXPECT_EQ(options_part(o, "c++", "cubin"), "131a24cc86152317a0b8fa934224b139c4c87d5320e52d87a6669200d4b73928");
  EXPECT_EQ(options_part(o, "ptx", "cubin"), "e2040b510570ec24b0cceeddba17f137aee5254578b9e4c2a8d047502e28032f");
  EXPECT_EQ(options_part({.arch = "sm_90", .debug = true, .ftz = false}, "nvvm", "ptx"),
            "=16:-arch=compute_902:-g6:-ftz=0");
}

// The keys of a compile of C++, PTX and NVVM source with these options; of a kind that refuses them, none.
std::vector<CompileKey> keys(const ProgramOptions& options) {
  std::vector<CompileKey> found;
  for (const char* source : {"c++", "ptx", "nvvm"}) {
    if (!unsupported_options(options, source).empty()) continue;
    found.push_back(make_compile_key("x", source, options, std::string_view(source) == "nvvm" ? "ptx" : "cubin"));
  }
  return found;
}

TEST(option_keys, every_option_changes_the_key_or_makes_the_compile_uncacheable) {
  const ProgramOptions base = {.arch = "sm_120"};
  Flags known;
  for (const CompileKey& key : keys(base)) known.push_back(key.hex);
  ASSERT_EQ(known.size(), 3U);
  std::size_t line = 0;
  const auto lines = detail::program_option_lines();
  const auto check = [&](const ProgramOptions& o) {
    const detail::ProgramOptionLine& option = lines[line++];
    SCOPED_TRACE(option.line.name);
    const std::vector<CompileKey> found = keys(o);
    ASSERT_FALSE(found.empty());
    if (option.key.way == detail::Handling::Way::not_cached) {
      EXPECT_THAT(found.front().uncacheable, HasSubstr(option.line.name));
      EXPECT_EQ(found.front().hex, "");
      return;
    }
    EXPECT_TRUE(std::ranges::any_of(
        found, [&](const CompileKey& key) { return !key.hex.empty() && std::ranges::count(known, key.hex) == 0; }));
  };
#define NAME(value, what)
#define OPTION(member, ...)                                                        \
  {                                                                                \
    ProgramOptions o = base;                                                       \
    give(o.member, #member);                                                       \
    if (std::string_view(#member) == "archs") o.arch = std::nullopt;               \
    if (std::string_view(#member) == "embed_ptx") o.embed_ptx = false;             \
    if (std::string_view(#member) == "toolkit_headers") o.toolkit_headers = false; \
    check(o);                                                                      \
  }
#include "cucore/detail/program_options.def"
  EXPECT_EQ(line, lines.size());
}

}  // namespace
}  // namespace cucore
