// The order in which blocks, and threads in a block, run with CUCORE_CPU_CHECK_SEED: pseudo-random, and the same for
// the same seed, kernel and launch. Without a seed, ascending.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::runtime {

struct Grid;

/// Number of the block that runs as the `turn`-th.
std::uint64_t shuffled_block(const Grid& grid, std::uint64_t turn);

std::vector<std::uint32_t> shuffled_threads(const Grid& grid, const BlockState& block);

/// Draws for one block.
class SeededDraws {
 public:
  SeededDraws() = default;
  SeededDraws(const Grid& grid, const BlockState& block);
  /// Below `count`; 0 without a seed.
  std::uint64_t below(std::uint64_t count);

 private:
  bool is_seeded_ = false;
  std::uint64_t state_ = 0;
};

}  // namespace cucore::cpu::runtime
