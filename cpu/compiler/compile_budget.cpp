// The thresholds of a compile, and what they were measured with: see compile_budget.hpp.
#include "cpu/compiler/compile_budget.hpp"

#include <ctime>

namespace cucore::cpu::codegen {

namespace {

// No kernel shall take more than five seconds of processor time to its first launch. Measured on an EPYC of two cores
// with LLVM 19.1. Straight code of 32-bit integers, all in one block (instructions of IR: seconds of the back end):
// 5761: 0.3, 11014: 0.8, 21187: 2.0, 41427: 6.6. Kernels of many small blocks, in the vector form: 16140: 1.1,
// 26275: 1.1, 37778: 1.7, 43910: 2.2. So an instruction costs this much, and each pair of a block's, since LLVM orders
// a block in time that grows with the square of its length:
constexpr double seconds_of_instruction = 55e-6;
constexpr double seconds_of_pair = 2.7e-9;
constexpr double most_seconds_of_back_end = 3;

/// Passes before the back end took 1.1 seconds of the largest of those kernels.
constexpr double most_seconds_of_passes = 2;

double thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double seconds_of_back_end(const llvm::Module& ir) {
  double seconds = 0;
  for (const llvm::Function& function : ir) {
    for (const llvm::BasicBlock& block : function) {
      const auto length = static_cast<double>(block.size());
      seconds += length * (seconds_of_instruction + length * seconds_of_pair);
    }
  }
  return seconds;
}

}  // namespace

CompileTime::CompileTime() : since_(thread_time()) {}

bool CompileTime::is_up() const { return thread_time() - since_ > most_seconds_of_passes; }

bool CompileTime::is_not_enough_for(const llvm::Module& ir) const {
  return is_up() || seconds_of_back_end(ir) > most_seconds_of_back_end;
}

}  // namespace cucore::cpu::codegen
