// The instructions of one function that have no generator.
#pragma once

#include <vector>

#include "cpu/abi/compiler.hpp"

namespace cucore::cpu::codegen {

std::vector<Unsupported> find_unsupported_in(const ptx::Module& module, const ptx::Function& function);

}  // namespace cucore::cpu::codegen
