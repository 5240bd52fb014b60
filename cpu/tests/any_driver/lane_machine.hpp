// Small programs for the threads of a block, as PTX and done in lockstep: each instruction by all lanes that are there,
// then the next one, where lanes part one side after the other, and together again where the sides end. So a GPU runs
// converged lanes. What a program does must not depend on the order of sides, or of warps between barriers of the
// block: the model looks for that and says so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cucore::cpu {

enum class LaneOp : std::uint8_t {
  Set,  ///< to a number
  Copy,
  Tid,  ///< `number`: the axis
  Laneid,
  Add,
  Sub,
  Mul,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  Div,
  Rem,
  Min,
  Max,
  Popc,
  Less,  ///< 1 or 0; predicates are made of these
  Equal,
  Select,  ///< `a` if `c` is not 0, else `b`
  Load,
  Store,
  Ballot,
  Barrier,
  WarpBarrier,
  If,      ///< `body` where `a` is not 0, else `other`
  Repeat,  ///< `body`, and again where `a` is not 0
  Call,
  ReturnIf  ///< of a function, where `a` is not 0
};

/// A number of the program: of a register, or itself.
struct LaneValue {
  bool is_number = true;
  std::uint32_t number = 0;
};

struct LaneStep {
  LaneOp op;
  std::uint32_t to = 0;  ///< register
  LaneValue a = {}, b = {}, c = {};
  std::uint32_t number = 0;  ///< of an array or a function, or what the operation says
  std::int32_t offset = 0;   ///< words behind the place that `a` gives
  std::vector<LaneStep> body = {}, other = {};
};

enum class LaneSpace : std::uint8_t { Shared, Generic, Global };

struct LaneArray {
  LaneSpace space;
  std::uint32_t words, first;  ///< where it begins in the block's shared memory, or its part of global memory
  bool is_volatile;
};

struct LaneMachine {
  std::uint32_t block[3], blocks;
  bool asks_for_size;  ///< takes the block's size from %ntid
  bool shifts;         ///< makes addresses by shifts and additions
  std::vector<LaneArray> arrays;
  std::vector<std::vector<LaneStep>> functions;
  std::vector<LaneStep> kernel;
  std::uint32_t registers = 0;  ///< 0 is what each thread begins with and leaves

  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  std::uint32_t words_of(bool is_global) const;
  /// `k(u32* cells, u32* out)`
  std::string ptx() const;
  /// `out` by thread of the grid; `fault`: why the program has no certain result.
  std::vector<std::uint32_t> run(std::string* fault) const;
};

/// What word `i` of all memory of a block is at first, and a thread of the grid's number.
std::uint32_t first_word(std::uint32_t i);
std::uint32_t first_value(std::uint32_t thread);

}  // namespace cucore::cpu
