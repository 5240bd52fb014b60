// Emits the vector form of a kernel: from its scalar form in SSA, a function that runs one group of threads, in chunks
// of SIMD lanes, in lockstep.
//
// There are two versions of every block. The full one runs while all lanes of the group go the same way; its branches
// are scalar. Where lanes part, it hands what is live to the masked version, which keeps for each block the lanes that
// wait to enter it and always runs the first such block (vector_flow.hpp); phis merge by lane. Where all lanes have met
// again, it goes back. Values that other blocks use live in stack slots, which LLVM's SROA makes registers of.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include <functional>
#include <string>

#include "cpu/codegen/vector_shapes.hpp"

namespace cucore::cpu::codegen {

struct HostFeatures;

/// A value in all lanes: one part if it is uniform, else one for each chunk: its first lane's value if strided, or a
/// vector.
struct Wide {
  Shape shape;
  llvm::SmallVector<llvm::Value*, 8> parts;
};

class VectorEmitter {
 public:
  VectorEmitter(llvm::Function& scalar, const VectorFlow& flow, const VectorWidth& width, HostFeatures host);

  /// Emits `void group(ptr block, i32 first thread, ptr group's ThreadState or null)`. A refusal in words if something
  /// has no vector form.
  llvm::Function* emit();
  const std::string& refusal() const { return refusal_; }

 private:
  enum Version { Full, Masked };
  using Parts = llvm::SmallVector<llvm::Value*, 8>;
  using Slots = llvm::SmallVector<llvm::AllocaInst*, 8>;

  // vector_emitter.cpp: versions and the way between them
  void prepare();
  void enter();
  void emit_block(llvm::BasicBlock* block, Version version);
  void emit_dispatch(llvm::BasicBlock* block);
  void emit_return();
  void emit_full_branch(llvm::BasicBlock* block, const llvm::BranchInst& branch);
  void emit_masked_branch(llvm::BasicBlock* block, const llvm::BranchInst& branch);
  void write_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, Version version, llvm::ArrayRef<llvm::Value*> mask);
  void leave_full_version(llvm::BasicBlock* from, llvm::ArrayRef<llvm::BasicBlock*> targets,
                          llvm::ArrayRef<Parts> masks);
  void bail_out(llvm::BasicBlock* block);
  void return_to_full_version(llvm::BasicBlock* block);
  llvm::BasicBlock* check_after(llvm::BasicBlock* block, llvm::ArrayRef<llvm::BasicBlock*> targets) const;

  // vector_values.cpp: values of all shapes
  llvm::Type* widened(llvm::Type* scalar) const;
  llvm::Type* part_type(const Shape& shape, llvm::Type* scalar) const;
  Wide get(llvm::Value* value);
  llvm::Value* first_lane(llvm::Value* value, unsigned chunk);
  llvm::Value* vector(llvm::Value* value, unsigned chunk);
  llvm::Value* vector_of(const Wide& wide, unsigned chunk, llvm::Type* scalar);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* lane_numbers(llvm::Type* integer, std::int64_t stride);
  Wide converted(const Wide& wide, const Shape& to, llvm::Type* scalar);
  void put(llvm::Instruction* instruction, Wide wide);
  Slots& slots_of(llvm::Instruction* instruction, Version version);
  llvm::AllocaInst* slot(llvm::Type* type, const llvm::Twine& name);
  Wide uniform(llvm::Value* value) { return {Shape::uniform(), {value}}; }

  // vector_instructions.cpp: one instruction for all lanes
  void emit_instruction(llvm::Instruction& instruction);
  void emit_once(llvm::Instruction& instruction, unsigned parts);
  void emit_check(llvm::Instruction& extension);
  void flush_checks();
  void emit_vectors(llvm::Instruction& instruction);
  llvm::Value* emit_vector(llvm::Instruction& instruction, unsigned chunk);
  llvm::Value* emit_vector_call(llvm::CallInst& call, unsigned chunk);
  llvm::Value* emit_element(llvm::Instruction& instruction, unsigned chunk);
  llvm::Value* directed_fma(llvm::CallInst& call, unsigned chunk);
  llvm::Value* saturating_conversion(llvm::CallInst& call, unsigned chunk);
  void emit_call(llvm::CallInst& call);
  void emit_lane_service(llvm::CallInst& call);
  void emit_built_in(llvm::Instruction& instruction);

  // vector_memory.cpp
  void emit_load(llvm::LoadInst& load);
  void emit_store(llvm::StoreInst& store);
  void emit_atomic(llvm::Instruction& instruction);
  Wide thread_register(llvm::LoadInst& load, std::uint64_t field);
  llvm::Value* load_chunk(llvm::LoadInst& load, const Shape& address, unsigned chunk);
  void store_chunk(llvm::StoreInst& store, const Shape& address, unsigned chunk);
  llvm::Value* dummy_if_idle(llvm::Value* address, unsigned chunk);
  /// Runs `body(lane, inputs of that lane)` for each active lane in ascending order; it returns the lane's results.
  using LaneBody = std::function<Parts(llvm::Value* lane, llvm::ArrayRef<llvm::Value*>)>;
  std::vector<Wide> for_each_lane(llvm::ArrayRef<llvm::Value*> inputs, llvm::ArrayRef<llvm::Type*> results,
                                  const LaneBody& body);

  // vector_warp.cpp
  void emit_meeting(llvm::CallInst& call);
  void emit_shuffle(llvm::CallInst& call);
  void emit_vote(llvm::CallInst& call);

  bool is_masked() const { return version_ == Masked; }
  const Shapes& shapes() const { return version_ == Full ? full_shapes_ : masked_shapes_; }
  llvm::IntegerType* mask_type() { return b.getIntNTy(width_.lanes); }
  llvm::Value* all_lanes() { return llvm::Constant::getAllOnesValue(mask_type()); }
  llvm::Value* mask_vector(unsigned chunk);
  llvm::Value* is_chunk_active(unsigned chunk);
  /// Active lanes in which a predicate is true, as bits.
  llvm::Value* bits_where(llvm::Value* predicate, unsigned chunk);
  llvm::Value* any_of(llvm::ArrayRef<llvm::Value*> masks);
  llvm::Value* all_of(llvm::ArrayRef<llvm::Value*> masks, llvm::ArrayRef<llvm::Value*> expected);
  llvm::BasicBlock* new_block(const llvm::Twine& name);
  void refuse(const std::string& why) {
    if (refusal_.empty()) refusal_ = why;
  }

  llvm::Function& scalar_;
  const VectorFlow& flow_;
  const VectorWidth width_;
  const bool has_avx512_;
  const bool has_f16c_;
  Shapes full_shapes_;
  Shapes masked_shapes_;
  llvm::IRBuilder<> b;
  llvm::Function* group_ = nullptr;
  std::string refusal_;

  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> bodies_[2];
  llvm::DenseMap<llvm::BasicBlock*, llvm::BasicBlock*> checks_;
  llvm::DenseMap<llvm::BasicBlock*, Slots> waiting_;  ///< lanes that wait to enter a block
  Slots alive_;                                       ///< lanes that have not returned
  llvm::DenseSet<llvm::BasicBlock*> meeting_points_;
  llvm::BasicBlock* end_ = nullptr;
  llvm::DenseMap<llvm::Instruction*, Slots> slots_[2];
  llvm::DenseMap<llvm::Instruction*, llvm::AllocaInst*> frames_;  ///< of allocas: all lanes' one after the other
  llvm::AllocaInst* dummy_ = nullptr;                             ///< what idle chunks load from and store to
  llvm::AllocaInst* lane_state_ = nullptr;                        ///< the ThreadState of one lane, for services

  // The block being emitted.
  /// What is known in the LLVM block at hand; forgotten again where another way starts from the same point.
  struct Known {
    llvm::DenseMap<llvm::Value*, Wide> values;
    llvm::DenseMap<std::pair<llvm::Value*, unsigned>, llvm::Value*> vectors;
  };
  Version version_ = Full;
  llvm::BasicBlock* current_ = nullptr;
  Parts mask_;
  Parts mask_vectors_;
  Known known_;
  llvm::Value* unchecked_ = nullptr;  ///< whether a check failed that nothing has acted on yet
  bool can_restart_ = true;           ///< nothing in the block so far has had an effect
};

}  // namespace cucore::cpu::codegen
