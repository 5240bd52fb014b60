// ProgramOptions: how a Program is compiled.
//
//   Program program(source, "c++", {.arch = "sm_90", .use_fast_math = true, .define_macro = {"TILE=32"}});
//
// An option that is not set sends no flag: the compiler's own default holds. Options are plain values; Program checks
// and copies them when it is made. Names, order and meaning are those of the Python class.
//
// Thread-safety: a value, like an int. The functions at the end may be called from any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cucore/code_type.hpp"
#include "cucore/export.hpp"

namespace cucore {

/// The members are made from detail/program_options.def, by tools/make_options.py.
struct ProgramOptions {
  /// Name of the program: the file name in messages, and the name of the ObjectCode. A directory part is where quoted
  /// includes are looked for first; without one that is the current directory (see no_source_include). Empty = the
  /// default.
  std::string name = "default_program";
  /// "sm_90", "sm_90a", "sm_100f", or "compute_90" (PTX only). Not set: the architecture of the current device, found
  /// when compiling; with no device that is an error then, not here.
  std::optional<std::string> arch = {};
  /// Several architectures instead of `arch`, e.g. {"sm_80", "sm_90", "compute_90"}: compile() to cubin (or fatbin)
  /// gives one object, a fat binary, with an image for each and, unless embed_ptx is false, the PTX of each. Not for
  /// NVVM.
  std::vector<std::string> archs = {};
  std::optional<bool> relocatable_device_code = {};   ///< code may refer to symbols of other objects
  std::optional<bool> extensible_whole_program = {};  ///< --extensible-whole-program
  std::optional<bool> debug = {};                     ///< --device-debug (PTX: -g)
  std::optional<bool> lineinfo = {};                  ///< --generate-line-info (PTX: -lineinfo)
  std::optional<bool> device_code_optimize = {};      ///< --dopt=on, only useful with debug (PTX: -O3)
  std::vector<std::string> ptxas_options = {};        ///< one --ptxas-options= each (PTX: -Xptxas=)
  std::optional<int> max_register_count = {};         ///< --maxrregcount=
  std::optional<bool> ftz = {};                       ///< flush denormals to zero
  std::optional<bool> prec_sqrt = {};                 ///< IEEE square root
  std::optional<bool> prec_div = {};                  ///< IEEE division
  std::optional<bool> fma = {};                       ///< contract a*b+c
  std::optional<bool> use_fast_math = {};             ///< --use_fast_math (PTX: the four above, where they are not set)
  std::optional<bool> extra_device_vectorization = {};  ///< vectorize more
  /// --dlink-time-opt; added by itself for target "ltoir", and left out for others, which it would leave empty
  std::optional<bool> link_time_optimization = {};
  std::optional<bool> gen_opt_lto = {};          ///< --gen-opt-lto
  std::vector<std::string> define_macro = {};    ///< "NAME" or "NAME=VALUE" each
  std::vector<std::string> undefine_macro = {};  ///< names of macros, undefined before the source
  std::vector<std::string> include_path = {};    ///< folders, searched in this order
  /// The headers of CUDA that NVRTC carries instead of an installed toolkit's; NVRTC writes them once into
  /// nvrtc-headers-VERSION in the folder of a default ProgramCache (NVRTC 13.3 or newer).
  std::optional<bool> use_bundled_headers = {};
  std::vector<std::string> pre_include = {};          ///< headers included before the source
  std::optional<bool> no_source_include = {};         ///< do not search the program's own (or the current) directory
  std::optional<std::string> std = {};                ///< "c++03", "c++11", "c++14", "c++17", "c++20"
  std::optional<bool> builtin_move_forward = {};      ///< std::move and std::forward are built in
  std::optional<bool> builtin_initializer_list = {};  ///< std::initializer_list is built in
  std::optional<bool> disable_warnings = {};          ///< no warnings at all
  std::optional<bool> restrict = {};                  ///< all kernel pointers are restrict
  std::optional<bool> device_as_default_execution_space = {};  ///< what is not marked is __device__
  std::optional<bool> device_int128 = {};                      ///< __int128 in device code
  std::optional<std::string> optimization_info = {};           ///< "inline": remarks on what is inlined
  std::optional<bool> no_display_error_number = {};            ///< messages without their numbers
  std::vector<int> diag_error = {};                            ///< diagnostics to make errors
  std::vector<int> diag_suppress = {};                         ///< diagnostics to silence
  std::vector<int> diag_warn = {};                             ///< diagnostics to make warnings
  std::optional<bool> brief_diagnostics = {};                  ///< messages without the source's line
  /// C++ source: CSV file to append compile times to; true does nothing. PTX source: times in the log.
  std::optional<std::variant<bool, std::string>> time = {};
  std::optional<int> split_compile = {};         ///< threads, 0 = one per CPU
  std::optional<bool> fdevice_syntax_only = {};  ///< check only: the result has no code in it (PTX: nothing)
  std::optional<bool> minimal = {};              ///< fewer things built into the language, to compile faster
  std::optional<bool> no_cache = {};  ///< the compiler's and linker's own cache, not ProgramCache (NVRTC 12.9 or newer)
  std::optional<std::string> fdevice_time_trace = {};  ///< JSON file for a trace of the compile
  std::optional<bool> device_float128 = {};            ///< __float128 in device code; needs sm_100 or newer
  std::optional<std::string> frandom_seed = {};        ///< what names that must be unique are made from
  std::optional<std::string> ofast_compile = {};       ///< "0", "min", "mid" or "max"
  std::optional<bool> pch = {};                        ///< automatic precompiled headers (NVRTC 12.8 or newer)
  std::optional<std::string> create_pch = {};          ///< file to write (NVRTC 12.8 or newer)
  std::optional<std::string> use_pch = {};             ///< file to read (NVRTC 12.8 or newer)
  std::optional<std::string> pch_dir = {};             ///< folder of precompiled headers (NVRTC 12.8 or newer)
  std::optional<bool> pch_verbose = {};   ///< say why a precompiled header is not used (NVRTC 12.8 or newer)
  std::optional<bool> pch_messages = {};  ///< say when one is made or used (NVRTC 12.8 or newer)
  /// instantiate templates before a precompiled header is written (NVRTC 12.8 or newer)
  std::optional<bool> instantiate_templates_in_pch = {};
  /// (name, source) of further modules; NVVM source only
  std::vector<std::pair<std::string, std::string>> extra_sources = {};
  std::optional<bool> use_libdevice = {};  ///< NVVM source: link with libdevice (C++ always has it)
  std::optional<bool> numba_debug = {};    ///< debug information for Numba (PTX: nothing) (NVRTC 13.2 or newer)
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< (name, text) to include; no file is needed
  std::optional<bool> toolkit_headers = {};  ///< false: do not add the toolkit's own include folders
  std::optional<bool> embed_ptx = {};        ///< false: leave the PTX out of a cubin

  friend bool operator==(const ProgramOptions&, const ProgramOptions&) = default;
};

/// Throws ValueError naming the option, its value and what is allowed, for every option that can be judged by itself:
/// the form of arch, NULs, `std`, `ofast_compile`, `optimization_info`, negative counts, macros, empty extra sources.
/// With `source` also every option that its back end does not have, and those that the NVRTC in use is too old for,
/// with the version that has them (only if there are such, NVRTC is opened). All faults are listed in one error, which
/// is an UnsupportedOptionError if there are some of the latter two kinds. Program calls it; call it to fail earlier.
CUCORE_API void validate(const ProgramOptions& options, std::optional<SourceType> source = std::nullopt);

/// The flags NVRTC gets for these options, in table order with -arch first (left out if arch is not set). A pure
/// function: the toolkit's include folders are not in it. With target ltoir "--dlink-time-opt" is added once.
CUCORE_API std::vector<std::string> nvrtc_flags(const ProgramOptions& options,
                                                std::optional<CodeType> target = std::nullopt);

/// The flags nvJitLink gets for PTX source, in table order with -arch first; use_fast_math is what it stands for (ftz,
/// no prec_div, no prec_sqrt, fma). Options that mean nothing there are left out; see unsupported_options().
CUCORE_API std::vector<std::string> nvjitlink_flags(const ProgramOptions& options);

/// The flags libNVVM gets, -gen-lto last for target ltoir. Throws UnsupportedOptionError ("not supported by NVVM
/// backend") naming every option that is set and has no meaning there.
CUCORE_API std::vector<std::string> nvvm_flags(const ProgramOptions& options,
                                               std::optional<CodeType> target = std::nullopt);

/// Names of the options that are set and that the back end of `source` does not have, e.g. {"std"} for PTX. Program
/// refuses them. Not among them is what holds there anyhow: no_cache for NVVM, use_libdevice for C++.
CUCORE_API std::vector<std::string> unsupported_options(const ProgramOptions& options, SourceType source);

/// options.arch, or "sm_<major><minor>" of the device that is current (device 0 if none is) when not set. Throws
/// ValueError saying to set arch if there is no device to ask.
CUCORE_API std::string resolve_arch(const ProgramOptions& options);

}  // namespace cucore
