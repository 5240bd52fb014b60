// From the scalar form to the vector form: see vectorise.hpp.
#include "cpu/codegen/vectorise.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include <algorithm>
#include <bit>
#include <cstddef>

#include "cpu/codegen/form_choice.hpp"
#include "cpu/codegen/kernel_abi.hpp"
#include "cpu/codegen/vector_emitter.hpp"
#include "cpu/codegen/vector_limits.hpp"

namespace cucore::cpu::codegen {

using llvm::Instruction;

namespace {

/// Scalar instructions from which on code for several chunks takes too long to compile.
constexpr unsigned largest_kernel = 4000;
/// The same of the vector form before it is optimised, as a whole and in one block: LLVM schedules a block in time that
/// grows faster than its length.
constexpr unsigned largest_group = 30000;
constexpr std::size_t largest_block = 5000;

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

/// A check that fails restarts its block, so none may come after an effect: see VectorEmitter::flush_checks.
bool split_before_checks(llvm::Function& scalar, const Shapes& shapes) {
  std::vector<Instruction*> late;
  for (llvm::BasicBlock& block : scalar) {
    bool effect = false;
    for (Instruction& instruction : block) {
      if (effect && shapes.checks(&instruction)) {
        late.push_back(&instruction);
        effect = false;
      }
      effect |= has_effect(instruction);
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

/// At most `most` threads to a group.
VectorWidth choose_width(const llvm::Function& scalar, const VectorFlow& flow, const CompileOptions& options,
                         HostFeatures host, unsigned most) {
  VectorWidth width;
  std::copy_n(options.block, 3, width.block);
  width.lanes = lanes_for(options.block, host.avx512f ? 16 : 8);
  // Lanes that meet want the whole block in one group: barriers are then nothing.
  // Every block costs a choice of what runs next, and all of it for each chunk.
  const auto size = scalar.getInstructionCount() + 10 * static_cast<unsigned>(flow.order.size());
  unsigned useful = size > 800 ? warp : size > 400 ? 4 * warp : 8 * warp;
  if (!flow.has_meetings()) useful = size > 150 ? width.lanes : warp;  // more than one: work for idle units
  const unsigned wanted = std::max(warp, std::bit_ceil(width.threads()));
  width.chunks = std::min({most, useful, wanted}) / width.lanes;
  return width;
}

/// Lanes of a warp that meet must be in one group.
unsigned smallest_group(const VectorFlow& flow, const VectorWidth& width) {
  return flow.has_meetings() ? warp : width.lanes;
}

bool is_too_large(const llvm::Function& group) {
  return group.getInstructionCount() > largest_group ||
         std::any_of(group.begin(), group.end(),
                     [](const llvm::BasicBlock& block) { return block.size() > largest_block; });
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

llvm::Function* create_entry_point(llvm::Module& ir, const char* name) {
  llvm::LLVMContext& context = ir.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, ir);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

/// void cucpu_run_block(const BlockState*): one group after the other
void emit_run_block(llvm::Module& ir, llvm::Function* group, const VectorWidth& width) {
  llvm::Function* entry = create_entry_point(ir, run_block_symbol);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(ir.getContext(), "entry", entry));
  auto* before = b.GetInsertBlock();
  llvm::Value* none = llvm::ConstantPointerNull::get(b.getPtrTy());
  auto* loop = llvm::BasicBlock::Create(ir.getContext(), "group", entry);
  auto* done = llvm::BasicBlock::Create(ir.getContext(), "done", entry);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto* first = b.CreatePHI(b.getInt32Ty(), 2);
  b.CreateCall(group, {entry->getArg(0), first, none});
  llvm::Value* next = b.CreateAdd(first, b.getInt32(width.group()));
  first->addIncoming(b.getInt32(0), before);
  first->addIncoming(next, loop);
  b.CreateCondBr(b.CreateICmpULT(next, b.getInt32(width.threads())), loop, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
}

/// void cucpu_run_thread(ThreadState*): the group that starts with that thread
void emit_run_group(llvm::Module& ir, llvm::Function* group) {
  llvm::Function* entry = create_entry_point(ir, run_thread_symbol);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(ir.getContext(), "entry", entry));
  auto field = [&](llvm::Type* type, std::size_t offset) {
    return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), entry->getArg(0), offset));
  };
  llvm::Value* block = field(b.getPtrTy(), offsetof(ThreadState, block));
  b.CreateCall(group, {block, field(b.getInt32Ty(), offsetof(ThreadState, linear)), entry->getArg(0)});
  b.CreateRetVoid();
}

}  // namespace

std::string vectorise(llvm::Function& scalar, const CompileOptions& options, HostFeatures host, KernelInfo& info) {
  if (scalar.getInstructionCount() > largest_kernel) return "its size";
  normalise(scalar);
  isolate_meetings(scalar);
  for (unsigned most = 8 * warp;;) {
    const VectorFlow flow(scalar);
    if (!flow.refusal.empty()) return flow.refusal;
    const VectorWidth width = choose_width(scalar, flow, options, host, most);
    if (std::uint64_t{info.local_bytes} * width.group() > largest_group_frames) return "large local variables";
    const Shapes shapes(flow, scalar, width, false);
    if (options.form == FormOfCode::Auto) {
      if (std::string reason = prefer_scalar_form(flow, shapes); !reason.empty()) return reason;
    }
    if (split_before_checks(scalar, shapes)) continue;
    VectorEmitter emitter(scalar, flow, width, host);
    llvm::Function* group = emitter.emit();
    if (group == nullptr) return emitter.refusal();
    if (is_too_large(*group)) {
      if (width.group() == smallest_group(flow, width)) return "its size in the vector form";
      group->eraseFromParent();
      most = width.group() / 2;
      continue;
    }
    const bool needs_fibers = flow.has_meetings() && width.threads() > width.group();
    info.needs_fibers = needs_fibers;
    info.group_threads = width.group();
    info.form = FormOfCode::Vector;
    info.frame_bytes = frame_bytes(scalar, width);
    group->addFnAttr(llvm::Attribute::AlwaysInline);
    if (needs_fibers) {
      emit_run_group(*scalar.getParent(), group);
    } else {
      emit_run_block(*scalar.getParent(), group, width);
    }
    break;
  }
  scalar.eraseFromParent();
  return {};
}

}  // namespace cucore::cpu::codegen
