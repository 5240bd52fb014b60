// Random kernels whose blocks wait for each other: locks, tickets, turns, chains and counters, polled in many ways.
// Each ends, with an answer known beforehand, wherever all its blocks are resident.
#pragma once

#include <cstdint>
#include <string>

namespace cucore::cpu {

/// A kernel `k(u32* words, u32* done)`. Its blocks go through `stages`; in each they take turns (or wait for all)
/// `rounds` times and count in words[stage * stage_words] each time, and block b leaves in done[b] how often in all.
struct WaitingKernel {
  std::string ptx;
  std::string title;  ///< what waits for what, for messages
  unsigned int threads = 0;
  unsigned int stages = 0;
  unsigned int rounds[3] = {};
};

inline constexpr unsigned int stage_words = 4096;
inline constexpr unsigned int most_waiting_blocks = 256;

/// For a launch of `blocks` blocks, in clusters of `cluster`. Code for clusters is there only if that is not 1. Some
/// read by an ordinary load behind a fence, which is a race: `strong` ones do not.
WaitingKernel waiting_kernel(std::uint32_t seed, unsigned int blocks, unsigned int threads, unsigned int cluster,
                             bool strong);

/// Threads of a block that the kernel of this seed is to have.
unsigned int waiting_kernel_threads(std::uint32_t seed);

}  // namespace cucore::cpu
