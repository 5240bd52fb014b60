// Whether accesses of lanes disturb each other: see lane_accesses.hpp. The rule is in plain_exchanges.hpp.
#include "cpu/analysis/lanes/lane_accesses.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace cucore::cpu::analysis {
namespace {

constexpr std::uint32_t warp_lanes = 32;

/// Places that are so far apart, up to multiples of `round`, if it is not 0.
bool touch(const LaneAccess& earlier, const LaneAccess& later, std::int64_t apart, std::int64_t round) {
  if (round == 0) return apart > -later.bytes && apart < earlier.bytes;
  const std::int64_t beyond = ((apart % round) + round) % round;
  return beyond < earlier.bytes || beyond - round > -later.bytes;
}

/// By the lanes' numbers, of those that come there. `round`: places differ by multiples of it, if it is not 0.
bool collide(const LaneAccess& earlier, const LaneAccess& later, std::int64_t round) {
  std::uint32_t first_before = 0, second_before = 0;
  for (std::size_t warp = 0; warp < warp_lanes; ++warp) {
    const std::uint32_t first = earlier.lanes.may_come[warp], second = later.lanes.may_come[warp];
    if (first == 0 || second == 0) continue;
    // Warps of one kind need one look.
    const bool is_like_before = warp >= earlier.numbers->places.size() && warp >= later.numbers->places.size() &&
                                first == first_before && second == second_before;
    if (is_like_before) continue;
    first_before = first;
    second_before = second;
    const auto &before = earlier.numbers->of_warp(warp), &after = later.numbers->of_warp(warp);
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      if ((second >> lane & 1) == 0) continue;
      for (std::uint32_t other = 0; other < warp_lanes; ++other)
        if (lane != other && (first >> other & 1) != 0 && touch(earlier, later, after[lane] - before[other], round))
          return true;
    }
  }
  return false;
}

/// A lane of one warp has its place where one of another warp has, whichever of them it is. `distances`: how far apart
/// the warps are. `round` as above.
bool collide_with_another(const LaneAccess& load, const LaneAccess& store, std::int64_t round,
                          const std::set<std::uint32_t>& distances) {
  const auto collide = [&](std::size_t warp, std::size_t other) {
    const auto &before = load.numbers->of_warp(warp), &after = store.numbers->of_warp(other);
    const auto [first, last] = std::ranges::minmax(before);
    const auto [first_stored, last_stored] = std::ranges::minmax(after);
    if (round == 0 && (first_stored - last >= load.bytes || first - last_stored >= store.bytes)) return false;
    for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
      if ((load.lanes.may_come[warp] >> lane & 1) == 0) continue;
      for (std::uint32_t one = 0; one < warp_lanes; ++one)
        if ((store.lanes.may_come[other] >> one & 1) != 0 && touch(load, store, after[one] - before[lane], round))
          return true;
    }
    return false;
  };
  for (const std::size_t distance : distances)
    for (std::size_t warp = 0; warp + distance < load.numbers->places.size(); ++warp)
      if (collide(warp, warp + distance) || collide(warp + distance, warp)) return true;
  return false;
}

}  // namespace

bool LaneConflicts::reach_another_warp(std::size_t earlier, std::size_t later, const std::vector<LaneAccess>& known) {
  const auto [found, is_new] = known_of_warps_.try_emplace({earlier, later}, false);
  if (is_new) found->second = reach_another_warp(known[earlier], known[later]);
  return found->second;
}

/// By the lanes' numbers alone; of distances that are doubled or halved from step to step, for the least.
bool LaneConflicts::reach_another_warp(const LaneAccess& load, const LaneAccess& store) {
  if (load.is_store || !store.is_store || load.is_shared != store.is_shared) return false;
  if (is_one_warp_ || may_wait_ || load.array != store.array || (!load.is_shared && !load.array)) return false;
  std::set<std::uint32_t> steps = places_.steps_in(load.place);
  steps.merge(places_.steps_in(store.place));
  if (steps.size() > 1) return false;
  if (!steps.empty()) places_.assume(*steps.begin(), 1);
  const bool may_reach = reach_another_warp_now(load, store);
  places_.assume_nothing();
  return may_reach;
}

bool LaneConflicts::reach_another_warp_now(LaneAccess load, LaneAccess store) {
  load.numbers = places_.numbers_of_warps(load.place);
  store.numbers = places_.numbers_of_warps(store.place);
  if (!load.numbers || !store.numbers || load.numbers->common != store.numbers->common) return false;
  if (load.numbers->is_one_place() || store.numbers->is_one_place()) return false;
  const bool counts = load.numbers->counts || store.numbers->counts;
  const bool is_of_two_rounds = counts && !places_.are_of_one_round(load.place, store.place);
  const std::int64_t round = is_of_two_rounds ? std::gcd(load.numbers->steps, store.numbers->steps) : 0;
  const std::set<std::uint32_t> distances = places_.distances_of_warps();
  if ((is_of_two_rounds && round == 0) || !collide_with_another(load, store, round, distances)) return false;
  load.lanes.may_come = places_.without_kept_away(load.lanes);
  store.lanes.may_come = places_.without_kept_away(store.lanes);
  return collide_with_another(load, store, round, distances);
}

bool LaneConflicts::disturb(std::size_t earlier, std::size_t later, const std::vector<LaneAccess>& known) {
  const auto [found, is_new] = known_.try_emplace({earlier, later}, false);
  if (is_new) found->second = disturb(known[earlier], known[later]);
  return found->second;
}

/// All lanes there go to the same places.
bool LaneConflicts::at_one_place(const LaneAccess& earlier, const LaneAccess& later) const {
  if (earlier.is_store && later.is_store) return false;
  if (!later.is_shared && !knows_warps_) return false;
  const auto &first = earlier.lanes, &second = later.lanes;
  if (!first.unknown.empty() || !second.unknown.empty()) {
    // Who loads what was stored may be who stored it.
    const bool are_the_same = std::ranges::all_of(
        first.unknown, [&](const auto& one) { return std::ranges::find(second.unknown, one) != second.unknown.end(); });
    if (are_the_same && (first.is_one || earlier.is_store)) return false;
    return knows_warps_ && (later.is_shared || earlier.is_store || first.is_one || second.is_one);
  }
  for (std::size_t warp = 0; warp < warp_lanes; ++warp) {
    const std::uint32_t before = first.may_come[warp], after = second.may_come[warp];
    if (before == 0 || after == 0) continue;
    // What all lanes stored, each loads as well as any other one.
    if (earlier.is_store ? (after & ~before) != 0 : (before & (before - 1)) != 0 || before != after) return true;
  }
  return false;
}

/// What the lanes' numbers tell, if they tell it.
std::optional<bool> LaneConflicts::by_numbers(const LaneAccess& earlier, const LaneAccess& later) const {
  if (may_wait_ || !earlier.numbers || !later.numbers) return {};
  const LanePlaces::Numbers &before = *earlier.numbers, &after = *later.numbers;
  if (before.common != after.common) return {};
  const bool counts = before.counts || after.counts;
  const std::int64_t round = std::gcd(before.steps, after.steps);
  if (!counts && before.is_one_place() && after.is_one_place()) {
    const std::int64_t apart = after.of_warp(0)[0] - before.of_warp(0)[0];
    return apart > -later.bytes && apart < earlier.bytes && at_one_place(earlier, later);
  }
  // Of one round, and of any two.
  if (counts && round != 0 && !collide(earlier, later, round)) return false;
  if (counts && !places_.are_of_one_round(earlier.place, later.place)) return {};
  if (!collide(earlier, later, 0)) return counts ? std::nullopt : std::optional(false);
  const bool is_one_place = before.is_one_place() || after.is_one_place();
  const bool is_certain = earlier.lanes.unknown.empty() && later.lanes.unknown.empty();
  return !is_one_place || is_certain || (later.is_shared && knows_warps_);
}

/// A store behind a load at a distance that is doubled or halved from step to step: whatever it is, lanes of one step
/// come there.
std::optional<bool> LaneConflicts::by_steps(const LaneAccess& earlier, const LaneAccess& later) {
  std::set<std::uint32_t> steps = places_.steps_in(earlier.place);
  steps.merge(places_.steps_in(later.place));
  if (may_wait_ || steps.size() != 1) return {};
  std::optional<bool> result = false;
  // One that is 1 may be halved before it counts.
  for (std::int64_t distance = 2; distance <= 2 * warp_lanes && result == false; ++distance) {
    places_.assume(*steps.begin(), distance);
    LaneAccess one = earlier, other = later;
    one.numbers = places_.numbers_of(earlier.place);
    other.numbers = places_.numbers_of(later.place);
    one.lanes.may_come = places_.without_kept_away(earlier.lanes);
    other.lanes.may_come = places_.without_kept_away(later.lanes);
    if (!one.numbers || !other.numbers || one.numbers->common != other.numbers->common || one.numbers->counts ||
        other.numbers->counts)
      result.reset();
    else
      result = collide(one, other, 0);
  }
  places_.assume_nothing();
  return result;
}

Overlap LaneConflicts::overlap(const LaneAccess& earlier, const LaneAccess& later) {
  const LaneAccess& store = later.is_store ? later : earlier;
  const LaneAccess& load = later.is_store ? earlier : later;
  const LanePlaces::Order order = later.is_store ? LanePlaces::Order::LoadFirst : LanePlaces::Order::StoreFirst;
  const auto [known, is_new] =
      overlaps_.try_emplace({store.shape, load.shape, store.place.constant - load.place.constant, store.bytes,
                             load.bytes, store.is_shared, order});
  if (is_new)
    known->second = places_.overlap({store.place, store.bytes}, {load.place, load.bytes}, store.is_shared, order);
  return known->second;
}

bool LaneConflicts::disturb(const LaneAccess& earlier, const LaneAccess& later) {
  const auto &first = earlier.lanes, &second = later.lanes;
  if (first.is_one && second.is_one && first.unknown == second.unknown) return false;
  if (earlier.leaves_array || later.leaves_array) {
    if (earlier.array != later.array) return earlier.is_shared && later.is_shared;
  } else if (earlier.array != later.array || !earlier.array) {
    // A function's arguments may be addresses of one array.
    const bool is_unknown = !earlier.array || !later.array;
    const bool are_of_functions = earlier.is_of_function || later.is_of_function;
    const bool may_count = (earlier.is_shared && later.is_shared) || knows_warps_;
    return is_unknown && are_of_functions && may_count && earlier.place != later.place;
  }
  if (const auto certain = by_numbers(earlier, later)) return *certain;
  const bool both_store = earlier.is_store && later.is_store;
  if (both_store) return false;
  if (later.is_store)
    if (const auto certain = by_steps(earlier, later)) return *certain;
  const bool is_from_memory = places_.is_from_memory(earlier.place) || places_.is_from_memory(later.place);
  const bool may_be_guessed = is_one_warp_ || (knows_warps_ && is_from_memory);
  if (later.is_store && !later.is_shared && !may_be_guessed) return false;
  if (later.is_store) {
    const bool are_known = !may_wait_ && earlier.numbers && later.numbers;
    if (are_known && earlier.numbers->common != later.numbers->common) return false;  // what only the launch knows
  }
  const Overlap found = overlap(earlier, later);
  return found == Overlap::Surely || (found == Overlap::Perhaps && knows_warps_);
}

}  // namespace cucore::cpu::analysis
