// redux, match and elect: computed from a value of each lane of a warp. cucpu_warp_together alone decides who
// participates: the lanes of the member mask, except those that have exited or do not exist.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::device_library::lane_operations {

/// redux.sync of 32 bits, for each lane the same result.
std::uint32_t add(ThreadState* thread, std::uint32_t value, std::uint32_t mask);
std::uint32_t bitwise_and(ThreadState* thread, std::uint32_t value, std::uint32_t mask);
std::uint32_t bitwise_or(ThreadState* thread, std::uint32_t value, std::uint32_t mask);
std::uint32_t bitwise_xor(ThreadState* thread, std::uint32_t value, std::uint32_t mask);
std::uint32_t min_unsigned(ThreadState* thread, std::uint32_t value, std::uint32_t mask);
std::uint32_t max_unsigned(ThreadState* thread, std::uint32_t value, std::uint32_t mask);
std::uint32_t min_signed(ThreadState* thread, std::uint32_t value, std::uint32_t mask);
std::uint32_t max_signed(ThreadState* thread, std::uint32_t value, std::uint32_t mask);

/// match.any.sync: the lanes that bring the same value.
std::uint32_t match_any(ThreadState* thread, std::uint64_t value, std::uint32_t mask);
/// match.all.sync: all lanes that take part if they bring the same value, else 0.
std::uint32_t match_all(ThreadState* thread, std::uint64_t value, std::uint32_t mask);

/// elect.sync: the number of the lowest lane that takes part.
std::uint32_t elect(ThreadState* thread, std::uint32_t mask);

}  // namespace cucore::cpu::device_library::lane_operations
