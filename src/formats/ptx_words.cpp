// Cuts PTX into words: see ptx_words.hpp.
#include "src/formats/ptx_words.hpp"

#include <algorithm>
#include <cstring>

namespace cucore::detail {

std::string_view PtxWords::next() {
  skip_blank();
  if (at_ >= text_.size()) return {};
  const std::size_t begin = at_++;
  if (text_[begin] == '"') {
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  } else if (is_ptx_word_character(text_[begin])) {
    while (at_ < text_.size() && is_ptx_word_character(text_[at_])) ++at_;
  }
  return text_.substr(begin, at_ - begin);
}

// A NUL is blank too: loads may pass the one that ends a text.
void PtxWords::skip_blank() {
  while (at_ < text_.size()) {
    if (std::strchr(" \t\n\r\f\v", text_[at_]) != nullptr) {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else {
      return;
    }
  }
}

}  // namespace cucore::detail
