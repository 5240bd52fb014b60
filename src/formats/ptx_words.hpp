// PTX as words, for the readers of kernels' signatures and of a module's symbols.
#pragma once

#include <cstddef>
#include <string_view>

namespace cucore::detail {

/// Of identifiers, directives, opcodes with their modifiers, and numbers.
constexpr bool is_ptx_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

/// Words, strings in their quotes, and single characters of punctuation, one after the other; comments are passed over.
class PtxWords {
 public:
  explicit PtxWords(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next();

 private:
  void skip_blank();

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace cucore::detail
