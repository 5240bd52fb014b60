// Refuses what has no vector form, as far as the scalar form alone shows it. After it the emission can rely on this:
// convergent operations are executed together, calls are of functions that it knows, the thread's state is used for its
// registers alone, pairs of values are taken apart where they are made, and strides of values fit at all uses. What
// depends on how lanes access memory and compute, the emission itself refuses.
#pragma once

#include "cpu/compiler/vector/analysis/overtaking.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

/// `full`, `masked`: strides of these versions.
Result<void> check_legality(llvm::Function& scalar, const ControlFlow& flow, const VectorWidth& width,
                            const StrideAnalysis& full, const StrideAnalysis& masked, const Overtaking& overtaking);

}  // namespace cucore::cpu::compiler
