// ProgramOptions to flags, one pure function per back end. Each is the back end's column of the option table, read from
// top to bottom: the order of the flags is the order of the lines.
#include "cucore/program_options.hpp"

#include "cucore/error.hpp"
#include "src/option_flags.hpp"
#include "src/program_flags.hpp"

namespace cucore {
namespace {

using detail::OptionFlags;
using Text = std::optional<std::string>;
using Flag = detail::OptionalFlag;

// Collects the names of options that are set.
class Names {
 public:
  void if_true(const char* name, const Flag& option) {
    if (option.value_or(false)) names_.emplace_back(name);
  }
  void add(std::string name) { names_.push_back(std::move(name)); }
  template <class T>
  void if_set(const char* name, const std::optional<T>& option) {
    if (option) names_.emplace_back(name);
  }
  template <class T>
  void if_any(const char* name, const std::vector<T>& options) {
    if (!options.empty()) names_.emplace_back(name);
  }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
};

// What only the C++ compiler knows and neither libNVVM nor the linker has: one list for both.
void collect_cxx_only(Names& names, const ProgramOptions& o) {
  names.if_true("extra_device_vectorization", o.extra_device_vectorization);
  names.if_true("gen_opt_lto", o.gen_opt_lto);
  names.if_any("define_macro", o.define_macro);
  names.if_any("undefine_macro", o.undefine_macro);
  names.if_any("include_path", o.include_path);
  names.if_true("use_bundled_headers", o.use_bundled_headers);
  names.if_any("pre_include", o.pre_include);
  names.if_true("no_source_include", o.no_source_include);
  names.if_set("std", o.std);
  names.if_set("builtin_move_forward", o.builtin_move_forward);
  names.if_set("builtin_initializer_list", o.builtin_initializer_list);
  names.if_true("disable_warnings", o.disable_warnings);
  names.if_true("restrict", o.restrict);
  names.if_true("device_as_default_execution_space", o.device_as_default_execution_space);
  names.if_true("device_int128", o.device_int128);
  names.if_set("optimization_info", o.optimization_info);
  names.if_true("no_display_error_number", o.no_display_error_number);
  names.if_any("diag_error", o.diag_error);
  names.if_any("diag_suppress", o.diag_suppress);
  names.if_any("diag_warn", o.diag_warn);
  names.if_set("brief_diagnostics", o.brief_diagnostics);
  names.if_true("fdevice_syntax_only", o.fdevice_syntax_only);
  names.if_true("minimal", o.minimal);
  names.if_set("fdevice_time_trace", o.fdevice_time_trace);
  names.if_true("device_float128", o.device_float128);
  names.if_set("frandom_seed", o.frandom_seed);
  names.if_set("ofast_compile", o.ofast_compile);
  names.if_true("pch", o.pch);
  names.if_set("create_pch", o.create_pch);
  names.if_set("use_pch", o.use_pch);
  names.if_set("pch_dir", o.pch_dir);
  names.if_set("pch_verbose", o.pch_verbose);
  names.if_set("pch_messages", o.pch_messages);
  names.if_set("instantiate_templates_in_pch", o.instantiate_templates_in_pch);
  names.if_any("headers", o.headers);
}

void refuse_unsupported(const ProgramOptions& options, SourceType source) {
  if (const std::string fault = detail::unsupported_in_words(options, source); !fault.empty()) {
    throw UnsupportedOptionError({.call = "ProgramOptions",
                                  .message = fault,
                                  .hint = "leave them unset for " + std::string(source.name()) + " source"});
  }
}

}  // namespace

std::vector<std::string> nvrtc_flags(const ProgramOptions& o, std::optional<CodeType> target) {
  OptionFlags f;
  f.if_set("-arch", o.arch);
  f.if_set("--relocatable-device-code", o.relocatable_device_code);
  f.if_true("--extensible-whole-program", o.extensible_whole_program);
  f.if_true("--device-debug", o.debug);
  f.if_true("--generate-line-info", o.lineinfo);
  f.if_true("--dopt=on", o.device_code_optimize);
  f.each("--ptxas-options", o.ptxas_options);
  f.if_set("--maxrregcount", o.max_register_count);
  f.if_set("--ftz", o.ftz);
  f.if_set("--prec-sqrt", o.prec_sqrt);
  f.if_set("--prec-div", o.prec_div);
  f.if_set("--fmad", o.fma);
  f.if_true("--use_fast_math", o.use_fast_math);
  f.if_true("--extra-device-vectorization", o.extra_device_vectorization);
  if (o.link_time_optimization.value_or(false) || target == CodeType(CodeType::ltoir)) f.add("--dlink-time-opt");
  f.if_true("--gen-opt-lto", o.gen_opt_lto);
  f.each("--define-macro", o.define_macro);
  f.each("--undefine-macro", o.undefine_macro);
  f.each("--include-path", o.include_path);
  f.each("--pre-include", o.pre_include);
  f.if_true("--no-source-include", o.no_source_include);
  f.if_set("--std", o.std);
  f.if_set("--builtin-move-forward", o.builtin_move_forward);
  f.if_set("--builtin-initializer-list", o.builtin_initializer_list);
  f.if_true("--disable-warnings", o.disable_warnings);
  f.if_true("--restrict", o.restrict);
  f.if_true("--device-as-default-execution-space", o.device_as_default_execution_space);
  f.if_true("--device-int128", o.device_int128);
  f.if_true("--device-float128", o.device_float128);
  f.if_set("--optimization-info", o.optimization_info);
  f.if_true("--no-display-error-number", o.no_display_error_number);
  f.each("--diag-error", o.diag_error);
  f.each("--diag-suppress", o.diag_suppress);
  f.each("--diag-warn", o.diag_warn);
  f.if_set("--brief-diagnostics", o.brief_diagnostics);
  if (o.time && std::holds_alternative<std::string>(*o.time)) f.add("--time=" + std::get<std::string>(*o.time));
  f.if_set("--split-compile", o.split_compile);
  f.if_true("--fdevice-syntax-only", o.fdevice_syntax_only);
  f.if_true("--minimal", o.minimal);
  f.if_true("--no-cache", o.no_cache);
  f.if_set("--fdevice-time-trace", o.fdevice_time_trace);
  f.if_set("--frandom-seed", o.frandom_seed);
  f.if_set("--Ofast-compile", o.ofast_compile);
  f.if_true("--pch", o.pch);
  f.if_set("--create-pch", o.create_pch);
  f.if_set("--use-pch", o.use_pch);
  f.if_set("--pch-dir", o.pch_dir);
  f.if_set("--pch-verbose", o.pch_verbose);
  f.if_set("--pch-messages", o.pch_messages);
  f.if_set("--instantiate-templates-in-pch", o.instantiate_templates_in_pch);
  f.if_true("--numba-debug", o.numba_debug);
  return f.take();
}

std::vector<std::string> nvjitlink_flags(const ProgramOptions& o) {
  // What use_fast_math stands for, where it is not said otherwise.
  const bool fast = o.use_fast_math.value_or(false);
  const auto or_fast = [&](const Flag& option, bool value) { return option || !fast ? option : Flag(value); };
  OptionFlags f;
  f.if_set("-arch", o.arch);
  f.if_set("-maxrregcount", o.max_register_count);
  if (detail::has_times_in_log(o)) f.add("-time");
  f.if_true("-lto", o.link_time_optimization);
  f.if_true("-O3", o.device_code_optimize);
  f.if_true("-g", o.debug);
  f.if_true("-lineinfo", o.lineinfo);
  f.if_set("-ftz", or_fast(o.ftz, true));
  f.if_set("-prec-div", or_fast(o.prec_div, false));
  f.if_set("-prec-sqrt", or_fast(o.prec_sqrt, false));
  f.if_set("-fma", or_fast(o.fma, true));
  f.each("-Xptxas", o.ptxas_options);
  f.if_set("-split-compile", o.split_compile);
  f.if_true("-no-cache", o.no_cache);
  return f.take();
}

std::vector<std::string> nvvm_flags(const ProgramOptions& o, std::optional<CodeType> target) {
  refuse_unsupported(o, SourceType::nvvm);
  OptionFlags f;
  if (o.arch) {
    const bool real = o.arch->starts_with("sm_");
    f.add("-arch=" + (real ? "compute_" + o.arch->substr(3) : *o.arch));
  }
  f.if_true("-g", o.debug);
  f.if_true("-numba-debug", o.numba_debug);  // libNVVM knows the single dash only
  if (o.device_code_optimize) f.add(*o.device_code_optimize ? "-opt=3" : "-opt=0");
  f.as_digit("-ftz", o.ftz);
  f.as_digit("-prec-sqrt", o.prec_sqrt);
  f.as_digit("-prec-div", o.prec_div);
  f.as_digit("-fma", o.fma);
  if (target == CodeType(CodeType::ltoir)) f.add("-gen-lto");
  return f.take();
}

std::vector<std::string> unsupported_options(const ProgramOptions& o, SourceType source) {
  Names names;
  if (source == SourceType(SourceType::cxx)) {
    if (detail::has_times_in_log(o)) names.add("time (true: NVRTC wants the path of a file)");
    names.if_any("extra_sources", o.extra_sources);
    return names.take();
  }
  const bool nvvm = source == SourceType(SourceType::nvvm);
  if (nvvm) {
    names.if_set("relocatable_device_code", o.relocatable_device_code);
  } else {
    names.if_true("relocatable_device_code", o.relocatable_device_code);
  }
  names.if_true("extensible_whole_program", o.extensible_whole_program);
  if (nvvm) {
    names.if_any("arch (several)", o.archs);
    names.if_true("lineinfo", o.lineinfo);
    names.if_any("ptxas_options", o.ptxas_options);
    names.if_set("max_register_count", o.max_register_count);
    names.if_true("use_fast_math", o.use_fast_math);
    names.if_set("split_compile", o.split_compile);
  }
  collect_cxx_only(names, o);
  const bool has_time_file = o.time && std::holds_alternative<std::string>(*o.time);
  if (nvvm && (has_time_file || detail::has_times_in_log(o))) names.add("time");
  if (!nvvm && has_time_file) names.add("time (a path: the linker takes true, for times in the log)");
  if (!nvvm) {
    names.if_any("extra_sources", o.extra_sources);
    names.if_true("use_libdevice", o.use_libdevice);
    names.if_true("numba_debug", o.numba_debug);
  }
  return names.take();
}

}  // namespace cucore
