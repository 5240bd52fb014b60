// Kernels that have no vector form: see legality.hpp.
#include "cpu/compiler/vector/emission/legality.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/number_marks.hpp"
#include "cpu/compiler/vector/analysis/polls.hpp"
#include "cpu/compiler/vector/analysis/refusal.hpp"
#include "cpu/compiler/vector/analysis/state_fields.hpp"
#include "cpu/compiler/vector/analysis/versions.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

bool is_barrier_of_whole_block(const llvm::CallInst& barrier) {
  const auto* count = llvm::dyn_cast<llvm::ConstantInt>(barrier.getArgOperand(2));
  return count != nullptr && count->isZero() && llvm::isa<llvm::ConstantInt>(barrier.getArgOperand(1));
}

Result<void> check_barriers(const ControlFlow& flow, const VectorWidth& width) {
  if (!groups_wait(flow, width)) return {};
  const Value* number = nullptr;
  for (const llvm::BasicBlock* block : flow.order) {
    if (!is_block_barrier(block->front())) continue;
    const Value* mine = llvm::cast<llvm::CallInst>(block->front()).getArgOperand(1);
    if (number != nullptr && mine != number) return refusal("several barriers in a block of several groups");
    number = mine;
  }
  return {};
}

Result<void> check_call(const llvm::CallInst& call, const Value* thread) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return refusal("a call through a pointer");
  if (is_block_barrier(call) && !is_barrier_of_whole_block(call)) return refusal("a barrier of part of a block");
  if (is_convergent(call) || is_mark(call, lanes_mark) || is_number_mark(call)) return {};
  const llvm::StringRef name = callee->getName();
  if (callee->isIntrinsic()) {
    const bool is_note = call.isLifetimeStartOrEnd() || callee->getIntrinsicID() == llvm::Intrinsic::assume;
    const bool reads_clock = callee->getIntrinsicID() == llvm::Intrinsic::readcyclecounter;
    if (!is_note && !reads_clock && call.mayReadOrWriteMemory()) return refusal("the intrinsic " + name.str());
    return {};
  }
  const bool is_service_of_lane =
      name == "cucpu_vprintf" || name == "cucpu_free" || name == "cucpu_assertfail" || name == "cucpu_trap";
  if (name == "cucpu_nanosleep") return {};
  const bool takes_thread = name != "cucpu_lap" && call.arg_size() > 0 && call.getArgOperand(0) == thread;
  if (takes_thread ? !is_service_of_lane : !name.starts_with("cucpu_")) return refusal("a call of " + name.str());
  return {};
}

/// What lanes do together, but for polling, which they may do without others.
bool is_operation_of_lanes(const Instruction& instruction) {
  return is_convergent(instruction) && !is_poll(instruction);
}

/// Whether all lanes of a warp that an operation of lanes names execute it together.
bool lanes_come_together(const ControlFlow& flow, const StrideAnalysis& masked) {
  const auto loop_of = [&](const Instruction& each) {
    return is_operation_of_lanes(each) ? loop_of_members(each, flow) : nullptr;
  };
  if (!flow.arrive_together(masked.divergent_in_warps(), [&](const Instruction& each) {
        return is_operation_of_lanes(each) && loop_of(each) == nullptr;
      }))
    return false;
  return std::all_of(flow.order.begin(), flow.order.end(), [&](const llvm::BasicBlock* block) {
    const llvm::Loop* loop = loop_of(block->front());
    if (loop == nullptr) return true;
    Blocks inside, outside;
    for (llvm::BasicBlock* branch : masked.divergent_in_warps())
      (loop->contains(branch) ? inside : outside).push_back(branch);
    const auto is_this = [&](const Instruction& each) { return &each == &block->front(); };
    return flow.arrive_together(outside, is_this) && flow.arrive_together(inside, is_this, loop);
  });
}

/// Whether an address in the thread's state is only used to load registers, or passed to a service that knows it.
bool is_use_of_register(const llvm::Use& use, const llvm::Function& scalar) {
  const auto* user = llvm::cast<Instruction>(use.getUser());
  if (llvm::isa<llvm::LoadInst>(user)) return true;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(user))
    return use.get() == scalar.getArg(0) && use.getOperandNo() == 0 && !call->getCalledFunction()->isIntrinsic();
  return llvm::isa<llvm::GetElementPtrInst>(user) && thread_field(user, scalar).has_value();
}

Result<void> check_instruction(const Instruction& instruction, const llvm::Function& scalar) {
  if (instruction.isTerminator() && !llvm::isa<llvm::BranchInst, llvm::ReturnInst>(instruction))
    return refusal("a terminator other than a branch");
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    if (Result<void> known = check_call(*call, scalar.getArg(0)); !known) return known;
  }
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      load != nullptr && thread_field(load->getPointerOperand(), scalar) == offsetof(ThreadState, runtime))
    return refusal("a use of the thread's own scheduler");
  if (instruction.getType()->isStructTy() &&
      (llvm::isa<llvm::PHINode>(instruction) || instruction.isUsedOutsideOfBlock(instruction.getParent())))
    return refusal("a pair of values that another block takes apart");
  return {};
}

Result<void> check_uses_of_thread(const llvm::Function& scalar) {
  const auto is_state = [&](const Value* value) {
    return llvm::isa<llvm::Argument>(value) ||
           (llvm::isa<llvm::GetElementPtrInst>(value) && thread_field(value, scalar).has_value());
  };
  for (const Instruction& instruction : llvm::instructions(scalar)) {
    for (const llvm::Use& use : instruction.operands()) {
      if (is_state(use.get()) && !is_use_of_register(use, scalar))
        return refusal("a use of the thread's state that is no register");
    }
  }
  return {};
}

/// Whether a value of one stride can be given to those who know it by another (VectorValues::converted).
bool fits(const Stride& from, const Stride& to) {
  return to.is_varying() || (from.kind == to.kind && from.spans_group() == to.spans_group()) ||
         (to.is_strided() && to.step == from.step && from.spans_group());
}

/// Checks all ways that a value may take: to a phi of the same version or of the masked one, and from the full version
/// to the masked one. The analyses allow no others; if they ever did, values would be lost.
Result<void> check_strides(const ControlFlow& flow, const StrideAnalysis& full, const StrideAnalysis& masked) {
  for (llvm::BasicBlock* block : flow.order) {
    for (const llvm::PHINode& phi : block->phis()) {
      for (const Value* incoming : phi.incoming_values()) {
        if (!fits(full.of(incoming), full.of(&phi)) || !fits(masked.of(incoming), masked.of(&phi)) ||
            !fits(full.of(incoming), masked.of(&phi)))
          return refusal("a value whose strides do not fit");
      }
    }
    for (const Instruction* live : flow.live_in().lookup(block)) {
      if (!llvm::isa<llvm::AllocaInst>(live) && !fits(full.of(live), masked.of(live)))
        return refusal("a value whose strides do not fit");
    }
  }
  return {};
}

}  // namespace

Result<void> check_legality(llvm::Function& scalar, const ControlFlow& flow, const VectorWidth& width,
                            const StrideAnalysis& full, const StrideAnalysis& masked, const Overtaking& overtaking) {
  // On fibers a warp may wait at a barrier for others that come to it elsewhere.
  if (!width.on_fibers && !flow.arrive_together(masked.divergent_branches(), is_block_barrier))
    return refusal("a barrier that only some threads of a block reach");
  if (!lanes_come_together(flow, masked)) return refusal("a warp operation that only some lanes of a warp reach");
  if (width.on_fibers && !poll_together(flow, masked)) {
    for (llvm::BasicBlock* block : flow.order) {
      if (is_poll(block->front()) && !overtaking.covers(block) && !others_change_nothing(block, flow, masked))
        return refusal(waits_for_threads);
    }
  }
  if (Result<void> legal = check_barriers(flow, width); !legal) return legal;
  for (const llvm::BasicBlock* block : flow.order) {
    for (const Instruction& instruction : *block) {
      if (Result<void> legal = check_instruction(instruction, scalar); !legal) return legal;
    }
  }
  if (Result<void> legal = check_uses_of_thread(scalar); !legal) return legal;
  return check_strides(flow, full, masked);
}

}  // namespace cucore::cpu::compiler
