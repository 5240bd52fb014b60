// Reads and writes the headers of sealed entries. By hand, since one flat object is less than a library to depend on,
// and what is not exactly that is no entry. cli/trace_events.cpp reads traces, which are the opposite: nested, long,
// and taken as far as they can be read; the tool sees nothing of src.
#include "src/store/json_header.hpp"

#include <charconv>

#include "src/formats/json_text.hpp"

namespace cucore::detail {
namespace {

void append_utf8(std::string& text, std::uint32_t point) {
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xc0 | point >> 6);
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    text += static_cast<char>(0xe0 | point >> 12);
    text += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | point >> 18);
    text += static_cast<char>(0x80 | (point >> 12 & 0x3f));
    text += static_cast<char>(0x80 | (point >> 6 & 0x3f));
    text += static_cast<char>(0x80 | (point & 0x3f));
  }
}

class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  std::optional<JsonHeader> object() {
    JsonHeader header;
    if (!take('{')) return std::nullopt;
    if (take('}')) return at_end() ? std::optional(header) : std::nullopt;
    do {
      std::optional<std::string> name = string();
      if (!name || !take(':')) return std::nullopt;
      std::optional<JsonScalar> value = scalar();
      if (!value) return std::nullopt;
      header.insert_or_assign(std::move(*name), std::move(*value));
    } while (take(','));
    return take('}') && at_end() ? std::optional(header) : std::nullopt;
  }

 private:
  void skip_space() {
    const std::size_t at = left_.find_first_not_of(" \t\r\n");
    left_.remove_prefix(at == std::string_view::npos ? left_.size() : at);
  }
  bool take(char wanted) {
    skip_space();
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool at_end() {
    skip_space();
    return left_.empty();
  }

  std::optional<JsonScalar> scalar() {
    skip_space();
    if (left_.starts_with("null")) {
      left_.remove_prefix(4);
      return nullptr;
    }
    if (left_.starts_with('"')) {
      std::optional<std::string> text = string();
      return text ? std::optional<JsonScalar>(std::move(*text)) : std::nullopt;
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), number);
    if (error != std::errc()) return std::nullopt;
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return number;
  }

  /// The 16 bits of "\uXXXX", whose first two characters have been taken.
  std::optional<std::uint32_t> escaped_unit() {
    std::uint32_t unit = 0;
    if (left_.size() < 4) return std::nullopt;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + 4, unit, 16);
    if (error != std::errc() || end != left_.data() + 4) return std::nullopt;
    left_.remove_prefix(4);
    return unit;
  }

  bool escape(std::string& text) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    if (left_.empty()) return false;
    const char letter = left_.front();
    left_.remove_prefix(1);
    if (const std::size_t at = letters.find(letter); at != std::string_view::npos) {
      text += meanings[at];
      return true;
    }
    if (letter != 'u') return false;
    std::optional<std::uint32_t> point = escaped_unit();
    if (!point) return false;
    if (*point >= 0xd800 && *point < 0xdc00) {  // the first of a pair
      if (!left_.starts_with("\\u")) return false;
      left_.remove_prefix(2);
      const std::optional<std::uint32_t> second = escaped_unit();
      if (!second || *second < 0xdc00 || *second >= 0xe000) return false;
      point = 0x10000 + ((*point - 0xd800) << 10) + (*second - 0xdc00);
    } else if (*point >= 0xdc00 && *point < 0xe000) {
      return false;
    }
    append_utf8(text, *point);
    return true;
  }

  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    std::string text;
    while (!left_.empty()) {
      const char c = left_.front();
      left_.remove_prefix(1);
      if (c == '"') return text;
      if (static_cast<unsigned char>(c) < 32) return std::nullopt;
      if (c != '\\') {
        text += c;
      } else if (!escape(text)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  std::string_view left_;
};

}  // namespace

std::optional<JsonHeader> read_json_header(std::string_view text) { return Reader(text).object(); }

std::string write_json_header(const JsonHeader& header) {
  std::string out = "{";
  for (const auto& [name, value] : header) {
    if (out.size() > 1) out += ", ";
    append_json_text(out, name);
    out += ": ";
    if (const auto* text = std::get_if<std::string>(&value)) {
      append_json_text(out, *text);
    } else if (const auto* number = std::get_if<std::uint64_t>(&value)) {
      out += std::to_string(*number);
    } else {
      out += "null";
    }
  }
  return out + "}";
}

}  // namespace cucore::detail
