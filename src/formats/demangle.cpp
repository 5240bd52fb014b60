// Names by the C++ library's demangler, and the parameter lists in them: see demangle.hpp.
#include "src/formats/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cucore::detail {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : name;
}

std::optional<std::vector<std::string>> parameter_types(std::string_view name) {
  if (!name.ends_with(')')) return std::nullopt;
  // The parenthesis that the last one closes.
  std::size_t open = name.size() - 1;
  for (int depth = 0;; --open) {
    if (name[open] == ')') ++depth;
    if (name[open] == '(' && --depth == 0) break;
    if (open == 0) return std::nullopt;
  }
  const std::string_view list = name.substr(open + 1, name.size() - open - 2);
  std::vector<std::string> parameters;
  if (list.empty() || list == "void") return parameters;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i == list.size() ? ',' : list[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c != ',' || depth > 0) continue;
    std::string_view one = list.substr(begin, i - begin);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    parameters.emplace_back(one);
    begin = i + 1;
  }
  return parameters;
}

}  // namespace cucore::detail
