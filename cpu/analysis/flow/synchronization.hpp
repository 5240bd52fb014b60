// What one instruction has to do with other threads: whether it waits for them, reads what they write, orders memory
// for them, or reaches into their block.
#pragma once

#include <cstdint>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// Reads a value that another thread may be about to change: volatile, relaxed and acquiring loads, atomics.
bool is_observation(const ptx::Instruction& instruction);

bool is_fence(ptx::Opcode opcode);

/// Makes or takes apart an address in another block's shared memory, or copies there.
bool names_other_block(const ptx::Instruction& instruction);

/// A barrier of a block, of some of its threads, or of a cluster.
bool is_block_barrier(const ptx::Instruction& instruction);

/// Makes the thread wait for other threads of its block or warp.
bool is_convergent(const ptx::Instruction& instruction);

/// An instruction that a warp does as one, on data of all its lanes: matrices.
bool is_warp_wide(ptx::Opcode opcode);

/// All lanes that go on have come this far.
bool waits_for_lanes(const ptx::Instruction& instruction);

/// Of such an instruction: which lanes, as bits, where the program says so by a number.
std::uint32_t lanes_waited_for(const ptx::Instruction& instruction);

/// A volatile load or store that may be of shared memory.
bool is_volatile_exchange(const ptx::Instruction& instruction);

}  // namespace cucore::cpu::analysis
