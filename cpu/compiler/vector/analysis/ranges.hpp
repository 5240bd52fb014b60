// Between what bounds a value lies in all threads of a block, whatever way they go: from the shape of the block,
// without the promises that instructions carry, which may hold on one side of a branch only.
#pragma once

#include <llvm/IR/ConstantRange.h>

#include "cpu/compiler/vector/analysis/width.hpp"

namespace cucore::cpu::compiler {

llvm::ConstantRange range_in_block(const llvm::Value* integer, const llvm::Function& scalar, const VectorWidth& width);

/// Whether values in which adjacent lanes differ by `stride` still do so when they are extended.
bool keeps_stride(const llvm::ConstantRange& range, std::int64_t stride, bool is_signed);

}  // namespace cucore::cpu::compiler
