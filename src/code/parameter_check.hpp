// Which values a parameter takes, and the sentences for those it does not.
#pragma once

#include <cstddef>
#include <string>

#include "cucore/kernel.hpp"

namespace cucore::detail {

struct KernelState;

/// The parameter as packing sees it: where its value goes, and which kinds and whole numbers fit. Integers and
/// floating-point numbers must not be confused where both kinds are known; otherwise the size decides.
ParameterSlot slot_of(const Parameter& parameter) noexcept;

/// The whole numbers that fit a parameter, unsigned ones included; none where a number has to be converted.
struct WholeNumbers {
  std::int64_t least = 1;
  std::uint64_t most = 0;
};
WholeNumbers whole_numbers(const ParameterSlot& slot) noexcept;

/// Whether a value of this size and kind may be passed for the parameter.
inline bool fits(const ParameterSlot& slot, std::size_t size, ParameterKind kind) noexcept {
  return size == slot.size && (slot.fitting_kinds >> static_cast<unsigned>(kind) & 1u) != 0;
}

/// "a signed integer", "a pointer", ...
const char* kind_name(ParameterKind kind) noexcept;

/// "a floating-point number of 4 bytes (float)".
std::string describe_parameter(const Parameter& parameter);

/// "argument 2 ('x') of Kernel 'saxpy'". `position` counts from 0.
std::string describe_argument(const KernelState& kernel, std::size_t position, const Parameter& parameter);

/// Both throw TypeError.
[[noreturn]] void refuse_count(const KernelState& kernel, std::size_t expected, std::size_t given);
[[noreturn]] void refuse_argument(const KernelState& kernel, std::size_t position, const Parameter& parameter,
                                  std::size_t size, ParameterKind kind);

}  // namespace cucore::detail
