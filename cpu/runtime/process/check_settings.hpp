// The checker's settings: CUCORE_CPU_CHECK names the classes of checks; with none, nothing of the checker costs
// anything. Each is read once. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "cpu/abi/checks.hpp"

namespace cucore::cpu::runtime::checker {

/// Bits of check_class, from CUCORE_CPU_CHECK.
std::uint32_t classes();
inline bool checks(std::uint32_t some_class) { return (classes() & some_class) != 0; }

/// CUCORE_CPU_CHECK_SEED: of the order in which blocks, warps and lanes run. Works without checks too.
std::optional<std::uint64_t> seed();

/// CUCORE_CPU_CHECK_LOCKSTEP, on unless it is 0: whether accesses that count on lanes of a warp running in step are
/// races.
bool reports_lockstep();

/// CUCORE_CPU_CHECK_LIMIT: how many errors are written.
std::uint64_t limit();

/// CUCORE_CPU_CHECK_CONTINUE=1: the context gets no error.
bool continues();

/// CUCORE_CPU_CHECK_EXIT_STATUS: of a process in which errors were found; 0: the program's own.
int exit_status();

}  // namespace cucore::cpu::runtime::checker
