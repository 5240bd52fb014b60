// Random kernels for differential tests: any control flow, but results that no order of the threads can change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {

/// PTX of a kernel `k(const u32* in, u32* out, u32 n)` made from `seed`: nested branches and loops with breaks, early
/// exits, predicated instructions, accesses of every shape, barriers, warp operations and
/// volatile exchanges between lanes of a warp where all lanes come. A wild
/// one leaves several loops at once, goes on to their next iterations, returns from them, jumps by an index, has
/// convergent operations in loops, has a variable of its own, carries, packed halves, floats, long numbers, atomic and
/// volatile accesses of its own place. A searching one has loops that some lanes leave from their middle, that others
/// go on in before they come there, or that end by a comparison which wraps around, and behind them loops of as many
/// iterations for all lanes. Each thread writes `random_kernel_outputs` words of its own, and reads
/// `in[0..random_kernel_inputs)`.
enum class RandomKind : std::uint8_t { Tame, Wild, Searching };
std::string random_kernel(std::uint32_t seed, RandomKind kind = RandomKind::Tame);

inline constexpr std::uint32_t random_kernel_outputs = 8;
inline constexpr std::uint32_t random_kernel_inputs = 1024;

/// What they read, and the blocks to run them in.
const std::vector<std::uint32_t>& random_kernel_input();
Extent random_kernel_block(std::uint32_t number);

/// Which ones a test runs: CUCORE_RANDOM_FIRST and CUCORE_RANDOM_KERNELS, for longer runs than a test's.
struct RandomKernels {
  std::uint32_t first, count;
};
RandomKernels random_kernels_to_run(std::uint32_t first_usually = 0);

}  // namespace cucore::cpu
