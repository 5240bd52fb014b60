// Judging options: all faults of one ProgramOptions in one error. Of what depends on the version of the compiler, only
// whole options are judged here; else the compiler's message names the flag.
#include <algorithm>
#include <string>
#include <string_view>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/program_options.hpp"
#include "src/detail/fatbin.hpp"
#include "src/option_faults.hpp"
#include "src/program_flags.hpp"
#include "src/toolkit/library.hpp"

namespace cucore {
namespace {

using detail::in_quotes;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_cxx_standard(std::string_view text) {
  return text.size() == 5 && text.starts_with("c++") && is_digit(text[3]) && is_digit(text[4]);
}

// Options that the NVRTC in use is too old for. It would name one of them, and not what has it.
std::string too_new_in_words(const ProgramOptions& o) {
  struct Need {
    bool is_set;
    const char* name;
    int major, minor;
  };
  const Need needs[] = {
      {o.pch.value_or(false), "pch", 12, 8},
      {o.create_pch.has_value(), "create_pch", 12, 8},
      {o.use_pch.has_value(), "use_pch", 12, 8},
      {o.pch_dir.has_value(), "pch_dir", 12, 8},
      {o.pch_verbose.has_value(), "pch_verbose", 12, 8},
      {o.pch_messages.has_value(), "pch_messages", 12, 8},
      {o.instantiate_templates_in_pch.has_value(), "instantiate_templates_in_pch", 12, 8},
      {o.no_cache.value_or(false), "no_cache", 12, 9},
      {o.numba_debug.value_or(false), "numba_debug", 13, 2},
      {o.use_bundled_headers.value_or(false), "use_bundled_headers", 13, 3},
  };
  if (std::none_of(std::begin(needs), std::end(needs), [](const Need& need) { return need.is_set; })) return {};
  const ToolkitLibrary& nvrtc = toolkit::nvrtc_library();
  if (!nvrtc.available) return {};  // the compile says why
  std::string names;
  for (const Need& need : needs) {
    if (!need.is_set || std::pair(nvrtc.major, nvrtc.minor) >= std::pair(need.major, need.minor)) continue;
    names += (names.empty() ? "" : ", ") + std::string(need.name) + " (" + std::to_string(need.major) + "." +
             std::to_string(need.minor) + ")";
  }
  if (names.empty()) return {};
  return "options not supported by NVRTC " + std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor) + " at " +
         nvrtc.path.string() + ", with the first version that has them: " + names;
}

// What the compiler would refuse with the name of a flag, or of one of them.
void judge_together(detail::OptionFaults& faults, const ProgramOptions& o) {
  if (o.extensible_whole_program.value_or(false) && o.relocatable_device_code.value_or(false)) {
    faults.add("extensible_whole_program=true and relocatable_device_code=true exclude each other");
  }
  if (!o.device_float128.value_or(false)) return;
  std::vector<std::string> archs = o.archs;
  if (o.arch) archs.push_back(*o.arch);
  for (const std::string& arch : archs) {
    if (!detail::is_architecture(arch) || detail::parse_architecture(arch).number >= 100) continue;
    faults.add("device_float128=true needs sm_100 or newer, and arch='" + arch + "'");
  }
}

}  // namespace

void validate(const ProgramOptions& o, std::optional<SourceType> source) {
  detail::OptionFaults faults("ProgramOptions");
  faults.text("name", std::string_view(o.name));
  if (o.arch) faults.architecture(*o.arch);
  for (auto arch = o.archs.begin(); arch != o.archs.end(); ++arch) {
    faults.architecture(*arch);
    if (std::find(o.archs.begin(), arch, *arch) != arch) faults.add("arch", in_quotes(*arch), "is there twice");
  }
  if (o.arch && !o.archs.empty()) faults.add("arch", in_quotes(*o.arch), "set either one architecture or several");
  faults.words("ptxas_options", o.ptxas_options);
  faults.number("max_register_count", o.max_register_count, 0);
  faults.texts("define_macro", o.define_macro);
  for (const std::string& macro : o.define_macro) {
    if (macro.empty() || macro.front() == '=') {
      faults.add("define_macro", in_quotes(macro), "Expected define_macro to be NAME or NAME=VALUE");
    }
  }
  faults.words("undefine_macro", o.undefine_macro);
  faults.words("include_path", o.include_path);
  faults.words("pre_include", o.pre_include);
  if (o.std && !is_cxx_standard(*o.std))
    faults.add("std", in_quotes(*o.std), "use c++03, c++11, c++14, c++17 or c++20");
  faults.one_of("optimization_info", o.optimization_info, {"inline"});
  for (int number : o.diag_error) faults.number("diag_error", number, 0);
  for (int number : o.diag_suppress) faults.number("diag_suppress", number, 0);
  for (int number : o.diag_warn) faults.number("diag_warn", number, 0);
  if (o.time && std::holds_alternative<std::string>(*o.time)) faults.path("time", std::get<std::string>(*o.time));
  faults.number("split_compile", o.split_compile, 0);
  faults.path("fdevice_time_trace", o.fdevice_time_trace);
  faults.text("frandom_seed", o.frandom_seed);
  faults.one_of("ofast_compile", o.ofast_compile, {"0", "min", "mid", "max"});
  faults.path("create_pch", o.create_pch);
  faults.path("use_pch", o.use_pch);
  faults.path("pch_dir", o.pch_dir);
  for (const auto& [name, module] : o.extra_sources) {
    faults.text("extra_sources", std::string_view(name));
    if (module.empty()) faults.add("extra_sources", in_quotes(name), "a module's source cannot be empty");
  }
  for (const auto& [name, text] : o.headers) {
    if (name.empty()) faults.add("headers", in_quotes(name), "a header's name must not be empty");
    faults.text("headers", std::string_view(name));
    faults.text("headers", std::string_view(text));
  }
  judge_together(faults, o);
  faults.throw_if_any(source ? detail::unsupported_in_words(o, *source) : std::string());
}

std::string detail::unsupported_in_words(const ProgramOptions& options, SourceType source) {
  const bool is_cxx = source == SourceType(SourceType::cxx);
  std::string too_new = is_cxx ? too_new_in_words(options) : std::string();
  std::string list;
  for (const std::string& name : unsupported_options(options, source)) list += (list.empty() ? "" : ", ") + name;
  if (list.empty()) return too_new;
  const char* backend = is_cxx ? "NVRTC" : source == SourceType(SourceType::ptx) ? "linker" : "NVVM";
  return "options not supported by " + std::string(backend) + " backend: " + list +
         (too_new.empty() ? "" : "; " + too_new);
}

std::string resolve_arch(const ProgramOptions& options) {
  if (options.arch) return *options.arch;
  std::string why;
  try {
    return "sm_" + Device::current().arch();
  } catch (const Error& error) {
    why = error.what();
  }
  throw ValueError(
      {.call = "resolve_arch",
       .message = "no architecture to compile for: arch is not set and there is no device to ask (" + why + ")",
       .hint = "set arch, e.g. arch='sm_90'"});
}

}  // namespace cucore
