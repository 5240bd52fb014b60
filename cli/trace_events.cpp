// Reading a timeline: see trace_events.hpp. JSON as far as traces need it, and by hand: a program that was killed
// leaves a trace that ends anywhere, arguments are shown as they stand in the file, and a library for this alone would
// be one more thing that whoever builds the tool needs. (src/store/json_header.cpp reads a stricter JSON, out of the
// tool's reach.)
#include "cli/trace_events.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cucore::cli {
namespace {

/// The text ended within a value.
struct CutOff {};

void append_utf8(std::string& text, unsigned c) {
  const auto add = [&](unsigned byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3F));
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  }
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  std::vector<TraceEvent> events() {
    find_array();
    std::vector<TraceEvent> all;
    try {
      while (true) {
        blanks();
        if (is_next(']')) return all;
        if (is_next(',')) continue;
        TraceEvent event;
        read_event(event);
        all.push_back(std::move(event));
      }
    } catch (const CutOff&) {
      return all;
    }
  }

 private:
  /// The events are the file, or what its member "traceEvents" is.
  void find_array() {
    try {
      blanks();
      if (is_next('[')) return;
      if (!is_next('{')) fail("an array or an object");
      while (!is_next('}')) {
        if (member() == "traceEvents" && is_next('[')) return;
        skip_value(0);
        is_next(',');
      }
    } catch (const CutOff&) {
      fail("events");
    }
    fail("a member \"traceEvents\"");
  }

  [[noreturn]] void fail(const std::string& wanted) const {
    throw std::runtime_error("this is no trace: " + wanted + " should stand at byte " + std::to_string(at_));
  }

  char peek() const {
    if (at_ >= text_.size()) throw CutOff();
    return text_[at_];
  }
  char take() {
    const char c = peek();
    ++at_;
    return c;
  }
  void blanks() {
    while (text_.find_first_of(" \t\r\n", at_) == at_) ++at_;
    static_cast<void>(peek());
  }
  bool is_next(char c) {
    blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  /// A member's name and the colon behind it.
  std::string member() {
    blanks();
    if (peek() != '"') fail("a member's name");
    std::string name = string();
    if (!is_next(':')) fail("a colon");
    blanks();
    return name;
  }

  unsigned code_unit() {
    unsigned value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = take();
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) fail("four hexadecimal digits");
      value = value * 16 + static_cast<unsigned>(digit);
    }
    return value;
  }

  void escape(std::string& text) {
    switch (const char c = take()) {
      case 'n':
        text += '\n';
        break;
      case 't':
        text += '\t';
        break;
      case 'r':
        text += '\r';
        break;
      case 'b':
      case 'f':
        text += ' ';
        break;
      case 'u': {
        unsigned unit = code_unit();
        if (unit >= 0xD800 && unit < 0xDC00 && text_.compare(at_, 2, "\\u") == 0) {
          at_ += 2;
          unit = 0x10000 + ((unit - 0xD800) << 10) + ((code_unit() - 0xDC00) & 0x3FF);
        }
        append_utf8(text, unit);
        break;
      }
      default:
        text += c;
    }
  }

  std::string string() {
    ++at_;  // the quote
    std::string text;
    while (true) {
      const std::size_t end = text_.find_first_of("\"\\", at_);
      if (end == std::string::npos) throw CutOff();
      text.append(text_, at_, end - at_);
      at_ = end + 1;
      if (text_[end] == '"') return text;
      escape(text);
    }
  }

  /// A number or a word, as it stands there.
  std::string word() {
    const std::size_t end = text_.find_first_not_of("+-.0123456789abcdefghijklmnopqrstuvwxyzE", at_);
    if (end == std::string::npos) throw CutOff();
    if (end == at_) fail("a value");
    std::string text = text_.substr(at_, end - at_);
    at_ = end;
    return text;
  }

  /// What is passed over may be nested.
  void skip_value(int depth) {
    constexpr int deepest = 100;
    blanks();
    if (depth > deepest) fail("something less nested");
    const char c = peek();
    if (c == '"') {
      static_cast<void>(string());
    } else if (c == '{' || c == '[') {
      ++at_;
      const char end = c == '{' ? '}' : ']';
      while (!is_next(end)) {
        if (c == '{') static_cast<void>(member());
        skip_value(depth + 1);
        is_next(',');
      }
    } else {
      static_cast<void>(word());
    }
  }

  /// A value of any kind; what is nested, as JSON.
  std::string value() {
    blanks();
    if (peek() == '"') return string();
    const std::size_t begin = at_;
    skip_value(0);
    return text_.substr(begin, at_ - begin);
  }

  double number() {
    const std::string text = value();
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0') fail("a number");
    return number;
  }

  void read_event(TraceEvent& event) {
    if (!is_next('{')) fail("an event");
    while (!is_next('}')) {
      const std::string name = member();
      if (name == "ph") {
        const std::string phase = value();
        event.phase = phase.empty() ? '\0' : phase[0];
      } else if (name == "name") {
        event.name = value();
      } else if (name == "cat") {
        event.category = value();
      } else if (name == "pid") {
        event.process = number();
      } else if (name == "tid") {
        event.thread = number();
      } else if (name == "ts") {
        event.at = number();
      } else if (name == "dur") {
        event.duration = number();
      } else if (name == "id") {
        event.id = value();
      } else if (name == "args" && is_next('{')) {
        while (!is_next('}')) {
          std::string argument = member();
          event.arguments.emplace_back(std::move(argument), value());
          is_next(',');
        }
      } else {
        skip_value(0);
      }
      is_next(',');
    }
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

const std::string* TraceEvent::argument(const std::string& wanted) const {
  for (const auto& [argument, text] : arguments)
    if (argument == wanted) return &text;
  return nullptr;
}

std::vector<TraceEvent> read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || text.empty()) throw std::runtime_error(path + " cannot be read, or is empty");
  try {
    return Reader(text).events();
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

}  // namespace cucore::cli
