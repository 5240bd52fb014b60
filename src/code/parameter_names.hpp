// What the mangled name of a kernel tells of its parameters.
#pragma once

#include <string>
#include <vector>

#include "cucore/kernel.hpp"

namespace cucore::detail {

/// Adds to `parameters` what the kernel's mangled name tells: type names, signedness, pointers. Left alone if the name
/// is not mangled, or its list does not match in number and sizes.
void refine_by_name(std::vector<Parameter>& parameters, const std::string& name);

}  // namespace cucore::detail
