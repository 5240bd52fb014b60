// How marks look in IR, for the passes that turn them into code: marks.cpp and hoist_checks.cpp.
#pragma once

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

inline constexpr const char* range_mark = "cucpu.check.range";  ///< i1 (interval, first, beyond, alignment)
inline constexpr const char* lanes_mark =
    "cucpu.check.lanes";  ///< ptr (those of range, address, service, bytes, word, line)
inline constexpr const char* begin_mark = "cucpu.check.begin";  ///< void (service, variable, bytes)
inline constexpr const char* end_mark = "cucpu.check.end";      ///< likewise

bool is_mark(const llvm::Instruction& i, const char* name);

/// An access is inside if it begins less than `size` bytes behind `begin`.
struct IntervalBounds {
  llvm::Value* begin;
  llvm::Value* size;
};

/// Of `interval` as it is where `b` stands, for accesses with `beyond` bytes more.
IntervalBounds load_bounds(llvm::IRBuilder<>& b, llvm::Value* interval, std::uint64_t beyond);
llvm::Value* is_in_range(llvm::IRBuilder<>& b, llvm::Value* first, const IntervalBounds& bounds);
llvm::Value* is_multiple(llvm::IRBuilder<>& b, llvm::Value* number, std::uint64_t alignment);

/// The arguments of a range mark.
struct RangeMark {
  explicit RangeMark(const llvm::CallInst& call);
  llvm::Value* interval;
  llvm::Value* first;
  std::uint64_t beyond, alignment;
};

/// Likewise of a mark of lanes.
struct LaneMark : RangeMark {
  explicit LaneMark(const llvm::CallInst& call);
  llvm::Value *address, *service, *bytes, *word, *line;
};

/// The answer to a mark, in code.
llvm::Value* look_at(llvm::IRBuilder<>& b, const RangeMark& mark);
/// Tells the service of a begin or end, before `where`.
void expand_life(llvm::CallInst& mark, llvm::Instruction* where);

}  // namespace cucore::cpu::compiler
