// What the checker found in a launch, and its reports. Thread-safe.
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
#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

struct Grid;

namespace checker {

/// One finding. The first of its headline, kernel and line is kept, the others are counted.
struct Finding {
  std::string headline;              ///< "Invalid __global__ write of size 4 bytes"
  std::uint32_t line = 0;            ///< of the PTX; 0: none
  std::vector<std::string> details;  ///< lines under it
  std::optional<ErrorCode> error;    ///< what a device may have answered
  std::uint64_t count = 1;
  std::uint32_t block[3] = {};
  std::uint32_t thread[3] = {};
  bool names_thread = true;
};

/// The findings of one launch.
class Findings {
 public:
  void add(Finding finding);
  /// Counts another occurrence of a known finding; false if it is new, and so has to be described.
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

/// The status that the process is to have for what was found; 0: the program's own.
int status_of_process();

}  // namespace checker
}  // namespace cucore::cpu::runtime
