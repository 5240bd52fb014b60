// Failures of a running grid in words, and the few facts of block and thread that services and schedulers share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

struct Grid;

/// Every block's shared window starts at a multiple of this: programs that swizzle as bulk copies do take the bits of
/// addresses for those of places in 1024 bytes, and have variables of that alignment.
inline constexpr std::size_t shared_alignment = 1024;
std::byte* aligned_shared(std::byte* buffer);

/// Coordinates of block and cluster from the linear number: blocks of a cluster follow each other, x fastest in both.
void set_block_id(BlockState& block, const Grid& grid, std::uint64_t index);

/// Coordinates of a thread from its linear number in the block, x fastest.
void set_thread_id(ThreadState& thread, const Grid& grid, std::uint32_t linear);

/// From the coordinates of a block to those of the next one, in a grid without clusters: no division.
void advance_block_id(BlockState& block, const Grid& grid);

/// "(x,y,z)"
std::string spelt(const std::uint32_t (&coordinates)[3]);
/// "kernel scale, block (x,y,z), thread (x,y,z)", without the thread if there is none.
std::string whereabouts(const Grid& grid, const BlockState& block, const ThreadState* thread = nullptr);

/// " at saxpy.cu:12 (PTX line 40: ld.global.f32)" of what a host instruction was made for, or nothing if that is not
/// known.
std::string place_in_words(const Grid& grid, std::uintptr_t host_instruction);

/// Turns a fault of generated code into the grid's failure. `thread` may be null (a plain loop).
void fail_with_fault(Grid& grid, const BlockState& block, const ThreadState* thread, const Fault& fault);

}  // namespace cucore::cpu::runtime
