// Parameter kinds by the names of their C++ types: see parameter_names.hpp.
#include "src/code/parameter_names.hpp"

#include <cstddef>
#include <string_view>

#include "src/formats/demangle.hpp"

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
