// Step two: where parameters and variables stand in memory. Sizes only, no addresses and no LLVM.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/analysis/flow/reach.hpp"

namespace cucore::cpu::analysis {

/// What lay_out returns.
struct Layout {
  /// Offset of every reached `.shared` variable from the base of the block's shared window.
  std::map<ptx::VariableId, std::uint32_t> module_shared;
  std::map<std::pair<ptx::FunctionId, ptx::VariableId>, std::uint32_t> function_shared;
  std::uint32_t reserved_shared = 0;  ///< offset of what a GPU keeps back, if a kernel asks where that is
  std::map<ptx::VariableId, std::uint32_t> kernel_parameters;  ///< offsets in the parameter block
  KernelInfo info;

  std::vector<SharedVariable> shared_variables;  ///< the static ones
};

/// `redzone`: bytes between shared variables that must not be accessed.
Layout lay_out(const ptx::Module& module, const Reach& reach, std::uint32_t redzone = 0);

/// What can be said of a kernel without compiling it (attributes must not cost a compile): all but what
/// find_reach_and_waits adds.
KernelInfo describe(const ptx::Module& module, ptx::FunctionId kernel);

}  // namespace cucore::cpu::analysis
