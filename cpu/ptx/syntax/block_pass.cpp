// Passing over a block: only braces, comments and strings count there, and words that may declare a variable of the
// module. Most of a text is in blocks, so strides of it are looked at together, in vectors.
#include <algorithm>
#include <cstring>

#include "cpu/ptx/syntax/lexer.hpp"

namespace cucore::cpu::ptx {

namespace {

using Bytes = unsigned char __attribute__((vector_size(16)));
constexpr std::size_t stride = 64;

Bytes load(const char* at) {
  Bytes bytes;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

bool is_any(Bytes bytes) {
  std::uint64_t halves[2];
  std::memcpy(halves, &bytes, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

/// All ones where a character counts: `text`, with the one `before` each. A dot does where it may begin a statement.
template <typename Characters>
auto counts(Characters before, Characters text) {
  const auto ends_statement =
      (before <= ' ') | (before == ';') | (before == '{') | (before == '}') | (before == ':') | (before == '/');
  return (text == '{') | (text == '}') | (text == '"') | (text == '/') | ((text == '@') & (before == '@')) |
         ((text == '.') & ends_statement);
}

/// There must be a character before `at`.
bool any_counts(const char* at) {
  Bytes any{};
  for (std::size_t i = 0; i < stride; i += sizeof any) any |= (Bytes)counts(load(at + i - 1), load(at + i));
  return is_any(any);
}

std::size_t newlines_in(std::string_view text) {
  std::size_t count = 0;
  while (text.size() >= sizeof(Bytes)) {
    Bytes sums{};
    for (int i = 0; i < 255 && text.size() >= sizeof sums; ++i, text.remove_prefix(sizeof sums))
      sums -= (Bytes)(load(text.data()) == '\n');
    for (std::size_t i = 0; i < sizeof sums; ++i) count += sums[i];
  }
  for (const char c : text) count += c == '\n' ? 1U : 0U;
  return count;
}

bool begins_module_variable(std::string_view directive) {
  return directive.starts_with(".global") || directive.starts_with(".const");
}

}  // namespace

/// Moves to `end`, over text without tokens that matter.
void Lexer::pass_lines(std::size_t end) {
  const std::string_view passed = text_.substr(offset_, end - offset_);
  line_ += static_cast<std::uint32_t>(newlines_in(passed));
  if (const std::size_t last = passed.rfind('\n'); last != std::string_view::npos) line_start_ = offset_ + last + 1;
  offset_ = end;
}

Lexer::Block Lexer::pass_block() {
  Block block = Block::Passed;
  std::size_t depth = 1;
  std::size_t at = offset_;  // there is the brace before it
  while (at < text_.size()) {
    if (text_.size() - at >= stride && !any_counts(text_.data() + at)) {
      at += stride;
      continue;
    }
    const std::size_t stop = std::min(at + stride, text_.size());
    while (at < stop) {
      const char c = text_[at];
      const std::string_view rest = text_.substr(at);
      std::size_t length = 1;
      if (!counts(static_cast<unsigned char>(text_[at - 1]), static_cast<unsigned char>(c))) {
      } else if (c == '{') {
        ++depth;
      } else if (c == '}') {
        if (--depth == 0) {
          pass_lines(at + 1);
          return block;
        }
      } else if (c == '.') {
        if (begins_module_variable(rest)) block = Block::Declares;
      } else if (c == '@' || rest.starts_with("//")) {
        length = std::min(rest.find('\n'), rest.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t end = rest.find("*/", 2);
        if (end == std::string_view::npos) return Block::NeverEnds;
        length = end + 2;
      } else if (c == '"') {
        while (length < rest.size() && rest[length] != '"' && rest[length] != '\n')
          length += rest[length] == '\\' && length + 1 < rest.size() ? 2 : 1;
        if (length >= rest.size() || rest[length] != '"') return Block::NeverEnds;
        ++length;
      }
      at += length;
    }
  }
  return Block::NeverEnds;
}

}  // namespace cucore::cpu::ptx
