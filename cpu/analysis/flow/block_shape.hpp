// How the threads of a block stand on its axes, as far as it tells which of them are lanes of one warp.
#pragma once

#include <cstdint>

namespace cucore::cpu::analysis {

/// All 0: the block is one row of more than one warp.
struct BlockShape {
  std::uint32_t x = 0, y = 0, z = 0;

  bool is_known() const { return x != 0; }
  std::uint32_t threads() const { return x * y * z; }
  /// Warps are in several rows: a thread's number on x does not tell its lane's.
  bool has_rows() const { return is_known() && y * z > 1 && x % 32 != 0; }
  bool is_one_warp() const { return is_known() && threads() <= 32; }
  bool operator==(const BlockShape& other) const = default;
};

/// Of blocks of several rows, or of one warp, %ntid; of all others nothing, which one code serves.
inline BlockShape shape_of_warps(const std::uint32_t (&block)[3]) {
  const std::uint32_t threads = block[0] * block[1] * block[2];
  const bool is_one_warp = threads > 1 && threads <= 32;
  return block[0] != threads || is_one_warp ? BlockShape{block[0], block[1], block[2]} : BlockShape{};
}

}  // namespace cucore::cpu::analysis
