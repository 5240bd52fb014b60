// Emits the vector form of a kernel: from its scalar form in SSA, a function that runs one group of threads, in chunks
// of SIMD lanes, in lockstep.
//
// There are two versions of every block. The full one runs while all lanes of the group go the same way; its branches
// are scalar. Where lanes part, it hands what is live to the masked version, which keeps for each block the lanes that
// wait to enter it and always runs the first such block (flow.hpp); phis merge by lane. Where all lanes have met
// again, it goes back. Values that other blocks use live in stack slots, which LLVM's SROA makes registers of. A short
// side that some lanes take, the full version runs under a mask itself (predication.cpp); if nothing else can
// part the lanes, there is no masked version.
//
// What steps evenly from lane to lane through the whole group is one number in the full version: a loop over a grid has
// one index for all its chunks, and the first lane and the last say whether all stay in it (branches.cpp).
//
// All lanes that live arrive at a barrier together, or the form refuses the kernel. In a block of one group it is then
// nothing. In a block of several the group's function returns at a barrier, with the number of the point to go on from,
// and `vectorise.cpp` calls the groups in rounds: a barrier costs a call that is inlined and a switch. What lives
// across it is saved in the group's frame, at places that values share if no barrier has both (barriers.cpp);
// what is quickly made of the thread's index and of uniform values is made again instead (recompute.cpp).
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include <functional>
#include <string>

#include "cpu/compiler/vector/shapes.hpp"

namespace cucore::cpu::codegen {

struct HostFeatures;
struct RangeMark;

/// A value in all lanes: one part if its shape spans the group, the value of the group's first lane; else one for each
/// chunk: its first lane's value if strided, or a vector.
struct Wide {
  Shape shape;
  llvm::SmallVector<llvm::Value*, 8> parts;
};

class VectorEmitter {
 public:
  /// With `masks_only` there is the masked version alone.
  VectorEmitter(llvm::Function& scalar, const VectorFlow& flow, const VectorWidth& width, HostFeatures host,
                bool masks_only = false);

  /// Emits `i32 group(ptr block, i32 first thread, i32 point, ptr frame, i32 %ctaid.x)`: from a point on, to the next
  /// barrier of the block, whose point it returns. A refusal in words if something has no vector form.
  llvm::Function* emit();
  const std::string& refusal() const { return refusal_; }
  /// Whether lanes may run in the masked version: where groups are not full, an index may wrap around, or lanes part
  /// for more than a predicated side. Else there is none.
  bool may_leave_full_version() const;
  /// Memory of a group between its turns; none if a group never waits.
  std::uint64_t frame_bytes() const { return llvm::alignTo(frame_bytes_, frame_alignment); }

  static constexpr std::uint64_t frame_alignment = 64;  ///< what the widest loads and stores like best
  static constexpr std::uint32_t point_ended = 0;
  static constexpr std::uint32_t point_start = 1;

 private:
  enum Version { Full, Masked };
  using Parts = llvm::SmallVector<llvm::Value*, 8>;
  using Slots = llvm::SmallVector<llvm::AllocaInst*, 8>;

  // vector_emitter.cpp: versions and the way between them
  void prepare();
  void enter();
  void emit_block(llvm::BasicBlock* block, Version version);
  void emit_body(llvm::BasicBlock* block);
  void forget();
  void emit_dispatch(llvm::BasicBlock* block);
  void emit_return();
  void write_phis(llvm::BasicBlock* from, llvm::BasicBlock* to, Version version, llvm::ArrayRef<llvm::Value*> mask);
  /// A branch of the full version at which lanes part, and who goes where.
  struct Division {
    llvm::BasicBlock* from;
    llvm::BasicBlock* targets[2];
    Parts masks[2];
  };
  void leave_full_version(const Division& division);
  void bail_out(llvm::BasicBlock* block);
  void return_to_full_version(llvm::BasicBlock* block);
  llvm::BasicBlock* check_after(llvm::BasicBlock* block, llvm::ArrayRef<llvm::BasicBlock*> targets) const;

  // branches.cpp
  void emit_full_branch(llvm::BasicBlock* block, const llvm::BranchInst& branch);
  void emit_masked_branch(llvm::BasicBlock* block, const llvm::BranchInst& branch);
  llvm::ICmpInst* compares_ends(const llvm::BranchInst& branch) const;
  bool is_compared_late(const llvm::Instruction& instruction) const;
  void branch_by_ends(const llvm::BranchInst& branch, llvm::ArrayRef<llvm::BasicBlock*> ways);

  // values.cpp: values of all shapes
  llvm::Type* widened(llvm::Type* scalar) const;
  llvm::Type* part_type(const Shape& shape, llvm::Type* scalar) const;
  unsigned parts_of(const Shape& shape) const { return shape.spans_group() ? 1 : width_.chunks; }
  Wide get(llvm::Value* value);
  llvm::Value* first_lane(llvm::Value* value, unsigned chunk) { return first_lane_of(get(value), chunk); }
  llvm::Value* first_lane_of(const Wide& wide, unsigned chunk);
  llvm::Value* stepped(llvm::Value* first, std::int64_t stride, unsigned lanes);
  llvm::Value* vector(llvm::Value* value, unsigned chunk);
  llvm::Value* vector_of(const Wide& wide, unsigned chunk, llvm::Type* scalar);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* lane_numbers(llvm::Type* integer, std::int64_t stride);
  Wide converted(llvm::Value* value, const Shape& to);
  /// Emits what is made of a value as part of the instruction that the value comes from: a load may become one with it.
  template <typename Emit>
  auto as_part_of(const llvm::Value* value, const Emit& emit) {
    const llvm::DebugLoc here = b.getCurrentDebugLocation();
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value))
      b.SetCurrentDebugLocation(instruction->getDebugLoc());
    auto made = emit();
    b.SetCurrentDebugLocation(here);
    return made;
  }
  void put(llvm::Instruction* instruction, Wide wide);
  Slots& slots_of(llvm::Instruction* instruction, Version version);
  llvm::AllocaInst* slot(llvm::Type* type, const llvm::Twine& name);
  Wide uniform(llvm::Value* value) { return {Shape::uniform(), {value}}; }

  // instructions.cpp: one instruction for all lanes
  void emit_instruction(llvm::Instruction& instruction);
  void emit_once(llvm::Instruction& instruction, unsigned parts);
  Wide once(llvm::Instruction& instruction, unsigned parts);
  void emit_check(llvm::Instruction& extension);
  void flush_checks();
  void flush_wraps();
  void emit_vectors(llvm::Instruction& instruction);
  llvm::Value* emit_vector(llvm::Instruction& instruction, unsigned chunk);
  llvm::Value* emit_vector_call(llvm::CallInst& call, unsigned chunk);
  llvm::Value* emit_element(llvm::Instruction& instruction, unsigned chunk);
  llvm::Value* directed_fma(llvm::CallInst& call, unsigned chunk);
  llvm::Value* saturating_conversion(llvm::CallInst& call, unsigned chunk);
  void emit_call(llvm::CallInst& call);
  void emit_built_in(llvm::Instruction& instruction);

  // barriers.cpp
  bool suspends() const { return flow_.has_barriers() && width_.threads() > width_.group(); }
  void lay_out_frame();
  void emit_suspension(llvm::BasicBlock* barrier);
  std::vector<llvm::Instruction*> alive_after(llvm::BasicBlock* barrier) const;
  llvm::Value* in_frame(std::uint64_t offset);

  // predication.cpp
  llvm::BasicBlock* predicated_side(const llvm::BranchInst& branch) const;
  void emit_predicated(const Division& division, llvm::BasicBlock* side);
  struct ActiveLanes {
    llvm::Value* lowest;
    llvm::Value* highest;
    llvm::Value* any;
  };
  ActiveLanes active_lanes(unsigned first, unsigned chunks);
  void emit_predicated_extension(llvm::Instruction& extension);

  // memory.cpp
  void emit_load(llvm::LoadInst& load);
  void emit_store(llvm::StoreInst& store);
  Wide loaded(llvm::LoadInst& load);
  void store_all(llvm::StoreInst& store);
  Wide thread_register(llvm::LoadInst& load, std::uint64_t field);
  llvm::Value* load_chunk(llvm::LoadInst& load, const Shape& address, unsigned chunk);
  llvm::Value* load_elements(llvm::LoadInst& load, const Shape& address, unsigned chunk);
  llvm::Value* load_lanes(llvm::LoadInst& load, llvm::Type* vector_type, const Shape& address, unsigned chunk);
  bool is_usually_a_row(llvm::Value* pointer, std::int64_t size) const;
  llvm::Value* load_usual_row(llvm::LoadInst& load, llvm::Type* vector_type, unsigned chunk);
  void store_chunk(llvm::StoreInst& store, const Shape& address, unsigned chunk);
  llvm::Value* dummy_if_idle(llvm::Value* address, unsigned chunk);

  // prefetch.cpp
  void prefetch_ahead_of(llvm::Instruction& access);
  llvm::Value* step_of_turn(llvm::Value* address);

  // lanes.cpp
  void emit_atomic(llvm::Instruction& instruction);
  Wide updated(llvm::Instruction& atomic);
  void emit_lane_service(llvm::CallInst& call);
  /// A value of each lane, and the operations that make an input of it, the last one first.
  struct LaneInput {
    llvm::Value* source;
    llvm::SmallVector<llvm::Instruction*, 4> operations;
  };
  LaneInput lane_input(llvm::Value* input);
  llvm::Value* made_of(llvm::Value* source, const LaneInput& input);
  /// Runs `body(lane, inputs of that lane)` for each active lane in ascending order; it returns the lane's results. If
  /// all lanes are active, a turn of the loop takes up to `turn`.
  using LaneBody = std::function<Parts(llvm::Value* lane, llvm::ArrayRef<llvm::Value*>)>;
  std::vector<Wide> for_each_lane(llvm::ArrayRef<llvm::Value*> inputs, llvm::ArrayRef<llvm::Type*> results,
                                  const LaneBody& body, unsigned turn = 1);

  // checks.cpp
  void emit_lane_check(llvm::CallInst& call);
  void flush_lane_checks();
  void keep_for_end(llvm::BasicBlock& block);
  void emit_with_care(llvm::BasicBlock* block);
  llvm::Value* is_inside(const RangeMark& range);
  llvm::Value* whether_inside(const RangeMark& range);
  llvm::Value* lanes_inside(const RangeMark& range, unsigned chunk);
  Slots& refusals_of(llvm::CallInst* check);
  void emit_access(llvm::Instruction& instruction, llvm::function_ref<Wide()> access);
  Parts ask_for_lanes(const llvm::CallInst& check);
  Wide accessed_by_rest(llvm::Instruction& instruction, llvm::ArrayRef<llvm::Value*> refusals,
                        llvm::function_ref<Wide()> access);
  llvm::Value* dummy_if_refused(llvm::Value* address);

  // warp.cpp
  void emit_meeting(llvm::CallInst& call);
  void emit_shuffle(llvm::CallInst& call);
  void emit_vote(llvm::CallInst& call);

  bool is_masked() const { return version_ == Masked || division_ != nullptr || refuses_; }
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
  const bool masks_only_;
  bool has_masked_version_ = true;
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
  llvm::DenseMap<llvm::Instruction*, llvm::Value*> frames_;  ///< of allocas: all lanes' one after the other
  llvm::AllocaInst* dummy_ = nullptr;                        ///< what idle chunks load from and store to
  llvm::AllocaInst* lane_state_ = nullptr;                   ///< the ThreadState of one lane, for services
  llvm::AllocaInst* lane_addresses_ = nullptr;               ///< of a chunk, for checks
  llvm::DenseMap<llvm::CallInst*, Slots> refusals_;          ///< by check, lanes that may not; last, whether any

  // Of a group that waits for others at barriers.
  static constexpr std::uint32_t first_barrier_point = 2;  ///< two for each barrier: it may wait in either version
  Blocks barriers_;
  llvm::DenseMap<llvm::Instruction*, std::uint64_t> places_[2];  ///< in the frame
  std::uint64_t frame_bytes_ = 0;
  llvm::SwitchInst* resumption_ = nullptr;

  // The block being emitted.
  /// What is known in the LLVM block at hand; forgotten again where another way starts from the same point.
  struct Known {
    llvm::DenseMap<llvm::Value*, Wide> values;
    llvm::DenseMap<std::pair<llvm::Value*, unsigned>, llvm::Value*> vectors;
    /// By first address, bytes beyond and alignment: the interval in which all lanes were looked for, and whether they
    /// are there.
    llvm::DenseMap<std::pair<llvm::Value*, std::pair<std::uint64_t, std::uint64_t>>,
                   std::pair<llvm::Value*, llvm::Value*>>
        inside;
  };
  Version version_ = Full;
  llvm::BasicBlock* current_ = nullptr;
  const Division* division_ = nullptr;  ///< whose side it is, if the full version runs it under a mask
  bool refuses_ = false;                ///< an access is made for those lanes that may
  Parts mask_;
  Parts mask_vectors_;
  Known known_;
  llvm::Value* unchecked_ = nullptr;                ///< whether a check failed that nothing has acted on yet
  llvm::SmallVector<llvm::CallInst*, 16> unasked_;  ///< checks of accesses that nothing has acted on yet
  llvm::DenseSet<llvm::CallInst*> passed_;          ///< those of this block that all lanes have passed
  llvm::BasicBlock* with_care_ = nullptr;           ///< where the block begins anew if lanes do not pass
  bool takes_care_ = false;                         ///< it is this that is being emitted
  llvm::DenseSet<llvm::Value*> kept_;               ///< what the end of a block that is there twice needs of it
  bool can_restart_ = true;                         ///< nothing in the block so far has had an effect
  llvm::DenseSet<llvm::Value*> prefetched_;         ///< bases of addresses that were fetched ahead
};

}  // namespace cucore::cpu::codegen
