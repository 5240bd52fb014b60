// The vector form of a kernel, made from the scalar form that the generators emit: chunks of SIMD lanes in lockstep
// (vector_emitter.hpp). What it cannot run it refuses as a whole, and the scalar form stands.
#pragma once

#include <string>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"

namespace cucore::cpu::codegen {

/// Replaces the kernel's body `scalar` (in SSA, calls inlined) by entry points that run it in the vector form, and says
/// in `info` which; `shared` are its static shared variables. `in_lockstep`: all lanes of a warp must run in one group.
/// The text says why not; the module is then of no more use.
std::string vectorise(llvm::Function& scalar, const CompileOptions& options, HostFeatures host,
                      const std::vector<SharedVariable>& shared, bool in_lockstep, KernelInfo& info);

}  // namespace cucore::cpu::codegen
