// Moves memory into a file while other threads use it: at the same addresses, with its contents. Who writes to it
// meanwhile waits in the fault handler.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::runtime {

/// Copies pages into a file at `offset` and maps it over them, shared. One call at a time. False if the system refuses:
/// some pages may be in the file then, and all are as usable as before.
bool move_pages_to_file(std::uintptr_t address, std::size_t size, int file, std::size_t offset);

/// For the fault handler: true, after a wait, if an access may have failed because its pages were moving, and is to be
/// retried. A second fault with no move in between is a real one.
bool was_moving(std::uintptr_t address);

}  // namespace cucore::cpu::runtime
