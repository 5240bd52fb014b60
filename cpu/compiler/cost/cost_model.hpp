// Every number by which the compiler chooses: whether a kernel has a vector form, how wide it is, how it does what can
// be done in several ways, and how far passes look. Each with its unit and the bench that set it, if its commit names
// one: `cpu_device/run.py` under bench/, with its results in bench/results/cpu-device.txt. "Not measured by a committed
// bench": no result there says why it is this number. Two things that look alike are not here: limits of correctness
// (as how far apart lanes may be before an address overflows) stand where they are needed, and `largest_group_frames`
// is in cpu/analysis/vector_limits.hpp, since the driver asks for it too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::compiler::cost_model {

// Whether a kernel has a vector form: time of a compile. What the back end would take for it in the end is counted
// later, by cpu/compiler/compile_budget.cpp.

/// Instructions of the scalar form, from which on a compile takes too long. Not measured by a committed bench.
inline constexpr unsigned largest_kernel = 4000;
/// Instructions of PTX that become more than those: then they are not even made. Convolutions of spconv and products of
/// cuDSS in cpu_device/corpus.py have 11,000 and more, and spent half of their compile on it.
inline constexpr std::size_t largest_kernel_in_ptx = 8000;
/// Instructions of the vector form before it is optimised, as a whole and, stack slots left out, in one block: LLVM
/// schedules a block in time that grows faster than its length (`seconds_of_pair`). Beyond, kernels with convergent
/// operations have the masked version alone, if that is not too large, too: cumsum in cpu_device/cupy_operations.py is
/// eighty times as fast in it as in the scalar form. The first is not measured by a committed bench; the second set by
/// sort there.
inline constexpr unsigned largest_group = 60000;
inline constexpr std::size_t largest_block = 10000;
/// Such instructions times blocks, from which on the masked version's values stay in memory. layernorm and backprop in
/// cpu_device/strangers.py have 0.9 and 0.3 million and are half as fast then, reductions in cpu_device/
/// cupy_operations.py 2 million and more.
inline constexpr std::size_t largest_growth_of_group = 1'500'000;
/// Bytes that all groups of a block keep across barriers. Not measured by a committed bench.
inline constexpr std::uint64_t largest_waiting_bytes = std::uint64_t{4} << 20;

// Which form is worth more: the automatic choice. Not measured by a committed bench.

/// Times that a block counts for each loop around it, and the most loops that count.
inline constexpr double rounds_of_a_loop = 8;
inline constexpr unsigned deepest_loop = 4;
/// The cost of a gather or scatter access, and of any other operation for one lane, in operations of the scalar form.
inline constexpr double cost_of_scattered_access = 5.5;
inline constexpr double cost_of_vector_operation = 0.15;

// How wide a group is. Sizes are in instructions of the scalar form, those for checks left out.

/// That a block counts besides its own, since each costs a choice of what runs next. Not measured by a committed bench.
inline constexpr unsigned size_of_a_block = 10;
/// With convergent operations: kernels above the first size have groups of one warp, above the second of a few, others
/// of more. Not measured by a committed bench.
inline constexpr unsigned large_convergent_kernel = 800;
inline constexpr unsigned middle_convergent_kernel = 400;
inline constexpr unsigned warps_of_middle_kernel = 4;
inline constexpr unsigned warps_of_small_kernel = 8;
/// The most chunks of a group where code is not straight. Set by cpu_device/short_programs.py: with 16 a compile takes
/// longer than their vectors save, with 4 more barriers do (cpu_device/strangers.py).
inline constexpr unsigned most_chunks = 8;
/// Without: kernels up to the first size have groups of a warp, straight ones up to the second two chunks, others
/// one. Not measured by a committed bench.
inline constexpr unsigned small_kernel = 150;
inline constexpr unsigned largest_kernel_of_two_chunks = 400;
/// Blocks up to which a kernel counts as straight. Not measured by a committed bench.
inline constexpr std::size_t most_blocks_of_straight_kernel = 4;
/// Operations for all chunks of a group, of a kernel without a masked version, with 16 lanes to a chunk. Not
/// measured by a committed bench.
inline constexpr unsigned largest_straight_code = 6000;

// How it does what it does.

/// Instructions on the way to a test that all lanes may run rather than part before it. Set by a stencil in
/// three dimensions, as heat in cpu_device/run.py.
inline constexpr int cheap_test = 16;
/// Instructions that are copied so that a test need not be made again: none, since both copies would run under masks.
/// Set by block_reduce in cpu_device/strangers.py.
inline constexpr int most_copied_instructions = 0;
/// Instructions of a side of a branch that all lanes run rather than part before it. Set by max and argmax in
/// cpu_device/cupy_operations.py.
inline constexpr std::size_t longest_flat_side = 12;
/// Instructions of a side of a branch that are worth a third copy, under a mask. Set with it.
inline constexpr std::size_t longest_side = 80;
/// Values that are compared before lanes go back to the full version. Not measured by a committed bench.
inline constexpr unsigned most_tests = 12;
/// Operations that take about as long as storing and loading their result, across a barrier. Not measured by a
/// committed bench.
inline constexpr unsigned most_remade_operations = 6;
/// Elements from one lane to the next, up to which all are fetched with what is between them. Not measured by a
/// committed bench.
inline constexpr std::int64_t widest_gap = 4;
/// Instructions of a kernel that is worth having twice, once for arrays whose elements lie side by side. Its kernels
/// set by cpu_device/cupy_operations.py.
inline constexpr unsigned largest_kernel_with_rows = 500;
/// Operations between an address and a division of which it may be made. Set by broadcast_add and embedding in
/// cpu_device/strangers.py.
inline constexpr unsigned most_operations_to_a_division = 32;
/// Lanes to an iteration of a loop without branches, which costs as much as a brief body. Set by histogram in
/// cpu_device/run.py.
inline constexpr unsigned lanes_in_iteration = 4;
/// Operations that are made again for each lane rather than their result stored and loaded. Not measured by a committed
/// bench.
inline constexpr std::size_t most_lane_operations = 4;
/// Instructions that a loop runs before memory answers, and the most iterations that a row is fetched ahead. Set by
/// warp_sum in cpu_device/run.py.
inline constexpr std::uint64_t instructions_meanwhile = 256;
inline constexpr std::uint64_t most_iterations_ahead = 24;

/// Operations between the thread's index and an index of memory, up to which bounds are followed. Not measured by a
/// committed bench.
inline constexpr unsigned deepest_bounds = 8;

// What a compile may take: processor time of the thread that compiles.
//
// No kernel shall take more than five seconds of processor time to its first launch. Measured on an EPYC of two cores
// with LLVM 19.1. Straight code of 32-bit integers, all in one block (instructions of IR: seconds of the back end):
// 5761: 0.3, 11014: 0.8, 21187: 2.0, 41427: 6.6. Kernels of many small blocks, in the vector form: 16140: 1.1,
// 26275: 1.1, 37778: 1.7, 43910: 2.2. So an instruction costs this much, and each pair of a block's, since LLVM orders
// a block in time that grows with the square of its length:
inline constexpr double seconds_of_instruction = 55e-6;
inline constexpr double seconds_of_pair = 2.7e-9;
inline constexpr double most_seconds_of_back_end = 3;

/// Passes before the back end took 1.1 seconds of the largest of those kernels.
inline constexpr double most_seconds_of_passes = 2;

/// Times those two limits, for the vector form of kernels with convergent operations, for which launches seldom wait.
/// Set by sort in cpu_device/cupy_operations.py, whose vectors take six seconds and are fifty times as fast.
inline constexpr double patience_if_convergent = 2;

/// Stack slots whose values meet, times blocks, up to which LLVM's pass makes values of them in half a second or so;
/// for how long that goes on beyond, and how many are made values together. Set by a selection of XGBoost's by CUB in
/// cpu_device/corpus.py, which took 18 seconds.
inline constexpr std::size_t most_slots_times_blocks = 20'000'000;
inline constexpr double most_seconds_of_slots = 1;
inline constexpr std::size_t slots_at_a_time = 64;

// How far passes and checks look.

/// Bytes from the first access to the end of the last that one look answers for. Not measured by a committed bench.
inline constexpr std::int64_t largest_span_of_checks = 4096;
/// Results whose questions share a branch, in code whose numbers are checked. Not measured by a committed bench.
inline constexpr unsigned most_marks_together = 6;
/// Rounds of a loop that are worth a look before it. Not measured by a committed bench.
inline constexpr unsigned fewest_rounds_to_look_before = 4;
/// Operations deep that the comparisons of a mask are looked for. Not measured by a committed bench.
inline constexpr unsigned deepest_comparison = 4;
/// Paths through combined lanes that instruction selection walks in negligible time: 2^18 take it five seconds. Not
/// measured by a committed bench.
inline constexpr unsigned most_ways_of_mask = 64;
/// Conversions that it looks through, from lanes to the bits that are combined. Not measured by a committed bench.
inline constexpr unsigned most_conversions_of_mask = 4;

}  // namespace cucore::cpu::compiler::cost_model
