// Every number by which the run-time chooses: in which form a kernel begins, how many threads run a grid, and for how
// long a block runs before others do. Each with its unit, and the bench that set it if there is one; "not measured by a
// committed bench": no result in bench/results says why it is this number. The compiler has its own
// (cpu/compiler/cost/cost_model.hpp). Bounds of memory and of what GPUs take stand where they are needed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cucore::cpu::runtime::cost_model {

// Which form of code a kernel has (cpu/runtime/loading/forms).

/// Shapes of block that one kernel has code for at a time. Not measured by a committed bench.
inline constexpr std::size_t most_variants = 8;
/// Device threads: a kernel that runs fewer would be done before the vector form is compiled. Not measured by a
/// committed bench.
inline constexpr std::uint64_t few_threads = 2048;
/// Threads of a block: fewer leave most lanes of a vector idle. Not measured by a committed bench.
inline constexpr std::uint32_t small_block = 8;
/// Processor time of a compile in the vector form, and of one instruction of PTX more: also of kernels with convergent
/// operations, since all that lies between two barriers is then in one function, side by side. Set by
/// bench/cpu_device/short_programs.py.
inline constexpr std::chrono::nanoseconds time_of_compile = std::chrono::milliseconds(8);
inline constexpr std::chrono::nanoseconds time_of_compile_per_instruction = std::chrono::microseconds(800);
inline constexpr std::chrono::nanoseconds time_of_compile_per_instruction_if_convergent = std::chrono::milliseconds(5);
/// The most that a compile takes, by its budget. Not measured by a committed bench.
inline constexpr std::chrono::nanoseconds longest_compile = std::chrono::seconds(4);
/// The part of that time for which a kernel runs in the scalar form before it is compiled: that form is slow, and a
/// kernel that has run for some time is likely to go on. Set with it.
inline constexpr int part_of_compile = 12;
/// Processor time of an instruction in the scalar form, for each device thread. Set by
/// bench/cpu_device/first_launch.py.
inline constexpr double nanoseconds_of_instruction = 0.4;
/// Likewise of a barrier or warp operation, and of a thread's beginning, on a fiber.
inline constexpr double nanoseconds_of_convergent_operation = 100;
/// How often a loop is thought to be passed. Not measured by a committed bench.
inline constexpr double rounds_of_a_loop = 64;
/// Blocks for each thread that runs some, from which on a grid of unknown length may begin in the scalar form: the
/// first ones are finished in it, however long they take. Not measured by a committed bench.
inline constexpr std::uint64_t blocks_of_a_thread = 16;
/// From one look at a grid that runs to the next. Not measured by a committed bench.
inline constexpr std::chrono::nanoseconds shortest_look = std::chrono::milliseconds(1);

// How many threads run a grid (cpu/runtime/execution/workers.cpp).

/// Device threads up to which a grid runs on one thread. Not measured by a committed bench.
inline constexpr std::uint64_t tiny_threads = 2048;
/// So does a larger one that will be done within this time, judging by its kernel's last run: before a sleeping thread
/// could help. If it turns out to take twice as long, it gets helpers then. Not measured by a committed bench.
inline constexpr std::chrono::microseconds brief{5};
/// Parts in which such a grid is run; the clock is read between them. Not measured by a committed bench.
inline constexpr std::uint64_t parts_of_brief_grid = 16;
/// A helper that was woken and has not begun after this time most likely waits for the processor of another of our
/// threads. Not measured by a committed bench.
inline constexpr std::chrono::microseconds late{60};
/// Work of one thread that is worth another thread's help: less is done before all have come, and those that come to
/// find nothing left take processors from others. Set by doitgen in bench/cpu_device/strangers.py on 16 cores.
inline constexpr std::chrono::microseconds worth_a_helper{10};

// Whose turn it is on a thread (cpu/runtime/execution/run_blocks.cpp).

/// Blocks of a row that run together: many enough for several pages, few enough that caches keep their rows. Not
/// measured by a committed bench.
inline constexpr std::uint64_t longest_row = 128;
/// A turn: for how long a resident that polls runs on while others wait for theirs. Long enough that bringing its data
/// back into the caches costs little. Of a block on fibers, switches from one of its threads to another, or for each of
/// them, if it has few; of a plain loop, or of one thread on a fiber, laps. Not measured by a committed bench.
inline constexpr std::uint32_t turn_switches = 4096;
inline constexpr std::uint32_t turn_of_thread = 64;
inline constexpr std::uint32_t turn_laps = 1024;
/// Polls after which a block that does nothing else lets others run: a chain of them may be work. Not measured by a
/// committed bench.
inline constexpr std::uint32_t polls_before_yield = 8;
/// Rounds in vain in which other participants may come for their shares, before a thread takes more than its own. Not
/// measured by a committed bench.
inline constexpr int patience = 16;
/// Those after which more blocks are started than the device has room for, and the most device threads then: as many as
/// 32 large multiprocessors hold.
inline constexpr int long_patience = 64;
inline constexpr std::uint32_t most_stuck_threads = 65536;

}  // namespace cucore::cpu::runtime::cost_model
