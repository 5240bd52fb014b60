// The shadow of device memory: which bytes may be accessed and which were ever written, as checked code reads it
// (CheckTable), and who allocated and freed what. Does nothing unless the checker is on. Thread-safe as long as nobody
// changes bytes that others use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu/abi/checks.hpp"

namespace cucore::cpu::runtime::shadow {

/// Bytes to be left free after an allocation, and how many freed bytes are held back before they are reused.
std::size_t redzone(std::size_t size);
inline constexpr std::size_t quarantine = std::size_t{256} << 20;

/// Fills in the part of the table that is memory's. False if the system has no room for it.
bool open(CheckTable& table);
bool is_open();

/// Marks these bytes as accessible, or not. `base` is a multiple of 8.
void allow(std::uintptr_t base, std::size_t bytes, bool written);
void forbid(std::uintptr_t base, std::size_t bytes);
bool is_allowed(std::uintptr_t address, std::size_t bytes);

void mark_written(std::uintptr_t address, std::size_t bytes);
void mark_unwritten(std::uintptr_t address, std::size_t bytes);
/// Whether none of them was ever written. False if that is not tracked.
bool is_unwritten(std::uintptr_t address, std::size_t bytes);

// ---- allocations, for reports ---------------------------------------------------------------------------------------

void note_allocation(std::uintptr_t base, std::size_t bytes, const char* kind, std::string made_at, bool is_heap);
/// Where the calling thread is, in words. With no lock held: the program's language may be asked. Empty if not wanted.
std::string caller();
void note_free(std::uintptr_t base, std::string freed_at);
/// Lines that say what lies at or near an address where nothing may be accessed.
std::vector<std::string> describe(std::uintptr_t address, std::size_t bytes);
/// Base and size of the allocation at an address; size 0: none.
struct Extent {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
};
/// `stable`: not one that a kernel may free.
Extent allocation_at(std::uintptr_t address, bool stable = false);

}  // namespace cucore::cpu::runtime::shadow
