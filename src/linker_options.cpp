// LinkerOptions: what can be judged without linking, and the flags.
#include "cucore/linker.hpp"

#include "src/linker_session.hpp"
#include "src/option_faults.hpp"
#include "src/option_flags.hpp"

namespace cucore {

void validate(const LinkerOptions& o) {
  detail::OptionFaults faults("LinkerOptions");
  faults.text("name", std::string_view(o.name));
  if (o.arch) faults.architecture(*o.arch);
  faults.number("max_register_count", o.max_register_count, 0);
  faults.number("optimization_level", o.optimization_level, 0, 4);
  faults.number("split_compile", o.split_compile, 0);
  faults.number("split_compile_extended", o.split_compile_extended, 0);
  faults.words("kernels_used", o.kernels_used);
  faults.words("variables_used", o.variables_used);
  faults.words("ptxas_options", o.ptxas_options);
  if (o.incremental.value_or(false) && o.ptx.value_or(false)) {
    faults.add("incremental", "true", "gives a cubin, so ptx must not be set");
  }
  faults.throw_if_any();
}

std::vector<std::string> nvjitlink_flags(const LinkerOptions& o) {
  detail::OptionFlags f;
  f.if_set("-arch", o.arch);
  f.if_set("-maxrregcount", o.max_register_count);
  f.if_true("-time", o.time);
  f.if_true("-verbose", o.verbose);
  f.if_true("-lto", o.link_time_optimization);
  f.if_true("-ptx", o.ptx);
  if (o.optimization_level) f.add("-O" + std::to_string(*o.optimization_level));
  f.if_true("-g", o.debug);
  f.if_true("-lineinfo", o.lineinfo);
  f.if_set("-ftz", o.ftz);
  f.if_set("-prec-div", o.prec_div);
  f.if_set("-prec-sqrt", o.prec_sqrt);
  f.if_set("-fma", o.fma);
  f.each("-kernels-used", o.kernels_used);
  f.each("-variables-used", o.variables_used);
  f.if_true("-optimize-unused-variables", o.optimize_unused_variables);
  f.each("-Xptxas", o.ptxas_options);
  f.if_set("-split-compile", o.split_compile);
  f.if_set("-split-compile-extended", o.split_compile_extended);
  f.if_true("-no-cache", o.no_cache);
  f.if_true("-r", o.incremental);
  return f.take();
}

std::vector<std::string> ignored_options(const LinkerOptions& o, LinkerBackend backend) {
  std::vector<std::string> names;
  const auto note = [&](bool set, const char* name) {
    if (set) names.emplace_back(name);
  };
  const bool is_driver = backend == LinkerBackend::driver;
  note(is_driver && o.link_time_optimization.value_or(false), "link_time_optimization");
  note(is_driver && o.ftz.has_value(), "ftz");
  note(is_driver && o.prec_div.has_value(), "prec_div");
  note(is_driver && o.prec_sqrt.has_value(), "prec_sqrt");
  note(is_driver && o.fma.has_value(), "fma");
  note(is_driver && !o.kernels_used.empty(), "kernels_used");
  note(is_driver && !o.variables_used.empty(), "variables_used");
  note(is_driver && o.optimize_unused_variables.has_value(), "optimize_unused_variables");
  note(o.numba_debug.value_or(false), "numba_debug");
  return names;
}

std::vector<std::string> detail::refused_by_driver(const LinkerOptions& o) {
  std::vector<std::string> names;
  const auto note = [&](bool set, const char* name) {
    if (set) names.emplace_back(name);
  };
  note(o.time.has_value(), "time");
  note(o.ptx.value_or(false), "ptx");
  note(!o.ptxas_options.empty(), "ptxas_options");
  note(o.split_compile.has_value(), "split_compile");
  note(o.split_compile_extended.has_value(), "split_compile_extended");
  note(o.incremental.value_or(false), "incremental");
  return names;
}

}  // namespace cucore
