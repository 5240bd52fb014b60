// JSON and colours: see output.hpp.
#include "cli/output.hpp"

#include <unistd.h>

#include "cli/environment.hpp"

namespace cucore::cli {
namespace {

/// How many bytes the UTF-8 sequence at the beginning of `text` has; 0 if there is none.
std::size_t sequence(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 0;
  if (size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return size;
}

}  // namespace

std::string json_text(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const std::size_t size = sequence(text);
    const char c = text[0];
    if (size == 0) {
      json += '?';
    } else if (size > 1) {
      json += text.substr(0, size);
    } else if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (c == '\n') {
      json += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      json += code;
    } else {
      json += c;
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return json + '"';
}

JsonObject& JsonObject::raw(std::string_view name, const std::string& value) {
  if (!members_.empty()) members_ += ", ";
  members_ += json_text(name) + ": " + value;
  return *this;
}

std::string json_array(const std::vector<std::string>& values) {
  std::string json;
  for (const std::string& value : values) json += (json.empty() ? "" : ", ") + value;
  return "[" + json + "]";
}

std::string json_of(const Rejected& rejected) {
  std::vector<std::string> objects;
  for (const auto& [key, why] : rejected) objects.push_back(JsonObject().text("key", key).text("why", why).str());
  return json_array(objects);
}

void print(const Rejected& rejected) {
  for (const auto& [key, why] : rejected) std::printf("%s was not taken: %s\n", key.c_str(), why.c_str());
}

std::string coloured(std::FILE* out, const char* colour, std::string_view text) {
  if (isatty(fileno(out)) == 0 || !environment_value("NO_COLOR").empty()) return std::string(text);
  return "\033[" + std::string(colour) + "m" + std::string(text) + "\033[0m";
}

void Progress::show() const {
  if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r%s: %zu of %zu", what_.c_str(), done_, total_);
}

void Progress::advance() {
  const std::scoped_lock lock(mutex_);
  ++done_;
  show();
}

Progress::~Progress() {
  constexpr const char* clear_the_line = "\r\033[K";
  if (isatty(STDERR_FILENO) != 0) std::fputs(clear_the_line, stderr);
}

}  // namespace cucore::cli
