// Finds plain accesses by which lanes exchange values: see plain_exchanges.hpp.
#include "cpu/analysis/flow/plain_exchanges.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "cpu/analysis/flow/lane_places.hpp"
#include "cpu/analysis/flow/lockstep.hpp"
#include "cpu/analysis/flow/reach.hpp"
#include "cpu/analysis/flow/waiting_loops.hpp"

namespace cucore::cpu::analysis {
namespace {

using ptx::FunctionId;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

/// Of memory that lanes share: one of the two, generic addresses as global ones. Volatile accesses that only wait for
/// something exchange nothing.
std::optional<bool> is_plain_of_shared(const Instruction& i, bool is_in_waiting_loop) {
  if (i.opcode != Opcode::Ld && i.opcode != Opcode::St) return {};
  for (const Modifier ordered : {Modifier::Relaxed, Modifier::Acquire, Modifier::Release, Modifier::Mmio, Modifier::Nc,
                                 Modifier::Cv, Modifier::Cg})
    if (i.has(ordered)) return {};
  const bool is_volatile = i.has(Modifier::Volatile);
  if (is_volatile && is_in_waiting_loop) return {};
  if (i.space() == Space::Shared) return true;
  if (i.space() == Space::Global || i.space() == Space::Generic) return false;
  return {};
}

bool is_store(const Instruction& i) { return i.opcode == Opcode::St; }

bool names_lanes(const Operand& operand) {
  if (operand.kind == Operand::Kind::Special)
    return operand.special.name == "%laneid" || operand.special.name == "%warpid" ||
           operand.special.name.starts_with("%lanemask");
  return std::any_of(operand.elements.begin(), operand.elements.end(), names_lanes);
}

bool has_constant(const Instruction& i, std::initializer_list<std::int64_t> wanted) {
  return std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& operand) {
    return operand.kind == Operand::Kind::Integer &&
           std::find(wanted.begin(), wanted.end(), static_cast<std::int64_t>(operand.integer)) != wanted.end();
  });
}

bool knows_of_warps(const Instruction& i) {
  switch (i.opcode) {
    case Opcode::And:
      return has_constant(i, {31, -32, 0xffffffe0});
    case Opcode::Shr:
      return has_constant(i, {5});
    case Opcode::Rem:
    case Opcode::Div:
      return has_constant(i, {32});
    default:
      return (is_convergent(i) && !is_block_barrier(i) && i.opcode != Opcode::Mbarrier) ||
             std::any_of(i.operands.begin(), i.operands.end(), names_lanes);
  }
}

bool knows_of_warps(const ptx::Module& module, const Reach& reach) {
  const ptx::PerformanceDirectives& directives = module.functions[reach.functions.front()].directives;
  for (const auto& most : {directives.reqntid, directives.maxntid})
    if (most[0] && *most[0] * most[1].value_or(1) * most[2].value_or(1) <= 32) return true;
  return std::any_of(reach.functions.begin(), reach.functions.end(), [&](FunctionId id) {
    const auto& body = module.functions[id].body;
    return std::any_of(body.begin(), body.end(), [](const Instruction& i) { return knows_of_warps(i); });
  });
}

/// Sets of accesses that a thread may have done since it last waited for the lanes of its warp.
using AccessesDone = std::vector<std::uint64_t>;

bool has(const AccessesDone& set, std::size_t number) { return (set[number / 64] >> number % 64 & 1) != 0; }

bool take(AccessesDone& into, const AccessesDone& from) {
  bool changed = false;
  for (std::size_t word = 0; word < into.size(); ++word) {
    changed |= (from[word] & ~into[word]) != 0;
    into[word] |= from[word];
  }
  return changed;
}

class FunctionSearch {
 public:
  FunctionSearch(const ptx::Module& module, FunctionId id, const Reach& reach)
      : function_(module.functions[id]), flow_(function_) {
    const auto is_volatile = [](const Instruction& i) { return i.has(Modifier::Volatile); };
    const bool has_volatile = std::any_of(function_.body.begin(), function_.body.end(), is_volatile);
    const std::set<BlockId> waiting = has_volatile ? find_waiting_blocks(module, id, reach) : std::set<BlockId>{};
    of_shared_.resize(function_.body.size());
    for (BlockId block = 0; block < flow_.blocks.size(); ++block)
      for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i)
        of_shared_[i] = is_plain_of_shared(function_.body[i], waiting.contains(block));
  }

  /// The accesses of all arrays through which values are exchanged.
  std::vector<bool> run(bool of_warps) {
    numbers_.assign(function_.body.size(), 0);
    if (!may_exchange()) return {};
    LanePlaces places(function_, flow_);
    number_accesses(places);
    // Lanes that hand something on to each other, one after the other, must not wait for all.
    may_wait_ = std::any_of(function_.body.begin(), function_.body.end(), [](const Instruction& i) {
      const bool polls = i.has(Modifier::Volatile) || i.has(Modifier::Relaxed) || i.has(Modifier::Acquire);
      return (i.opcode == Opcode::Ld && polls) || (i.opcode == Opcode::Atom && i.has(Modifier::Cas));
    });
    std::set<std::uint32_t> arrays, overwritten, places_given_anew;
    for_each_access([&](std::uint32_t i, const AccessesDone& done) {
      const Access& later = known_[numbers_[i]];
      if (!later.array) return;
      for (std::size_t n = 0; n < known_.size(); ++n) {
        const Access& earlier = known_[n];
        if ((!earlier.is_store && !later.is_store) || earlier.is_shared != later.is_shared || !earlier.array) continue;
        if (!has(done, n) || (later.is_store && !later.is_shared)) continue;
        // Volatile accesses of shared memory are lockstep.hpp's, but for two stores.
        const bool both_store = earlier.is_store && later.is_store;
        if (!both_store && later.is_shared && (earlier.is_volatile || later.is_volatile)) continue;
        if (both_store) {
          if (!overwritten.contains(*later.array) && writes_over(n, numbers_[i])) overwritten.insert(*later.array);
          continue;
        }
        if (arrays.contains(*later.array) && arrays.contains(*earlier.array)) continue;
        if (gives_anew(earlier, later)) {
          places_given_anew.insert({static_cast<std::uint32_t>(n), numbers_[i]});
          continue;
        }
        if (!exchanges(places, n, numbers_[i], of_warps)) continue;
        arrays.insert(*later.array);
        arrays.insert(*earlier.array);
      }
    });
    if (arrays.empty() && overwritten.empty() && places_given_anew.empty()) return {};
    std::vector<bool> found(function_.body.size(), false);
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      if (!of_shared_[i]) continue;
      const std::optional<std::uint32_t>& array = known_[numbers_[i]].array;
      const auto is_of = [&](const std::set<std::uint32_t>& some) {
        return array ? some.contains(*array) : !some.empty();
      };
      found[i] = is_of(arrays) || (is_store(function_.body[i]) && is_of(overwritten)) ||
                 places_given_anew.contains(numbers_[i]);
    }
    return found;
  }

 private:
  struct Access {
    LaneSum place;
    std::size_t shape;
    std::int64_t bytes;
    bool is_store, is_shared, is_volatile;
    std::optional<std::uint32_t> array;
    LanePlaces::LanesOfWarps lanes;              ///< that come there
    std::optional<LanePlaces::Numbers> in_warp;  ///< places in the first warp: in others they are as far apart
  };

  static std::int64_t bytes_of(const Instruction& i) {
    return static_cast<std::int64_t>(ptx::size_in_bytes(i.type()) * i.vector_width);
  }

  /// A number for a place but for its constant: of one number, only the constants' difference tells how places meet.
  std::size_t shape_of(const LaneSum& place) { return shapes_.try_emplace(place.terms, shapes_.size()).first->second; }

  Meeting meet(LanePlaces& places, const Access& earlier, const Access& later) {
    const Access& store = later.is_store ? later : earlier;
    const Access& load = later.is_store ? earlier : later;
    const auto [known, is_new] =
        meetings_.try_emplace({store.shape, load.shape, store.place.constant - load.place.constant, store.bytes,
                               load.bytes, store.is_shared, later.is_store});
    if (is_new)
      known->second = places.meet({store.place, store.bytes}, {load.place, load.bytes}, store.is_shared,
                                  later.is_store ? LanePlaces::Order::LoadFirst : LanePlaces::Order::StoreFirst);
    return known->second;
  }

  /// A load where another lane stored, or a store where another lane loaded.
  bool exchanges(LanePlaces& places, std::size_t earlier, std::size_t later, bool of_warps) {
    const bool lanes_tell = known_[later].is_store && are_known(known_[earlier], known_[later]);
    if (lanes_tell) return writes_over(earlier, later);
    const Meeting meeting = meet(places, known_[earlier], known_[later]);
    return meeting == Meeting::Surely || (meeting == Meeting::Perhaps && of_warps);
  }

  /// One thread stores anew what others have loaded from one place: a flag, a ticket, a sum for all.
  bool gives_anew(const Access& earlier, const Access& later) const {
    if (!later.is_store || !later.is_shared || may_wait_ || !earlier.in_warp || !later.in_warp) return false;
    const LanePlaces::Numbers &before = *earlier.in_warp, &after = *later.in_warp;
    const std::int64_t apart = after.places[0] - before.places[0];
    if (!is_one_place(before) || !is_one_place(after) || before.common != after.common) return false;
    if (apart <= -later.bytes || apart >= earlier.bytes || earlier.lanes == later.lanes) return false;
    const auto add = [](int sum, std::uint32_t lanes) { return sum + std::popcount(lanes); };
    return std::accumulate(later.lanes.begin(), later.lanes.end(), 0, add) == 1;
  }

  static bool is_one_place(const LanePlaces::Numbers& numbers) {
    return std::all_of(numbers.places.begin(), numbers.places.end(),
                       [&](std::int64_t place) { return place == numbers.places[0]; });
  }

  /// The lanes' numbers tell where they go, and that not all of them go to one place.
  bool are_known(const Access& earlier, const Access& later) const {
    if (!later.is_shared || may_wait_ || !earlier.in_warp || !later.in_warp) return false;
    return !is_one_place(*earlier.in_warp) && !is_one_place(*later.in_warp);
  }

  /// A store in shared memory where other lanes loaded or stored, as far as the lanes' numbers tell.
  bool writes_over(std::size_t earlier, std::size_t later) {
    const auto [known, is_new] = overwrites_.try_emplace({earlier, later}, false);
    if (is_new) known->second = writes_over(known_[earlier], known_[later]);
    return known->second;
  }
  bool writes_over(const Access& earlier, const Access& later) const {
    if (earlier.array != later.array || !are_known(earlier, later)) return false;
    const LanePlaces::Numbers &before = *earlier.in_warp, &after = *later.in_warp;
    if (before.common != after.common) return false;
    const auto collide = [&](std::uint32_t first_lanes, std::uint32_t second_lanes) {
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        for (std::uint32_t other = 0; other < 32; ++other) {
          const std::int64_t apart = after.places[lane] - before.places[other];
          const bool both_come = (second_lanes >> lane & first_lanes >> other & 1) != 0;
          if (lane != other && both_come && apart > -later.bytes && apart < earlier.bytes) return true;
        }
      }
      return false;
    };
    if (!collide(~0U, ~0U)) return false;
    for (std::size_t warp = 0; warp < later.lanes.size(); ++warp)
      if (collide(earlier.lanes[warp], later.lanes[warp])) return true;
    return false;
  }

  /// Some load may follow some store, or a store a load of shared memory, whatever their places: most functions end
  /// here.
  bool may_exchange() {
    for (const bool is_store : {false, true})
      known_.push_back({.place = {},
                        .shape = 0,
                        .bytes = 0,
                        .is_store = is_store,
                        .is_shared = true,
                        .is_volatile = false,
                        .array = {},
                        .lanes = {},
                        .in_warp = {}});
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) numbers_[i] = is_store(function_.body[i]) ? 1 : 0;
    bool found = false;
    for_each_access([&](std::uint32_t i, const AccessesDone& done) {
      if (is_store(function_.body[i]))
        found |= (has(done, 0) || has(done, 1)) && *of_shared_[i];
      else
        found |= has(done, 1);
    });
    known_.clear();
    return found;
  }

  void number_accesses(LanePlaces& places) {
    std::map<std::tuple<LaneSum, std::int64_t, LanePlaces::LanesOfWarps, bool>, std::uint32_t> numbers[2][2];
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      const auto is_shared = of_shared_[i];
      if (!is_shared) continue;
      Access access{.place = places.place_of(i),
                    .shape = 0,
                    .bytes = bytes_of(instruction),
                    .is_store = is_store(instruction),
                    .is_shared = *is_shared,
                    .is_volatile = instruction.has(Modifier::Volatile),
                    .array = {},
                    .lanes = *is_shared ? places.lanes_at(i) : LanePlaces::LanesOfWarps{},
                    .in_warp = {}};
      const auto [found, is_new] = numbers[access.is_store ? 1 : 0][*is_shared ? 1 : 0].try_emplace(
          {access.place, access.bytes, access.lanes, access.is_volatile}, static_cast<std::uint32_t>(known_.size()));
      numbers_[i] = found->second;
      if (!is_new) continue;
      access.array = places.array_of(access.place);
      access.shape = shape_of(access.place);
      if (access.is_shared) access.in_warp = places.numbers_of(access.place);
      known_.push_back(std::move(access));
    }
  }

  void step(std::uint32_t i, AccessesDone& done) const {
    const Instruction& instruction = function_.body[i];
    const bool waits_for_phase = instruction.has(Modifier::TestWait) || instruction.has(Modifier::TryWait);
    if (waits_for_lanes(instruction) || waits_for_phase)
      std::fill(done.begin(), done.end(), 0);
    else if (const auto is_shared = of_shared_[i]; is_shared && (*is_shared || is_store(instruction)))
      done[numbers_[i] / 64] |= std::uint64_t{1} << numbers_[i] % 64;
  }

  /// Calls `visit(access, what was done before it)`.
  template <typename Visit>
  void for_each_access(const Visit& visit) const {
    const AccessesDone nothing((known_.size() + 63) / 64, 0);
    std::vector<AccessesDone> before(flow_.blocks.size(), nothing);
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId block = 0; block < flow_.blocks.size(); ++block) {
        AccessesDone done = before[block];
        for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) step(i, done);
        for (const BlockId next : flow_.blocks[block].successors) changed |= take(before[next], done);
        // Who calls a function may call it again.
        const bool returns = flow_.blocks[block].end == function_.body.size() ||
                             function_.body[flow_.blocks[block].end - 1].opcode == Opcode::Ret;
        if (returns && !function_.is_entry) changed |= take(before[0], done);
      }
    }
    for (BlockId block = 0; block < flow_.blocks.size(); ++block) {
      AccessesDone done = before[block];
      for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) {
        if (of_shared_[i]) visit(i, done);
        step(i, done);
      }
    }
  }

  const ptx::Function& function_;
  const ControlFlow flow_;
  std::vector<std::optional<bool>> of_shared_;  ///< by instruction: what is_plain_of_shared() says
  std::vector<std::uint32_t> numbers_;          ///< by instruction, the number of its access
  std::vector<Access> known_;                   ///< by number
  bool may_wait_ = false;
  std::map<std::pair<std::size_t, std::size_t>, bool> overwrites_;  ///< what writes_over() says of two accesses
  std::map<std::vector<std::pair<std::uint32_t, std::int64_t>>, std::size_t> shapes_;
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t, std::int64_t, std::int64_t, bool, bool>, Meeting>
      meetings_;
};

}  // namespace

PlainExchanges find_plain_exchanges(const ptx::Module& module, const Reach& reach) {
  PlainExchanges exchanges;
  const bool of_warps = knows_of_warps(module, reach);
  for (const FunctionId id : reach.functions)
    if (std::vector<bool> found = FunctionSearch(module, id, reach).run(of_warps); !found.empty())
      exchanges[id] = std::move(found);
  return exchanges;
}

}  // namespace cucore::cpu::analysis
