// Where a generic address points.
#pragma once

#include "cpu/compiler/emitters/function_emitter.hpp"

namespace cucore::cpu::compiler {

/// Whether a generic address (as an i64) lies in the shared memory of any block of the cluster.
llvm::Value* is_in_cluster(FunctionEmitter& f, llvm::Value* address);
/// Whether it lies in a space; of .shared, in the block's own window. Global is what lies in none of the others.
llvm::Value* is_in_space(FunctionEmitter& f, llvm::Value* address, ptx::Space space);

}  // namespace cucore::cpu::compiler
