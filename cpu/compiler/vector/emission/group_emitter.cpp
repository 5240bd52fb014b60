// All blocks in all their versions: see group_emitter.hpp.
#include "cpu/compiler/vector/emission/group_emitter.hpp"

#include <llvm/IR/Instructions.h>

#include <utility>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/emission/branches.hpp"
#include "cpu/compiler/vector/emission/legality.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;

namespace {

class GroupEmitter {
 public:
  GroupEmitter(llvm::Function& scalar, const ControlFlow& flow, const VectorWidth& width, HostFeatures host,
               StrideAnalysis full, StrideAnalysis masked, Overtaking overtaking, bool masks_only)
      : c_(scalar, flow, width, host, std::move(full), std::move(masked), std::move(overtaking), masks_only) {}

  Result<EmittedGroup> emit() {
    blocks_.emit_entry();
    for (BasicBlock* block : c_.flow.order) {
      if (c_.has_full_version && !c_.chains[Full].continues(block)) {
        if (Result<void> done = emit_chain(block, Full); !done) return std::move(done).failure();
      }
      if (blocks_.body(block, Masked) != nullptr) {
        blocks_.emit_dispatch(block);
        if (Result<void> done = emit_chain(block, Masked); !done) return std::move(done).failure();
      }
    }
    blocks_.emit_end();
    // In registers every value of the masked version would be looked after wherever lanes may go on, which are as many
    // places as there are blocks: the code would grow with the square of its size.
    const std::size_t growth = c_.group->getInstructionCount() * c_.masked_blocks.size();
    if (growth > cost_model::largest_growth_of_group) {
      values_.keep_masked_version_in_memory();
      blocks_.keep_masks_in_memory();
    }
    return EmittedGroup{c_.group, barriers_.frame_bytes()};
  }

 private:
  Result<void> emit_chain(BasicBlock* block, Version version) {
    c_.version = version;
    c_.block = block;
    c_.forget();
    c_.b.SetInsertPoint(blocks_.body(block, version));
    c_.b.SetCurrentDebugLocation({});
    if (version == Full) {
      c_.active.set_all();
    } else {
      transitions_.enter_masked_version(block);
      if (!c_.masked_blocks.has(block)) return {};
    }
    for (; block != nullptr; block = c_.chains[version].next(block))
      if (Result<void> done = emit_block(block); !done) return done;
    return {};
  }

  Result<void> emit_block(BasicBlock* block) {
    c_.block = block;
    checks_.lanes.begin_block();
    values_.keep_for_end(*block);
    if (Result<void> done = body_.emit(block); !done) return done;
    if (checks_.lanes.needs_slow_path()) {
      BasicBlock* end = checks_.lanes.begin_slow_path();
      if (Result<void> done = body_.emit(block); !done) return done;
      checks_.lanes.end_slow_path(end);
    }
    if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator()))
      return branches_.emit(block, *branch);
    emit_return(block);
    return {};
  }

  void emit_return(BasicBlock* block) {
    if (c_.version == Full) {
      c_.b.CreateRet(c_.b.getInt32(point_ended));
      return;
    }
    blocks_.end_lanes(c_.active.bits());
    c_.b.CreateBr(blocks_.next_dispatch(block, {}));
  }

  // In the order in which they find room in the frame and on the stack.
  EmissionContext c_;
  VectorValues values_{c_};
  Barriers barriers_{c_, values_};
  VersionBlocks blocks_{c_, values_, barriers_};
  IdleMemory idle_{c_};
  LaneLoop lanes_{c_, values_};
  LaneServices services_{c_, values_, lanes_};
  Transitions transitions_{c_, values_, blocks_};
  BlockChecks checks_{c_, values_, transitions_};
  Prefetching prefetching_{c_, values_};
  Arithmetic arithmetic_{c_, values_, checks_.index};
  VectorMemory memory_{c_, values_, checks_, idle_, arithmetic_, lanes_, prefetching_};
  Atomics atomics_{c_, values_, checks_, lanes_};
  ConvergentOperations convergent_{c_, values_, barriers_, blocks_};
  NumberQuestions numbers_{c_, values_, checks_};
  Calls calls_{c_, values_, checks_, arithmetic_, lanes_, services_, convergent_, numbers_};
  BlockBody body_{c_, values_, checks_, numbers_, prefetching_, arithmetic_, memory_, atomics_, calls_};
  Predication predication_{c_, values_, blocks_, body_};
  Branches branches_{c_, values_, blocks_, transitions_, arithmetic_, predication_};
};

}  // namespace

Result<EmittedGroup> emit_group(llvm::Function& scalar, const ControlFlow& flow, const VectorWidth& width,
                                HostFeatures host, bool masks_only) {
  StrideAnalysis full(flow, scalar, width, /*masked=*/false);
  Overtaking overtaking;
  if (width.on_fibers) overtaking = Overtaking(flow, StrideAnalysis(flow, scalar, width, /*masked=*/true));
  StrideAnalysis masked(flow, scalar, width, /*masked=*/true, overtaking.passed_twice());
  if (Result<void> legal = check_legality(scalar, flow, width, full, masked, overtaking); !legal)
    return std::move(legal).failure();
  return GroupEmitter(scalar, flow, width, host, std::move(full), std::move(masked), std::move(overtaking), masks_only)
      .emit();
}

}  // namespace cucore::cpu::compiler
