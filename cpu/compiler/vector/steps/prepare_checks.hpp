// The first step over checked code. After it a check stands before each access that could go wrong in a block of this
// shape, in the same block of instructions as its mark, and each address with a check is used by accesses alone.
#pragma once

#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/compiler/ir/llvm.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

/// `block`: its extent on three axes; `shared`: the kernel's static shared variables. Refused is an address of which
/// the code alone does not tell which accesses use it.
Result<void> prepare_checks(llvm::Function& scalar, const std::uint32_t* block,
                            const std::vector<SharedVariable>& shared);

}  // namespace cucore::cpu::compiler
