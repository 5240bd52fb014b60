// The shadow of device memory: see shadow.hpp.
#include "cpu/runtime/address_space/shadow.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "cpu/abi/pages.hpp"
#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/process/live_objects.hpp"

namespace cucore::cpu::runtime::shadow {

namespace {

constexpr std::size_t shadow_granule = 8;
constexpr std::size_t many_pages = std::size_t{1} << 20;
constexpr std::size_t freed_remembered = 4096;

struct Memory {
  std::uint8_t* accessible = nullptr;
  std::uint8_t* written = nullptr;
  std::uintptr_t begin = 0;
  std::size_t size = 0;

  bool contains(std::uintptr_t base, std::size_t bytes) const {
    return base >= begin && base - begin < size && bytes <= size - (base - begin);
  }
};

std::uint8_t* reserve(std::size_t size) {
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(at);
}

const Memory& memory() {
  static const Memory opened = [] {
    Memory made;
    const std::uint32_t classes = checker::classes();
    if ((classes & ~check_class::sync_checks) == 0) return made;
    const AddressSpace& space = AddressSpace::instance();
    made.accessible = reserve((space.end() - space.begin()) / shadow_granule);
    if ((classes & check_class::init_checks) != 0) made.written = reserve(space.end() - space.begin());
    if (!made.accessible || ((classes & check_class::init_checks) != 0 && !made.written)) {
      std::fprintf(stderr, "cucore CPU device: no addresses for the checker's shadow: kernels are not checked\n");
      return Memory{};
    }
    made.begin = space.begin();
    made.size = space.end() - space.begin();
    return made;
  }();
  return opened;
}

void set(std::uint8_t* from, std::uint8_t value, std::size_t count) {
  if (value != 0 || count < many_pages) {
    std::memset(from, value, count);
    return;
  }
  // Whole pages become zero by going back to the system.
  const auto begin = reinterpret_cast<std::uintptr_t>(from);
  const std::uintptr_t first = (begin + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t last = (begin + count) / page_bytes * page_bytes;
  std::memset(from, 0, first - begin);
  madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  std::memset(reinterpret_cast<void*>(last), 0, begin + count - last);
}

struct Known {
  std::size_t bytes = 0;
  const char* kind = "";
  std::string made;
  bool is_heap = false;
};
struct Freed {
  std::uintptr_t base = 0;
  Known was;
  std::string freed;
};
struct History {
  std::mutex mutex;
  std::map<std::uintptr_t, Known> live;
  std::deque<Freed> freed;  ///< the latest first
};

History& history() {
  static auto* const instance = new History;
  return *instance;
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string spelt(std::uintptr_t base, const Known& known) {
  return number(known.bytes) + " bytes of " + known.kind + " at " + hexadecimal(base);
}

std::string at(const std::string& place) { return place.empty() ? "" : " at " + place; }

}  // namespace

std::size_t redzone(std::size_t size) {
  if (!is_open()) return 0;
  return 512 + std::min<std::size_t>(size / 4, 64 * 1024);
}

bool is_open() { return memory().accessible != nullptr; }

bool open(CheckTable& table) {
  const Memory& self = memory();
  table.begin = self.begin;
  table.size = self.size;
  table.accessible = self.accessible;
  table.written = self.written;
  return is_open();
}

void allow(std::uintptr_t base, std::size_t bytes, bool written) {
  const Memory& self = memory();
  if (!self.accessible || !self.contains(base, bytes)) return;
  std::uint8_t* const first = self.accessible + (base - self.begin) / shadow_granule;
  set(first, shadow_granule, bytes / shadow_granule);
  if (bytes % shadow_granule != 0) first[bytes / shadow_granule] = static_cast<std::uint8_t>(bytes % shadow_granule);
  if (self.written) set(self.written + (base - self.begin), written ? 1 : 0, bytes);
}

void forbid(std::uintptr_t base, std::size_t bytes) {
  const Memory& self = memory();
  if (!self.accessible || !self.contains(base, bytes)) return;
  set(self.accessible + (base - self.begin) / shadow_granule, 0, (bytes + shadow_granule - 1) / shadow_granule);
}

bool is_allowed(std::uintptr_t address, std::size_t bytes) {
  const Memory& self = memory();
  if (!self.contains(address, bytes)) return false;
  for (std::size_t offset = address - self.begin, end = offset + bytes; offset < end;) {
    const std::size_t stop = std::min(end, (offset / shadow_granule + 1) * shadow_granule);
    if (stop - offset / shadow_granule * shadow_granule > self.accessible[offset / shadow_granule]) return false;
    offset = stop;
  }
  return true;
}

void mark_written(std::uintptr_t address, std::size_t bytes) {
  const Memory& self = memory();
  if (self.written && self.contains(address, bytes)) set(self.written + (address - self.begin), 1, bytes);
}

void mark_unwritten(std::uintptr_t address, std::size_t bytes) {
  const Memory& self = memory();
  if (self.written && self.contains(address, bytes)) set(self.written + (address - self.begin), 0, bytes);
}

bool is_unwritten(std::uintptr_t address, std::size_t bytes) {
  const Memory& self = memory();
  if (!self.written || !self.contains(address, bytes)) return false;
  const std::uint8_t* const first = self.written + (address - self.begin);
  return std::all_of(first, first + bytes, [](std::uint8_t mark) { return mark == 0; });
}

void note_allocation(std::uintptr_t base, std::size_t bytes, const char* kind, std::string made_at, bool is_heap) {
  if (!is_open()) return;
  Known known{bytes, kind, std::move(made_at), is_heap};
  History& self = history();
  const std::lock_guard lock(self.mutex);
  self.live.insert_or_assign(base, std::move(known));
}

std::string caller() { return is_open() ? live_objects::caller() : std::string{}; }

void note_free(std::uintptr_t base, std::string freed_at) {
  History& self = history();
  const std::lock_guard lock(self.mutex);
  const auto found = self.live.find(base);
  if (found == self.live.end()) return;
  self.freed.push_front({base, std::move(found->second), std::move(freed_at)});
  self.live.erase(found);
  if (self.freed.size() > freed_remembered) self.freed.pop_back();
}

Extent allocation_at(std::uintptr_t address, bool stable) {
  History& self = history();
  const std::lock_guard lock(self.mutex);
  auto after = self.live.upper_bound(address);
  if (after == self.live.begin()) return {};
  const auto& [base, known] = *std::prev(after);
  if (address - base >= known.bytes || (stable && known.is_heap)) return {};
  return {base, known.bytes};
}

std::vector<std::string> describe(std::uintptr_t address, std::size_t bytes) {
  std::vector<std::string> lines;
  History& self = history();
  const std::lock_guard lock(self.mutex);
  const auto freed = std::find_if(self.freed.begin(), self.freed.end(),
                                  [&](const Freed& each) { return address - each.base < each.was.bytes; });
  if (freed != self.freed.end()) {
    lines.push_back("address " + hexadecimal(address) + " is " + number(address - freed->base) + " bytes into " +
                    spelt(freed->base, freed->was) + ", which was freed");
    if (!freed->was.made.empty()) lines.push_back("allocated" + at(freed->was.made));
    if (!freed->freed.empty()) lines.push_back("freed" + at(freed->freed));
    return lines;
  }
  const auto after = self.live.upper_bound(address);
  const std::uintptr_t next = after == self.live.end() ? 0 : after->first - address;
  if (after != self.live.begin()) {
    const auto& [base, known] = *std::prev(after);
    const std::size_t beyond = address - base;
    if (beyond < known.bytes || next == 0 || beyond - known.bytes < next) {
      const std::string where = beyond < known.bytes
                                    ? "access of " + number(bytes) + " bytes begins " + number(beyond) + " bytes into "
                                    : number(beyond - known.bytes) + " bytes after the end of ";
      lines.push_back("address " + hexadecimal(address) + ": " + where + spelt(base, known));
      if (!known.made.empty()) lines.push_back("allocated" + at(known.made));
      return lines;
    }
  }
  if (next != 0) {
    lines.push_back("address " + hexadecimal(address) + ": " + number(next) + " bytes before " +
                    spelt(after->first, after->second));
    if (!after->second.made.empty()) lines.push_back("allocated" + at(after->second.made));
    return lines;
  }
  lines.push_back("address " + hexadecimal(address) + " is near no allocation");
  return lines;
}

}  // namespace cucore::cpu::runtime::shadow
