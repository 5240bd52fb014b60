// The checker's settings and its reports. CUCORE_CPU_CHECK names the classes of checks; with none, nothing here costs
// anything. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::runtime {

struct Grid;

namespace checker {

/// Bits of check_class, from CUCORE_CPU_CHECK, read once.
std::uint32_t classes();
inline bool checks(std::uint32_t some_class) { return (classes() & some_class) != 0; }

/// CUCORE_CPU_CHECK_LOCKSTEP, on unless it is 0: whether volatile accesses that count on lanes of a warp running in
/// step are races.
bool reports_lockstep();

/// CUCORE_CPU_CHECK_SEED: of the order in which blocks, warps and lanes run. Works without checks too.
std::optional<std::uint64_t> seed();

/// One finding. The first of its headline, kernel and line is kept, the others are counted.
struct Finding {
  std::string headline;              ///< "Invalid __global__ write of size 4 bytes"
  std::uint32_t line = 0;            ///< of the PTX; 0: none
  std::vector<std::string> details;  ///< lines under it
  CUresult error = CUDA_SUCCESS;     ///< what a device may have answered
  std::uint64_t count = 1;
  std::uint32_t block[3] = {};
  std::uint32_t thread[3] = {};
  bool names_thread = true;
};

/// The findings of one launch.
class Findings {
 public:
  void add(Finding finding);
  /// Counts another one of those that are known, or says that there is none: then it is worth describing.
  bool count_another(std::uint32_t line, std::string_view headline);
  std::vector<Finding> take();

 private:
  Finding* find(std::uint32_t line, std::string_view headline);

  std::mutex mutex_;
  std::vector<Finding> findings_;
};

void add(Grid& grid, const BlockState& block, const ThreadState* thread, Finding finding);

/// "saxpy.cu:12 (PTX line 40: ld.global.f32)"
std::string place_of(const Grid& grid, std::uint32_t line);

/// After the last block: writes what was found to standard error, and gives the context its error.
void finish(Grid& grid);

/// At the end of the process: how many errors there were, if anything was checked.
void write_summary();

}  // namespace checker
}  // namespace cucore::cpu::runtime
