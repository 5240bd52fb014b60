// The vector form of a kernel that began in the scalar one: it is compiled on a thread of ours once the kernel has run
// for a part of the time that takes, so nobody waits for it, and kernels that run little never get it. Thread-safe.
//
// Only kernels with independent threads, or whose threads exchange values by convergent operations alone
// (cpu/analysis/flow/independent_threads.hpp), begin so: which form runs, and when it changes, cannot be told from
// their results.
#pragma once

#include <time.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cpu/abi/compiler.hpp"
#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/threads/timer.hpp"

namespace cucore::cpu::runtime {

/// A kernel to compile.
struct KernelOfProgram {
  std::shared_ptr<const ptx::Module> ptx;
  ptx::FunctionId id = 0;
  std::string display_name;
};

/// What is known of a launch for which there is no vector form yet.
struct FirstLaunch {
  const std::uint32_t (&block)[3];
  std::uint64_t threads = 0;
  std::uint64_t blocks = 0;
  bool needs_no_vectors = false;  ///< the kernel has run so little that it has the scalar form anyway
};

/// The processor time for which a launch may run in the scalar form before it pays to have compiled the vector one;
/// nothing if it is to wait for vectors at once: other kernels, and grids of more than a few threads that are expected
/// to run for longer than a compile, or that have loops but too few blocks to change between two of them.
std::optional<std::chrono::nanoseconds> time_before_vectors(const KernelOfProgram& kernel, const FirstLaunch& launch);

class LaterForm final : public Timed, public std::enable_shared_from_this<LaterForm> {
 public:
  /// `worth`: processor time in the scalar form after which it is compiled.
  LaterForm(KernelOfProgram kernel, CompileOptions options, std::chrono::nanoseconds worth);

  const CompileOptions& options() const { return options_; }
  /// Whether the compile has ended.
  bool is_made() const { return is_made_.load(std::memory_order_acquire); }
  /// Of one that is made: object code in the form that the compiler chose, or why there is none.
  const Result<KernelRecord>& made() const { return *made_; }

  /// While it stands a grid of the kernel runs in the scalar form, on so many threads.
  class Run {
   public:
    Run(std::shared_ptr<LaterForm> form, unsigned int threads);
    ~Run();
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    std::shared_ptr<LaterForm> form_;
    unsigned int threads_;
    std::chrono::nanoseconds begin_;
  };

  /// Compiles it, on the calling thread.
  void make();
  std::optional<Clock::time_point> on_time() override;

 private:
  /// With the mutex held: whether the time has come, which is said once.
  bool is_due();

  const KernelOfProgram kernel_;
  const CompileOptions options_;
  const std::chrono::nanoseconds worth_;

  std::mutex mutex_;
  std::chrono::nanoseconds spent_{0};  ///< by grids that have ended
  // Of the grid that began last, if it runs: its threads, the clock of the one that waits for it, and what that showed.
  unsigned int threads_ = 0;
  clockid_t clock_{};
  std::chrono::nanoseconds begin_{0};
  bool is_timed_ = false;
  bool is_asked_for_ = false;

  std::optional<Result<KernelRecord>> made_;
  std::atomic<bool> is_made_{false};
};

}  // namespace cucore::cpu::runtime
