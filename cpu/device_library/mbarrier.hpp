// Barrier objects in shared memory (mbarrier): 64 bits that PTX leaves to the device. All threads of a block, and of a
// cluster, share one host thread, so nothing here is atomic.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::device_library::mbarrier {

void initialise(std::uint64_t* barrier, std::uint32_t count);

/// Arrives `count` times; with `drops` the following phases expect as many fewer. Returns the state before.
std::uint64_t arrive(std::uint64_t* barrier, std::uint32_t count, std::uint32_t drops);

/// Bytes that the current phase waits for as well; a phase ends when neither arrivals nor bytes are pending.
void expect_bytes(std::uint64_t* barrier, std::uint32_t bytes);
void complete_bytes(std::uint64_t* barrier, std::uint32_t bytes);

/// cp.async.mbarrier.arrive without .noinc: counts itself as expected before it arrives.
void arrive_uncounted(std::uint64_t* barrier);

/// 1 if the phase in which `state` was taken has ended.
std::uint32_t test(const std::uint64_t* barrier, std::uint64_t state);
/// 1 if the phase of that parity has ended, which is the current one or the one before.
std::uint32_t test_parity(const std::uint64_t* barrier, std::uint32_t parity);
/// The same, but lets other threads run first if it has not.
std::uint32_t wait(ThreadState* thread, const std::uint64_t* barrier, std::uint64_t state);
std::uint32_t wait_parity(ThreadState* thread, const std::uint64_t* barrier, std::uint32_t parity);

/// Arrivals that were pending when `state` was taken.
std::uint32_t pending_count(std::uint64_t state);

}  // namespace cucore::cpu::device_library::mbarrier
