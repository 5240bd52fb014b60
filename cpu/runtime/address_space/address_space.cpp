// The reserved range: see address_space.hpp. Small allocations share 2 MiB chunks (as they share pages on a GPU);
// larger ones own their pages, which become inaccessible and go back to the system when freed.
#include "cpu/runtime/address_space/address_space.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "cpu/abi/alignment.hpp"
#include "cpu/abi/pages.hpp"
#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/threads/moving_pages.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr std::size_t address_granule = 512;
constexpr std::size_t chunk_bytes = 2u << 20;
constexpr std::size_t small_size = 256 * 1024;

}  // namespace

void FreeRanges::insert(std::uintptr_t begin, std::size_t size) {
  by_address_.emplace(begin, size);
  by_size_.emplace(size, begin);
}

void FreeRanges::erase(std::map<std::uintptr_t, std::size_t>::iterator range) {
  by_size_.erase({range->second, range->first});
  by_address_.erase(range);
}

void FreeRanges::add(std::uintptr_t begin, std::size_t size) {
  auto next = by_address_.lower_bound(begin);
  if (next != by_address_.end() && next->first == begin + size) {
    size += next->second;
    erase(next);
    next = by_address_.lower_bound(begin);
  }
  if (next != by_address_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      size += before->second;
      erase(before);
    }
  }
  insert(begin, size);
}

std::uintptr_t FreeRanges::take(std::size_t size, std::size_t alignment) {
  for (auto candidate = by_size_.lower_bound({size, 0}); candidate != by_size_.end(); ++candidate) {
    const auto [length, begin] = *candidate;
    const std::uintptr_t address = round_up(begin, alignment);
    if (address + size > begin + length) continue;
    erase(by_address_.find(begin));
    if (address > begin) insert(begin, address - begin);
    if (address + size < begin + length) insert(address + size, begin + length - address - size);
    return address;
  }
  return 0;
}

bool FreeRanges::take_at(std::uintptr_t address, std::size_t size) {
  auto range = by_address_.upper_bound(address);
  if (range == by_address_.begin()) return false;
  --range;
  const auto [begin, length] = *range;
  if (address - begin > length || size > length - (address - begin)) return false;
  erase(range);
  if (address > begin) insert(begin, address - begin);
  if (address + size < begin + length) insert(address + size, begin + length - address - size);
  return true;
}

AddressSpace& AddressSpace::instance() {
  static auto* space = new AddressSpace;
  return *space;
}

AddressSpace::AddressSpace() {
  const auto physical =
      static_cast<std::size_t>(std::max(1L, sysconf(_SC_PHYS_PAGES))) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  // Room for fragmentation: four times what the devices report. Less if the system grants less.
  for (std::size_t size = round_up(4 * physical, chunk_bytes) + chunk_bytes; size >= 64 * chunk_bytes; size /= 2) {
    void* const reserved = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) continue;
    begin_ = round_up(reinterpret_cast<std::uintptr_t>(reserved), chunk_bytes);
    end_ = (reinterpret_cast<std::uintptr_t>(reserved) + size) / chunk_bytes * chunk_bytes;
    pages_.add(begin_ + page_bytes,
               end_ - begin_ - page_bytes);  // the first granule is never allocated: see abi/checks.hpp
    return;
  }
}

std::size_t AddressSpace::rounded(std::size_t size) {
  return round_up(std::max<std::size_t>(size, 1), size <= small_size ? address_granule : page_bytes);
}

std::uintptr_t AddressSpace::allocate_pages(std::size_t size) {
  const std::uintptr_t address = pages_.take(size, size >= chunk_bytes ? chunk_bytes : page_bytes);
  if (address == 0) return 0;
  if (mprotect(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE) != 0) {
    pages_.add(address, size);
    return 0;
  }
  if (size >= chunk_bytes) madvise(reinterpret_cast<void*>(address), size, MADV_HUGEPAGE);
  return address;
}

std::uintptr_t AddressSpace::allocate(std::size_t size, Heap heap) {
  if (size > end_ - begin_) return 0;
  const std::size_t bytes = rounded(size);
  const std::lock_guard lock(mutex_);
  if (size > small_size) return allocate_pages(bytes);
  FreeRanges& small = heap == Heap::Host ? small_of_hosts_ : small_;
  std::uintptr_t address = small.take(bytes, address_granule);
  if (address == 0) {
    const std::uintptr_t chunk = allocate_pages(chunk_bytes);
    if (chunk == 0) return 0;
    small.add(chunk, chunk_bytes);
    address = small.take(bytes, address_granule);
  }
  return address;
}

void AddressSpace::release(std::uintptr_t address, std::size_t size, Heap heap) {
  const std::size_t bytes = rounded(size);
  const std::lock_guard lock(mutex_);
  if (size <= small_size) return reuse({address, bytes, heap == Heap::Host ? &small_of_hosts_ : &small_});
  // A fresh inaccessible mapping drops the contents and the protection in one call.
  void* const pages = reinterpret_cast<void*>(address);
  if (mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    madvise(pages, bytes, MADV_DONTNEED);
  if (in_file_.erase(address) != 0)
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(address - begin_),
              static_cast<off_t>(bytes));
  reuse({address, bytes, &pages_});
}

int AddressSpace::share(std::uintptr_t address, std::size_t size) {
  const std::size_t bytes = rounded(size);
  const std::lock_guard lock(mutex_);
  if (file_ < 0) {
    const int file = memfd_create("cucore device memory", MFD_CLOEXEC);
    if (file < 0) return -1;
    if (ftruncate(file, static_cast<off_t>(2 * (end_ - begin_))) != 0) {  // sparse; see shared_memory.cpp for the rest
      close(file);
      return -1;
    }
    file_ = file;
  }
  const bool is_small = size <= small_size;  // a block may lie in two chunks that follow each other
  for (std::uintptr_t at = is_small ? address / chunk_bytes * chunk_bytes : address; at < address + bytes;) {
    const std::size_t extent = is_small ? chunk_bytes : bytes;
    if (!in_file_.contains(at)) {
      if (!move_pages_to_file(at, extent, file_, at - begin_)) return -1;
      in_file_.insert(at);
    }
    at += extent;
  }
  return file_;
}

void AddressSpace::reuse(Released released) {
  const auto add = [](const Released& each) { each.home->add(each.address, each.bytes); };
  if (!shadow::is_open()) return add(released);
  quarantine_.push_back(released);
  quarantined_ += released.bytes;
  while (quarantined_ > shadow::quarantine) {
    add(quarantine_.front());
    quarantined_ -= quarantine_.front().bytes;
    quarantine_.pop_front();
  }
}

std::uintptr_t AddressSpace::reserve(std::size_t size, std::size_t alignment, std::uintptr_t hint) {
  const std::lock_guard lock(mutex_);
  if (hint != 0 && hint % alignment == 0 && pages_.take_at(hint, size)) return hint;
  return pages_.take(size, std::max(alignment, page_bytes));
}

void AddressSpace::unreserve(std::uintptr_t address, std::size_t size) {
  unmap(address, size);
  const std::lock_guard lock(mutex_);
  pages_.add(address, size);
}

bool AddressSpace::map_file(std::uintptr_t address, std::size_t size, int file, std::size_t offset, bool accessible) {
  const int protection = accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
  return mmap(reinterpret_cast<void*>(address), size, protection, MAP_SHARED | MAP_FIXED, file,
              static_cast<off_t>(offset)) != MAP_FAILED;
}

std::uintptr_t AddressSpace::map_part(int file, std::size_t offset, std::size_t size) {
  const std::size_t first = offset / page_bytes * page_bytes;
  const std::size_t bytes = round_up(offset + size, page_bytes) - first;
  const std::uintptr_t address = reserve(bytes, page_bytes, 0);
  if (address == 0) return 0;
  if (map_file(address, bytes, file, first, true)) return address + (offset - first);
  unreserve(address, bytes);
  return 0;
}

void AddressSpace::unmap_part(std::uintptr_t address, std::size_t size) {
  const std::uintptr_t first = address / page_bytes * page_bytes;
  unreserve(first, round_up(address + size, page_bytes) - first);
}

void AddressSpace::unmap(std::uintptr_t address, std::size_t size) {
  void* const pages = reinterpret_cast<void*>(address);
  if (mmap(pages, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    mprotect(pages, size, PROT_NONE);
}

}  // namespace cucore::cpu::runtime
