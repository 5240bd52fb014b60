// Seeded orders: see seeded_order.hpp.
#include "cpu/runtime/blocks/seeded_order.hpp"

#include <bit>
#include <numeric>
#include <utility>

#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/check_settings.hpp"

namespace cucore::cpu::runtime {

namespace {

/// splitmix64's finisher.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

}  // namespace

std::uint64_t shuffled_block(const Grid& grid, std::uint64_t turn) {
  const auto seed = checker::seed();
  if (!seed || grid.block_count < 2) return turn;
  // A Feistel network over the next even number of bits, walked until it stays within the grid.
  const int half = (static_cast<int>(std::bit_width(grid.block_count - 1)) + 1) / 2;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  std::uint64_t place = turn;
  do {
    std::uint64_t left = place >> half;
    std::uint64_t right = place & mask;
    for (std::uint64_t round = 0; round < 4; ++round)
      left = std::exchange(right, left ^ (mixed(*seed ^ mixed(right + (round << 48))) & mask));
    place = left << half | right;
  } while (place >= grid.block_count);
  return place;
}

std::vector<std::uint32_t> shuffled_threads(const Grid& grid, const BlockState& block) {
  std::vector<std::uint32_t> order(grid.threads_per_block);
  std::iota(order.begin(), order.end(), 0u);
  SeededDraws draws(grid, block);
  if (checker::seed())
    for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[draws.below(left)]);
  return order;
}

SeededDraws::SeededDraws(const Grid& grid, const BlockState& block) {
  const auto seed = checker::seed();
  if (!seed) return;
  is_seeded_ = true;
  const std::uint32_t* const id = block.block_id;
  const std::uint64_t number =
      id[0] + std::uint64_t{grid.state.grid[0]} * (id[1] + std::uint64_t{grid.state.grid[1]} * id[2]);
  state_ = mixed(*seed ^ mixed(number));
}

std::uint64_t SeededDraws::below(std::uint64_t count) {
  if (!is_seeded_ || count < 2) return 0;
  state_ = mixed(state_);
  return state_ % count;
}

}  // namespace cucore::cpu::runtime
