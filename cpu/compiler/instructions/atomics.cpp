// atom and red. Threads of one block share one host thread, so shared memory needs no atomic instruction; everything
// else uses the host's.
#include "cpu/compiler/emitters/float_values.hpp"
#include "cpu/compiler/emitters/generic_addresses.hpp"
#include "cpu/compiler/instructions/bulk_reduction.hpp"
#include "cpu/compiler/instructions/flushing_adds.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::AtomicOrdering;
using llvm::AtomicRMWInst;
using llvm::Value;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;

namespace {

AtomicRMWInst::BinOp operation_of(const Instruction& i) {
  const bool is_signed = ptx::is_signed(i.type());
  if (i.has(M::Add)) return is_float(i.type()) ? AtomicRMWInst::FAdd : AtomicRMWInst::Add;
  if (i.has(M::Min)) return is_signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin;
  if (i.has(M::Max)) return is_signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax;
  if (i.has(M::Inc)) return AtomicRMWInst::UIncWrap;
  if (i.has(M::Dec)) return AtomicRMWInst::UDecWrap;
  if (i.has(M::And)) return AtomicRMWInst::And;
  if (i.has(M::Or)) return AtomicRMWInst::Or;
  if (i.has(M::Xor)) return AtomicRMWInst::Xor;
  return AtomicRMWInst::Xchg;
}

AtomicOrdering ordering_of(const Instruction& i) {
  if (i.has(M::AcqRel)) return AtomicOrdering::AcquireRelease;
  if (i.has(M::Acquire)) return AtomicOrdering::Acquire;
  return i.has(M::Release) ? AtomicOrdering::Release : AtomicOrdering::Monotonic;
}

/// What an operation stores over `old`.
Value* updated(FunctionEmitter& f, AtomicRMWInst::BinOp operation, Value* old, Value* operand) {
  auto minmax = [&](llvm::Intrinsic::ID id) { return f.intrinsic(id, {old->getType()}, {old, operand}); };
  switch (operation) {
    case AtomicRMWInst::Add:
      return f.b.CreateAdd(old, operand);
    case AtomicRMWInst::FAdd:
      return f.b.CreateFAdd(old, operand);
    case AtomicRMWInst::Min:
      return minmax(llvm::Intrinsic::smin);
    case AtomicRMWInst::UMin:
      return minmax(llvm::Intrinsic::umin);
    case AtomicRMWInst::Max:
      return minmax(llvm::Intrinsic::smax);
    case AtomicRMWInst::UMax:
      return minmax(llvm::Intrinsic::umax);
    case AtomicRMWInst::UIncWrap: {
      Value* wraps = f.b.CreateICmpUGE(old, operand);
      return f.b.CreateSelect(wraps, f.b.getInt32(0), f.b.CreateAdd(old, f.b.getInt32(1)));
    }
    case AtomicRMWInst::UDecWrap: {
      Value* is_zero = f.b.CreateICmpEQ(old, f.b.getInt32(0));
      Value* wraps = f.b.CreateOr(is_zero, f.b.CreateICmpUGT(old, operand));
      return f.b.CreateSelect(wraps, operand, f.b.CreateSub(old, f.b.getInt32(1)));
    }
    case AtomicRMWInst::And:
      return f.b.CreateAnd(old, operand);
    case AtomicRMWInst::Or:
      return f.b.CreateOr(old, operand);
    case AtomicRMWInst::Xor:
      return f.b.CreateXor(old, operand);
    default:
      return operand;
  }
}

/// The vector form must know which operations belong together, to execute all of them for one lane before the next.
bool is_within_block(const FunctionEmitter& f, const Instruction& i) {
  return i.space() == Space::Shared && f.module.block_shape != nullptr;
}

/// cas address, expected, desired
Value* compare_and_swap(FunctionEmitter& f, const Instruction& i, Value* address, std::size_t first) {
  llvm::Type* type = f.type_of(i.type());
  const llvm::Align alignment(size_in_bytes(i.type()));
  Value* expected = f.source(i.operands[first], i.type());
  Value* desired = f.source(i.operands[first + 1], i.type());
  if (is_within_block(f, i)) {
    Value* pair = f.b.CreateAtomicCmpXchg(address, expected, desired, alignment, AtomicOrdering::Monotonic,
                                          AtomicOrdering::Monotonic, llvm::SyncScope::SingleThread);
    return f.b.CreateExtractValue(pair, 0);
  }
  if (i.space() == Space::Shared) {
    Value* old = f.b.CreateAlignedLoad(type, address, alignment);
    Value* next = f.b.CreateSelect(f.b.CreateICmpEQ(old, expected), desired, old);
    f.b.CreateAlignedStore(next, address, alignment);
    return old;
  }
  const AtomicOrdering success = ordering_of(i);
  const AtomicOrdering failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(success);
  Value* pair = f.b.CreateAtomicCmpXchg(address, expected, desired, alignment, success, failure);
  return f.b.CreateExtractValue(pair, 0);
}

/// The address, `offset` bytes on.
Value* beyond(FunctionEmitter& f, Value* address, std::size_t offset) {
  return offset == 0 ? address : f.b.CreateConstGEP1_64(f.b.getInt8Ty(), address, offset);
}

/// Applies `update` to every element of what may be a vector, whose elements are atomic one by one, and gives atom its
/// old values once all are there.
template <typename Update>
void for_each_atomic(FunctionEmitter& f, const Instruction& i, const Update& update) {
  const std::size_t at = i.opcode == Opcode::Atom ? 1 : 0;  // atom's first operand takes the old value
  Value* address = f.pointer(i.operands[at], i.space());
  std::vector<Value*> operands;
  for (const ptx::Operand& operand : f.elements(i.operands[at + 1])) operands.push_back(f.source(operand, i.type()));
  std::vector<Value*> old;
  for (std::size_t e = 0; e < operands.size(); ++e)
    old.push_back(update(beyond(f, address, e * size_in_bytes(i.type())), operands[e]));
  if (i.opcode != Opcode::Atom) return;
  const std::vector<ptx::Operand> to = f.elements(i.operands[0]);
  for (std::size_t e = 0; e < std::min(to.size(), old.size()); ++e) f.define(to[e], old[e], i.type());
}

/// .add.f32 at a generic address: only in global memory does it flush.
Value* add_anywhere(FunctionEmitter& f, const Instruction& i, Value* address, Value* operand) {
  auto* shared = f.new_block("shared");
  auto* global = f.new_block("global");
  auto* done = f.new_block("done");
  f.b.CreateCondBr(is_in_cluster(f, f.b.CreatePtrToInt(address, f.b.getInt64Ty())), shared, global);
  f.b.SetInsertPoint(shared);
  Value* kept = f.b.CreateAtomicRMW(AtomicRMWInst::FAdd, address, operand, llvm::Align(sizeof(float)), ordering_of(i));
  f.b.CreateBr(done);
  f.b.SetInsertPoint(global);
  Value* flushed = flushing_add(f.b, address, operand, ordering_of(i));
  f.b.CreateBr(done);
  f.b.SetInsertPoint(done);
  auto* old = f.b.CreatePHI(operand->getType(), 2);
  old->addIncoming(kept, shared);
  old->addIncoming(flushed, global);
  return old;
}

/// One operation but .cas, without flushing; returns the old value.
Value* apply_plainly(FunctionEmitter& f, const Instruction& i, Value* address, Value* operand) {
  const llvm::Align alignment(size_in_bytes(i.type()));
  const AtomicRMWInst::BinOp operation = operation_of(i);
  if (is_within_block(f, i)) {
    return f.b.CreateAtomicRMW(operation, address, operand, alignment, AtomicOrdering::Monotonic,
                               llvm::SyncScope::SingleThread);
  }
  if (i.space() == Space::Shared) {
    Value* old = f.b.CreateAlignedLoad(operand->getType(), address, alignment);
    f.b.CreateAlignedStore(updated(f, operation, old, operand), address, alignment);
    return old;
  }
  return f.b.CreateAtomicRMW(operation, address, operand, alignment, ordering_of(i));
}

/// One operation of atom or red but .cas; returns the old value.
Value* apply(FunctionEmitter& f, const Instruction& i, Value* address, Value* operand) {
  const bool may_flush = i.has(M::Add) && i.type() == Type::F32 && i.space() != Space::Shared;
  if (!may_flush) return apply_plainly(f, i, address, operand);
  return i.space() == Space::Global ? flushing_add(f.b, address, operand, ordering_of(i))
                                    : add_anywhere(f, i, address, operand);
}

/// .add, .min or .max. No host combines halves atomically, so this retries a compare-and-swap of the whole word;
/// returns the old value.
Value* combine_halves(FunctionEmitter& f, const Instruction& i, Value* address, Value* operand) {
  const Type element = element_of(i.type());
  const llvm::Align alignment(size_in_bytes(i.type()));
  llvm::Type* word = f.bits_of(i.type());
  Value* first = f.b.CreateAlignedLoad(word, address, alignment);
  auto* before = f.b.GetInsertBlock();
  auto* attempt = f.new_block("attempt");
  auto* done = f.new_block("done");
  f.b.CreateBr(attempt);
  f.b.SetInsertPoint(attempt);
  auto* old = f.b.CreatePHI(word, 2);
  old->addIncoming(first, before);
  Value* result = for_each_half(f, i.type(), [&](unsigned lane) {
    Value* a = widen_half(f, half_element(f, old, lane), element);
    Value* b = widen_half(f, half_element(f, operand, lane), element);
    Value* both = i.has(M::Add) ? f.b.CreateFAdd(a, b) : float_min_max(f, i.has(M::Min), a, b, false);
    return narrow(f, both, element, Rounding::Nearest);
  });
  Value* pair = f.b.CreateAtomicCmpXchg(address, old, result, alignment, ordering_of(i), AtomicOrdering::Monotonic);
  old->addIncoming(f.b.CreateExtractValue(pair, 0), f.b.GetInsertBlock());
  f.b.CreateCondBr(f.b.CreateExtractValue(pair, 1), done, attempt);
  f.b.SetInsertPoint(done);
  return old;
}

}  // namespace

void emit_atomic(FunctionEmitter& f, const Instruction& i) {
  if (i.has(M::Cas)) {
    const std::size_t at = i.opcode == Opcode::Atom ? 1 : 0;
    Value* old = compare_and_swap(f, i, f.pointer(i.operands[at], i.space()), at + 1);
    if (i.opcode == Opcode::Atom) f.define(i.operands[0], old, i.type());
    return;
  }
  for_each_atomic(f, i, [&](Value* address, Value* operand) { return apply(f, i, address, operand); });
}

/// atom.add.noftz of halves
void emit_atomic_half(FunctionEmitter& f, const Instruction& i) {
  for_each_atomic(f, i, [&](Value* address, Value* operand) { return combine_halves(f, i, address, operand); });
}

void emit_bulk_reduction(FunctionEmitter& f, const Instruction& i, Value* to, Value* from, Value* bytes) {
  const std::size_t size = size_in_bytes(i.type());
  const bool is_half = ptx::is_half(i.type());
  auto at = [&](Value* base, Value* offset) { return f.b.CreateGEP(f.b.getInt8Ty(), base, offset); };
  auto* before = f.b.GetInsertBlock();
  auto* element = f.new_block("element");
  auto* done = f.new_block("done");
  f.b.CreateCondBr(f.b.CreateICmpEQ(bytes, f.b.getInt32(0)), done, element);
  f.b.SetInsertPoint(element);
  auto* offset = f.b.CreatePHI(f.b.getInt32Ty(), 2);
  offset->addIncoming(f.b.getInt32(0), before);
  Value* operand = f.b.CreateAlignedLoad(f.type_of(i.type()), at(from, offset), llvm::Align(size));
  Value* address = at(to, offset);
  if (is_half) {
    combine_halves(f, i, address, operand);
  } else {
    apply_plainly(f, i, address, operand);  // an H200 flushes nothing here
  }
  Value* next = f.b.CreateAdd(offset, f.b.getInt32(static_cast<std::uint32_t>(size)));
  offset->addIncoming(next, f.b.GetInsertBlock());
  f.b.CreateCondBr(f.b.CreateICmpULT(next, bytes), element, done);
  f.b.SetInsertPoint(done);
}

}  // namespace cucore::cpu::compiler
