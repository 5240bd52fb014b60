// Sums of symbols, which addresses of lanes are written as (lane_places.hpp), and their arithmetic.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace cucore::cpu::analysis {

/// `constant` and multiples of symbols, in ascending order, none by zero.
struct LaneSum {
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
  std::int64_t constant = 0;

  bool operator==(const LaneSum& other) const = default;
  bool operator<(const LaneSum& other) const;
};

LaneSum constant_of(std::int64_t value);
LaneSum symbol_of(std::uint32_t symbol);
inline bool is_constant(const LaneSum& sum) { return sum.terms.empty(); }

LaneSum multiplied(LaneSum sum, std::int64_t by);
LaneSum added(const LaneSum& a, const LaneSum& b);
/// The difference.
LaneSum without(const LaneSum& a, const LaneSum& b);

/// Wraps around as addresses do.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace cucore::cpu::analysis
