// Data races: asynchronous copies of one block, pending until the thread that issued them has waited for their group.
// Until then nobody may write what they read, or touch what they write.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/abi/checks.hpp"

namespace cucore::cpu::runtime {

/// The granule of race detection: accesses are recorded and compared by words of shared memory.
inline constexpr std::uint64_t word_bytes = 4;

/// Calls visit(number of a word, the bytes of it, a bit for each) for each word of some memory.
template <typename Visit>
void for_each_word(std::uint64_t begin, std::uint32_t bytes, const Visit& visit) {
  for (std::uint64_t at = begin, end = begin + bytes; at < end;) {
    const std::uint64_t stop = std::min(end, (at / word_bytes + 1) * word_bytes);
    visit(at / word_bytes, static_cast<std::uint8_t>(((1u << (stop - at)) - 1) << (at % word_bytes)));
    at = stop;
  }
}

class PendingCopies {
 public:
  struct Copy {
    std::uint64_t offset;  ///< in the block's shared memory
    std::uint32_t bytes;
    std::uint32_t group;  ///< of its thread and kind
    std::uint32_t line;
    bool writes;  ///< cp.async; else a bulk copy that reads shared memory
  };
  /// Of one word.
  struct Cell {
    std::uint32_t line = 0;
    std::uint16_t thread = 0;
    std::uint8_t bytes = 0;  ///< a bit for each; 0: no copy
    bool writes = false;
  };

  /// Another block begins.
  void begin(std::uint32_t threads, std::size_t words);
  void issue(std::uint32_t thread, std::uint64_t offset, std::uint32_t bytes, std::uint32_t line, bool writes);
  /// The thread commits a group or waits for some (`step`); returns the copies that are complete by that.
  std::vector<Copy> step(std::uint32_t thread, CopyStep step, std::uint32_t count);
  /// A copy that the access of these bytes of a word disturbs, or null.
  const Cell* disturbed(std::size_t word, std::uint8_t bytes, bool writes) const;

 private:
  struct OfThread {
    std::vector<Copy> copies;
    std::array<std::uint32_t, 2> groups{};  ///< committed: of reading and of writing copies
  };

  std::size_t words_ = 0;
  std::vector<OfThread> threads_;  ///< these two are empty until there are copies
  std::vector<Cell> cells_;
};

}  // namespace cucore::cpu::runtime
