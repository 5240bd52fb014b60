// The words for kinds of source and of code.
#include "cucore/code_type.hpp"

#include <iterator>
#include <string>

#include "cucore/error.hpp"

namespace cucore {
namespace {

constexpr std::string_view source_words[] = {"c++", "ptx", "nvvm"};
constexpr std::string_view code_words[] = {"ptx", "cubin", "ltoir", "fatbin", "object", "library"};

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

template <std::size_t N>
std::size_t index_of(std::string_view word, const std::string_view (&words)[N], const char* type) {
  const std::string folded = lower(word);
  std::string allowed;
  for (std::size_t i = 0; i < N; ++i) {
    if (folded == words[i]) return i;
    allowed += (i == 0 ? "" : ", ") + std::string(words[i]);
  }
  throw ValueError(
      {.call = type, .message = "'" + std::string(word) + "' is not a valid " + type, .hint = "use one of " + allowed});
}

}  // namespace

SourceType::SourceType(std::string_view word)
    : value_(static_cast<Value>(index_of(word, source_words, "SourceCodeType"))) {}

std::string_view SourceType::name() const noexcept { return source_words[value_]; }

CodeType::CodeType(std::string_view word)
    : value_(static_cast<Value>(index_of(word, code_words, "ObjectCodeFormatType"))) {}

std::string_view CodeType::name() const noexcept { return code_words[value_]; }

}  // namespace cucore
