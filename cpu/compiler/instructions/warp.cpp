// Convergent operations of the threads of a block or warp: services of the run-time, which switch fibers.
#include "cpu/compiler/emitters/function_emitter.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using M = ptx::Modifier;

/// bar and barrier: .sync, .arrive, .red, and .warp.sync
void emit_barrier(FunctionEmitter& f, const Instruction& i) {
  auto operand = [&](std::size_t n) { return f.source(i.operands[n], Type::U32); };
  llvm::Type* nothing = f.b.getVoidTy();
  if (i.has(M::Warp)) {
    f.call("cucpu_warp_sync", nothing, {f.thread(), operand(0)});
  } else if (i.has(M::Sync)) {
    Value* count = i.operands.size() > 1 ? operand(1) : f.b.getInt32(0);
    f.call("cucpu_barrier", nothing, {f.thread(), operand(0), count});
  } else if (i.has(M::Arrive)) {
    f.call("cucpu_barrier_arrive", nothing, {f.thread(), operand(0), operand(1)});
  } else {
    Value* count = i.operands.size() > 3 ? operand(2) : f.b.getInt32(0);
    Value* predicate = f.b.CreateZExt(f.predicate(i.operands.back()), f.b.getInt32Ty());
    const std::uint32_t operation = i.has(M::Popc) ? 0 : i.has(M::And) ? 1 : 2;
    Value* result = f.call("cucpu_barrier_reduce", f.b.getInt32Ty(),
                           {f.thread(), operand(1), count, f.b.getInt32(operation), predicate, f.b.getInt32(1)});
    if (i.has(M::Popc)) {
      f.define(i.operands[0], result, Type::U32);
    } else {
      f.define(i.operands[0], f.b.CreateICmpNE(result, f.b.getInt32(0)), Type::Pred);
    }
  }
}

namespace {

Value* lanes_together(FunctionEmitter& f, const Instruction& i) {
  return f.call("cucpu_activemask", f.b.getInt32Ty(),
                {f.thread(), f.b.getInt32(i.position.line << 8 | (i.position.column & 255))});
}

/// Operand n says who takes part. Before .sync there was none, and it was the lanes that executed it together.
Value* member_mask(FunctionEmitter& f, const Instruction& i, std::size_t n) {
  return i.has(M::Sync) ? f.source(i.operands[n], Type::B32) : lanes_together(f, i);
}

}  // namespace

void emit_shfl(FunctionEmitter& f, const Instruction& i) {
  const std::uint32_t mode = i.has(M::Up) ? 0 : i.has(M::Down) ? 1 : i.has(M::Bfly) ? 2 : 3;
  std::vector<Value*> arguments{f.thread(), f.b.getInt32(mode)};
  for (std::size_t n = 1; n <= 3; ++n) arguments.push_back(f.source(i.operands[n], Type::B32));
  arguments.push_back(member_mask(f, i, 4));
  Value* result = f.call("cucpu_shuffle", f.b.getInt64Ty(), arguments);
  Value* value = f.b.CreateTrunc(result, f.b.getInt32Ty());
  Value* in_range = f.b.CreateTrunc(f.b.CreateLShr(result, 32), f.b.getInt1Ty());
  const Operand& to = i.operands[0];
  const bool pair = to.kind == Operand::Kind::RegisterPair;
  f.define(pair ? to.elements[0] : to, value, Type::B32);
  if (pair) f.define(to.elements[1], in_range, Type::Pred);
}

void emit_vote(FunctionEmitter& f, const Instruction& i) {
  const std::uint32_t mode = i.has(M::All) ? 0 : i.has(M::Any) ? 1 : i.has(M::Uni) ? 2 : 3;
  Value* predicate = f.b.CreateZExt(f.predicate(i.operands[1]), f.b.getInt32Ty());
  Value* result =
      f.call("cucpu_vote", f.b.getInt32Ty(), {f.thread(), f.b.getInt32(mode), predicate, member_mask(f, i, 2)});
  if (mode != 3) result = f.b.CreateICmpNE(result, f.b.getInt32(0));
  f.define(i.operands[0], result, i.type());
}

/// The lanes that execute this instruction together.
void emit_activemask(FunctionEmitter& f, const Instruction& i) {
  f.define(i.operands[0], lanes_together(f, i), Type::B32);
}

/// redux.sync d, a, mask: one operation over the values of the lanes that take part
void emit_redux(FunctionEmitter& f, const Instruction& i) {
  const bool is_signed = i.type() == Type::S32;
  const std::string operation = i.has(M::Add)   ? "add"
                                : i.has(M::And) ? "and"
                                : i.has(M::Or)  ? "or"
                                : i.has(M::Xor) ? "xor"
                                : i.has(M::Min) ? (is_signed ? "min_s32" : "min_u32")
                                                : (is_signed ? "max_s32" : "max_u32");
  Value* value = f.source(i.operands[1], i.type());
  Value* mask = f.source(i.operands[2], Type::B32);
  f.define(i.operands[0], f.call("cucpu_redux_" + operation, f.b.getInt32Ty(), {f.thread(), value, mask}), i.type());
}

/// match.any: the lanes that hold the same value; match.all: all that take part if all do, else 0
void emit_match(FunctionEmitter& f, const Instruction& i) {
  Value* value = f.b.CreateZExt(f.source(i.operands[1], i.type()), f.b.getInt64Ty());
  Value* mask = f.source(i.operands[2], Type::B32);
  const char* const operation = i.has(M::All) ? "cucpu_match_all" : "cucpu_match_any";
  Value* same = f.call(operation, f.b.getInt32Ty(), {f.thread(), value, mask});
  const Operand& to = i.operands[0];
  const bool pair = to.kind == Operand::Kind::RegisterPair;
  f.define(pair ? to.elements[0] : to, same, Type::B32);
  if (pair) f.define(to.elements[1], f.b.CreateIsNotNull(same), Type::Pred);
}

/// elect.sync d|p, mask: the lowest lane that takes part is the leader
void emit_elect(FunctionEmitter& f, const Instruction& i) {
  Value* mask = f.source(i.operands[1], Type::B32);
  Value* leader = f.call("cucpu_elect", f.b.getInt32Ty(), {f.thread(), mask});
  Value* lane = f.special({.name = "%laneid", .axis = 0, .index = 0});
  const Operand& to = i.operands[0];
  const bool pair = to.kind == Operand::Kind::RegisterPair;
  f.define(pair ? to.elements[0] : to, leader, Type::B32);
  if (pair) f.define(to.elements[1], f.b.CreateICmpEQ(lane, leader), Type::Pred);
}

}  // namespace cucore::cpu::compiler
