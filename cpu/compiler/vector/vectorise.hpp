// The vector form of a kernel, made from the scalar form that the generators emit: threads of a block in the lanes of
// SIMD registers, in lockstep (emission/group_emitter.hpp). A kernel that it cannot run it refuses as a whole, and the
// scalar form is used.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/abi/compiler.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

/// What the steps read besides the code.
struct VectorRequest {
  const CompileOptions& options;
  HostFeatures host;
  const std::vector<SharedVariable>& shared;  ///< static ones of the kernel
  std::uint32_t local_bytes;                  ///< of local variables, of each thread
  bool in_lockstep;                           ///< all lanes of a warp must run in one group
  bool in_one_group;                          ///< all threads of a block must
};

/// What the run-time must know of the form: see KernelInfo.
struct VectorForm {
  bool runs_rows;
  std::uint32_t waiting_bytes;
  std::uint32_t frame_bytes;
  std::uint32_t threads_of_fiber;  ///< 0: it needs none
};

/// Replaces the kernel's body `scalar` (in SSA, calls inlined) by entry points that run it in the vector form. A
/// failure says why not, in the words of CompileResult::refusal; the module is then of no more use.
Result<VectorForm> vectorise(llvm::Function& scalar, const VectorRequest& request);

/// Whether it was refused since lanes may wait for others of their own warp, in some loop.
bool is_for_waiting(const Failure& refusal);

}  // namespace cucore::cpu::compiler
