// Parameter types from mangled names, by the C++ library's demangler.
#include "src/formats/demangle.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace cucore::detail {
namespace {

struct CxxType {
  std::string_view name;
  std::size_t size;
  ParameterKind kind;
};

constexpr CxxType types[] = {
    {"bool", 1, ParameterKind::boolean},
    {"char", 1, ParameterKind::signed_integer},
    {"signed char", 1, ParameterKind::signed_integer},
    {"unsigned char", 1, ParameterKind::unsigned_integer},
    {"short", 2, ParameterKind::signed_integer},
    {"unsigned short", 2, ParameterKind::unsigned_integer},
    {"int", 4, ParameterKind::signed_integer},
    {"unsigned int", 4, ParameterKind::unsigned_integer},
    {"long", 8, ParameterKind::signed_integer},
    {"unsigned long", 8, ParameterKind::unsigned_integer},
    {"long long", 8, ParameterKind::signed_integer},
    {"unsigned long long", 8, ParameterKind::unsigned_integer},
    {"float", 4, ParameterKind::floating},
    {"double", 8, ParameterKind::floating},
    {"__half", 2, ParameterKind::floating},
    {"__nv_bfloat16", 2, ParameterKind::bfloat16},
};

// Size 0: a type whose size the name does not tell.
CxxType classify(std::string_view type) {
  for (const CxxType& known : types) {
    if (known.name == type) return known;
  }
  if (type.ends_with('*') || type.ends_with('&') || type.find("(*)") != std::string_view::npos) {
    return {type, 8, ParameterKind::pointer};
  }
  return {type, 0, ParameterKind::unknown};
}

}  // namespace

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

void refine_by_name(std::vector<Parameter>& parameters, const std::string& name) {
  if (!name.starts_with("_Z")) return;
  const auto named = parameter_types(demangled(name));
  if (!named || named->size() != parameters.size()) return;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const CxxType type = classify((*named)[i]);
    if (type.size != 0 && type.size != parameters[i].size) return;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const CxxType type = classify((*named)[i]);
    parameters[i].type_name = (*named)[i];
    if (type.size != 0) parameters[i].kind = type.kind;
  }
}

}  // namespace cucore::detail
