// What the vector form does not take, as far as the scalar form alone says so. After it the emission can count on this:
// convergent operations are executed together, calls are of functions that it knows, the thread's state is used for its
// registers alone, pairs of values are taken apart where they are made, and strides of values fit wherever they go.
// What depends on how lanes access and compute, the emission refuses itself.
#pragma once

#include "cpu/compiler/vector/analysis/stride_analysis.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

/// `full`, `masked`: strides of these versions.
Result<void> check_legality(llvm::Function& scalar, const ControlFlow& flow, const VectorWidth& width,
                            const StrideAnalysis& full, const StrideAnalysis& masked);

}  // namespace cucore::cpu::compiler
