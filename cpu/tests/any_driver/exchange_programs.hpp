// Random programs in which the lanes of a warp exchange values through memory by plain accesses with nothing between
// them, as code does that counts on a warp running in step: kernels in PTX, and what each lane must end up with. Where
// lanes part from each other they join again, at a barrier or with nothing said. GPUs give the same where they exchange
// converged; since Volta nothing promises that lanes join where no barrier says so, and an H100 runs a part of them on.
// Some programs have lanes wait before they load: there they count only on nobody storing before the others have
// loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cucore::cpu {

/// `k(u32* cells, u32* out)`; each block has cells of its own in `cells`, or in shared memory and leaves those alone.
struct ExchangeProgram {
  std::uint32_t blocks, threads;  ///< of the launch
  bool counts_on_joins;           ///< lanes part, and no barrier says where they join: a GPU's results are its own
  std::string ptx;
  std::vector<std::uint32_t> expected;  ///< `out`, by thread of the grid
};

inline constexpr std::uint32_t exchange_cells = 128;  ///< of each warp

ExchangeProgram exchange_program(std::uint32_t seed);

}  // namespace cucore::cpu
