// Whether an argument fits a parameter, and the sentences for when it does not.
#pragma once

#include <cstddef>
#include <string>

#include "cucore/kernel.hpp"

namespace cucore::detail {

struct KernelState;

/// The size must match; integers and floating-point numbers must not be taken for each other where both are known.
bool fits(const Parameter& parameter, std::size_t size, ParameterKind kind) noexcept;

/// "signed integer", "pointer", ...
const char* kind_name(ParameterKind kind) noexcept;

/// "floating-point number of 4 bytes (float)".
std::string describe_parameter(const Parameter& parameter);

/// Both throw TypeError. `position` counts from 0.
[[noreturn]] void refuse_count(const KernelState& kernel, std::size_t expected, std::size_t given);
[[noreturn]] void refuse_argument(const KernelState& kernel, std::size_t position, const Parameter& parameter,
                                  std::size_t size, ParameterKind kind);

}  // namespace cucore::detail
