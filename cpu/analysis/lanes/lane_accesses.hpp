// Accesses of memory by the lanes of a warp, and whether of two that follow each other one disturbs what the other one
// finds, if lanes do not run in step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cpu/analysis/lanes/lane_places.hpp"

namespace cucore::cpu::analysis {

/// A load or store.
struct LaneAccess {
  LaneSum place = {};
  std::size_t shape = 0;  ///< the same for places that differ by their constants alone
  std::int64_t bytes = 0;
  bool is_store = false;
  bool is_shared = false;  ///< of shared memory, or of an address that may be of it
  bool is_volatile = false;
  bool is_of_function = false;  ///< at an address that a function was given
  std::optional<std::uint32_t> array = {};
  LanePlaces::LanesThere lanes = {};
  std::optional<LanePlaces::Numbers> numbers = {};
  bool leaves_array = false;  ///< its lanes' places are surely not all of it
};

class LaneConflicts {
 public:
  /// `knows_warps`: the kernel has something to do with warps. `is_one_warp`: its blocks are one. `may_wait`: lanes
  /// hand something on to each other, one after the other.
  LaneConflicts(LanePlaces& places, bool knows_warps, bool is_one_warp, bool may_wait)
      : places_(places), knows_warps_(knows_warps), is_one_warp_(is_one_warp), may_wait_(may_wait) {}

  /// A load where another lane stored, or a store where another lane loaded or stored. They are known by their numbers.
  bool disturb(std::size_t earlier, std::size_t later, const std::vector<LaneAccess>& known);
  /// A store where a lane of the warp before or behind loaded, or one of another row of the block.
  bool reach_another_warp(std::size_t earlier, std::size_t later, const std::vector<LaneAccess>& known);

 private:
  bool reach_another_warp(const LaneAccess& load, const LaneAccess& store);
  bool reach_another_warp_now(LaneAccess load, LaneAccess store);  ///< as is assumed of distances
  bool disturb(const LaneAccess& earlier, const LaneAccess& later);
  std::optional<bool> by_numbers(const LaneAccess& earlier, const LaneAccess& later) const;
  std::optional<bool> by_steps(const LaneAccess& earlier, const LaneAccess& later);
  bool at_one_place(const LaneAccess& earlier, const LaneAccess& later) const;
  Overlap overlap(const LaneAccess& earlier, const LaneAccess& later);

  LanePlaces& places_;
  const bool knows_warps_, is_one_warp_, may_wait_;
  std::map<std::pair<std::size_t, std::size_t>, bool> known_, known_of_warps_;
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t, std::int64_t, std::int64_t, bool, LanePlaces::Order>,
           Overlap>
      overlaps_;
};

}  // namespace cucore::cpu::analysis
