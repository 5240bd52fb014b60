// Plays Conway's game of life from one small pattern.
#include <algorithm>
#include <cstdio>
#include <cucore/cucore.hpp>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "kernels.cu.hpp"

constexpr unsigned width = 160, height = 120;
using Board = std::vector<unsigned char>;

Board after(const Board& board) {
  Board next(board.size());
  for (unsigned i = 0; i < board.size(); ++i) {
    int around = -board[i];
    for (unsigned dy : {height - 1, height, height + 1})
      for (unsigned dx : {width - 1, width, width + 1})
        around += board[(i / width + dy) % height * width + (i % width + dx) % width];
    next[i] = around == 3 || (around == 2 && board[i]);
  }
  return next;
}

int main() {
  const cucore::Device device;
  device.set_current();
  const cucore::Stream stream = device.create_stream();

  constexpr int generations = 400;
  const auto pinned = cucore::LegacyPinnedMemoryResource::create();
  cucore::Buffer now = pinned->allocate(width * height, stream), next = pinned->allocate(width * height, stream);
  Board board(width * height);
  for (const auto& [x, y] : {std::pair{80u, 59u}, {81u, 59u}, {79u, 60u}, {80u, 60u}, {80u, 61u}})
    board[y * width + x] = 1;  // the R-pentomino, which grows for long
  std::ranges::copy(board, reinterpret_cast<unsigned char*>(now.handle()));

  const cucore::LaunchConfig config{.grid = {width / 32, height / 8}, .block = {32, 8}};
  for (int i = 0; i < generations; ++i) {
    kernels::generation(stream, config, now, next, int(width), int(height));
    std::swap(now, next);
    board = after(board);
  }
  stream.sync();

  const std::span found(reinterpret_cast<const unsigned char*>(now.handle()), width * height);
  if (!std::ranges::equal(found, board)) return std::puts("the boards differ"), 1;
  std::printf("5 cells have become %d after %d generations\n", std::accumulate(found.begin(), found.end(), 0),
              generations);
}
