// Character classes follow the ISA: an identifier is a letter and then letters, digits, `_`, `$`; or one of `_ $ %`
// and then at least one of those (`_` alone is the sink operand).
#include "cpu/ptx/syntax/lexer.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace cucore::cpu::ptx {

namespace {

enum CharacterClass : std::uint8_t { Letter = 1, Digit = 2, NameSign = 4, Blank = 8, Sign = 16 };

/// Every character of a text is looked up here, most of them once.
constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&](std::string_view characters, CharacterClass of) {
    for (const char c : characters) classes[static_cast<unsigned char>(c)] |= of;
  };
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", Letter);
  add("0123456789", Digit);
  add("_$", NameSign);
  add(" \t\r\f\v", Blank);
  add("(){}[]<>,;:+-*/%=!~&|^?@", Sign);
  return classes;
}
constexpr std::array<std::uint8_t, 256> classes = make_classes();

bool is_of(char c, unsigned any_of) { return (classes[static_cast<unsigned char>(c)] & any_of) != 0; }
bool is_digit(char c) { return is_of(c, Digit); }
bool is_follow(char c) { return is_of(c, Letter | Digit | NameSign); }
bool is_blank(char c) { return is_of(c, Blank); }

int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

bool is_two_character_operator(char a, char b) {
  if (b == '=') return a == '<' || a == '>' || a == '=' || a == '!';
  return a == b && (a == '<' || a == '>' || a == '&' || a == '|');
}

}  // namespace

bool Lexer::skip_blanks() {
  for (;;) {
    const char c = at(0);
    if (is_blank(c)) {
      ++offset_;
    } else if (c == '\n') {
      ++offset_;
      ++line_;
      line_start_ = offset_;
    } else if ((c == '/' && at(1) == '/') || (c == '@' && at(1) == '@')) {
      // `@@DWARF` lines carry the debug information of very old compilers: nothing in them matters here.
      while (offset_ < text_.size() && text_[offset_] != '\n') ++offset_;
    } else if (c == '/' && at(1) == '*') {
      offset_ += 2;
      while (!(at(0) == '*' && at(1) == '/')) {
        if (offset_ >= text_.size()) return false;
        if (text_[offset_] == '\n') {
          ++line_;
          line_start_ = offset_ + 1;
        }
        ++offset_;
      }
      offset_ += 2;
    } else {
      return true;
    }
  }
}

Token Lexer::finish(TokenKind kind, std::size_t length) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(offset_, length);
  token.position = {line_, static_cast<std::uint32_t>(offset_ - line_start_ + 1)};
  offset_ += length;
  return token;
}

Token Lexer::malformed(std::string_view why) {
  error_ = why;
  const Token token = finish(TokenKind::End, 0);
  offset_ = text_.size();
  return token;
}

/// Positions go on as those of the piece that the next token belongs to.
void Lexer::enter_pieces() {
  while (!pieces_.empty() && offset_ >= pieces_.front().offset) {
    const TextPiece& piece = pieces_.front();
    line_ = piece.position.line;
    line_start_ = piece.offset + 1 - piece.position.column;  // before the text, if need be: only differences count
    pieces_ = pieces_.subspan(1);
  }
}

Token Lexer::next() {
  if (!skip_blanks()) return malformed("comment has no end");
  if (!pieces_.empty()) enter_pieces();
  if (offset_ >= text_.size()) return finish(TokenKind::End, 0);
  const char c = at(0);
  if (is_of(c, Letter | NameSign) || (c == '%' && is_follow(at(1)))) {
    std::size_t end = offset_ + 1;
    while (end < text_.size() && is_follow(text_[end])) ++end;
    return finish(TokenKind::Identifier, end - offset_);
  }
  if (is_digit(c)) return number();
  if (c == '"') return string();
  if (c == '.' && is_digit(at(1)) && (offset_ == 0 || !is_follow(text_[offset_ - 1]))) {
    // `.5` in an operand is a number; `.1d` after a mnemonic is not.
    std::size_t length = 1;
    while (is_digit(at(length))) ++length;
    const bool exponent = at(length) == 'e' || at(length) == 'E';
    if (exponent || !is_follow(at(length))) return decimal_float(0);
  }
  if (c == '.') {
    std::size_t length = 1;
    while (is_follow(at(length)) || (at(length) == ':' && at(length + 1) == ':' && is_follow(at(length + 2)))) {
      length += at(length) == ':' ? 2 : 1;
    }
    if (length == 1) return malformed("'.' is not followed by a word");
    Token token = finish(TokenKind::DotWord, length);
    token.text.remove_prefix(1);
    return token;
  }
  if (is_of(c, Sign)) return finish(TokenKind::Punctuation, is_two_character_operator(c, at(1)) ? 2 : 1);
  return malformed("character does not belong to PTX");
}

Token Lexer::number() {
  if (at(0) == '0') {
    const char marker = at(1);
    if (marker == 'f' || marker == 'F') return hexadecimal_float(TokenKind::Single, 8);
    if (marker == 'd' || marker == 'D') return hexadecimal_float(TokenKind::Double, 16);
  }
  unsigned base = 10;
  std::size_t start = 0;
  if (at(0) == '0' && (at(1) == 'x' || at(1) == 'X')) {
    base = 16;
    start = 2;
  } else if (at(0) == '0' && (at(1) == 'b' || at(1) == 'B')) {
    base = 2;
    start = 2;
  }
  std::size_t length = start;
  while (base == 16 ? digit_value(at(length)) < 16 : is_digit(at(length))) ++length;
  if (base == 10) {
    const char after = at(length);
    const bool exponent =
        (after == 'e' || after == 'E') &&
        (is_digit(at(length + 1)) || ((at(length + 1) == '+' || at(length + 1) == '-') && is_digit(at(length + 2))));
    if (after == '.' || exponent) return decimal_float(length);
    if (at(0) == '0') base = 8;
  }
  if (length == start) return malformed("number has no digits");
  std::uint64_t value = 0;
  bool overflow = false;
  for (std::size_t i = start; i < length; ++i) {
    const auto digit = static_cast<unsigned>(digit_value(at(i)));
    if (digit >= base)
      return malformed(base == 2 ? "digit above 1 in a binary number" : "digit above 7 in an octal number");
    overflow = overflow || value > (std::numeric_limits<std::uint64_t>::max() - digit) / base;
    value = value * base + digit;
  }
  if (overflow) value = std::numeric_limits<std::uint64_t>::max();  // ptxas saturates too
  bool is_unsigned = value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (at(length) == 'U') {
    is_unsigned = true;
    ++length;
  }
  if (is_follow(at(length))) return malformed("number runs into a name");
  Token token = finish(TokenKind::Integer, length);
  token.value = value;
  token.is_unsigned = is_unsigned;
  return token;
}

Token Lexer::decimal_float(std::size_t length) {
  if (at(length) == '.') {
    ++length;
    while (is_digit(at(length))) ++length;
  }
  if (at(length) == 'e' || at(length) == 'E') {
    std::size_t digits = length + 1;
    if (at(digits) == '+' || at(digits) == '-') ++digits;
    if (!is_digit(at(digits))) return malformed("exponent has no digits");
    while (is_digit(at(digits))) ++digits;
    length = digits;
  }
  if (is_follow(at(length))) return malformed("number runs into a name");
  const char* first = text_.data() + offset_;
  double value = 0;
  const auto result = std::from_chars(first, first + length, value);
  if (result.ec == std::errc::result_out_of_range) return malformed("number is out of the range of a double");
  Token token = finish(TokenKind::Double, length);
  token.value = std::bit_cast<std::uint64_t>(value);
  return token;
}

Token Lexer::hexadecimal_float(TokenKind kind, std::size_t digits) {
  std::uint64_t value = 0;
  for (std::size_t i = 2; i < 2 + digits; ++i) {
    const int digit = digit_value(at(i));
    if (digit > 15) {
      return malformed(kind == TokenKind::Single ? "0f needs eight hexadecimal digits"
                                                 : "0d needs sixteen hexadecimal digits");
    }
    value = value * 16 + static_cast<unsigned>(digit);
  }
  if (is_follow(at(2 + digits))) return malformed("number runs into a name");
  Token token = finish(kind, 2 + digits);
  token.value = value;
  return token;
}

Token Lexer::string() {
  std::size_t length = 1;
  while (at(length) != '"') {
    if (offset_ + length >= text_.size() || at(length) == '\n') return malformed("string has no end");
    length += at(length) == '\\' && offset_ + length + 1 < text_.size() ? 2 : 1;
  }
  Token token = finish(TokenKind::String, length + 1);
  token.text = token.text.substr(1, length - 1);
  return token;
}

}  // namespace cucore::cpu::ptx
