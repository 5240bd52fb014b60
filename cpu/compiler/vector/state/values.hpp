// Values in the vector form: found by their instruction in the scalar form, converted to the stride that each use
// needs, and the slots in which other blocks find them.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include "cpu/compiler/vector/state/context.hpp"

namespace cucore::cpu::compiler {

class VectorValues {
 public:
  explicit VectorValues(EmissionContext& context) : c_(context), b(context.b) {}

  VectorValue get(llvm::Value* value);
  /// Keeps the result of an instruction for its block, and for others if they use it.
  void put(llvm::Instruction* instruction, VectorValue result);

  /// Of a chunk.
  llvm::Value* first_lane(llvm::Value* value, unsigned chunk) { return first_lane_of(get(value), chunk); }
  llvm::Value* first_lane_of(const VectorValue& value, unsigned chunk);
  llvm::Value* vector(llvm::Value* value, unsigned chunk);
  llvm::Value* vector_of(const VectorValue& value, unsigned chunk, llvm::Type* scalar_type);
  /// A value as one of another stride, which fits (emission/legality.hpp).
  VectorValue converted(llvm::Value* value, const Stride& to);
  /// Active lanes in which a predicate is true, as bits.
  llvm::Value* bits_where(llvm::Value* predicate, unsigned chunk);

  /// A strided value `lanes` lanes after the first.
  llvm::Value* stepped(llvm::Value* first, std::int64_t step, unsigned lanes);
  llvm::Value* splat(llvm::Value* scalar_value);
  llvm::Value* lane_numbers(llvm::Type* integer, std::int64_t step) const;

  Slots& slots_of(llvm::Instruction* instruction, Version version);
  /// Once all is emitted: what other blocks use is in memory in the masked version.
  void keep_masked_version_in_memory();
  /// Sets a value where a version of another block finds it.
  void store(llvm::Instruction* instruction, const Parts& parts, Version version);
  /// The same in the masked version, for the lanes of a mask alone.
  void store_under_mask(llvm::Instruction* instruction, const VectorValue& value, llvm::ArrayRef<llvm::Value*> mask);
  /// Where local variables of all lanes lie, one after the other.
  void place_local(llvm::Instruction* variable, llvm::Value* address) { locals_[variable] = address; }

  /// What the end of a block is made of, if the block has checks and is there twice: values go there by their slots.
  void keep_for_end(llvm::BasicBlock& block);

 private:
  EmissionContext& c_;
  llvm::IRBuilder<>& b;
  llvm::DenseMap<llvm::Instruction*, Slots> slots_[2];
  llvm::DenseMap<llvm::Instruction*, llvm::Value*> locals_;
  llvm::DenseSet<llvm::Value*> kept_for_end_;
};

}  // namespace cucore::cpu::compiler
