// What a mangled C++ name says of a function: its name in the source, and the types of its parameters.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::detail {

/// "void saxpy<float>(float, float const*)" of "_Z5saxpyIfEvT_PKS0_"; the name itself if it is not mangled.
std::string demangled(const std::string& name);

/// The types in the parameter list of a demangled function, as written there; none if it has no list.
std::optional<std::vector<std::string>> parameter_types(std::string_view demangled_name);

}  // namespace cucore::detail
