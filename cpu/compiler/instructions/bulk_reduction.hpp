// cp.reduce.async.bulk: one atomic operation for every element of an array.
#pragma once

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

/// Combines `bytes` bytes at `from` into those at `to`, as `i` says.
void emit_bulk_reduction(FunctionEmitter& f, const ptx::Instruction& i, llvm::Value* to, llvm::Value* from,
                         llvm::Value* bytes);

}  // namespace cucore::cpu::compiler
