// Moving memory into a file: see moving_pages.hpp.
#include "cpu/runtime/threads/moving_pages.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace cucore::cpu::runtime {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t step = std::size_t{2} << 20;  // in memory twice, and read-only, at a time

std::atomic<std::uint64_t> changes{0};  ///< odd while pages move
/// What all moves so far lay in: a thread may get to its handler when the move, and another, are long over.
std::atomic<std::uintptr_t> lowest{~std::uintptr_t{0}}, highest{0};

bool write_page(const std::byte* page, int file, std::size_t offset) {
  static constexpr std::byte zeros[page_bytes]{};
  if (std::memcmp(page, zeros, page_bytes) == 0) return true;  // as a hole in the file is
  return pwrite(file, page, page_bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(page_bytes);
}

bool move_step(std::byte* pages, std::size_t size, int file, std::size_t offset) {
  if (mprotect(pages, size, PROT_READ) != 0) return false;
  bool moved = true;
  for (std::size_t at = 0; at < size && moved; at += page_bytes) moved = write_page(pages + at, file, offset + at);
  moved = moved && mmap(pages, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                        static_cast<off_t>(offset)) != MAP_FAILED;
  if (!moved) mprotect(pages, size, PROT_READ | PROT_WRITE);
  return moved;
}

}  // namespace

bool move_pages_to_file(std::uintptr_t address, std::size_t size, int file, std::size_t offset) {
  lowest.store(std::min(lowest.load(), address));
  highest.store(std::max(highest.load(), address + size));
  changes.fetch_add(1);
  bool moved = true;
  for (std::size_t done = 0; done < size && moved; done += step)
    moved = move_step(reinterpret_cast<std::byte*>(address + done), std::min(step, size - done), file, offset + done);
  changes.fetch_add(1);
  return moved;
}

bool was_moving(std::uintptr_t address) {
  if (address < lowest.load() || address >= highest.load()) return false;
  thread_local std::uint64_t tried = 0;
  std::uint64_t now = changes.load();
  for (; now % 2 != 0; now = changes.load()) sched_yield();
  if (tried == now) return false;
  tried = now;
  return true;
}

}  // namespace cucore::cpu::runtime
