// Reads the process' own mappings: see mapped_memory.hpp.
#include "cpu/runtime/process/mapped_memory.hpp"

#include <charconv>
#include <fstream>
#include <string>

namespace cucore::cpu::runtime {

bool is_accessible(std::uintptr_t begin, std::size_t bytes, bool writes) {
  std::ifstream maps("/proc/self/maps");
  if (!maps.is_open()) return true;
  const std::uintptr_t end = begin + bytes;
  for (std::string line; std::getline(maps, line) && begin < end;) {  // "7f00-8f00 rw-p ...", by address
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    const char* const last = line.data() + line.size();
    const auto low = std::from_chars(line.data(), last, from, 16);
    if (low.ptr == last || *low.ptr != '-') return true;
    const auto high = std::from_chars(low.ptr + 1, last, to, 16);
    if (last - high.ptr < 3) return true;
    if (to <= begin) continue;
    const bool may = high.ptr[1] == 'r' && (!writes || high.ptr[2] == 'w');
    if (from > begin || !may) return false;
    begin = to;
  }
  return begin >= end;
}

}  // namespace cucore::cpu::runtime
