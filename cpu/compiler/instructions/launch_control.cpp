// clusterlaunchcontrol: a cluster asks for the work of one that has not begun. This device declines every request,
// which is allowed: each cluster then does its own work. A response of zeros means that.
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Type;
using M = ptx::Modifier;

/// [response], [barrier]
void emit_try_cancel(FunctionEmitter& f, const Instruction& i) {
  f.b.CreateAlignedStore(f.b.getIntN(128, 0), f.pointer(i.operands[0], Space::Shared), llvm::Align(8));
  f.call("cucpu_mbarrier_complete_bytes", f.b.getVoidTy(), {f.pointer(i.operands[1], Space::Shared), f.b.getInt32(16)});
}

/// Whether a response is of a cancelled launch, or the block that it would have begun with. Its first word is not zero
/// in the one case, and the others are the place of the block.
void emit_query_cancel(FunctionEmitter& f, const Instruction& i) {
  Value* response = f.source(i.operands[1], Type::B128);
  const auto word = [&](unsigned n) { return f.b.CreateTrunc(f.b.CreateLShr(response, 32 * n), f.b.getInt32Ty()); };
  if (i.has(M::IsCanceled)) {
    f.define(i.operands[0], f.b.CreateIsNotNull(word(0)), Type::Pred);
  } else if (i.has(M::GetFirstCtaid)) {
    const std::vector<Operand> to = f.elements(i.operands[0]);
    for (unsigned axis = 0; axis < 3; ++axis) f.define(to[axis], word(axis + 1), Type::B32);
    f.define(to[3], f.b.getInt32(0), Type::B32);
  } else {
    const unsigned axis = i.has(M::GetFirstCtaidX) ? 0 : i.has(M::GetFirstCtaidY) ? 1 : 2;
    f.define(i.operands[0], word(axis + 1), Type::B32);
  }
}

}  // namespace cucore::cpu::compiler
