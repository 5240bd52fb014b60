// Random kernels for differential tests: any control flow, but results that no order of the threads can change.
#pragma once

#include <cstdint>
#include <string>

namespace cucore::cpu {

/// PTX of a kernel `k(const u32* in, u32* out, u32 n)` made from `seed`: nested branches and loops with breaks, early
/// exits, predicated instructions, accesses of every shape, barriers and warp operations where all lanes come. Each
/// thread writes `random_kernel_outputs` words of its own, and reads `in[0..random_kernel_inputs)`.
std::string random_kernel(std::uint32_t seed);

inline constexpr std::uint32_t random_kernel_outputs = 8;
inline constexpr std::uint32_t random_kernel_inputs = 1024;

}  // namespace cucore::cpu
