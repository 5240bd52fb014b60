// Random programs in which the lanes of a warp exchange values through memory by plain or volatile accesses with
// nothing between them, as code does that counts on a warp running in step: kernels in PTX, and what each lane must end
// up with. Where lanes part from each other they join again, at a barrier or with nothing said. Some programs have
// lanes wait before they load: there they count only on nobody storing before the others have loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cucore::cpu {

/// `k(u32* cells, u32* out, u32 threads)`; each block has cells of its own in `cells`, or in shared memory and leaves
/// those alone.
struct ExchangeProgram {
  std::uint32_t blocks, threads, rows;  ///< of the launch: threads of a block, in so many rows
  /// Accesses are volatile and joins are said. Otherwise an H100's results are its own: a compiler moves a plain load
  /// before a store that it can tell to be elsewhere, and nothing promises that lanes join where no barrier says so.
  bool is_same_on_gpus;
  std::string ptx;
  std::vector<std::uint32_t> expected;  ///< `out`, by thread of the grid
};

inline constexpr std::uint32_t exchange_cells = 128;  ///< of each warp

ExchangeProgram exchange_program(std::uint32_t seed);

}  // namespace cucore::cpu
