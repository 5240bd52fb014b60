// Checks options: all faults of one ProgramOptions in one error. What depends on the compiler's version is checked here
// only for whole options, not for their values: there the compiler's message names the flag.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/program_options.hpp"
#include "src/compile/option_faults.hpp"
#include "src/compile/program_flags.hpp"
#include "src/compile/program_option_table.hpp"
#include "src/formats/architecture.hpp"
#include "src/toolkit/library.hpp"

namespace cucore {
namespace {

using detail::in_quotes;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_cxx_standard(std::string_view text) {
  return text.size() == 5 && text.starts_with("c++") && is_digit(text[3]) && is_digit(text[4]);
}

// The checks that only a Program's options have.
template <class T>
struct ProgramOptionJudge : detail::OptionJudge<T> {
  using detail::OptionJudge<T>::faults, detail::OptionJudge<T>::option, detail::OptionJudge<T>::value;
  const ProgramOptions& all;

  ProgramOptionJudge(detail::OptionFaults& found, const char* name, const T& judged, const ProgramOptions& options)
      : detail::OptionJudge<T>{found, name, judged}, all(options) {}

  void architectures() const {
    for (auto arch = value.begin(); arch != value.end(); ++arch) {
      faults.architecture(*arch);
      if (std::find(value.begin(), arch, *arch) != arch) faults.add("arch", in_quotes(*arch), "is there twice");
    }
    if (all.arch && !value.empty()) faults.add("arch", in_quotes(*all.arch), "set either one architecture or several");
  }

  void macros() const {
    faults.texts(option, value);
    for (const std::string& macro : value) {
      if (!macro.empty() && macro.front() != '=') continue;
      faults.add(option, in_quotes(macro), "Expected define_macro to be NAME or NAME=VALUE");
    }
  }

  void standard() const {
    if (!value || is_cxx_standard(*value)) return;
    faults.add(option, in_quotes(*value), "use c++03, c++11, c++14, c++17 or c++20");
  }

  void path_if_text() const {
    if (detail::use_of(value) == detail::Use::value) faults.path(option, std::get<std::string>(*value));
  }

  void modules() const {
    for (const auto& [name, module] : value) {
      faults.text(option, std::string_view(name));
      if (module.empty()) faults.add(option, in_quotes(name), "a module's source cannot be empty");
    }
  }

  void headers() const {
    for (const auto& [name, text] : value) {
      if (name.empty()) faults.add(option, in_quotes(name), "a header's name must not be empty");
      faults.text(option, std::string_view(name));
      faults.text(option, std::string_view(text));
    }
  }
};

// Options that the NVRTC in use is too old for, the oldest first. NVRTC would name only one of them, and not the
// version that has it.
std::string too_new_in_words(const ProgramOptions& o) {
  using Version = std::pair<int, int>;
  std::multimap<Version, const char*> needs;  // those of one version in the order of the table
  for (const detail::ProgramOptionLine& option : detail::program_option_lines()) {
    const Version since(option.since.major, option.since.minor);
    if (since > Version() && option.line.is_used(o)) needs.emplace(since, option.line.name);
  }
  if (needs.empty()) return {};
  const ToolkitLibrary& nvrtc = toolkit::nvrtc_library();
  if (!nvrtc.available) return {};  // the compile says why
  std::string names;
  for (const auto& [since, name] : needs) {
    if (Version(nvrtc.major, nvrtc.minor) >= since) continue;
    names += (names.empty() ? "" : ", ") + std::string(name) + " (" + std::to_string(since.first) + "." +
             std::to_string(since.second) + ")";
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
}

}  // namespace

void validate(const ProgramOptions& o, std::optional<SourceType> source) {
  detail::OptionFaults faults("ProgramOptions");
#define NAME(value, what) faults.text("name", std::string_view(o.name));
#define OPTION(member, kind, check, ...) ProgramOptionJudge(faults, #member, o.member, o).check;
#include "cucore/detail/program_options.def"
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
