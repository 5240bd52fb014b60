// Places of which the checker of numbers says nothing: see quiet_places.hpp.
#include "cpu/runtime/checker/quiet_places.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <system_error>
#include <utility>

#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {
namespace {

constexpr std::string_view pragma = "cucore: fp quiet";

constexpr std::pair<std::string_view, NumberEvent> event_names[] = {{"nan", NumberEvent::Nan},
                                                                    {"infinity", NumberEvent::Overflow},
                                                                    {"division", NumberEvent::DivisionByZero},
                                                                    {"underflow", NumberEvent::Underflow},
                                                                    {"cancellation", NumberEvent::Cancellation}};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool find_event(std::string_view word, NumberEvent& event) {
  for (const auto& [name, known] : event_names)
    if (name == word) {
      event = known;
      return true;
    }
  return false;
}

/// `*` is any text.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') {
    for (std::size_t skipped = 0; skipped <= text.size(); ++skipped)
      if (matches(pattern.substr(1), text.substr(skipped))) return true;
    return false;
  }
  return !text.empty() && text[0] == pattern[0] && matches(pattern.substr(1), text.substr(1));
}

/// "reduce" of "void reduce<float>(float*)".
std::string_view bare_name(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find_first_of("<("));
  const std::size_t space = kernel.rfind(' ');
  return space == std::string_view::npos ? kernel : kernel.substr(space + 1);
}

bool ends_path(std::string_view path, std::string_view end) {
  return path.ends_with(end) && (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

bool read_lines(std::string_view text, std::uint32_t& first, std::uint32_t& last) {
  const auto number = [](std::string_view digits, std::uint32_t& value) {
    const char* const end = digits.data() + digits.size();
    return !digits.empty() && std::from_chars(digits.data(), end, value).ptr == end;
  };
  const std::size_t dash = text.find('-');
  if (!number(text.substr(0, dash), first)) return false;
  last = first;
  return dash == std::string_view::npos || number(text.substr(dash + 1), last);
}

/// Nothing wrong: an empty text.
std::string parse(std::string_view entry, QuietPlace& place) {
  std::string_view where = entry;
  if (const std::size_t equals = entry.find('='); equals != std::string_view::npos) {
    where = trimmed(entry.substr(equals + 1));
    for (std::string_view words = entry.substr(0, equals); !words.empty();) {
      const std::size_t end = std::min(words.find('+'), words.size());
      NumberEvent event{};
      if (!find_event(trimmed(words.substr(0, end)), event))
        return "'" + std::string(words.substr(0, end)) +
               "' is none of nan, infinity, division, underflow, cancellation";
      place.events.push_back(event);
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
  if (where.empty()) return "'" + std::string(entry) + "' names no place";
  const std::size_t colon = where.rfind(':');
  const bool has_lines =
      colon != std::string_view::npos && read_lines(where.substr(colon + 1), place.first_line, place.last_line);
  if (has_lines)
    place.file = where.substr(0, colon);
  else if (where.find('.') != std::string_view::npos)
    place.file = where;
  else if (where != "*")
    place.kernel = where;
  return {};
}

const std::vector<QuietPlace>& places_from_environment() {
  static const auto& places = *new std::vector<QuietPlace>([] {
    std::string text = setting(Setting::check_fp_quiet).value_or("");
    std::vector<std::string> errors;
    if (text.starts_with('@')) {
      std::ifstream file(text.substr(1));
      if (!file) errors.push_back("'" + text.substr(1) + "' cannot be read");
      std::ostringstream whole;
      if (file) whole << file.rdbuf();
      text = whole.str();
    }
    std::vector<QuietPlace> parsed = parse_quiet_places(text, errors);
    for (const std::string& error : errors)
      std::fprintf(stderr, "cucore CPU device: %s: %s\n", variable_of(Setting::check_fp_quiet), error.c_str());
    return parsed;
  }());
  return places;
}

/// Lines of a source file; none if it is not there.
const std::vector<std::string>& lines_of(const std::string& path) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, std::vector<std::string>>;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(path);
  std::error_code ignored;
  if (is_new && std::filesystem::is_regular_file(path, ignored)) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) at->second.push_back(line);
  }
  return at->second;
}

/// What follows the pragma in a line: empty or names of events.
bool asks_for_quiet(std::string_view line, NumberEvent event) {
  const std::size_t at = line.find(pragma);
  if (at == std::string_view::npos) return false;
  std::string_view words = line.substr(at + pragma.size());
  bool names_some = false;
  while (!(words = trimmed(words)).empty()) {
    const std::size_t end = std::min(words.find_first_of(" \t,"), words.size());
    NumberEvent named{};
    if (!find_event(words.substr(0, end), named)) break;
    if (named == event) return true;
    names_some = true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return !names_some;
}

/// In the source line, or in the one before if that is nothing but a comment.
bool source_asks_for_quiet(const ptx::Module& module, const ptx::SourceLine& source, NumberEvent event) {
  if (source.file == 0 || source.file >= module.files.size() || source.line == 0) return false;
  const std::vector<std::string>& lines = lines_of(module.files[source.file]);
  if (source.line > lines.size()) return false;
  if (asks_for_quiet(lines[source.line - 1], event)) return true;
  return source.line > 1 && trimmed(lines[source.line - 2]).starts_with("//") &&
         asks_for_quiet(lines[source.line - 2], event);
}

/// Behind the instruction in its line of the PTX, or between comments that end with `begin` and `end`, which inline
/// assembly can leave there.
bool ptx_asks_for_quiet(const ptx::Module& module, const ptx::Function& function, const ptx::Instruction& instruction,
                        NumberEvent event) {
  const std::string_view text = module.text;
  const std::string_view spelt = instruction.spelt;
  if (spelt.data() < text.data() || spelt.data() >= text.data() + text.size()) return false;
  const auto at = static_cast<std::size_t>(spelt.data() - text.data());
  if (asks_for_quiet(text.substr(at, text.find('\n', at) - at), event)) return true;
  if (function.text.empty() || function.text.data() > spelt.data()) return false;
  const std::string_view before =
      function.text.substr(0, static_cast<std::size_t>(spelt.data() - function.text.data()));
  const std::size_t last = before.rfind(pragma);
  if (last == std::string_view::npos) return false;
  const std::string_view rest = trimmed(before.substr(last + pragma.size()));
  return rest.starts_with("begin");
}

}  // namespace

bool QuietPlace::covers(NumberEvent event, std::string_view of_kernel, std::string_view of_file,
                        std::uint32_t line) const {
  if (!events.empty() && std::find(events.begin(), events.end(), event) == events.end()) return false;
  if (!kernel.empty()) return matches(kernel, of_kernel) || matches(kernel, bare_name(of_kernel));
  if (file.empty()) return true;
  return ends_path(of_file, file) && (first_line == 0 || (line >= first_line && line <= last_line));
}

std::vector<QuietPlace> parse_quiet_places(std::string_view text, std::vector<std::string>& errors) {
  std::vector<QuietPlace> places;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find('#'));
    while (!line.empty()) {
      const std::size_t comma = std::min(line.find(','), line.size());
      const std::string_view entry = trimmed(line.substr(0, comma));
      line.remove_prefix(std::min(comma + 1, line.size()));
      if (entry.empty()) continue;
      QuietPlace place;
      if (std::string error = parse(entry, place); !error.empty())
        errors.push_back(std::move(error));
      else
        places.push_back(std::move(place));
    }
  }
  return places;
}

bool is_quiet(const ptx::Module& module, const ptx::Function& function, const ptx::Instruction& instruction,
              std::string_view kernel, NumberEvent event) {
  const ptx::SourceLine& source = instruction.source;
  const std::string_view file = source.file < module.files.size() ? module.files[source.file] : std::string_view();
  for (const QuietPlace& place : places_from_environment())
    if (place.covers(event, kernel, file, source.line)) return true;
  return ptx_asks_for_quiet(module, function, instruction, event) || source_asks_for_quiet(module, source, event);
}

}  // namespace cucore::cpu::runtime
