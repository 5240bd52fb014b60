// -maxrregcount as PTX: see register_limit.hpp.
#include "cpu/toolkit_shims/register_limit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace cucore::cpu::toolkit_shims {

namespace {

constexpr std::string_view is_name = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%.";

/// The end of the comment or quoted text that begins at `at`; `at` if none does.
std::size_t skip(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  if (text.substr(at).starts_with("//")) return behind("\n", at);
  if (text.substr(at).starts_with("/*")) return behind("*/", at + 2);
  return text[at] == '"' ? behind("\"", at + 1) : at;
}

bool decides_itself(std::string_view directives) {
  constexpr std::array<std::string_view, 4> words{".maxnreg", ".maxntid", ".reqntid", ".minnctapersm"};
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return directives.find(word) != std::string_view::npos; });
}

}  // namespace

std::string with_register_limit(std::string_view ptx, std::uint32_t limit) {
  if (limit == 0) return std::string(ptx);
  const std::string directive = ".maxnreg " + std::to_string(limit) + "\n";
  std::string out;
  std::size_t copied = 0;
  std::size_t entry = std::string_view::npos;  // where the head of a kernel began
  for (std::size_t at = 0; at < ptx.size();) {
    if (const std::size_t end = skip(ptx, at); end != at) {
      at = end;
    } else if (is_name.find(ptx[at]) != std::string_view::npos) {
      const std::size_t stop = std::min(ptx.find_first_not_of(is_name, at), ptx.size());
      if (ptx.substr(at, stop - at) == ".entry") entry = at;
      at = stop;
    } else {
      const bool begins_body = ptx[at] == '{' && entry != std::string_view::npos;
      if (begins_body && !decides_itself(ptx.substr(entry, at - entry))) {
        out.append(ptx.substr(copied, at - copied)).append(directive);
        copied = at;
      }
      if (begins_body || ptx[at] == ';') entry = std::string_view::npos;  // or only a declaration
      ++at;
    }
  }
  return out.append(ptx.substr(copied));
}

}  // namespace cucore::cpu::toolkit_shims
