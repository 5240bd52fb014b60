// Where in memory the accesses of lanes lie, as far as it can be said before a kernel runs: sums of what is the same
// for a warp, of the lane's number, and of what is computed from it. Enough to judge whether a lane reads where another
// one of its warp wrote.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cpu/analysis/flow/block_shape.hpp"
#include "cpu/analysis/flow/control_flow.hpp"
#include "cpu/analysis/flow/dominators.hpp"
#include "cpu/analysis/flow/register_writers.hpp"
#include "cpu/analysis/lanes/lane_sum.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// Whether lanes of a warp reach each other's places.
enum class Overlap : std::uint8_t {
  Never,    ///< or nothing says so: arrays of different names, strides that only the host knows, indices from memory
  Perhaps,  ///< by what is computed from the lane's number, or by a number that changes from step to step
  Surely,   ///< the next lane's, or that of a lane at a power of two
};

class LanePlaces {
 public:
  LanePlaces(const ptx::Module& module, const ptx::Function& function, const ControlFlow& flow,
             const BlockShape& shape);

  /// Of a load or store: its address.
  LaneSum place_of(std::uint32_t instruction);

  /// Of accesses of so many bytes.
  struct Access {
    LaneSum place;
    std::int64_t bytes;
  };
  enum class Order : std::uint8_t { StoreFirst, LoadFirst };
  Overlap overlap(const Access& store, const Access& load, bool is_shared, Order order);

  /// What the lanes of a warp make of a place by their numbers alone, and what is the same for all of them. None if it
  /// depends on more.
  struct Numbers {
    std::vector<std::pair<std::uint32_t, std::int64_t>> common;
    std::vector<std::array<std::int64_t, 32>> places;  ///< by warp, the last one for all that follow, which are alike
    std::int64_t steps = 0;                            ///< by multiples of it they differ from one round to the next
    bool counts = false;                               ///< they do, though the multiples may not be known

    const std::array<std::int64_t, 32>& of_warp(std::size_t warp) const {
      return places[warp < places.size() ? warp : places.size() - 1];
    }
    bool is_one_place() const;
  };
  /// Of a block of one row all are alike, and one is enough.
  std::optional<Numbers> numbers_of(const LaneSum& place) {
    return numbers_of(place, shape_.is_known() ? warps() : 1, false);
  }
  /// Of all warps, or of two where all are alike, so that it shows how one reaches into the next. What is common is the
  /// same for all of them.
  std::optional<Numbers> numbers_of_warps(const LaneSum& place) {
    return numbers_of(place, std::max(warps(), 2U), true);
  }
  /// How far apart warps are that may have the same places: neighbours, and those of two rows, or planes, of a block.
  std::set<std::uint32_t> distances_of_warps() const {
    if (!shape_.is_known()) return {1};
    return {1, (shape_.x + 31) / 32, (shape_.x * shape_.y + 31) / 32};
  }
  /// Nothing in it changes from round to round.
  bool stays(const LaneSum& sum) const;
  /// It is computed from what lanes loaded.
  bool is_from_memory(const LaneSum& place) const;
  /// What changes from round to round is the same in both.
  bool are_of_one_round(const LaneSum& a, const LaneSum& b) const;
  /// What in it is doubled or halved from step to step.
  std::set<std::uint32_t> steps_in(const LaneSum& sum);
  /// Until nothing is assumed, numbers are those for such a value.
  void assume(std::uint32_t symbol, std::int64_t value) { assumed_ = {symbol, value}; }
  void assume_nothing() { assumed_.reset(); }

  /// The lanes of each warp, as bits.
  using LanesOfWarps = std::array<std::uint32_t, 32>;
  /// Those that come to an instruction.
  struct LanesThere {
    LanesOfWarps may_come;  ///< without those that a comparison of their numbers keeps away
    /// What else decides who comes: who makes the predicate, and what it must be.
    std::vector<std::pair<std::uint32_t, bool>> unknown;
    bool is_one = false;  ///< at most one of a warp: of its number and one that is the same for all
    auto operator<=>(const LanesThere& other) const = default;
  };
  LanesThere lanes_at(std::uint32_t instruction);
  /// Of these, those that what else decides does not keep away, as far as numbers tell.
  LanesOfWarps without_kept_away(const LanesThere& there);

  /// Of a variable in shared memory, its size, if it is known; of others none.
  std::optional<std::uint64_t> shared_bytes_of(std::uint32_t array) const { return symbols_[array].shared_bytes; }
  /// The array that a place is in: a symbol. None if the address comes from elsewhere than a name or a parameter.
  std::optional<std::uint32_t> array_of(const LaneSum& place);

 private:
  static constexpr std::int64_t most_threads = 1024;  ///< of a block
  enum class Kind : std::uint8_t { Uniform, Varied, Data };
  struct Symbol {
    Kind kind = Kind::Uniform;
    bool is_of_row = false;                       ///< if it is Uniform: other warps may have another
    bool is_lane = false;                         ///< the lane's number, or the thread's on x
    std::int32_t axis = -1;                       ///< of a thread's number there
    bool is_width = false;                        ///< of the block, on x
    bool is_array = false;                        ///< the address of a variable, or a parameter that may be a pointer
    std::optional<ptx::RegisterId> joined = {};   ///< what a register written in several places holds
    ptx::Opcode opcode{};                         ///< that it is the result of, of `arguments`
    std::vector<std::uint32_t> arguments = {};    ///< symbols in them
    std::vector<LaneSum> operands = {};           ///< if it is computed from two, or chosen of them: they
    bool is_of_words = false;                     ///< they are unsigned and of 32 bits
    std::optional<std::uint32_t> chosen_by = {};  ///< who makes the predicate
    std::optional<std::int64_t> low = {}, high = {};  ///< what it may be
    std::int64_t multiple_of = 1;                     ///< what it is a multiple of
    std::optional<std::uint64_t> shared_bytes = {};   ///< of a variable in shared memory, 0 if not known
  };
  /// What a register written in several places starts from, and by what multiples it goes on.
  struct Counter {
    std::optional<LaneSum> start;
    std::int64_t step = 0;  ///< 0: by numbers not known
    bool counts = false;    ///< it only ever adds what is the same for all lanes
    bool doubles = false;   ///< it is multiplied, shifted and so on
  };
  struct Spread {
    LaneSum sum;
    std::int64_t steps = 0;  ///< what all counted steps are multiples of, 0 if none are known
    bool counts = false;     ///< there are some
  };

  std::uint32_t warps() const { return shape_.is_known() ? (threads_ + 31) / 32 : 2; }
  std::optional<Numbers> numbers_of(const LaneSum& place, std::uint32_t warps, bool are_compared);
  LanesOfWarps everybody() const;
  void find_kinds();
  Kind kind_of(const ptx::Operand& operand) const;
  Kind kind_of_result(const ptx::Instruction& instruction) const;
  bool is_of_row(const ptx::Operand& operand) const;
  bool is_of_row(const ptx::Instruction& instruction) const;

  LaneSum value_of(const ptx::Operand& operand, std::uint32_t at);
  LaneSum value_of_register(ptx::RegisterId reg, std::uint32_t at);
  LaneSum value_of_result(std::uint32_t instruction);
  LaneSum computed(std::uint32_t instruction);
  LaneSum special(const ptx::SpecialRegister& special);
  LaneSum opaque(const ptx::Instruction& instruction, std::vector<LaneSum> arguments);
  LaneSum joined(ptx::RegisterId reg);

  std::uint32_t add_symbol(Symbol symbol);
  std::uint32_t named(std::vector<std::int64_t> key, const Symbol& symbol);
  const Counter& counter(std::uint32_t symbol);
  bool depends(std::uint32_t symbol, std::uint32_t on, unsigned depth) const;
  bool is_power_step(std::uint32_t symbol);
  Spread spread(LaneSum sum);
  std::int64_t lane_factor(const LaneSum& sum) const;
  bool are_apart(const Access& store, const Access& load) const;
  bool keep_to_columns(const Access& store, const Access& load) const;
  std::optional<std::pair<std::int64_t, std::int64_t>> range_of(const LaneSum& sum) const;
  std::optional<std::int64_t> value_for(const LaneSum& sum, std::uint32_t thread);
  std::optional<std::int64_t> value_for(std::uint32_t symbol, std::uint32_t thread);
  std::optional<bool> holds_for(std::uint32_t at, std::uint32_t thread, unsigned depth);
  std::optional<bool> compares_for(const ptx::Instruction& setp, std::uint32_t at, std::uint32_t thread);
  const LanesThere& lanes_in(BlockId of);
  void keep_away(LanesThere& running, std::uint32_t at, bool holds);
  /// A comparison that decides who comes.
  bool holds_for_one(std::uint32_t at, bool holds);

  const ptx::Module& module_;
  const ptx::Function& function_;
  const ControlFlow& flow_;
  RegisterWriters writers_;
  const Dominators dominators_;
  const BlockShape shape_;                ///< known if the block has several rows, or is one warp
  std::uint32_t threads_ = most_threads;  ///< of a block, at most
  std::vector<Kind> kinds_;               ///< by register
  std::vector<bool> of_rows_;             ///< by register: as of a symbol
  std::deque<Symbol> symbols_;            ///< whose places in memory stay
  std::map<std::vector<std::int64_t>, std::uint32_t> names_;
  std::map<std::uint32_t, LaneSum> results_;  ///< by instruction
  std::map<std::uint32_t, Counter> counters_;
  std::map<BlockId, LanesThere> running_;
  struct KeptAway {
    std::array<LanesOfWarps, 2> lanes{};  ///< if false, or true
    bool is_known = true;                 ///< of each thread
  };
  std::map<std::uint32_t, KeptAway> kept_away_;  ///< by who makes a predicate
  std::optional<std::pair<std::uint32_t, std::int64_t>> assumed_;
  unsigned depth_ = 0;
};

}  // namespace cucore::cpu::analysis
