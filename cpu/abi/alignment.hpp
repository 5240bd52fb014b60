// Rounding up, for all that lays out memory: the compiler's layouts and the run-time's launches must agree on
// parameters.
#pragma once

#include <cstdint>

namespace cucore::cpu {

/// The next multiple of `unit`, which is not 0.
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace cucore::cpu
