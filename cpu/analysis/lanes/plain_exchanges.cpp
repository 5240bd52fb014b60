// Finds plain accesses by which lanes exchange values: see plain_exchanges.hpp.
#include "cpu/analysis/lanes/plain_exchanges.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

#include "cpu/analysis/flow/synchronization.hpp"
#include "cpu/analysis/flow/waiting_loops.hpp"
#include "cpu/analysis/lanes/lane_accesses.hpp"

namespace cucore::cpu::analysis {
namespace {

using ptx::FunctionId;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

/// Of which memory a plain or volatile access may be, if it is of what lanes share.
struct Touched {
  bool shared, generic;
};

/// Volatile accesses that only wait for something exchange nothing.
std::optional<Touched> touched_by(const Instruction& i, bool is_in_waiting_loop) {
  if (i.opcode != Opcode::Ld && i.opcode != Opcode::St) return {};
  for (const Modifier ordered : {Modifier::Relaxed, Modifier::Acquire, Modifier::Release, Modifier::Mmio, Modifier::Nc,
                                 Modifier::Cv, Modifier::Cg})
    if (i.has(ordered)) return {};
  if (i.has(Modifier::Volatile) && is_in_waiting_loop) return {};
  if (i.space() == Space::Shared) return Touched{.shared = true, .generic = false};
  if (i.space() == Space::Global) return Touched{.shared = false, .generic = false};
  if (i.space() == Space::Generic) return Touched{.shared = false, .generic = true};
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

bool knows_of_warps(const ptx::Module& module, const Reach& reach, const BlockShape& shape) {
  if (shape.is_one_warp()) return true;
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

/// An address of shared memory that is made one of any memory.
bool makes_shared_generic(const Instruction& i) {
  return i.opcode == Opcode::Cvta && !i.has(Modifier::To) && i.space() == Space::Shared;
}

/// What other functions of the kernel have to do with the one that is looked at.
struct OtherFunctions {
  bool knows_warps;                ///< the kernel
  bool has_generic_shared;         ///< generic addresses may be of shared memory
  std::vector<bool> touch;         ///< by FunctionId: memory through which lanes may exchange values
  std::vector<bool> leave_undone;  ///< of these: with accesses behind which they do not wait for lanes
  bool touches_besides(FunctionId id) const {
    for (FunctionId other = 0; other < touch.size(); ++other)
      if (other != id && touch[other]) return true;
    return false;
  }
};

constexpr std::uint32_t any_array = ~0U;

class FunctionSearch {
 public:
  FunctionSearch(const ptx::Module& module, FunctionId id, const Reach& reach, const BlockShape& shape)
      : module_(module), function_(module.functions[id]), id_(id), shape_(shape), flow_(function_) {
    const auto is_volatile = [](const Instruction& i) { return i.has(Modifier::Volatile); };
    const bool has_volatile = std::any_of(function_.body.begin(), function_.body.end(), is_volatile);
    const std::set<BlockId> waiting = has_volatile ? find_waiting_blocks(module, id, reach) : std::set<BlockId>{};
    touched_.resize(function_.body.size());
    // Lanes that hand something on to each other, one after the other, must not wait for all.
    may_wait_ = std::any_of(function_.body.begin(), function_.body.end(), [](const Instruction& i) {
      const bool polls = i.has(Modifier::Relaxed) || i.has(Modifier::Acquire);
      return (i.opcode == Opcode::Ld && polls) || (i.opcode == Opcode::Atom && i.has(Modifier::Cas));
    });
    may_wait_ |= !waiting.empty();
    for (BlockId block = 0; block < flow_.blocks.size(); ++block)
      for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i)
        touched_[i] = touched_by(function_.body[i], waiting.contains(block));
  }

  /// The accesses of all arrays through which values are exchanged. `leaves_undone`: set if the function returns with
  /// accesses of shared memory behind which it has not waited for lanes. `gives`: set if a place is given anew.
  std::vector<bool> run(const OtherFunctions& others, bool* leaves_undone, bool* gives) {
    others_ = &others;
    shares_with_others_ = others.touch[id_] && others.touches_besides(id_);
    numbers_.assign(function_.body.size(), 0);
    if (!may_exchange()) return {};
    LanePlaces places(module_, function_, flow_, shape_);
    number_accesses(places);
    LaneConflicts conflicts(places, others.knows_warps, shape_.is_one_warp(), may_wait_);
    std::set<std::uint32_t> arrays, overwritten, places_given_anew;
    const auto exchange = [&](const LaneAccess& access) { arrays.insert(access.array.value_or(any_array)); };
    for_each_access([&](std::uint32_t i, const AccessesDone& done) {
      if (function_.body[i].opcode == Opcode::Call) {
        for (std::size_t n = 0; n < known_.size(); ++n)
          if (has(done, n) && counts_elsewhere(known_[n])) exchange(known_[n]);
        return;
      }
      const LaneAccess& later = known_[numbers_[i]];
      if (counts_elsewhere(later) && has(done, of_others())) exchange(later);
      for (std::size_t n = 0; n < known_.size(); ++n) {
        const LaneAccess& earlier = known_[n];
        if ((!earlier.is_store && !later.is_store) || !has(done, n)) continue;
        // Volatile accesses of shared memory are lockstep.hpp's, but for two stores.
        const bool both_store = earlier.is_store && later.is_store;
        if (!both_store && later.is_shared && earlier.is_volatile && later.is_volatile) continue;
        if (both_store) {
          if (!overwritten.contains(later.array.value_or(any_array)) && conflicts.disturb(n, numbers_[i], known_))
            for (const LaneAccess* one : {&earlier, &later}) overwritten.insert(one->array.value_or(any_array));
          continue;
        }
        if (gives_anew(earlier, later)) {
          places_given_anew.insert({static_cast<std::uint32_t>(n), numbers_[i]});
          *gives = true;
          continue;
        }
        if (conflicts.reach_another_warp(n, numbers_[i], known_)) {
          places_given_anew.insert({static_cast<std::uint32_t>(n), numbers_[i]});
          *gives = true;
        }
        const auto is_known = [&](const LaneAccess& one) { return arrays.contains(one.array.value_or(any_array)); };
        if ((is_known(later) && is_known(earlier)) || !conflicts.disturb(n, numbers_[i], known_)) continue;
        exchange(later);
        exchange(earlier);
      }
    });
    if (shares_with_others_ && !function_.is_entry) {
      for (std::size_t n = 0; n < known_.size(); ++n) {
        if (!counts_elsewhere(known_[n]) || !has(at_return_, n)) continue;
        *leaves_undone = true;
        exchange(known_[n]);
      }
    }
    if (arrays.empty() && overwritten.empty() && places_given_anew.empty()) return {};
    std::vector<bool> found(function_.body.size(), false);
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      if (!touched_[i]) continue;
      const std::optional<std::uint32_t>& array = known_[numbers_[i]].array;
      const auto is_of = [&](const std::set<std::uint32_t>& some) {
        return array ? some.contains(*array) || some.contains(any_array) : !some.empty();
      };
      found[i] = is_of(arrays) || (is_store(function_.body[i]) && is_of(overwritten)) ||
                 places_given_anew.contains(numbers_[i]);
    }
    return found;
  }

 private:
  static std::int64_t bytes_of(const Instruction& i) {
    return static_cast<std::int64_t>(ptx::size_in_bytes(i.type()) * i.vector_width);
  }

  /// Other functions may disturb it.
  bool counts_elsewhere(const LaneAccess& access) const { return access.is_shared || others_->knows_warps; }

  /// One thread stores anew what others have loaded from one place: a flag, a ticket, a sum for all.
  bool gives_anew(const LaneAccess& earlier, const LaneAccess& later) const {
    if (!later.is_store || !later.is_shared || may_wait_ || !earlier.numbers || !later.numbers) return false;
    const LanePlaces::Numbers &before = *earlier.numbers, &after = *later.numbers;
    if (!before.is_one_place() || !after.is_one_place() || before.common != after.common) return false;
    const std::int64_t apart = after.of_warp(0)[0] - before.of_warp(0)[0];
    const LanePlaces::LanesOfWarps& storing = later.lanes.may_come;
    if (apart <= -later.bytes || apart >= earlier.bytes || earlier.lanes.may_come == storing) return false;
    const auto add = [](int sum, std::uint32_t lanes) { return sum + std::popcount(lanes); };
    return std::accumulate(storing.begin(), storing.end(), 0, add) == 1;
  }

  /// The number that stands for what other functions did.
  std::size_t of_others() const { return known_.size(); }

  /// A number for a place but for its constant: of one number, only the constants' difference tells how places overlap.
  std::size_t shape_of(const LaneSum& place) { return shapes_.try_emplace(place.terms, shapes_.size()).first->second; }

  /// Some load may follow some store, or a store a load, whatever their places: some functions end here.
  bool may_exchange() {
    for (const bool is_store : {false, true}) {
      LaneAccess any;
      any.is_store = is_store;
      known_.push_back(any);
    }
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) numbers_[i] = is_store(function_.body[i]) ? 1 : 0;
    bool found = shares_with_others_;
    for_each_access([&](std::uint32_t i, const AccessesDone& done) {
      found |= has(done, 1) || (is_store(function_.body[i]) && has(done, 0));
    });
    known_.clear();
    return found;
  }

  void number_accesses(LanePlaces& places) {
    std::map<std::tuple<LaneSum, std::int64_t, LanePlaces::LanesThere, bool, bool, bool>, std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
      const Instruction& instruction = function_.body[i];
      if (!touched_[i]) continue;
      LaneAccess access;
      access.place = places.place_of(i);
      access.bytes = bytes_of(instruction);
      access.is_store = is_store(instruction);
      access.is_volatile = instruction.has(Modifier::Volatile);
      access.array = places.array_of(access.place);
      access.is_of_function = !access.array && !function_.is_entry;
      const bool is_of_variable = access.array && places.shared_bytes_of(*access.array);
      access.is_shared = touched_[i]->shared || is_of_variable ||
                         (touched_[i]->generic && !access.array && others_->has_generic_shared);
      access.lanes = places.lanes_at(i);
      const auto [found, is_new] = numbers.try_emplace(
          {access.place, access.bytes, access.lanes, access.is_volatile, access.is_store, access.is_shared},
          static_cast<std::uint32_t>(known_.size()));
      numbers_[i] = found->second;
      if (!is_new) continue;
      access.shape = shape_of(access.place);
      access.numbers = places.numbers_of(access.place);
      access.leaves_array = leaves_array(places, access);
      known_.push_back(std::move(access));
    }
  }

  /// A lane that surely comes there has its place behind the array, or before it.
  static bool leaves_array(const LanePlaces& places, const LaneAccess& access) {
    if (!access.array || !access.numbers || access.numbers->counts || !access.lanes.unknown.empty()) return false;
    const auto bytes = static_cast<std::int64_t>(places.shared_bytes_of(*access.array).value_or(0));
    if (bytes == 0) return false;
    if (access.numbers->common.size() != 1) return access.place.constant >= bytes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const std::int64_t place = access.numbers->of_warp(0)[lane];
      if ((access.lanes.may_come[0] >> lane & 1) != 0 && (place < 0 || place + access.bytes > bytes)) return true;
    }
    return false;
  }

  bool calls(const Instruction& i, const std::vector<bool>& some) const {
    if (i.opcode != Opcode::Call) return false;
    if (is_indirect_call(i)) return std::find(some.begin(), some.end(), true) != some.end();
    return std::any_of(i.operands.begin(), i.operands.end(), [&](const Operand& operand) {
      if (operand.kind != Operand::Kind::Function) return false;
      const Callee callee = resolve(module_, operand.function);
      return callee.function && some[*callee.function];
    });
  }

  void step(std::uint32_t i, AccessesDone& done) const {
    const Instruction& instruction = function_.body[i];
    const bool waits_for_phase = instruction.has(Modifier::TestWait) || instruction.has(Modifier::TryWait);
    if (waits_for_lanes(instruction) || waits_for_phase) {
      const std::uint32_t lanes = waits_for_phase ? ~0U : lanes_waited_for(instruction);
      if (lanes == ~0U) return std::fill(done.begin(), done.end(), 0);
      for (std::size_t n = 0; n < known_.size(); ++n) {
        const auto& there = known_[n].lanes.may_come;
        if (has(done, n) && std::ranges::all_of(there, [&](auto some) { return (some & ~lanes) == 0; }))
          done[n / 64] &= ~(std::uint64_t{1} << n % 64);
      }
      return;
    }
    const auto add = [&](std::size_t number) { done[number / 64] |= std::uint64_t{1} << number % 64; };
    if (touched_[i]) add(numbers_[i]);
    if (shares_with_others_ && calls(instruction, others_->leave_undone)) add(of_others());
  }

  /// Calls `visit(access or call, what was done before it)`.
  template <typename Visit>
  void for_each_access(const Visit& visit) {
    const AccessesDone nothing(known_.size() / 64 + 1, 0);
    std::vector<AccessesDone> before(flow_.blocks.size(), nothing);
    at_return_ = nothing;
    if (shares_with_others_ && !function_.is_entry) before[0][of_others() / 64] |= std::uint64_t{1} << of_others() % 64;
    for (bool changed = true; changed;) {
      changed = false;
      for (BlockId block = 0; block < flow_.blocks.size(); ++block) {
        AccessesDone done = before[block];
        for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) step(i, done);
        for (const BlockId next : flow_.blocks[block].successors) changed |= take(before[next], done);
        // Who calls a function may call it again.
        const bool returns = flow_.blocks[block].end == function_.body.size() ||
                             function_.body[flow_.blocks[block].end - 1].opcode == Opcode::Ret;
        if (returns && !function_.is_entry) {
          changed |= take(before[0], done);
          take(at_return_, done);
        }
      }
    }
    for (BlockId block = 0; block < flow_.blocks.size(); ++block) {
      AccessesDone done = before[block];
      for (std::uint32_t i = flow_.blocks[block].first; i < flow_.blocks[block].end; ++i) {
        if (touched_[i] || (shares_with_others_ && calls(function_.body[i], others_->touch))) visit(i, done);
        step(i, done);
      }
    }
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const FunctionId id_;
  const BlockShape shape_;
  const ControlFlow flow_;
  const OtherFunctions* others_ = nullptr;
  bool may_wait_ = false;
  bool shares_with_others_ = false;              ///< other functions access shared memory, and so does this one
  std::vector<std::optional<Touched>> touched_;  ///< by instruction
  std::vector<std::uint32_t> numbers_;           ///< by instruction, the number of its access
  std::vector<LaneAccess> known_;                ///< by number
  AccessesDone at_return_;                       ///< what may have been done where the function returns
  std::map<std::vector<std::pair<std::uint32_t, std::int64_t>>, std::size_t> shapes_;
};

/// As far as it is known before any function is searched.
OtherFunctions functions_of(const ptx::Module& module, const Reach& reach, const BlockShape& shape) {
  OtherFunctions all{.knows_warps = knows_of_warps(module, reach, shape),
                     .has_generic_shared = false,
                     .touch = std::vector<bool>(module.functions.size(), false),
                     .leave_undone = std::vector<bool>(module.functions.size(), false)};
  const auto any = [&](FunctionId id, const auto& holds) {
    return std::any_of(module.functions[id].body.begin(), module.functions[id].body.end(), holds);
  };
  for (const FunctionId id : reach.functions) all.has_generic_shared |= any(id, makes_shared_generic);
  for (const FunctionId id : reach.functions) {
    all.touch[id] = any(id, [&](const Instruction& i) {
      const auto touched = touched_by(i, false);
      return touched && (touched->shared || (touched->generic && all.has_generic_shared) || all.knows_warps);
    });
  }
  return all;
}

/// Code of gcc's offloading compiler in which all lanes of a warp run one thread of the program, with the same values,
/// and one of them does its atomic operations: they load what they store at once.
bool is_uniform_simt(const ptx::Module& module, const Reach& reach) {
  return std::any_of(reach.variables.begin(), reach.variables.end(),
                     [&](ptx::VariableId id) { return module.variables[id].name == "__nvptx_uni"; });
}

}  // namespace

PlainExchanges find_plain_exchanges(const ptx::Module& module, const Reach& reach, const BlockShape& shape,
                                    bool* gives_anew) {
  PlainExchanges exchanges;
  if (is_uniform_simt(module, reach)) {
    for (const FunctionId id : reach.functions) {
      std::vector<bool>& found = exchanges[id];
      for (const Instruction& i : module.functions[id].body)
        found.push_back(touched_by(i, false).has_value() || i.opcode == Opcode::Atom || i.opcode == Opcode::Red);
    }
    return exchanges;
  }
  OtherFunctions others = functions_of(module, reach, shape);
  // Functions that are called tell those that call them what they leave undone.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto id = reach.functions.rbegin(); id != reach.functions.rend(); ++id) {
      bool leaves_undone = false;
      std::vector<bool> found = FunctionSearch(module, *id, reach, shape).run(others, &leaves_undone, gives_anew);
      changed |= leaves_undone && !others.leave_undone[*id];
      if (leaves_undone) others.leave_undone[*id] = true;
      if (!found.empty()) exchanges[*id] = std::move(found);
    }
  }
  return exchanges;
}

}  // namespace cucore::cpu::analysis
