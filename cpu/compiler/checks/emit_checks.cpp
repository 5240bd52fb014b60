// Checks around instructions: see emit_checks.hpp.
#include "cpu/compiler/checks/emit_checks.hpp"

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/analysis/flow/synchronization.hpp"
#include "cpu/analysis/instructions/memory_accesses.hpp"
#include "cpu/compiler/checks/access_checks.hpp"
#include "cpu/compiler/checks/marks.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::MemoryAccess;
using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

llvm::CallInst* call_service(FunctionEmitter& f, std::size_t field, llvm::Type* result,
                             llvm::ArrayRef<Value*> arguments) {
  Value* table = f.invariant_field(f.b.getPtrTy(), f.launch_state(), offsetof(LaunchState, checks));
  return call_service(f, table, field, result, arguments);
}

/// The value of a refused read: zero.
void define_zeros(FunctionEmitter& f, const Instruction& i) {
  const bool has_result = i.opcode == Opcode::Ld || i.opcode == Opcode::Ldu || i.opcode == Opcode::Atom;
  if (!has_result) return;
  for (const Operand& to : f.elements(i.operands[0]))
    f.define(to, llvm::Constant::getNullValue(f.type_of(i.type())), i.type());
}

/// Tells the race checker which of the thread's copies are complete.
void emit_copy_step(FunctionEmitter& f, const Instruction& i) {
  using M = ptx::Modifier;
  if (i.opcode != Opcode::Cp || (f.module.checks & check_class::race_checks) == 0) return;
  const bool is_bulk = i.has(M::Bulk);
  auto step = CopyStep::WaitAll;
  if (i.has(M::CommitGroup)) {
    step = is_bulk ? CopyStep::CommitBulkGroup : CopyStep::CommitGroup;
  } else if (i.has(M::WaitGroup)) {
    step = is_bulk ? CopyStep::WaitBulkGroup : CopyStep::WaitGroup;
  } else if (!i.has(M::WaitAll) && !i.has(M::Mbarrier)) {
    return;
  }
  const auto left = i.has(M::WaitGroup) ? static_cast<std::uint32_t>(i.operands[0].integer) : 0;
  call_service(f, offsetof(CheckTable, copies), f.b.getVoidTy(),
               {f.thread(), f.b.getInt32(static_cast<std::uint32_t>(step)), f.b.getInt32(left)});
}

/// The vector form checks one access, at a part of its address.
void emit_checked_lanes(FunctionEmitter& f, const Instruction& i, Generate generate) {
  const std::vector<MemoryAccess> accesses = analysis::memory_accesses_of(i);
  if (!accesses.empty()) f.set_checked_pointer(accesses[0].address, AccessChecks(f, i, accesses[0]).address_of_lanes());
  generate(f, i);
  f.set_checked_pointer(nullptr, nullptr);
}

/// Between the generic and the asynchronous proxy.
bool is_proxy_fence_of_shared(const Instruction& i) {
  using M = ptx::Modifier;
  return i.has(M::Proxy) && (i.has(M::Async) || i.has(M::AsyncGeneric)) &&
         (i.spaces.empty() || i.space() == Space::Shared);
}

bool is_aligned_barrier(const Instruction& i) { return i.opcode == Opcode::Bar || i.has(ptx::Modifier::Aligned); }

}  // namespace

void emit_checked(FunctionEmitter& f, const Instruction& i, Generate generate) {
  if (f.module.block_shape != nullptr) return emit_checked_lanes(f, i, generate);
  if (analysis::is_convergent(i) || analysis::accesses_by_itself(i) || i.opcode == Opcode::Call) {
    const std::uint32_t place = i.position.line | (is_aligned_barrier(i) ? aligned_place : 0);
    f.b.CreateStore(f.b.getInt32(place),
                    f.b.CreateConstInBoundsGEP1_64(f.b.getInt8Ty(), f.thread(), offsetof(ThreadState, place)));
  }
  if ((f.module.checks & check_class::race_checks) != 0 && analysis::is_fence(i.opcode)) {
    call_service(f, offsetof(CheckTable, fence), f.b.getVoidTy(), {f.thread()});
    if (is_proxy_fence_of_shared(i)) call_service(f, offsetof(CheckTable, proxy_fence), f.b.getVoidTy(), {f.thread()});
  }
  emit_copy_step(f, i);
  const std::vector<MemoryAccess> accesses = analysis::memory_accesses_of(i);
  if (accesses.empty()) return generate(f, i);
  auto* refused = f.new_block("refused");
  auto* next = f.new_block("checked");
  std::vector<AccessChecks> checks;
  checks.reserve(accesses.size());
  for (const MemoryAccess& access : accesses) checks.emplace_back(f, i, access);
  for (AccessChecks& each : checks) each.check_memory(refused);
  for (std::size_t n = 0; n < checks.size(); ++n) {
    checks[n].check_written();
    if (!accesses[n].is_mbarrier) checks[n].check_race();
  }
  generate(f, i);
  for (std::size_t n = 0; n < checks.size(); ++n) {
    checks[n].note_written();
    if (accesses[n].is_mbarrier) checks[n].check_race();
  }
  f.b.CreateBr(next);
  f.b.SetInsertPoint(refused);
  define_zeros(f, i);
  f.b.CreateBr(next);
  f.b.SetInsertPoint(next);
}

namespace {

/// Read where the function begins, which a loop over threads can then do once.
Value* life_service(FunctionEmitter& f, std::size_t field) {
  const llvm::IRBuilder<>::InsertPointGuard guard(f.b);
  llvm::BasicBlock& entry = f.b.GetInsertBlock()->getParent()->getEntryBlock();
  if (entry.getTerminator() != nullptr) f.b.SetInsertPoint(entry.getTerminator());
  Value* table = f.invariant_field(f.b.getPtrTy(), f.launch_state(), offsetof(LaunchState, checks));
  return f.invariant_field(f.b.getPtrTy(), table, field);
}

}  // namespace

void emit_enter(FunctionEmitter& f, Value* variable, const ptx::Variable& declared) {
  if (declared.space != Space::Local || (f.module.checks & check_class::init_checks) == 0) {
    mark_life(f.b, life_service(f, offsetof(CheckTable, enter)), variable, declared.size, /*begins=*/true);
    return;
  }
  // No mark: each thread's variable begins separately, even where a loop over threads has one place for all.
  Value* address = f.b.CreatePtrToInt(variable, f.b.getInt64Ty());
  Value* bytes = f.b.getInt32(static_cast<std::uint32_t>(declared.size));
  auto* const type = llvm::FunctionType::get(f.b.getVoidTy(), {address->getType(), bytes->getType()}, false);
  f.b.CreateCall(type, life_service(f, offsetof(CheckTable, enter_unwritten)), {address, bytes})->setDoesNotThrow();
}

void emit_leave(FunctionEmitter& f, Value* variable, const ptx::Variable& declared) {
  mark_life(f.b, life_service(f, offsetof(CheckTable, leave)), variable, declared.size, /*begins=*/false);
}

Value* emit_checked_malloc(FunctionEmitter& f, Value* bytes, std::uint32_t line) {
  return call_service(f, offsetof(CheckTable, allocate), f.b.getInt64Ty(), {f.thread(), bytes, f.b.getInt32(line)});
}

void emit_checked_free(FunctionEmitter& f, Value* block, std::uint32_t line) {
  call_service(f, offsetof(CheckTable, release), f.b.getVoidTy(), {f.thread(), block, f.b.getInt32(line)});
}

}  // namespace cucore::cpu::compiler
