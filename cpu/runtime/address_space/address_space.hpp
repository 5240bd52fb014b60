// The reserved range that device pointers come from: inaccessible until allocated, so that a wild access faults.
// Addresses are host addresses. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace cucore::cpu::runtime {

/// Free ranges of addresses, best fit, coalescing. Not thread-safe.
class FreeRanges {
 public:
  void add(std::uintptr_t begin, std::size_t size);
  /// 0 if nothing fits.
  std::uintptr_t take(std::size_t size, std::size_t alignment);
  /// Exactly this range; false if not all of it is free.
  bool take_at(std::uintptr_t address, std::size_t size);

 private:
  void insert(std::uintptr_t begin, std::size_t size);
  void erase(std::map<std::uintptr_t, std::size_t>::iterator range);

  std::map<std::uintptr_t, std::size_t> by_address_;
  std::set<std::pair<std::size_t, std::uintptr_t>> by_size_;
};

/// Small blocks of host memory share no page with those of devices: memory that is being shared with another process is
/// read-only for a moment, and a system call on a host's buffer would fail there.
enum class Heap { Device, Host };

class AddressSpace {
 public:
  static AddressSpace& instance();

  /// What an allocation of `size` bytes really takes.
  static std::size_t rounded(std::size_t size);
  /// Readable, writable memory, aligned to 512 bytes (2 MiB for 2 MiB and more); 0 if there is none.
  std::uintptr_t allocate(std::size_t size, Heap heap = Heap::Device);
  /// `size` and `heap` as given to allocate.
  void release(std::uintptr_t address, std::size_t size, Heap heap = Heap::Device);
  /// Moves allocated memory of the device heap, while it is in use and at the same addresses, to a file that other
  /// processes can map: address `begin() + n` is byte n of it. Returns the file, which stays ours, or -1.
  int share(std::uintptr_t address, std::size_t size);
  /// Addresses alone, inaccessible until something is mapped there; at `hint` if that is free. 0 if there are none.
  std::uintptr_t reserve(std::size_t size, std::size_t alignment, std::uintptr_t hint);
  /// Takes back addresses of `reserve`, whatever is mapped there.
  void unreserve(std::uintptr_t address, std::size_t size);
  /// Maps a part of a file, shared, at reserved addresses. False if the system refuses.
  static bool map_file(std::uintptr_t address, std::size_t size, int file, std::size_t offset, bool accessible);
  /// Maps any part of a file, with the rest of its first and last page; 0 if the system refuses.
  std::uintptr_t map_part(int file, std::size_t offset, std::size_t size);
  void unmap_part(std::uintptr_t address, std::size_t size);
  /// Makes reserved addresses inaccessible again.
  static void unmap(std::uintptr_t address, std::size_t size);
  std::uintptr_t begin() const { return begin_; }
  std::uintptr_t end() const { return end_; }
  bool contains(std::uintptr_t address) const { return address >= begin_ && address < end_; }

 private:
  struct Released {
    std::uintptr_t address = 0;
    std::size_t bytes = 0;
    FreeRanges* home = nullptr;
  };

  AddressSpace();
  std::uintptr_t allocate_pages(std::size_t size);
  void reuse(Released released);

  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;
  std::mutex mutex_;
  FreeRanges pages_;
  FreeRanges small_;
  FreeRanges small_of_hosts_;
  int file_ = -1;                     ///< of shared memory, made when first needed
  std::set<std::uintptr_t> in_file_;  ///< chunks of small blocks, and larger allocations
  std::deque<Released> quarantine_;   ///< for the checker: not to be used again yet
  std::size_t quarantined_ = 0;       ///< bytes
};

}  // namespace cucore::cpu::runtime
