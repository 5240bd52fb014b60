// Pages of memory, as the CPU device counts them.
#pragma once

#include <cstddef>

namespace cucore::cpu {

/// A multiple of the pages of every system for this kind of processor: Linux for Arm has pages of 4, 16 or 64 KiB.
#if defined(__aarch64__)
inline constexpr std::size_t page_bytes = 65536;
#else
inline constexpr std::size_t page_bytes = 4096;
#endif

}  // namespace cucore::cpu
