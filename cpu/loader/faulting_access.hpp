// Which PTX instruction accessed memory when a host instruction did that was made for another one. A host takes an
// operand from memory in the instruction that computes, and that counts as the computing one's.
#pragma once

#include <cstddef>

#include "cpu/abi/compiler.hpp"

namespace cucore::cpu::loader {

/// For a host instruction that was made for the function's instruction `index`.
PtxPlace place_of_access(const ptx::Function& function, std::size_t index);

}  // namespace cucore::cpu::loader
