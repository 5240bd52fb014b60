// LinkerOptions: what can be judged without linking, and the flags.
#include "cucore/linker.hpp"

#include "cucore/error.hpp"
#include "src/detail/fatbin.hpp"
#include "src/linker_session.hpp"

namespace cucore {
namespace {

// "sm_90", "sm_90a", "compute_100f".
bool is_architecture(std::string_view arch) {
  const bool known = arch.starts_with("sm_") || arch.starts_with("compute_");
  if (!known) return false;
  const detail::Architecture parts = detail::parse_architecture(arch);
  const std::string number = std::to_string(parts.number) + (parts.suffix != '\0' ? std::string(1, parts.suffix) : "");
  return parts.number >= 10 && arch.substr(arch.find('_') + 1) == number;
}

class Faults {
 public:
  void add(const std::string& option, const std::string& value, const std::string& allowed) {
    text_ += (text_.empty() ? "" : "; ") + option + "=" + value + ": " + allowed;
  }
  void number(const char* option, const std::optional<int>& value, int least, int most) {
    const bool bounded = most != kAny;
    if (!value || (*value >= least && (!bounded || *value <= most))) return;
    add(option, std::to_string(*value),
        "must be " + std::to_string(least) + (bounded ? " to " + std::to_string(most) : " or more"));
  }
  void text(const std::string& option, const std::string& value) {
    if (value.find('\0') != std::string::npos)
      add(option, "'" + value.substr(0, value.find('\0')) + "\\0...'", "has a NUL character");
  }
  void texts(const std::string& option, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      if (value.empty()) add(option, "''", "is empty");
      text(option, value);
    }
  }
  void refuse() const {
    if (text_.empty()) return;
    throw ValueError({.call = "LinkerOptions", .message = text_, .hint = "correct these options"});
  }
  static constexpr int kAny = -1;

 private:
  std::string text_;
};

using Flag = std::optional<bool>;

class Flags {
 public:
  void if_true(const char* flag, const Flag& option) {
    if (option.value_or(false)) flags_.emplace_back(flag);
  }
  void if_set(const char* flag, const Flag& option) {
    if (option) flags_.push_back(std::string(flag) + (*option ? "=true" : "=false"));
  }
  void if_set(const char* flag, const std::optional<int>& option) {
    if (option) flags_.push_back(flag + std::to_string(*option));
  }
  void each(const char* flag, const std::vector<std::string>& options) {
    for (const std::string& option : options) flags_.push_back(flag + option);
  }
  std::vector<std::string> take() { return std::move(flags_); }

 private:
  std::vector<std::string> flags_;
};

}  // namespace

void validate(const LinkerOptions& o) {
  Faults faults;
  faults.text("name", o.name);
  if (o.arch && !is_architecture(*o.arch)) {
    faults.add("arch", "'" + *o.arch + "'", "must be like sm_90, sm_90a, sm_100f or compute_90");
  }
  faults.number("max_register_count", o.max_register_count, 0, Faults::kAny);
  faults.number("optimization_level", o.optimization_level, 0, 4);
  faults.number("split_compile", o.split_compile, 0, Faults::kAny);
  faults.number("split_compile_extended", o.split_compile_extended, 0, Faults::kAny);
  faults.texts("kernels_used", o.kernels_used);
  faults.texts("variables_used", o.variables_used);
  faults.texts("ptxas_options", o.ptxas_options);
  if (o.incremental.value_or(false) && o.ptx.value_or(false)) {
    faults.add("incremental", "true", "gives a cubin, so ptx must not be set");
  }
  faults.refuse();
}

std::vector<std::string> nvjitlink_flags(const LinkerOptions& o) {
  Flags f;
  if (o.arch) f.each("-arch=", {*o.arch});
  f.if_set("-maxrregcount=", o.max_register_count);
  f.if_true("-time", o.time);
  f.if_true("-verbose", o.verbose);
  f.if_true("-lto", o.link_time_optimization);
  f.if_true("-ptx", o.ptx);
  f.if_set("-O", o.optimization_level);
  f.if_true("-g", o.debug);
  f.if_true("-lineinfo", o.lineinfo);
  f.if_set("-ftz", o.ftz);
  f.if_set("-prec-div", o.prec_div);
  f.if_set("-prec-sqrt", o.prec_sqrt);
  f.if_set("-fma", o.fma);
  f.each("-kernels-used=", o.kernels_used);
  f.each("-variables-used=", o.variables_used);
  f.if_true("-optimize-unused-variables", o.optimize_unused_variables);
  f.each("-Xptxas=", o.ptxas_options);
  f.if_set("-split-compile=", o.split_compile);
  f.if_set("-split-compile-extended=", o.split_compile_extended);
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
