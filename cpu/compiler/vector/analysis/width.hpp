// How wide the vector form of one compile is.
#pragma once

#include <cstdint>

namespace cucore::cpu::compiler {

constexpr unsigned warp_lanes = 32;

/// Lanes of a chunk, chunks of a group, and the block that the code is for.
struct VectorWidth {
  unsigned lanes = 16;
  unsigned chunks = 2;
  std::uint32_t block[3] = {1, 1, 1};
  /// A group, which is a warp, runs on a fiber of its own: it may have to wait for others in the middle of a loop.
  bool on_fibers = false;

  unsigned group() const { return lanes * chunks; }
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  std::uint32_t groups() const { return (threads() + group() - 1) / group(); }
  bool is_line() const { return block[1] == 1 && block[2] == 1; }
  bool has_rows() const { return !is_line() && block[0] % lanes == 0; }  ///< a chunk lies in one row of x
};

}  // namespace cucore::cpu::compiler
