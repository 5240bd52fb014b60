// Declares what a kernel reaches, and emits every function: see module_emitter.hpp.
#include "cpu/compiler/emitters/module_emitter.hpp"

#include <cstddef>
#include <utility>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/ir/convergent_calls.hpp"

namespace cucore::cpu::compiler {

using analysis::Callee;
using analysis::Layout;
using analysis::Reach;
using analysis::resolve;

ModuleEmitter::ModuleEmitter(const ptx::Module& module_, const Reach& reach_, const Layout& layout_,
                             llvm::LLVMContext& context_, llvm::Module& ir_, HostFeatures host_,
                             const std::uint32_t* block_, std::uint32_t checks_)
    : module(module_),
      reach(reach_),
      layout(layout_),
      context(context_),
      ir(ir_),
      host(host_),
      block_shape(block_),
      checks(checks_ & check_class::access_checks),
      checks_numbers((checks_ & check_class::number_checks) != 0) {}

void ModuleEmitter::fail(std::string_view what, const ptx::Instruction& instruction) {
  if (!emitted_) return;
  emitted_ = Failure(ErrorCode::InvalidPtx, "line " + std::to_string(instruction.position.line) + ": " +
                                                ptx::spelling(instruction) + " has " + std::string(what));
}

void ModuleEmitter::declare() {
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  if (debug_ == nullptr) lines_.emplace(ir);
  std::uint32_t number = 1;
  for (ptx::FunctionId id : reach.functions) {
    const ptx::Function& function = module.functions[id];
    std::vector<llvm::Type*> parameters{pointer};
    if (!function.is_entry) {
      parameters.resize(1 + function.returns.size() + function.parameters.size(), pointer);
    }
    auto* type = llvm::FunctionType::get(llvm::Type::getInt1Ty(context), parameters, false);
    auto* declared = llvm::Function::Create(type, llvm::Function::InternalLinkage, symbol_of(function), ir);
    declared->addFnAttr(llvm::Attribute::NoUnwind);
    // An access at address zero is a fault to report, not a promise that it is never executed.
    declared->addFnAttr(llvm::Attribute::NullPointerIsValid);
    declared->addFnAttr("probe-stack", "inline-asm");  // no frame steps over the page below the stack
    // The kernel's body is part of its entry points; called functions stay calls, as the PTX compiler left them. The
    // vector form takes all of them into the kernel instead. For a debugger each is its own.
    const bool is_kernel = id == reach.functions.front();
    if (debug_ == nullptr && is_kernel == (block_shape == nullptr)) declared->addFnAttr(llvm::Attribute::AlwaysInline);
    if (is_kernel && block_shape != nullptr) declared->setLinkage(llvm::Function::ExternalLinkage);
    functions_[id] = declared;
    first_numbers_[id] = number;
    number += static_cast<std::uint32_t>(function.body.size());
    if (lines_) lines_->describe(*declared);
  }
  // Those that initialisers name are looked up when the code is linked.
  for (ptx::VariableId id : reach.variables) {
    for (const ptx::Relocation& relocation : module.variables[id].relocations) {
      if (!relocation.is_function) continue;
      const Callee callee = resolve(module, relocation.function);
      if (callee.function && !module.functions[*callee.function].is_entry)
        function(*callee.function)->setLinkage(llvm::Function::ExternalLinkage);
    }
  }
}

llvm::Constant* ModuleEmitter::variable(ptx::VariableId id) { return address(symbol_of(module.variables[id])); }

llvm::Constant* ModuleEmitter::kernel_address(ptx::FunctionId id) {
  return address(kernel_symbol_of(module.functions[id]));
}

llvm::Constant* ModuleEmitter::address(const std::string& symbol) {
  if (llvm::GlobalVariable* known = ir.getGlobalVariable(symbol)) return known;
  return new llvm::GlobalVariable(ir, llvm::Type::getInt8Ty(context), false, llvm::GlobalValue::ExternalLinkage,
                                  nullptr, symbol);
}

llvm::FunctionCallee ModuleEmitter::external(std::string_view name, llvm::Type* result,
                                             llvm::ArrayRef<llvm::Type*> arguments) {
  auto* type = llvm::FunctionType::get(result, arguments, false);
  llvm::FunctionCallee callee = ir.getOrInsertFunction(llvm::StringRef(name), type);
  auto* declared = llvm::cast<llvm::Function>(callee.getCallee());
  declared->addFnAttr(llvm::Attribute::NoUnwind);
  // Threads synchronise at one place: the call must not be duplicated into its predecessors.
  if (is_convergent(declared->getName())) declared->addFnAttr(llvm::Attribute::Convergent);
  return callee;
}

Result<void> ModuleEmitter::emit_bodies(const BodySteps& steps) {
  for (ptx::FunctionId id : reach.functions) FunctionEmitter(*this, id, steps).emit();
  if (debug_ != nullptr) debug_->finish();
  return std::move(emitted_);
}

void ModuleEmitter::emit_entry_points(bool by_thread) {
  if (by_thread) {
    emit_run_thread();
  } else {
    emit_run_block();
  }
}

namespace {

llvm::Function* create_entry_point(llvm::Module& ir, const char* name) {
  llvm::LLVMContext& context = ir.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::get(context, 0)}, false);
  auto* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, ir);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

}  // namespace

/// void cucpu_run_thread(ThreadState*)
void ModuleEmitter::emit_run_thread() {
  llvm::Function* entry = create_entry_point(ir, run_thread_symbol);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", entry));
  if (lines_) b.SetCurrentDebugLocation(InstructionLines::describe_like(*kernel(), *entry));
  b.CreateCall(kernel(), {entry->getArg(0)});
  b.CreateRetVoid();
}

/// void cucpu_run_block(const BlockState*): for z, for y, for x, the kernel's body for that thread.
void ModuleEmitter::emit_run_block() {
  llvm::Function* entry = create_entry_point(ir, run_block_symbol);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", entry));
  if (lines_) b.SetCurrentDebugLocation(InstructionLines::describe_like(*kernel(), *entry));
  llvm::Type* i32 = b.getInt32Ty();
  llvm::Value* block = entry->getArg(0);

  auto* thread = b.CreateAlloca(llvm::ArrayType::get(b.getInt8Ty(), sizeof(ThreadState)), nullptr, "thread");
  thread->setAlignment(llvm::Align(alignof(ThreadState)));
  auto field = [&](std::size_t offset) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), thread, offset); };
  b.CreateStore(block, field(offsetof(ThreadState, block)));
  b.CreateStore(llvm::ConstantPointerNull::get(b.getPtrTy()), field(offsetof(ThreadState, runtime)));

  llvm::Value* launch =
      b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), block, offsetof(BlockState, launch)));
  llvm::Value* extent[3];
  for (std::size_t axis = 0; axis < 3; ++axis) {
    extent[axis] =
        b.CreateLoad(i32, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), launch, offsetof(LaunchState, block) + 4 * axis));
  }

  // One loop per axis, x innermost; a block has at least one thread on each.
  llvm::BasicBlock* header[3];
  llvm::PHINode* index[3];
  llvm::PHINode* linear[3];
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Value* linear_before = b.getInt32(0);
  for (std::size_t axis : {2U, 1U, 0U}) {
    header[axis] = llvm::BasicBlock::Create(context, "axis", entry);
    b.CreateBr(header[axis]);
    b.SetInsertPoint(header[axis]);
    index[axis] = b.CreatePHI(i32, 2);
    linear[axis] = b.CreatePHI(i32, 2);
    index[axis]->addIncoming(b.getInt32(0), before);
    linear[axis]->addIncoming(linear_before, before);
    b.CreateStore(index[axis], field(offsetof(ThreadState, thread_id) + 4 * axis));
    before = header[axis];
    linear_before = linear[axis];
  }
  b.CreateStore(linear[0], field(offsetof(ThreadState, linear)));
  b.CreateCall(kernel(), {thread});

  llvm::Value* linear_after = b.CreateAdd(linear[0], b.getInt32(1));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    llvm::Value* next = b.CreateAdd(index[axis], b.getInt32(1));
    index[axis]->addIncoming(next, b.GetInsertBlock());
    linear[axis]->addIncoming(linear_after, b.GetInsertBlock());
    auto* done = llvm::BasicBlock::Create(context, "axis.done", entry);
    b.CreateCondBr(b.CreateICmpULT(next, extent[axis]), header[axis], done);
    b.SetInsertPoint(done);
  }
  b.CreateRetVoid();
}

}  // namespace cucore::cpu::compiler
