// From the scalar form to the vector form: see vectorise.hpp.
#include "cpu/compiler/vector/vectorise.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "cpu/analysis/vector_limits.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/vector/checks.hpp"
#include "cpu/compiler/vector/cost_model.hpp"
#include "cpu/compiler/vector/entry.hpp"
#include "cpu/compiler/vector/form_choice.hpp"
#include "cpu/compiler/vector/pairs.hpp"
#include "cpu/compiler/vector/recompute.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::Instruction;

namespace {

/// Simplified loops in closed form, branches only, one return: what VectorFlow asks for.
void normalise(llvm::Function& scalar) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);
  llvm::FunctionPassManager passes;
  // Tests one after the other, as of an index on several axes, become one branch.
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().bonusInstThreshold(cost_model::cheap_test)));
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(scalar, functions);
}

bool has_effect(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return !load->isSimple();
  return instruction.mayHaveSideEffects();
}

/// Every meeting in a block of its own.
void isolate_meetings(llvm::Function& scalar) {
  std::vector<Instruction*> meetings;
  for (llvm::BasicBlock& block : scalar) {
    for (Instruction& instruction : block) {
      if (is_meeting(instruction)) meetings.push_back(&instruction);
    }
  }
  for (Instruction* meeting : meetings) {
    llvm::SplitBlock(meeting->getParent(), meeting);
    llvm::SplitBlock(meeting->getParent(), meeting->getNextNode());
  }
}

using Visited = llvm::SmallPtrSet<const Instruction*, 16>;

bool operands_can_come_before(const Instruction& instruction, const Instruction& other, Visited& visited);

/// Whether an instruction, and what it needs, can stand before another one of its block. Those visited before can.
bool can_come_before(const Instruction& instruction, const Instruction& other, Visited& visited) {
  if (instruction.getParent() != other.getParent() || instruction.comesBefore(&other)) return true;
  if (!visited.insert(&instruction).second) return true;
  if (llvm::isa<llvm::PHINode>(instruction)) return false;
  const bool never_changes = instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  if (!never_changes && (instruction.mayReadFromMemory() || !llvm::isSafeToSpeculativelyExecute(&instruction)))
    return false;
  return operands_can_come_before(instruction, other, visited);
}

bool operands_can_come_before(const Instruction& instruction, const Instruction& other, Visited& visited) {
  return std::all_of(instruction.value_op_begin(), instruction.value_op_end(), [&](const llvm::Value* operand) {
    const auto* needed = llvm::dyn_cast<Instruction>(operand);
    return needed == nullptr || can_come_before(*needed, other, visited);
  });
}

void move_before(Instruction& instruction, Instruction& other) {
  if (instruction.getParent() != other.getParent() || instruction.comesBefore(&other)) return;
  for (llvm::Value* operand : instruction.operand_values())
    if (auto* needed = llvm::dyn_cast<Instruction>(operand)) move_before(*needed, other);
  instruction.moveBefore(&other);
}

/// The full version asks once for all checks before the first access of a block, so all come there that can. Addresses
/// without a shape stay: each of their lanes would take room until the access.
void gather_checks(llvm::Function& scalar, const Shapes& shapes) {
  for (llvm::BasicBlock& block : scalar) {
    Instruction* first = nullptr;  // a check, or what has an effect
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (first == nullptr) {
        if (has_effect(instruction)) first = &instruction;
        continue;
      }
      if (!is_mark(instruction, lanes_mark)) continue;
      const llvm::Value* address = llvm::cast<llvm::CallInst>(instruction).getArgOperand(1);
      Visited visited;
      if (!shapes.of(address).is_varying() && operands_can_come_before(instruction, *first, visited))
        move_before(instruction, *first);
    }
  }
}

/// A check that fails restarts its block, so none may come after an effect: see VectorEmitter::flush_checks. Where
/// accesses are looked at, which may be reported, it comes before the first of them if it can.
bool split_before_checks(llvm::Function& scalar, const Shapes& shapes) {
  std::vector<Instruction*> late;
  for (llvm::BasicBlock& block : scalar) {
    Instruction* effect = nullptr;
    for (Instruction& instruction : llvm::make_early_inc_range(block)) {
      if (effect != nullptr && shapes.checks(&instruction)) {
        if (Visited visited; is_mark(*effect, lanes_mark) && can_come_before(instruction, *effect, visited)) {
          move_before(instruction, *effect);
          continue;
        }
        late.push_back(&instruction);
        effect = nullptr;
      }
      if (effect == nullptr && has_effect(instruction)) effect = &instruction;
    }
  }
  for (Instruction* instruction : late) llvm::SplitBlock(instruction->getParent(), instruction);
  return !late.empty();
}

/// The widest chunks that lie in one row of x, or all native lanes where rows are too short or odd for that.
unsigned lanes_for(const std::uint32_t* block, unsigned native) {
  if (block[1] == 1 && block[2] == 1) return native;
  const unsigned row = std::min(native, 1U << static_cast<unsigned>(std::countr_zero(block[0])));
  return row >= 8 ? row : native;  // masks are integers that the host has
}

constexpr unsigned warp = 32;
constexpr unsigned most_threads = 32 * warp;  // of a block

/// Vector registers that a chunk takes for what lives through the innermost loops; none if there are no loops.
unsigned registers_in_loops(const VectorFlow& flow, const Shapes& shapes) {
  unsigned deepest = 0;
  for (const llvm::BasicBlock* block : flow.order) deepest = std::max(deepest, flow.loop_depth(block));
  if (deepest == 0) return 0;
  unsigned most = 0;
  for (llvm::BasicBlock* block : flow.order) {
    if (flow.loop_depth(block) < deepest) continue;
    unsigned registers = 0;
    auto count = [&](const Instruction* value) {
      if (!shapes.of(value).is_varying()) return;
      const llvm::Type* type = value->getType();
      const auto bits = type->isPointerTy() ? 64 : static_cast<unsigned>(type->getPrimitiveSizeInBits());
      registers += std::max(1U, bits / 32);
    };
    for (const Instruction* value : flow.live_in().lookup(block)) count(value);
    for (const llvm::PHINode& phi : block->phis()) count(&phi);
    most = std::max(most, registers);
  }
  return most;
}

/// From `least` to `most` threads to a group.
VectorWidth choose_width(llvm::Function& scalar, const VectorFlow& flow, const CompileOptions& options,
                         HostFeatures host, unsigned least, unsigned most) {
  VectorWidth width;
  std::copy_n(options.block, 3, width.block);
  width.lanes = lanes_for(options.block, host.avx512f ? 16 : 8);
  // Every block costs a choice of what runs next, and all of it for each chunk.
  const auto size =
      size_without_checks(scalar) + cost_model::size_of_a_block * static_cast<unsigned>(flow.order.size());
  unsigned useful = 0;
  if (flow.has_meetings()) {
    // Lanes that meet want the whole block in one group: barriers are then nothing. But all chunks take turns in each
    // loop, and what lives through it had better stay in registers.
    const unsigned warps = size > cost_model::large_convergent_kernel    ? 1
                           : size > cost_model::middle_convergent_kernel ? cost_model::warps_of_middle_kernel
                                                                         : cost_model::warps_of_small_kernel;
    useful = std::min(warps * warp, cost_model::most_chunks * width.lanes);
    const unsigned registers = registers_in_loops(flow, Shapes(flow, scalar, width, false));
    if (registers != 0) {
      const unsigned chunks = std::bit_floor((host.avx512f ? 32 : 16) / registers);
      most = std::min(most, std::max(warp, chunks * width.lanes));
    }
  } else {
    // More than one chunk is work for idle units.
    const bool is_straight = flow.order.size() <= cost_model::most_blocks_of_straight_kernel;
    const bool has_two = is_straight && size <= cost_model::largest_kernel_of_two_chunks;
    useful = std::max(least, size <= cost_model::small_kernel ? warp : has_two ? 2 * width.lanes : width.lanes);
  }
  const unsigned wanted = std::max(warp, std::bit_ceil(width.threads()));
  width.chunks = std::min({most, useful, wanted}) / width.lanes;
  if (!flow.has_barriers() || VectorEmitter(scalar, flow, width, host).may_leave_full_version()) return width;
  // Straight code costs what it computes, and less where the compiler knows each thread by its number.
  const auto may_be_straight = [&](unsigned chunks, unsigned largest) {
    const unsigned threads = chunks * width.lanes;
    return threads <= most && width.threads() % threads == 0 && size_without_checks(scalar) * chunks <= largest;
  };
  // A whole block has no barriers left, which is worth as much code for narrow vectors as for wide ones.
  const unsigned all = width.threads() / width.lanes;
  if (all > width.chunks && std::has_single_bit(all) &&
      may_be_straight(all, cost_model::largest_straight_code * 16 / width.lanes))
    width.chunks = all;
  while (may_be_straight(2 * width.chunks, cost_model::largest_straight_code)) width.chunks *= 2;
  return width;
}

/// Lanes of a warp that meet, or run in step, must be in one group; at barriers groups meet.
unsigned smallest_group(const VectorFlow& flow, bool in_lockstep) {
  return flow.has_warp_operations() || in_lockstep ? warp : 1;
}

bool is_too_large(const llvm::Function& group) {
  return group.getInstructionCount() > cost_model::largest_group ||
         std::any_of(group.begin(), group.end(),
                     [](const llvm::BasicBlock& block) { return block.size() > cost_model::largest_block; });
}

/// Values that are not in registers: at most one vector of 64 bits a lane for each result and operand of an instruction
/// of each version.
std::uint32_t frame_bytes(const llvm::Function& scalar, const VectorWidth& width) {
  std::uint32_t values = 0;
  for (const llvm::BasicBlock& block : scalar) {
    for (const Instruction& instruction : block) values += 1 + instruction.getNumOperands();
  }
  return values * 2 * 8 * width.group();
}

}  // namespace

std::string vectorise(llvm::Function& scalar, const CompileOptions& options, HostFeatures host,
                      const std::vector<SharedVariable>& shared, bool in_lockstep, KernelInfo& info) {
  if (scalar.getInstructionCount() > cost_model::largest_kernel) return "its size";
  if (options.checks != 0) {
    VectorWidth width;
    std::copy_n(options.block, 3, width.block);
    drop_needless_checks(scalar, width, shared);
    bring_loads_to_checks(scalar);
    if (!checks_stay_with_accesses(scalar)) return "an address of several checked accesses";
  }
  normalise(scalar);
  isolate_meetings(scalar);
  for (unsigned most = most_threads;;) {
    const VectorFlow flow(scalar);
    if (!flow.refusal.empty()) return flow.refusal;
    const unsigned least = smallest_group(flow, in_lockstep);
    const VectorWidth width = choose_width(scalar, flow, options, host, least, most);
    if (std::uint64_t{info.local_bytes} * width.group() > largest_group_frames) return "large local variables";
    const Shapes shapes(flow, scalar, width, false);
    if (options.form == FormOfCode::Auto && !in_lockstep) {  // which costs the scalar form a fiber for each lane
      if (std::string reason = prefer_scalar_form(flow, shapes); !reason.empty()) return reason;
    }
    if (join_pairs(flow, shapes)) continue;
    if (width.groups() > 1 && recompute_behind_barriers(flow, shapes)) continue;
    if (split_before_checks(scalar, shapes)) continue;
    gather_checks(scalar, shapes);
    VectorEmitter emitter(scalar, flow, width, host, options.form == FormOfCode::Masked);
    llvm::Function* group = emitter.emit();
    if (group == nullptr) return emitter.refusal();
    if (is_too_large(*group)) {
      if (width.group() == std::max(least, width.lanes)) return "its size in the vector form";
      group->eraseFromParent();
      most = width.group() / 2;
      continue;
    }
    const std::uint64_t waiting_bytes = emitter.frame_bytes() * width.groups();
    if (waiting_bytes > cost_model::largest_waiting_bytes) return "what its groups keep across barriers";
    info.needs_fibers = false;
    info.runs_rows = options.checks == 0 && may_run_rows(scalar, flow, shapes, width);
    info.waiting_bytes = static_cast<std::uint32_t>(waiting_bytes);
    info.form = FormOfCode::Vector;
    info.frame_bytes = frame_bytes(scalar, width) + 2 * info.local_bytes * width.group() + info.waiting_bytes;
    group->addFnAttr(llvm::Attribute::AlwaysInline);
    emit_run_block(group, width, emitter.frame_bytes(), info.runs_rows);
    break;
  }
  scalar.eraseFromParent();
  return {};
}

}  // namespace cucore::cpu::codegen
