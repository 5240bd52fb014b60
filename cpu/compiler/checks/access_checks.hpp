// The checks of one access in checked code: what is known of it before it happens, and IR that asks for the rest.
// emit_checks.hpp says where they stand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/abi/checks.hpp"
#include "cpu/analysis/instructions/memory_accesses.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

/// A call of one of the checker's services, `field` of its table.
llvm::CallInst* call_service(FunctionEmitter& f, llvm::Value* table, std::size_t field, llvm::Type* result,
                             llvm::ArrayRef<llvm::Value*> arguments);

class AccessChecks {
 public:
  AccessChecks(FunctionEmitter& f, const ptx::Instruction& i, const analysis::MemoryAccess& access);

  /// Goes on where the access may happen; to `refused` where it may not.
  void check_memory(llvm::BasicBlock* refused);

  /// For the vector form: the address to use for the access; null if no access can be out of bounds.
  llvm::Value* address_of_lanes();
  void check_written();
  void check_race();

  /// After the access.
  void note_written();

 private:
  bool has_written_shadow() const { return (checks_ & check_class::init_checks) != 0; }
  bool only_carries() const;

  /// A variable by its name, at a constant offset inside it.
  bool is_within_variable() const;

  /// As a number, not as a pointer made from one: LLVM can analyse by which steps numbers change.
  llvm::Value* number_of(llvm::Value* pointer);
  llvm::Value* byte_count();
  llvm::Value* line() { return b_.getInt32(instruction_.position.line); }
  llvm::Value* field(llvm::Value* base, std::size_t offset) {
    return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), base, offset);
  }
  void branch(llvm::Value* likely, llvm::BasicBlock* then, llvm::BasicBlock* otherwise);

  /// At the end of the function's first block, so that a loop over threads can do it once.
  template <typename Emit>
  llvm::Value* at_entry(const Emit& emit) {
    const llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(b_.GetInsertBlock()->getParent()->getEntryBlock().getTerminator());
    return emit();
  }
  llvm::Value* table_field(llvm::Type* type, std::size_t offset);

  /// Services that only read: what the optimiser knows of memory stays valid.
  static void does_not_change_the_program(llvm::CallInst& service);
  llvm::Value* interval_of_instruction();
  llvm::Value* first_of(const CheckGroup& group);
  static std::uint64_t beyond_first(const CheckGroup& group) {
    return static_cast<std::uint64_t>(group.end - group.begin) - 1;
  }

  /// All of the group's bytes; its alignment is that of the access.
  llvm::Value* mark_group(llvm::Value* interval, const CheckGroup& group);

  /// In a function with one local variable; null in others.
  llvm::Value* is_in_only_local_variable();
  llvm::Value* offset_in_variable(ptx::VariableId variable);

  /// Of offsets in something of so many bytes.
  llvm::Value* interval_of_offsets(std::uint64_t bytes);

  /// From the start of the range that has a shadow; 0 for what is outside.
  llvm::Value* offset_in_range();
  llvm::Value* written_shadow();
  llvm::Value* is_plainly_allowed();
  llvm::Value* stores_what_is_there();
  llvm::CallInst* call(std::size_t field, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);

  FunctionEmitter& f_;
  llvm::IRBuilder<>& b_;
  const ptx::Instruction& instruction_;
  const analysis::MemoryAccess& access_;
  const std::uint32_t checks_;
  std::uint32_t word_ = 0;
  llvm::Value* table_ = nullptr;
  llvm::Value* address_ = nullptr;
  llvm::Value* bytes_ = nullptr;
  llvm::Value* offset_ = nullptr;
};

}  // namespace cucore::cpu::compiler
