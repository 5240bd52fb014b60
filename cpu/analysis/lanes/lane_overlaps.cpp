// Whether lanes reach each other's places, guessed from the sums that these are: see lane_places.hpp.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "cpu/analysis/lanes/lane_places.hpp"

namespace cucore::cpu::analysis {

using ptx::Opcode;

namespace {

constexpr std::int64_t most_lanes = 32;

}  // namespace

std::optional<std::uint32_t> LanePlaces::array_of(const LaneSum& place) {
  const Spread known = spread(place);
  for (const auto& [symbol, factor] : known.sum.terms)
    if (symbols_[symbol].is_array && factor == 1) return symbol;
  return {};
}

/// By what the lanes' numbers and what is computed from them may be at most.
bool LanePlaces::are_apart(const Access& store, const Access& load) const {
  std::int64_t low = plus(store.place.constant, -load.place.constant), high = low;
  const auto reach = [&](const LaneSum& sum, std::int64_t sign) {
    for (const auto& [symbol, factor] : sum.terms) {
      const Symbol& it = symbols_[symbol];
      if (it.kind == Kind::Uniform) continue;
      if (!it.low || !it.high) return false;
      const std::int64_t one = times(sign * factor, *it.low), other = times(sign * factor, *it.high);
      low = plus(low, std::min(one, other));
      high = plus(high, std::max(one, other));
    }
    return true;
  };
  return reach(store.place, 1) && reach(load.place, -1) && (low >= load.bytes || high <= -store.bytes);
}

Overlap LanePlaces::overlap(const Access& store, const Access& load, bool is_shared, Order order) {
  const Spread difference = spread(without(store.place, load.place));
  const LaneSum first = spread(store.place).sum, second = spread(load.place).sum;
  bool is_data = false, is_varied = false, is_uniform = false, is_step = false, is_power = false;
  bool other_array = false, one_array = false;
  std::int64_t apart = difference.steps;
  for (const auto& [symbol, factor] : difference.sum.terms) {
    const Symbol& it = symbols_[symbol];
    if (it.is_array) (factor > 0 ? one_array : other_array) = true;
    is_data |= it.kind == Kind::Data;
    is_varied |= it.kind == Kind::Varied && !it.is_lane;
    is_uniform |= it.kind == Kind::Uniform && !is_power_step(symbol);
    is_step |= it.kind == Kind::Uniform && is_power_step(symbol);
    is_power |= it.kind == Kind::Varied && it.opcode == Opcode::Xor;
    if (!it.is_lane) apart = std::gcd(apart, factor);
  }
  if (one_array && other_array) return Overlap::Never;
  const auto has_data = [&](const LaneSum& sum) {
    return std::ranges::any_of(sum.terms, [&](auto& t) { return symbols_[t.first].kind == Kind::Data; });
  };
  const std::int64_t factor = lane_factor(first);
  const bool same_factor = factor == lane_factor(second);
  // Both from memory: a row of each lane, or anywhere.
  const bool both_data = has_data(first) && has_data(second), one_data = has_data(first) != has_data(second);
  const bool is_anywhere = both_data && factor == 0 && same_factor;
  if (is_data && !is_anywhere && !one_data) return Overlap::Never;
  const std::int64_t size = std::abs(factor);
  const std::int64_t between = difference.sum.constant;
  const auto reaches = [&](std::int64_t distance) {
    for (std::int64_t lane = 1; lane < most_lanes; ++lane)
      for (const std::int64_t at : {lane * size, -lane * size})
        if (distance + at > -store.bytes && distance + at < load.bytes) return true;
    return false;
  };
  if (same_factor && size != 0 && apart != 0) {
    const std::int64_t beyond = ((between % apart) + apart) % apart;
    if (apart >= most_lanes * size && !reaches(beyond) && !reaches(beyond - apart)) return Overlap::Never;
  }
  // What is computed from the lane's number in another way, and the same for both, may still be a neighbour's.
  // Multiples of what only the launch knows are rows of each lane.
  const auto has_varied = [&](const LaneSum& sum) {
    return std::ranges::any_of(sum.terms, [&](auto& t) {
      const Symbol& it = symbols_[t.first];
      const bool is_row = it.opcode == Opcode::Mul || it.opcode == Opcode::Mad || it.opcode == Opcode::Shl;
      return it.kind == Kind::Varied && !it.is_lane && !is_row;
    });
  };
  if (!is_varied && !is_data && !is_uniform && !is_step && has_varied(first) && between != 0 && is_shared) {
    for (const auto& [symbol, by] : first.terms)
      if (symbols_[symbol].kind != Kind::Uniform) apart = std::gcd(apart, times(by, symbols_[symbol].multiple_of));
    const std::int64_t beyond = apart == 0 ? 0 : ((between % apart) + apart) % apart;
    if (apart == 0 || beyond < load.bytes || beyond - apart > -store.bytes) return Overlap::Perhaps;
    return Overlap::Never;
  }
  const bool differ = !same_factor || is_varied || is_data;
  if (!differ) {
    if (size == 0 && !(is_step && has_varied(first))) return Overlap::Never;
    if (is_step) return is_shared ? Overlap::Surely : Overlap::Perhaps;
    if (is_uniform || size > std::max(store.bytes, load.bytes))
      return is_uniform || apart != 0 || !reaches(between) ? Overlap::Never : Overlap::Surely;
    if (apart == 0) return reaches(between) ? Overlap::Surely : Overlap::Never;
    return Overlap::Perhaps;
  }
  if (is_shared && keep_to_columns(store, load)) return Overlap::Never;
  if (!is_uniform && !is_step && !difference.counts && are_apart({first, store.bytes}, {second, load.bytes}))
    return Overlap::Never;
  const auto is_one_place = [&](const LaneSum& sum) {
    return std::ranges::all_of(sum.terms, [&](auto& t) { return symbols_[t.first].kind == Kind::Uniform; });
  };
  const bool is_one_load = order == Order::StoreFirst && is_one_place(second);
  if (!difference.counts && (is_one_load || is_one_place(first))) return Overlap::Never;
  // A part of an array that begins where only the host knows.
  if (is_uniform && !is_varied && !is_data && (factor == 0 || lane_factor(second) == 0)) return Overlap::Never;
  return is_shared && is_power && !is_uniform ? Overlap::Surely : Overlap::Perhaps;
}

}  // namespace cucore::cpu::analysis
