// Where in memory the accesses of lanes lie, as far as it can be said before a kernel runs: sums of what is the same
// for a warp, of the lane's number, and of what is computed from it. Enough to judge whether a lane reads where another
// one of its warp wrote.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/analysis/flow/control_flow.hpp"
#include "cpu/analysis/flow/register_writers.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// `constant` and multiples of symbols, in ascending order, none by zero.
struct LaneSum {
  std::vector<std::pair<std::uint32_t, std::int64_t>> terms;
  std::int64_t constant = 0;

  bool operator==(const LaneSum& other) const = default;
  bool operator<(const LaneSum& other) const;
};

/// Wraps around as addresses do.
inline std::int64_t times(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
inline std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

/// Whether lanes of a warp reach each other's places.
enum class Meeting : std::uint8_t {
  Never,    ///< or nothing says so: arrays of different names, strides that only the host knows, indices from memory
  Perhaps,  ///< by what is computed from the lane's number, or by a number that changes from step to step
  Surely,   ///< the next lane's, or that of a lane at a power of two
};

class LanePlaces {
 public:
  LanePlaces(const ptx::Function& function, const ControlFlow& flow);

  /// Of a load or store: its address.
  LaneSum place_of(std::uint32_t instruction);

  /// Of accesses of so many bytes.
  struct Access {
    LaneSum place;
    std::int64_t bytes;
  };
  enum class Order : std::uint8_t { StoreFirst, LoadFirst };
  Meeting meet(const Access& store, const Access& load, bool is_shared, Order order);

  /// What the lanes of a warp make of a place by their numbers alone, and what is the same for all of them. None if it
  /// depends on more.
  struct Numbers {
    std::vector<std::pair<std::uint32_t, std::int64_t>> common;
    std::array<std::int64_t, 32> places;
  };
  std::optional<Numbers> numbers_of(const LaneSum& place);

  /// The lanes of each warp, as bits, that may come to an instruction: without those that a comparison of their numbers
  /// keeps away.
  using LanesOfWarps = std::array<std::uint32_t, 32>;
  LanesOfWarps lanes_at(std::uint32_t instruction);

  /// The array that a place is in: a symbol. None if the address comes from elsewhere than a name or a parameter.
  std::optional<std::uint32_t> array_of(const LaneSum& place);

 private:
  static constexpr std::int64_t most_threads = 1024;  ///< of a block
  enum class Kind : std::uint8_t { Uniform, Varied, Data };
  struct Symbol {
    Kind kind = Kind::Uniform;
    bool is_lane = false;                        ///< the lane's number, or the thread's
    bool is_row = false;                         ///< the thread's number on y
    bool is_array = false;                       ///< the address of a variable, or a parameter that may be a pointer
    std::optional<ptx::RegisterId> joined = {};  ///< what a register written in several places holds
    ptx::Opcode opcode{};                        ///< that it is the result of, of `arguments`
    std::vector<std::uint32_t> arguments = {};   ///< symbols in them
    std::vector<LaneSum> operands = {};          ///< if it is computed from two: they
    std::optional<std::int64_t> low = {}, high = {};  ///< what it may be
    std::int64_t multiple_of = 1;                     ///< what it is a multiple of
    std::uint64_t bytes = 0;                          ///< of a variable in shared memory, if known
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

  void learn_shape();
  /// A place's parts that are multiples of a thread's numbers, and the size of the array that it is in.
  struct OfBlock {
    std::int64_t on_x, on_y, bytes;
    bool has_more;
  };
  bool all_come_to(BlockId block) const;
  OfBlock in_block(const LaneSum& place) const;
  std::int64_t threads_on_x(std::uint32_t access);
  std::int64_t threads_in_row(std::uint32_t store);
  LanesOfWarps everybody() const;
  void find_kinds();
  Kind kind_of(const ptx::Operand& operand) const;
  Kind kind_of_result(const ptx::Instruction& instruction) const;

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
  std::optional<std::int64_t> value_for(const LaneSum& sum, std::uint32_t thread) const;
  std::optional<std::int64_t> value_for(const Symbol& symbol, std::uint32_t thread) const;
  std::optional<bool> holds_for(std::uint32_t at, std::uint32_t thread, unsigned depth);
  std::optional<bool> compares_for(const ptx::Instruction& setp, std::uint32_t at, std::uint32_t thread);
  const LanesOfWarps& lanes_in(BlockId of);
  void keep_away(LanesOfWarps& running, std::uint32_t at, bool holds);

  const ptx::Function& function_;
  const ControlFlow& flow_;
  RegisterWriters writers_;
  std::uint32_t row_ = 0;                 ///< threads on x, if rows of a block are less than a warp; 0: they are not
  std::uint32_t threads_ = most_threads;  ///< of a block, at most
  std::vector<Kind> kinds_;               ///< by register
  std::vector<Symbol> symbols_;
  std::map<std::vector<std::int64_t>, std::uint32_t> names_;
  std::map<std::uint32_t, LaneSum> results_;  ///< by instruction
  std::map<std::uint32_t, Counter> counters_;
  std::map<BlockId, LanesOfWarps> running_;
  std::map<std::uint32_t, std::array<LanesOfWarps, 2>> kept_away_;  ///< by who makes a predicate: if false, or true
  unsigned depth_ = 0;
};

}  // namespace cucore::cpu::analysis
