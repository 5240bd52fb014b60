// What a compile has taken and will take: see compile_budget.hpp.
#include "cpu/compiler/compile_budget.hpp"

#include <ctime>

#include "cpu/compiler/cost/cost_model.hpp"

namespace cucore::cpu::compiler {
namespace {

// Under the address sanitizer the compiler takes several times as long for the same kernel, and is not to refuse it.
#ifdef __SANITIZE_ADDRESS__
constexpr double slowdown = 8;
#else
constexpr double slowdown = 1;
#endif

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
      seconds += length * (cost_model::seconds_of_instruction + length * cost_model::seconds_of_pair);
    }
  }
  return seconds;
}

}  // namespace

CompileTime::CompileTime(double patience) : patience_(patience), since_(thread_time()) {}

double CompileTime::seconds() const { return (thread_time() - since_) / slowdown; }

bool CompileTime::is_up() const { return seconds() > patience_ * cost_model::most_seconds_of_passes; }

bool CompileTime::is_not_enough_for(const llvm::Module& ir) const {
  return is_up() || seconds_of_back_end(ir) > patience_ * cost_model::most_seconds_of_back_end;
}

}  // namespace cucore::cpu::compiler
