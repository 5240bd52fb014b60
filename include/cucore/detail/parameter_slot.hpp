// ParameterSlot: what packing an argument needs to know of its parameter. Internal.
#pragma once

#include <cstdint>

namespace cucore {

enum class ParameterKind : std::uint8_t;

namespace detail {

/// Fits into half a cache line.
struct ParameterSlot {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint16_t fitting_kinds = 0;  ///< bit k: a value of kind k and of this size may be passed
  ParameterKind kind = ParameterKind();
  /// The signed 64-bit integers that are stored unchanged, in the parameter's width: `numbers` of them from `least` on.
  /// Any other has to be converted, refused, or looked at again (a parameter that takes all of them lists all but the
  /// last).
  std::int64_t least = 0;
  std::uint64_t numbers = 0;

  bool takes(std::int64_t value) const noexcept {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least) < numbers;
  }
};

}  // namespace detail
}  // namespace cucore
