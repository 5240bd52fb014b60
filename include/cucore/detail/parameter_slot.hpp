// ParameterSlot: what packing an argument needs to know of its parameter. For cucore's own parts.
#pragma once

#include <cstdint>

namespace cucore {

enum class ParameterKind : std::uint8_t;

namespace detail {

/// In half a cache line.
struct ParameterSlot {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint16_t fitting_kinds = 0;  ///< bit k: a value of kind k and of this size may be passed
  ParameterKind kind = ParameterKind();
  /// The whole numbers of 64 bits with a sign that are stored as they are, in the parameter's width: so many from
  /// `least` on. All others have to be converted, or looked at again (of a parameter that takes every one it has all
  /// but the last), or refused.
  std::int64_t least = 0;
  std::uint64_t numbers = 0;

  bool takes(std::int64_t value) const noexcept {
    return static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(least) < numbers;
  }
};

}  // namespace detail
}  // namespace cucore
