// The step that chooses how many threads share a chunk and how many chunks a group, by cost_model.hpp.
#pragma once

#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/analysis/control_flow.hpp"
#include "cpu/compiler/vector/analysis/width.hpp"

namespace cucore::cpu::compiler {

/// Threads of the largest block.
constexpr unsigned most_threads = 32 * warp_lanes;

/// Threads that must be in one group: lanes of a warp that has convergent operations or runs in lockstep. At barriers
/// groups wait for each other.
unsigned smallest_group(const ControlFlow& flow, bool in_lockstep);

/// Groups of `least` to `most` threads, for blocks of this extent on three axes.
VectorWidth choose_width(llvm::Function& scalar, const ControlFlow& flow, const std::uint32_t* block, HostFeatures host,
                         unsigned least, unsigned most);

}  // namespace cucore::cpu::compiler
