// The scalar form of one function: what is done once, and then its blocks, instruction by instruction.
#include "cpu/compiler/emitters/function_emitter.hpp"

#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <cstddef>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/analysis/flow/synchronization.hpp"
#include "cpu/analysis/instructions/memory_accesses.hpp"
#include "cpu/compiler/emitters/copied_values.hpp"

namespace cucore::cpu::compiler {

using analysis::BlockId;
using analysis::find_waiting_blocks;
using analysis::find_waiting_edges;
using analysis::is_volatile_exchange;
using analysis::PtxBlock;
using analysis::variables_to_follow;
using llvm::Value;
using ptx::Operand;
using ptx::Space;

namespace {

// In checked code, bytes after a local variable that nothing may access.
constexpr std::uint32_t local_redzone = 32;

}  // namespace

FunctionEmitter::FunctionEmitter(ModuleEmitter& owner, ptx::FunctionId id, const BodySteps& steps)
    : b(owner.context),
      module(owner),
      function(owner.module.functions[id]),
      flushed_values(function),
      id_(id),
      steps_(steps),
      body_(owner.function(id)),
      flow_(function),
      waiting_edges_(find_waiting_edges(owner.module, id, owner.reach)) {
  if (owner.checks_numbers) number_checks_.emplace(function);
  if ((owner.checks & check_class::race_checks) != 0 && !owner.reach.lockstep.empty())
    waiting_blocks_ = find_waiting_blocks(owner.module, id, owner.reach);
}

// ---- the body ------------------------------------------------------------------------------------------------------

void FunctionEmitter::emit() {
  emit_prologue();
  for (BlockId id = 0; id < flow_.blocks.size(); ++id) blocks_.push_back(new_block("ptx"));
  b.CreateBr(blocks_[0]);
  for (BlockId id = 0; id < flow_.blocks.size(); ++id) emit_block(id);
}

void FunctionEmitter::emit_prologue() {
  b.SetInsertPoint(llvm::BasicBlock::Create(module.context, "entry", body_));
  if (module.debug() != nullptr) described_ = module.debug()->describe(function, *body_);
  // In a plain loop over threads the thread's state is a variable of that loop, so its fields are not invariant.
  block_state_ = thread_field(b.getPtrTy(), offsetof(ThreadState, block));
  launch_state_ = invariant_field(b.getPtrTy(), block_state_, offsetof(BlockState, launch));
  own_shared_ = invariant_field(b.getPtrTy(), block_state_, offsetof(BlockState, shared));
  shared_base_ = own_shared_;
  if (module.reach.names_other_blocks)
    shared_base_ = invariant_field(b.getPtrTy(), block_state_, offsetof(BlockState, cluster_shared));

  // Float or integer slots for untyped registers, by how they are used: saves moves between register files.
  float_uses_.resize(function.registers.size(), 0);
  for (const ptx::Instruction& instruction : function.body) {
    const bool is_float = ptx::is_float(instruction.type());
    if (instruction.opcode == ptx::Opcode::Mov || instruction.opcode == ptx::Opcode::Selp) continue;
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == Operand::Kind::Register) float_uses_[operand.reg] += is_float ? 1 : -1;
    }
  }

  // Registers start as zero: reading one that was never written is then merely meaningless, not undefined behaviour.
  for (ptx::RegisterId id = 0; id < function.registers.size(); ++id) {
    const ptx::Register& reg = function.registers[id];
    llvm::Type* type = storage_type(id);
    auto& slots = registers_.emplace_back();
    for (unsigned component = 0; component < reg.vector_width; ++component) {
      auto* storage = slot(type, llvm::StringRef(reg.name));
      b.CreateStore(llvm::Constant::getNullValue(type), storage);
      slots.push_back({storage, type});
    }
  }

  variables_.resize(function.variables.size(), nullptr);
  if (function.is_entry) {
    Value* block = invariant_field(b.getPtrTy(), launch_state_, offsetof(LaunchState, params));
    // Lets a loop over threads read a parameter once even if only some threads need it.
    const auto say = [&](unsigned kind, std::uint64_t number) {
      auto* const constant = llvm::ConstantAsMetadata::get(b.getInt64(number));
      llvm::cast<llvm::LoadInst>(block)->setMetadata(kind, llvm::MDNode::get(module.context, constant));
    };
    say(llvm::LLVMContext::MD_dereferenceable, module.layout.info.param_bytes);
    say(llvm::LLVMContext::MD_align, alignof(std::max_align_t));
    for (auto [id, offset] : module.layout.kernel_parameters) {
      variables_[id] =
          b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), block, offset, llvm::StringRef(function.variables[id].name));
    }
  } else {
    unsigned argument = 1;
    for (ptx::VariableId id : function.returns) variables_[id] = body_->getArg(argument++);
    for (ptx::VariableId id : function.parameters) variables_[id] = body_->getArg(argument++);
  }
  if (described_ != nullptr) describe_variables();
  for (ptx::VariableId id : function.parameters) {
    const ptx::Variable& parameter = function.variables[id];
    if (parameter.space != Space::Reg) continue;
    const Slot& to = registers_[parameter.reg][0];
    b.CreateStore(b.CreateLoad(to.type, variables_[id]), to.storage);
  }
  for (ptx::VariableId id = 0; id < function.variables.size(); ++id) {
    const ptx::Variable& declared = function.variables[id];
    if (variables_[id] != nullptr) continue;
    if (declared.space == Space::Shared) {
      variables_[id] = b.CreateConstGEP1_64(b.getInt8Ty(), own_shared_, module.layout.function_shared.at({id_, id}));
    } else if (declared.space == Space::Local || declared.space == Space::Param) {
      llvm::Type* bytes = llvm::ArrayType::get(b.getInt8Ty(), declared.size + (module.checks != 0 ? local_redzone : 0));
      variables_[id] = slot(bytes, llvm::StringRef(declared.name), std::max(declared.alignment, 16U));
    }
  }
  if ((module.checks & check_class::init_checks) != 0) only_carries_ = registers_that_only_carry(function);
  if (module.block_shape != nullptr) return;  // the vector form knows them without
  checked_variables_ = variables_to_follow(function, module.checks);
  for (ptx::VariableId id : checked_variables_) steps_.emit_enter(*this, variables_[id], function.variables[id]);
}

/// What a debugger is to show of the function. The prologue has no line of its own, so that breakpoints on the
/// function's name are set after it, where the variables can be read.
void FunctionEmitter::describe_variables() {
  DebugInformation& debug = *module.debug();
  const auto keep = [&](Value* pointer) {
    auto* const kept = slot(b.getPtrTy(), "kept");
    b.CreateStore(pointer, kept);
    return kept;
  };
  auto* const state = keep(thread());
  unsigned number = 1;
  if (function.is_entry) {
    for (auto [id, offset] : module.layout.kernel_parameters)
      debug.declare_kernel_parameter(described_, state, function.variables[id], number++, offset);
  } else {
    for (ptx::VariableId id : function.parameters)
      debug.declare_parameter(described_, keep(variables_[id]), function.variables[id], number++);
  }
  debug.declare_built_ins(described_, state);
  for (ptx::RegisterId id = 0; id < function.registers.size(); ++id)
    if (registers_[id].size() == 1)
      debug.declare_register(described_, registers_[id][0].storage, function.registers[id].name);
}

void FunctionEmitter::emit_block(BlockId id) {
  current_ = id;
  b.SetInsertPoint(blocks_[id]);
  const PtxBlock& block = flow_.blocks[id];
  if ((module.checks & check_class::memory_checks) != 0)
    check_groups_ = find_check_groups(std::span(function.body).subspan(block.first, block.end - block.first));
  for (std::uint32_t i = block.first; i < block.end; ++i) emit_instruction(function.body[i]);
  if (b.GetInsertBlock()->getTerminator() != nullptr) return;
  if (id + 1 == flow_.blocks.size()) {
    leave(false);
  } else {
    b.CreateBr(edge_to(id + 1));
  }
}

void FunctionEmitter::emit_instruction(const ptx::Instruction& instruction) {
  current_instruction_ = &instruction;
  const auto number = module.first_number(id_) + index_of(instruction);
  b.SetCurrentDebugLocation(described_ != nullptr ? module.debug()->place_of(described_, &instruction)
                                                  : InstructionLines::place_of(body_->getSubprogram(), number));
  emit_lockstep_point(instruction);
  if (!instruction.guard) {
    steps_.emit_instruction(*this, instruction);
    return;
  }
  Operand guard;
  guard.kind = Operand::Kind::Register;
  guard.reg = instruction.guard->reg;
  guard.negated = instruction.guard->negated;
  auto* taken = new_block("guarded");
  auto* next = new_block("next");
  b.CreateCondBr(predicate(guard), taken, next);
  b.SetInsertPoint(taken);
  steps_.emit_instruction(*this, instruction);
  if (b.GetInsertBlock()->getTerminator() == nullptr) b.CreateBr(next);
  b.SetInsertPoint(next);
}

/// Lanes whose predicate is false take part as well: they run in step with the others.
void FunctionEmitter::emit_lockstep_point(const ptx::Instruction& instruction) {
  if (module.block_shape != nullptr) return;  // the vector form runs in step anyway
  const auto points = module.reach.lockstep.find(id_);
  if (points == module.reach.lockstep.end()) return;
  const auto point = points->second.find(index_of(instruction));
  if (point == points->second.end()) return;
  const ptx::Position& position = function.body[point->second].position;
  const std::uint32_t place = position.line << 8 | (position.column & 255);
  call("cucpu_lockstep", b.getVoidTy(), {thread(), b.getInt32(place)});
}

bool FunctionEmitter::is_exchange_in_lockstep(const ptx::Instruction& instruction) const {
  if (is_plain_exchange(instruction)) return true;
  return !module.reach.lockstep.empty() && is_volatile_exchange(instruction) &&
         !waiting_blocks_.contains(flow_.block_at[index_of(instruction)]);
}

bool FunctionEmitter::is_plain_exchange(const ptx::Instruction& instruction) const {
  return !module.reach.exchanges.empty() && module.reach.is_exchange(id_, index_of(instruction));
}

llvm::BasicBlock* FunctionEmitter::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(module.context, name, body_);
}

llvm::BasicBlock* FunctionEmitter::edge_to(BlockId target) {
  const bool yields = waiting_edges_.yielding.contains({current_, target});
  if (!yields && !waiting_edges_.lapping.contains({current_, target})) return blocks_[target];
  auto* from = b.GetInsertBlock();
  auto* edge = new_block(yields ? "yield" : "lap");
  b.SetInsertPoint(edge);
  if (yields)
    call("cucpu_yield", b.getVoidTy(), {thread()});
  else
    call("cucpu_lap", b.getVoidTy(), {block_state_});
  b.CreateBr(blocks_[target]);
  b.SetInsertPoint(from);
  return edge;
}

void FunctionEmitter::leave(bool exited) {
  for (ptx::VariableId id : function.returns) {
    const ptx::Variable& result = function.variables[id];
    if (result.space != Space::Reg) continue;
    const Slot& from = registers_[result.reg][0];
    b.CreateStore(b.CreateLoad(from.type, from.storage), variables_[id]);
  }
  for (ptx::VariableId id : checked_variables_) steps_.emit_leave(*this, variables_[id], function.variables[id]);
  b.CreateRet(b.getInt1(exited));
}

void FunctionEmitter::leave_if(Value* exited) {
  auto* ends = new_block("exited");
  auto* goes_on = new_block("returned");
  b.CreateCondBr(exited, ends, goes_on);
  b.SetInsertPoint(ends);
  leave(true);
  b.SetInsertPoint(goes_on);
}

bool FunctionEmitter::only_carries(const Operand& value) const {
  if (value.kind != Operand::Kind::Register) return value.kind == Operand::Kind::Sink;
  return !only_carries_.empty() && only_carries_[value.reg];
}

CheckGroup* FunctionEmitter::check_group(const ptx::Instruction& instruction) const {
  const auto found = check_groups_.find(&instruction);
  return found != check_groups_.end() ? found->second.get() : nullptr;
}

// ---- calls and state -----------------------------------------------------------------------------------------------

Value* FunctionEmitter::call(std::string_view name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  return b.CreateCall(module.external(name, result, types), arguments);
}

Value* FunctionEmitter::intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types,
                                  llvm::ArrayRef<Value*> arguments) {
  return b.CreateIntrinsic(id, types, arguments);
}

Value* FunctionEmitter::invariant_field(llvm::Type* type, Value* base, std::size_t offset) {
  auto* load = b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module.context, {}));
  return load;
}

Value* FunctionEmitter::thread_field(llvm::Type* type, std::size_t offset) {
  return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), thread(), offset));
}

Value* FunctionEmitter::thread_index_field(std::size_t offset, std::uint32_t count) {
  auto* load = llvm::cast<llvm::LoadInst>(thread_field(b.getInt32Ty(), offset));
  if (count != 0) {
    llvm::MDNode* range = llvm::MDBuilder(module.context).createRange(llvm::APInt(32, 0), llvm::APInt(32, count));
    load->setMetadata(llvm::LLVMContext::MD_range, range);
  }
  return load;
}

}  // namespace cucore::cpu::compiler
