// ld and st in every space, order and width, cp.async, and fences.
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::AtomicOrdering;
using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using M = ptx::Modifier;

namespace {

/// Cache operators and eviction hints change nothing that a program can see; .volatile, .relaxed, .acquire, .release
/// and .mmio do.
struct Order {
  AtomicOrdering ordering = AtomicOrdering::NotAtomic;
  bool is_volatile = false;
};

/// Only to stay where it is among others: what lanes exchange by plain accesses, and in the vector form, where one host
/// thread runs a block and nobody waits in loops, volatile accesses of the block's shared memory.
bool only_stays_in_place(const FunctionEmitter& f, const Instruction& i) {
  if (!i.has(M::Volatile)) return f.is_plain_exchange(i);
  const bool is_of_own_block =
      i.space() == Space::Shared && std::ranges::find(i.subspaces, ptx::SubSpace::Cluster) == i.subspaces.end();
  return is_of_own_block && f.module.block_shape != nullptr;
}

Order order_of(const FunctionEmitter& f, const Instruction& i) {
  if (only_stays_in_place(f, i)) return {AtomicOrdering::NotAtomic, true};
  // .cv and .cg are how older code polls memory: fetched again each time.
  if (i.has(M::Volatile) || i.has(M::Mmio) || i.has(M::Cv) || i.has(M::Cg)) return {AtomicOrdering::Monotonic, true};
  if (i.has(M::Relaxed)) return {AtomicOrdering::Monotonic, false};
  if (i.has(M::Acquire)) return {AtomicOrdering::Acquire, false};
  if (i.has(M::Release)) return {AtomicOrdering::Release, false};
  return {};
}

bool reads_kernel_parameter(const FunctionEmitter& f, const Instruction& i) {
  const Operand& base = i.operands[1].elements[0];
  return i.space() == Space::Param && f.function.is_entry && base.kind == Operand::Kind::Variable &&
         f.module.layout.kernel_parameters.contains(base.variable);
}

Value* element_pointer(FunctionEmitter& f, Value* base, std::size_t offset) {
  return offset == 0 ? base : f.b.CreateConstGEP1_64(f.b.getInt8Ty(), base, offset);
}

}  // namespace

void emit_ld(FunctionEmitter& f, const Instruction& i) {
  const std::vector<Operand> to = f.elements(i.operands[0]);
  const std::size_t bytes = size_in_bytes(i.type());
  Value* from = f.pointer(i.operands[1], i.space());
  const Order order = order_of(f, i);

  // A vector access with an order is one access: look-back scans read a flag and its value together.
  if (order.ordering != AtomicOrdering::NotAtomic) {
    llvm::Type* whole = f.b.getIntNTy(static_cast<unsigned>(8 * bytes * to.size()));
    auto* load = f.b.CreateAlignedLoad(whole, from, llvm::Align(bytes * to.size()), order.is_volatile);
    load->setOrdering(order.ordering);
    for (std::size_t e = 0; e < to.size(); ++e) {
      Value* part = f.b.CreateTrunc(f.b.CreateLShr(load, 8 * bytes * e), f.bits_of(i.type()));
      f.define(to[e], f.b.CreateBitCast(part, f.type_of(i.type())), i.type());
    }
    return;
  }

  std::vector<Value*> values;
  for (std::size_t e = 0; e < to.size(); ++e) {
    auto* load = f.b.CreateAlignedLoad(f.type_of(i.type()), element_pointer(f, from, bytes * e), llvm::Align(bytes),
                                       order.is_volatile);
    if (reads_kernel_parameter(f, i)) {
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(f.module.context, {}));
      values.push_back(load);
      continue;
    }
    // Local memory that was never written holds some value, not LLVM's undefined one.
    const bool may_be_fresh = i.space() == Space::Local || i.space() == Space::Generic || i.space() == Space::Param;
    values.push_back(may_be_fresh ? f.b.CreateFreeze(load) : load);
  }
  for (std::size_t e = 0; e < to.size(); ++e) f.define(to[e], values[e], i.type());
}

void emit_st(FunctionEmitter& f, const Instruction& i) {
  const std::vector<Operand> from = f.elements(i.operands[1]);
  const std::size_t bytes = size_in_bytes(i.type());
  Value* to = f.pointer(i.operands[0], i.space());
  const Order order = order_of(f, i);

  if (order.ordering != AtomicOrdering::NotAtomic) {
    llvm::Type* whole = f.b.getIntNTy(static_cast<unsigned>(8 * bytes * from.size()));
    Value* value = llvm::Constant::getNullValue(whole);
    for (std::size_t e = 0; e < from.size(); ++e) {
      Value* part = f.b.CreateBitCast(f.source(from[e], i.type()), f.bits_of(i.type()));
      value = f.b.CreateOr(value, f.b.CreateShl(f.b.CreateZExt(part, whole), 8 * bytes * e));
    }
    auto* store = f.b.CreateAlignedStore(value, to, llvm::Align(bytes * from.size()), order.is_volatile);
    store->setOrdering(order.ordering);
    return;
  }

  for (std::size_t e = 0; e < from.size(); ++e) {
    f.b.CreateAlignedStore(f.source(from[e], i.type()), element_pointer(f, to, bytes * e), llvm::Align(bytes),
                           order.is_volatile);
  }
}

/// cp.async copies at issue, which its rules allow; committing and waiting then have nothing to do. Bytes beyond the
/// source size, or all of them if the source is to be ignored, are filled with zeros and not read.
void emit_cp_async(FunctionEmitter& f, const Instruction& i) {
  if (i.spaces.empty()) return;  // .commit_group, .wait_group, .wait_all
  Value* to = f.pointer(i.operands[0], Space::Shared);
  Value* from = f.pointer(i.operands[1], Space::Global);
  Value* size = f.b.getInt32(static_cast<std::uint32_t>(i.operands[2].integer));
  Value* taken = size;
  if (i.operands.size() - (i.has(M::L2CacheHint) ? 1 : 0) > 3) {
    const Operand& limit = i.operands[3];
    const bool ignores =
        limit.kind == Operand::Kind::Register && f.function.registers[limit.reg].type == ptx::Type::Pred;
    taken = ignores ? f.b.CreateSelect(f.predicate(limit), f.b.getInt32(0), size) : f.source(limit, ptx::Type::U32);
  }
  f.call("cucpu_copy_and_fill", f.b.getVoidTy(), {to, from, size, taken});
}

void emit_fence(FunctionEmitter& f, const Instruction& i) {
  AtomicOrdering ordering = AtomicOrdering::SequentiallyConsistent;
  if (i.has(M::AcqRel)) ordering = AtomicOrdering::AcquireRelease;
  if (i.has(M::Acquire)) ordering = AtomicOrdering::Acquire;
  if (i.has(M::Release)) ordering = AtomicOrdering::Release;
  // Threads of one block share one host thread: only the compiler could reorder what they see of each other.
  const auto scope = i.has(M::Cta) ? llvm::SyncScope::SingleThread : llvm::SyncScope::System;
  f.b.CreateFence(ordering, scope);
}

}  // namespace cucore::cpu::compiler
