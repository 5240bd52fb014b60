// The entry point of a kernel's vector form: see entry.hpp.
#include "cpu/compiler/vector/emission/entry.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/abi/symbols.hpp"
#include "cpu/compiler/debug/instruction_lines.hpp"
#include "cpu/compiler/vector/analysis/state_fields.hpp"
#include "cpu/compiler/vector/state/barriers.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

namespace {

using Body = llvm::function_ref<void(llvm::Value*)>;

/// `void symbol(ptr)`, with an empty first block.
llvm::Function* create_entry(llvm::Function* group, const char* symbol) {
  llvm::LLVMContext& context = group->getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false);
  auto* entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, *group->getParent());
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::BasicBlock::Create(context, "entry", entry);
  return entry;
}

/// Emits a loop over 0 to `count` - 1, which is at least 1; `body` gets the number and may add blocks.
void for_each(llvm::IRBuilder<>& b, llvm::Value* count, Body body) {
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(count); known != nullptr && known->isOne())
    return body(b.getInt32(0));
  llvm::Function* function = b.GetInsertBlock()->getParent();
  auto* before = b.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(b.getContext(), "group", function);
  auto* done = llvm::BasicBlock::Create(b.getContext(), "groups.done", function);
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  auto* number = b.CreatePHI(b.getInt32Ty(), 2);
  body(number);
  llvm::Value* next = b.CreateAdd(number, b.getInt32(1));
  number->addIncoming(b.getInt32(0), before);
  number->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, count), loop, done);
  b.SetInsertPoint(done);
}

/// Groups that wait for each other: in rounds from one barrier to the next. They always wait at the same one, or some
/// have ended.
void emit_rounds(llvm::IRBuilder<>& b, llvm::Function* group, const VectorWidth& width, std::uint64_t frame_bytes,
                 llvm::Value* block_index) {
  llvm::Function* entry = b.GetInsertBlock()->getParent();
  auto new_block = [&](const char* name) { return llvm::BasicBlock::Create(b.getContext(), name, entry); };
  auto* frames = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), frame_bytes * width.groups()), nullptr, "frames");
  frames->setAlignment(llvm::Align(frame_alignment));
  auto* points = b.CreateAlloca(llvm::ArrayType::get(b.getInt32Ty(), width.groups()), nullptr, "points");
  auto* waiting = b.CreateAlloca(b.getInt32Ty(), nullptr, "waiting");
  auto point_of = [&](llvm::Value* number) { return b.CreateInBoundsGEP(b.getInt32Ty(), points, number); };
  for_each(b, b.getInt32(width.groups()),
           [&](llvm::Value* number) { b.CreateStore(b.getInt32(point_start), point_of(number)); });
  auto* round = new_block("round");
  b.CreateBr(round);
  b.SetInsertPoint(round);
  llvm::Value* ended = b.getInt32(point_ended);
  b.CreateStore(ended, waiting);
  for_each(b, b.getInt32(width.groups()), [&](llvm::Value* number) {
    llvm::Value* point = b.CreateLoad(b.getInt32Ty(), point_of(number));
    auto* runs = new_block("runs");
    auto* next = new_block("next");
    b.CreateCondBr(b.CreateICmpEQ(point, ended), next, runs);
    b.SetInsertPoint(runs);
    llvm::Value* first = b.CreateMul(number, b.getInt32(width.group()));
    llvm::Value* offset = b.CreateMul(b.CreateZExt(number, b.getInt64Ty()), b.getInt64(frame_bytes));
    llvm::Value* frame = b.CreateInBoundsGEP(b.getInt8Ty(), frames, offset);
    llvm::Value* reached = b.CreateCall(group, {entry->getArg(0), first, point, frame, block_index});
    b.CreateStore(reached, point_of(number));
    b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt32Ty(), waiting), reached), waiting);
    b.CreateBr(next);
    b.SetInsertPoint(next);
  });
  auto* done = new_block("done");
  b.CreateCondBr(b.CreateICmpEQ(b.CreateLoad(b.getInt32Ty(), waiting), ended), done, round);
  b.SetInsertPoint(done);
}

/// Code that calls nothing, asks for no cluster and touches memory in rows alone.
bool is_simple(Instruction& instruction, const llvm::Function& scalar, const StrideAnalysis& strides) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) return llvm::isa<llvm::IntrinsicInst>(call);
  if (!instruction.mayReadOrWriteMemory()) return true;
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&instruction);
  if (pointer == nullptr || instruction.isVolatile() || instruction.isAtomic()) return false;
  if (thread_field(pointer, scalar)) return true;
  if (const auto field = block_field(pointer, scalar)) return *field < offsetof(BlockState, cluster_id);
  const Stride address = strides.of(pointer);
  const auto size = scalar.getDataLayout().getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue();
  return address.is_uniform() || (address.is_strided() && (address.step == 0 || std::uint64_t(address.step) == size));
}

}  // namespace

bool may_run_rows(const llvm::Function& scalar, const ControlFlow& flow, const StrideAnalysis& strides,
                  const VectorWidth& width) {
  if (!width.has_rows() || width.groups() == 1 || flow.has_convergent_operations()) return false;
  // A group is some rows, or part of one.
  if (width.block[0] % width.group() != 0 && width.group() % width.block[0] != 0) return false;
  return std::all_of(flow.order.begin(), flow.order.end(), [&](llvm::BasicBlock* block) {
    return flow.loop_depth(block) == 0 && std::all_of(block->begin(), block->end(), [&](Instruction& each) {
             return is_simple(each, scalar, strides);
           });
  });
}

void emit_run_fiber(llvm::Function* group) {
  llvm::Function* entry = create_entry(group, run_thread_symbol);
  llvm::IRBuilder<> b(&entry->getEntryBlock());
  b.SetCurrentDebugLocation(InstructionLines::describe_like(*group, *entry));
  llvm::Value* thread = entry->getArg(0);
  auto load = [&](llvm::Type* type, llvm::Value* from, std::size_t offset) {
    return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), from, offset));
  };
  llvm::Value* block = load(b.getPtrTy(), thread, offsetof(ThreadState, block));
  llvm::Value* first = load(b.getInt32Ty(), thread, offsetof(ThreadState, linear));
  llvm::Value* block_index = load(b.getInt32Ty(), block, offsetof(BlockState, block_id));
  b.CreateCall(group, {block, first, b.getInt32(point_start), thread, block_index});
  b.CreateRetVoid();
}

void emit_run_block(llvm::Function* group, const VectorWidth& width, std::uint64_t frame_bytes, bool by_rows) {
  llvm::Function* entry = create_entry(group, run_block_symbol);
  llvm::IRBuilder<> b(&entry->getEntryBlock());
  b.SetCurrentDebugLocation(InstructionLines::describe_like(*group, *entry));
  llvm::Value* block = entry->getArg(0);
  auto field = [&](std::size_t offset) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), block, offset); };
  llvm::Value* block_index = b.CreateLoad(b.getInt32Ty(), field(offsetof(BlockState, block_id)));
  auto run_group = [&](llvm::Value* number, llvm::Value* index) {
    b.CreateCall(group, {block, b.CreateMul(number, b.getInt32(width.group())), b.getInt32(point_start),
                         llvm::ConstantPointerNull::get(b.getPtrTy()), index});
  };
  if (frame_bytes != 0) {
    emit_rounds(b, group, width, frame_bytes, block_index);
  } else if (by_rows) {
    const unsigned groups_of_row = std::max(1U, width.block[0] / width.group());
    llvm::Value* blocks = b.CreateLoad(b.getInt32Ty(), field(offsetof(BlockState, row_blocks)));
    for_each(b, b.getInt32(width.groups() / groups_of_row), [&](llvm::Value* row) {
      llvm::Value* first = b.CreateMul(row, b.getInt32(groups_of_row));
      for_each(b, blocks, [&](llvm::Value* number) {
        llvm::Value* index = b.CreateAdd(block_index, number);
        b.CreateStore(index, field(offsetof(BlockState, block_id)), true);  // reports of faults read it
        for_each(b, b.getInt32(groups_of_row), [&](llvm::Value* part) { run_group(b.CreateAdd(first, part), index); });
      });
    });
  } else {
    for_each(b, b.getInt32(width.groups()), [&](llvm::Value* number) { run_group(number, block_index); });
  }
  b.CreateRetVoid();
}

}  // namespace cucore::cpu::compiler
