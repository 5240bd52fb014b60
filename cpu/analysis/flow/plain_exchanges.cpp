// Finds plain accesses by which lanes exchange values: see plain_exchanges.hpp.
#include "cpu/analysis/flow/plain_exchanges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "cpu/analysis/flow/lane_places.hpp"
#include "cpu/analysis/flow/lockstep.hpp"
#include "cpu/analysis/flow/reach.hpp"

namespace cucore::cpu::analysis {
namespace {

using ptx::FunctionId;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

/// Of memory that lanes share: one of the two, generic addresses as global ones. Volatile accesses of shared memory are
/// exchanges by themselves (lockstep.hpp), but for stores after stores.
std::optional<bool> is_plain_of_shared(const Instruction& i) {
  if (i.opcode != Opcode::Ld && i.opcode != Opcode::St) return {};
  for (const Modifier ordered : {Modifier::Relaxed, Modifier::Acquire, Modifier::Release, Modifier::Mmio, Modifier::Nc,
                                 Modifier::Cv, Modifier::Cg})
    if (i.has(ordered)) return {};
  if (i.space() == Space::Shared) return true;
  if (!i.has(Modifier::Volatile) && (i.space() == Space::Global || i.space() == Space::Generic)) return false;
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

/// Sets of accesses, by number.
using Accesses = std::vector<std::uint64_t>;

bool has(const Accesses& accesses, std::size_t number) { return (accesses[number / 64] >> number % 64 & 1) != 0; }
void add(Accesses& accesses, std::size_t number) { accesses[number / 64] |= std::uint64_t{1} << number % 64; }

bool take(Accesses& into, const Accesses& from) {
  bool changed = false;
  for (std::size_t word = 0; word < into.size(); ++word) {
    changed |= (from[word] & ~into[word]) != 0;
    into[word] |= from[word];
  }
  return changed;
}

class FunctionSearch {
 public:
  explicit FunctionSearch(const ptx::Function& function)
      : function_(function), flow_(function), numbers_(function.body.size(), 0) {}

  /// The accesses of all arrays through which values are exchanged; of those that lanes only write over, the stores.
  std::vector<bool> run(bool of_warps) {
    if (!may_exchange()) return {};
    places_.emplace(function_, flow_);
    // Lanes that hand something on to each other, one after the other, must not wait for all.
    may_wait_ = std::ranges::any_of(function_.body, [](const Instruction& i) {
      const bool polls = i.has(Modifier::Volatile) || i.has(Modifier::Relaxed) || i.has(Modifier::Acquire);
      return (i.opcode == Opcode::Ld && polls) || (i.opcode == Opcode::Atom && i.has(Modifier::Cas));
    });
    number_accesses();
    for (const std::vector<std::uint32_t>& accesses : look_up_arrays()) find_exchanges(accesses, of_warps);
    if (exchanged_.empty() && overwritten_.empty()) return {};
    std::vector<bool> found(function_.body.size(), false);
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      if (!is_plain_of_shared(function_.body[i])) continue;
      const Access& access = known_[numbers_[i]];
      found[i] = is_of(exchanged_, access) || (access.is_store && is_of(overwritten_, access));
    }
    return found;
  }

 private:
  /// All loads, or all stores, of so many bytes at one place by certain lanes.
  struct Access {
    LaneSum place;
    std::size_t shape;
    std::int64_t bytes;
    bool is_shared, is_store, is_volatile;
    std::optional<std::uint32_t> array;
    Accesses before;                 ///< that a thread may have done since it last waited for the lanes of its warp
    LanePlaces::LanesOfWarps lanes;  ///< that come there
  };

  /// Of one of these arrays, or of who knows which.
  static bool is_of(const std::set<std::uint32_t>& arrays, const Access& access) {
    return access.array ? arrays.contains(*access.array) : !arrays.empty();
  }

  static std::int64_t bytes_of(const Instruction& i) {
    return static_cast<std::int64_t>(ptx::size_in_bytes(i.type()) * i.vector_width);
  }

  /// A number for a place but for its constant: of one number, only the constants' difference tells how places meet.
  std::size_t shape_of(const LaneSum& place) { return shapes_.try_emplace(place.terms, shapes_.size()).first->second; }

  /// Some access may follow another one, one of them a store, whatever their places: most functions end here.
  bool may_exchange() {
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) numbers_[i] = is_store(function_.body[i]) ? 0 : 1;
    bool found = false;
    for_each_access(2, [&](std::uint32_t i, const Accesses& before) {
      found |= has(before, 0) || (is_store(function_.body[i]) && has(before, 1));
    });
    return found;
  }

  void number_accesses() {
    std::map<std::tuple<bool, bool, bool, LaneSum, std::int64_t, LanePlaces::LanesOfWarps>, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      const auto is_shared = is_plain_of_shared(instruction);
      if (!is_shared) continue;
      Access access{.place = places_->place_of(i),
                    .shape = 0,
                    .bytes = bytes_of(instruction),
                    .is_shared = *is_shared,
                    .is_store = is_store(instruction),
                    .is_volatile = instruction.has(Modifier::Volatile),
                    .array = {},
                    .before = {},
                    .lanes = places_->lanes_at(i)};
      const auto [found, is_new] = numbers.try_emplace(
          {access.is_shared, access.is_store, access.is_volatile, access.place, access.bytes, access.lanes},
          static_cast<std::uint32_t>(known_.size()));
      numbers_[i] = found->second;
      if (!is_new) continue;
      access.array = places_->array_of(access.place);
      access.shape = shape_of(access.place);
      known_.push_back(std::move(access));
    }
    for (Access& access : known_) access.before.assign((known_.size() + 63) / 64, 0);
    for_each_access(known_.size(),
                    [&](std::uint32_t i, const Accesses& before) { take(known_[numbers_[i]].before, before); });
  }

  /// The accesses of each array: those of others never meet.
  std::vector<std::vector<std::uint32_t>> look_up_arrays() const {
    std::map<std::pair<bool, std::uint32_t>, std::vector<std::uint32_t>> arrays;
    for (std::uint32_t number = 0; number < known_.size(); ++number)
      if (known_[number].array) arrays[{known_[number].is_shared, *known_[number].array}].push_back(number);
    std::vector<std::vector<std::uint32_t>> found;
    for (auto& [array, accesses] : arrays) found.push_back(std::move(accesses));
    return found;
  }

  void find_exchanges(const std::vector<std::uint32_t>& accesses, bool of_warps) {
    for (const std::uint32_t number : accesses) {
      const Access& later = known_[number];
      for (const std::uint32_t other : accesses) {
        const Access& earlier = known_[other];
        const bool both_store = earlier.is_store && later.is_store;
        if (!has(later.before, other) || (!earlier.is_store && !later.is_store)) continue;
        if (!both_store && (earlier.is_volatile || later.is_volatile)) continue;
        std::set<std::uint32_t>& arrays = both_store ? overwritten_ : exchanged_;
        if (arrays.contains(*later.array)) continue;
        const bool found = later.is_store ? write_over(earlier, later) : meet(earlier, later, of_warps);
        if (found) arrays.insert(*later.array);
      }
    }
  }

  /// A load where other lanes stored.
  bool meet(const Access& store, const Access& load, bool of_warps) {
    const auto [known, is_new] =
        meetings_.try_emplace({store.shape, load.shape, store.place.constant - load.place.constant, store.bytes,
                               load.bytes, store.is_shared});
    if (is_new) known->second = places_->meet({store.place, store.bytes}, {load.place, load.bytes}, store.is_shared);
    return known->second == Meeting::Surely || (known->second == Meeting::Perhaps && of_warps);
  }

  /// A store where other lanes loaded or stored, as far as the lanes' numbers tell.
  bool write_over(const Access& earlier, const Access& later) {
    const LanePlaces::Numbers *before = numbers_of(earlier), *after = numbers_of(later);
    if (before == nullptr || after == nullptr || before->common != after->common) return false;
    const auto is_one_place = [](const LanePlaces::Numbers& numbers) {
      return std::ranges::all_of(numbers.places, [&](std::int64_t place) { return place == numbers.places[0]; });
    };
    if (!later.is_shared || may_wait_ || is_one_place(*before) || is_one_place(*after)) return false;
    const auto collide = [&](std::uint32_t first_lanes, std::uint32_t second_lanes) {
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        for (std::uint32_t other = 0; other < 32; ++other) {
          const std::int64_t apart = after->places[lane] - before->places[other];
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

  /// In the first warp; in others they are as far from each other.
  const LanePlaces::Numbers* numbers_of(const Access& access) {
    const auto [found, is_new] = lane_numbers_.try_emplace(&access);
    if (is_new) found->second = places_->numbers_of(access.place);
    return found->second ? &*found->second : nullptr;
  }

  void step(std::uint32_t i, Accesses& done) const {
    const Instruction& instruction = function_.body[i];
    const bool waits_for_phase = instruction.has(Modifier::TestWait) || instruction.has(Modifier::TryWait);
    if (waits_for_lanes(instruction) || waits_for_phase)
      std::fill(done.begin(), done.end(), 0);
    else if (is_plain_of_shared(instruction))
      add(done, numbers_[i]);
  }

  /// Calls `visit(access, accesses done before it)`; there are so many numbers.
  template <typename Visit>
  void for_each_access(std::size_t count, const Visit& visit) const {
    const Accesses nothing((count + 63) / 64, 0);
    std::vector<Accesses> before(flow_.blocks.size(), nothing);
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId block = 0; block < flow_.blocks.size(); ++block) {
        Accesses done = before[block];
        for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) step(i, done);
        for (const BlockId next : flow_.blocks[block].successors) changed |= take(before[next], done);
        // Who calls a function may call it again.
        const bool returns = flow_.blocks[block].end == function_.body.size() ||
                             function_.body[flow_.blocks[block].end - 1].opcode == Opcode::Ret;
        if (returns && !function_.is_entry) changed |= take(before[0], done);
      }
    }
    for (BlockId block = 0; block < flow_.blocks.size(); ++block) {
      Accesses done = before[block];
      for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) {
        if (is_plain_of_shared(function_.body[i])) visit(i, done);
        step(i, done);
      }
    }
  }

  const ptx::Function& function_;
  const ControlFlow flow_;
  std::vector<std::uint32_t> numbers_;  ///< by instruction, that of its place
  std::vector<Access> known_;           ///< by number
  std::optional<LanePlaces> places_;
  bool may_wait_ = false;
  std::map<const Access*, std::optional<LanePlaces::Numbers>> lane_numbers_;
  std::set<std::uint32_t> exchanged_, overwritten_;
  std::map<std::vector<std::pair<std::uint32_t, std::int64_t>>, std::size_t> shapes_;
  std::map<std::tuple<std::size_t, std::size_t, std::int64_t, std::int64_t, std::int64_t, bool>, Meeting> meetings_;
};

}  // namespace

PlainExchanges find_plain_exchanges(const ptx::Module& module, const Reach& reach) {
  PlainExchanges exchanges;
  const bool of_warps = knows_of_warps(module, reach);
  for (const FunctionId id : reach.functions)
    if (std::vector<bool> found = FunctionSearch(module.functions[id]).run(of_warps); !found.empty())
      exchanges[id] = std::move(found);
  return exchanges;
}

}  // namespace cucore::cpu::analysis
