// Kernels whose threads cannot tell how the others run: whichever form of code runs, and in whatever order, what such a
// kernel leaves in memory is the same, unless it has a race.
#pragma once

#include <cstddef>

#include "cpu/analysis/flow/reach.hpp"

namespace cucore::cpu::analysis {

/// Whether a kernel has plain accesses of memory and arithmetic alone: no shared memory, barriers, warp operations,
/// atomics, fences, volatile or ordered accesses, exchanges between lanes, calls of the run-time (printf, malloc), or
/// launches. `reach` is of find_reach_and_waits.
bool has_independent_threads(const ptx::Module& module, const Reach& reach);

/// Whether a kernel's threads exchange values by convergent operations (barriers, warp operations), and have what other
/// blocks may not touch besides, so that it makes no difference either in what form it runs: no atomics, and no lanes
/// that count on running in step but by volatile accesses of shared memory, which keep them in step in all forms. Where
/// it waits for other blocks, whose order nobody knows anyway, it may have both.
bool exchanges_by_convergent_operations(const ptx::Module& module, const Reach& reach);

/// Instructions of all functions that a kernel reaches.
std::size_t count_instructions(const ptx::Module& module, const Reach& reach);

/// Whether one of these functions has a loop, or calls itself.
bool may_repeat(const ptx::Module& module, const Reach& reach);

/// What a thread does.
struct ThreadWork {
  double instructions = 0;
  double convergent = 0;  ///< of these: convergent operations
};

/// If it passes each loop so many times, and each function but the kernel once in one.
ThreadWork expected_work(const ptx::Module& module, const Reach& reach, double rounds);

}  // namespace cucore::cpu::analysis
