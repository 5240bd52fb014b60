// PTX text → tokens, one at a time. Copyable, so a caller can look ahead by copying.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

enum class TokenKind : std::uint8_t {
  End,
  Identifier,  ///< `add`, `%r1`, `$L__BB0_1`, `_`
  DotWord,     ///< `.visible`, `.f32`, `.L2::128B`, `.1d`: `text` has no leading dot
  Integer,     ///< `value`; `is_unsigned` if it ends in U or does not fit 63 bits
  Single,      ///< `0f3f800000`: `value` is the binary32 pattern
  Double,      ///< `0d...` or decimal: `value` is the binary64 pattern
  String,      ///< `text` is what stands between the quotes
  Punctuation  ///< `text` is one of ( ) { } [ ] < > , ; : + - * / % = ! ~ & | ^ ? @ and << >> <= >= == != && ||
};

struct Token {
  TokenKind kind = TokenKind::End;
  bool is_unsigned = false;
  std::string_view text;
  std::uint64_t value = 0;
  Position position;

  /// Asked several times of each token, so without a call: punctuation has one character or two.
  bool is(std::string_view punctuation) const {
    return kind == TokenKind::Punctuation && text.size() == punctuation.size() && text.front() == punctuation.front() &&
           text.back() == punctuation.back();
  }
  bool is_word(std::string_view word) const { return kind == TokenKind::Identifier && text == word; }
  bool is_dot(std::string_view word) const { return kind == TokenKind::DotWord && text == word; }
};

class Lexer {
 public:
  /// `pieces`: of an excerpt; they must outlive the lexer.
  explicit Lexer(std::string_view text, std::span<const TextPiece> pieces = {}) : text_(text), pieces_(pieces) {}

  /// The next token; End for ever at the end of the text. A malformed token sets `error` and returns End.
  Token next();

  /// No Result<T> for each token: almost all are good, and what is wrong with one gets its sentence and its place from
  /// the parser, as a Diagnostic.
  /// Empty, or what was wrong with the token at the position of the End that `next` returned: a static text.
  std::string_view error() const { return error_; }

  /// How a block ends that is passed over.
  enum class Block : std::uint8_t {
    Passed,     ///< the next token is the one behind its `}`
    NeverEnds,  ///< there is no such `}`, or a comment or string in it has no end
    Declares,   ///< passed; but `.global` or `.const` in it may declare a variable of the module
  };
  /// Passes over the rest of a block, of which `{` was the last token, much faster than by its tokens.
  Block pass_block();

  /// Where the next blank or token begins in the text.
  std::size_t offset() const { return offset_; }

 private:
  char at(std::size_t ahead) const { return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0'; }
  bool skip_blanks();  ///< false: an unterminated comment
  void enter_pieces();
  void pass_lines(std::size_t end);
  Token finish(TokenKind kind, std::size_t length);
  Token malformed(std::string_view why);
  Token number();
  Token decimal_float(std::size_t length);
  Token hexadecimal_float(TokenKind kind, std::size_t digits);
  Token string();

  std::string_view text_;
  std::span<const TextPiece> pieces_;  ///< those not yet entered
  std::size_t offset_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::string_view error_;
};

}  // namespace cucore::cpu::ptx
