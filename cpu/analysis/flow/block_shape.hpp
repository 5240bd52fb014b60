// How the threads of a block stand on its axes, as far as it tells which of them are lanes of one warp.
#pragma once

#include <cstdint>

namespace cucore::cpu::analysis {

/// All 0: each warp is in one row of the block, and there is more than one. So it is with rows of whole warps, and with
/// longer blocks of one row.
struct BlockShape {
  std::uint32_t x = 0, y = 0, z = 0;

  bool is_known() const { return x != 0; }
  std::uint32_t threads() const { return x * y * z; }
  /// A thread's number on x may not be its lane's.
  bool has_rows() const { return is_known() && y * z > 1; }
  bool is_one_warp() const { return is_known() && threads() <= 32; }
  bool operator==(const BlockShape& other) const = default;
};

/// Of blocks whose warps are in several rows, or that are one warp, %ntid; of all others nothing, which one code
/// serves.
inline BlockShape shape_of_warps(const std::uint32_t (&block)[3]) {
  const std::uint32_t threads = block[0] * block[1] * block[2];
  const bool has_rows = block[0] != threads && block[0] % 32 != 0;
  const bool is_one_warp = threads > 1 && threads <= 32;
  return has_rows || is_one_warp ? BlockShape{block[0], block[1], block[2]} : BlockShape{};
}

}  // namespace cucore::cpu::analysis
