// The forms of a message, one function each:
//   NVRTC      axpy.cu(3): error: text            axpy.cu(3): warning #177-D: text         nvrtc: error: text
//   ptxas      ptxas application ptx input, line 4; error   : text                          ptxas info    : text
//   nvJitLink  ERROR NVJITLINK_ERROR_PTX_COMPILE: text                                      error   : text
//   libNVVM    axpy.ll (3, 15): text              libnvvm : error: text                     error: text
// All other lines belong to the message before them or to none.
#include "cucore/diagnostic.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

namespace cucore {
namespace {

constexpr std::pair<std::string_view, Severity> words[] = {
    {"catastrophic error", Severity::fatal},
    {"internal error", Severity::fatal},
    {"fatal error", Severity::fatal},
    {"fatal", Severity::fatal},
    {"error", Severity::error},
    {"warning", Severity::warning},
    {"remark", Severity::remark},
    {"note", Severity::info},
    {"info", Severity::info},
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// Takes `prefix` off the front of `text`, if it is there.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<int> take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "warning #177-D: text" or "error   : text".
std::optional<Diagnostic> judged(std::string_view text) {
  for (const auto& [word, severity] : words) {
    std::string_view rest = text;
    if (!take(rest, word)) continue;
    Diagnostic message{.severity = severity};
    rest = trimmed(rest);
    if (take(rest, "#")) {
      const auto number = take_number(rest);
      if (!number) return std::nullopt;
      message.number = *number;
      take(rest, "-D");
      rest = trimmed(rest);
    }
    if (!take(rest, ":")) continue;
    message.text = trimmed(rest);
    return message;
  }
  return std::nullopt;
}

// "FILE(LINE): severity: text"
std::optional<Diagnostic> of_nvrtc(std::string_view line) {
  for (std::size_t close = line.find("): "); close != std::string_view::npos; close = line.find("): ", close + 1)) {
    const std::size_t open = line.rfind('(', close);
    if (open == std::string_view::npos || open == 0) continue;
    std::string_view digits = line.substr(open + 1, close - open - 1);
    const auto number = take_number(digits);
    if (!number || !digits.empty()) continue;
    if (auto message = judged(line.substr(close + 3))) {
      message->file = line.substr(0, open);
      message->line = *number;
      return message;
    }
  }
  return std::nullopt;
}

// "FILE (LINE, COLUMN): text": libNVVM tells no severity, all of these stop it.
std::optional<Diagnostic> of_libnvvm(std::string_view line) {
  const std::size_t close = line.find("): ");
  const std::size_t open = close == std::string_view::npos ? close : line.rfind(" (", close);
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  std::string_view place = line.substr(open + 2, close - open - 2);
  const auto number = take_number(place);
  if (!number || !take(place, ", ")) return std::nullopt;
  const auto column = take_number(place);
  if (!column || !place.empty()) return std::nullopt;
  const std::string_view text = trimmed(line.substr(close + 3));
  Diagnostic message = judged(text).value_or(Diagnostic{.text = std::string(text)});
  message.file = line.substr(0, open);
  message.line = *number;
  message.column = *column;
  return message;
}

// "ptxas [INPUT, line N; ]severity : text"
std::optional<Diagnostic> of_ptxas(std::string_view line) {
  if (!take(line, "ptxas ")) return std::nullopt;
  if (auto message = judged(trimmed(line))) return message;
  const std::size_t place = line.find(", line ");
  if (place == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(place + 7);
  const auto number = take_number(rest);
  if (!number || !take(rest, ";")) return std::nullopt;
  auto message = judged(trimmed(rest));
  if (!message) return std::nullopt;
  message->file = line.substr(0, place);
  message->line = *number;
  return message;
}

std::optional<Diagnostic> parse(std::string_view line) {
  if (auto message = of_nvrtc(line)) return message;
  if (auto message = of_ptxas(line)) return message;
  if (auto message = of_libnvvm(line)) return message;
  std::string_view rest = line;
  if (take(rest, "nvrtc: ") || take(rest, "libnvvm : ")) return judged(rest);
  if (take(rest, "ERROR ")) return Diagnostic{.severity = Severity::error, .text = std::string(rest)};
  return judged(line);
}

bool is_summary(std::string_view line) {
  return line.starts_with("Remark: The warnings can be suppressed") || line == "Compilation terminated." ||
         line.find(" detected in the compilation of ") != std::string_view::npos;
}

// The mark under the source line, "    ^" after two columns of indentation, as a column.
void add_context(Diagnostic& message, std::string_view line) {
  const std::size_t mark = line.find_first_not_of(" \t");
  if (mark != std::string_view::npos && mark >= 2 && trimmed(line) == "^" && message.column == 0) {
    message.column = static_cast<int>(mark) - 1;
  }
  message.context += (message.context.empty() ? "" : "\n") + std::string(line);
}

}  // namespace

std::string_view severity_name(Severity severity) noexcept {
  constexpr std::string_view known_names[] = {"info", "remark", "warning", "error", "fatal"};
  const auto index = static_cast<std::size_t>(severity);
  return index < std::size(known_names) ? known_names[index] : "unknown";
}

std::vector<Diagnostic> parse_diagnostics(std::string_view log) {
  std::vector<Diagnostic> messages;
  bool open = false;  // whether a line without a message belongs to the last one
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty() || is_summary(line)) {
      open = false;
    } else if (auto message = line.front() == ' ' ? std::nullopt : parse(line)) {
      messages.push_back(std::move(*message));
      open = true;
    } else if (open) {
      add_context(messages.back(), line);
    }
  }
  return messages;
}

}  // namespace cucore
