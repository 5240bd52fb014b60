// Checks of numbers: which floating-point results checked code asks about. They are emitted as marks (calls that exist
// only in IR) with the instruction's result and operands, and become code when all else is done: questions of several
// results are one branch, and behind it, rarely, each is asked again and the run-time told (CheckTable::numbers).
#pragma once

#include "cpu/analysis/instructions/number_checks.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

/// Emits `instruction` by `generate`, with marks of what it makes.
void emit_with_number_marks(FunctionEmitter& f, const ptx::Instruction& instruction, Generate generate);

bool is_number_mark(const llvm::Instruction& i);

/// The arguments of a mark.
struct NumberMark {
  explicit NumberMark(const llvm::CallInst& call);
  llvm::Value* block;   ///< in the scalar form
  llvm::Value* linear;  ///< the thread's number, likewise
  llvm::Value* chosen;  ///< whether the result is used
  analysis::NumberTest test;
  llvm::Value* place;
  llvm::SmallVector<llvm::Value*, 4> values;  ///< the result, then the operands

  /// Binary logarithms of the bytes of each value, four bits each.
  std::uint32_t sizes() const;
};

/// The most values of a mark: a result and what it was made of.
inline constexpr unsigned most_values_of_mark = 4;

/// Whether a result may be worth a report: cheap, true of zeros too where those may have come from underflow. Values
/// are those of one thread, or vectors of all lanes, for which `host` may have instructions.
llvm::Value* may_be_exceptional(llvm::IRBuilder<>& b, const analysis::NumberTest& test,
                                llvm::ArrayRef<llvm::Value*> values, HostFeatures host = {});
/// The same but for what the operands make plain.
llvm::Value* is_exceptional(llvm::IRBuilder<>& b, const analysis::NumberTest& test,
                            llvm::ArrayRef<llvm::Value*> values);

/// What the run-time is told, but for the values.
struct NumberReport {
  llvm::Value* block;
  llvm::Value* place;
  llvm::Value* first;  ///< thread
  llvm::Value* lanes;  ///< mask of the lanes whose result is exceptional
  llvm::Value* values;
  std::uint32_t lane_count;
  std::uint32_t sizes;
};
void call_number_service(llvm::IRBuilder<>& b, const NumberReport& report);

/// Values of one chunk of lanes in memory, one behind the other as the run-time reads them.
constexpr std::uint64_t bytes_of_chunk(unsigned lanes) { return std::uint64_t{8} * most_values_of_mark * lanes; }

/// Calls a function of the module's own that asks `is_exceptional` of each chunk and tells the run-time. It stands
/// there once for all marks of a kind: the same in place, for each mark and chunk, is most of a kernel's code, and
/// keeps the back end busy for minutes. `types`: of the values of one chunk, as vectors. `values`: of all chunks, each
/// of bytes_of_chunk(). `masks`: 32 bits a chunk, the lanes that are asked about.
void call_chunk_teller(llvm::IRBuilder<>& b, const NumberMark& mark, llvm::ArrayRef<llvm::Type*> types,
                       const NumberReport& first_chunk, llvm::Value* masks, unsigned chunks);

/// Makes code of the marks of the scalar form.
void expand_number_marks(llvm::Module& ir);

}  // namespace cucore::cpu::compiler
