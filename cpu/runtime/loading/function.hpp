// Functions: the kernels of a module, each compiled for its module's variables at its first launch, once, however many
// threads launch it. Thread-safe.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/loader/compiler.hpp"
#include "cpu/runtime/loading/forms/code_variants.hpp"
#include "cpu/runtime/loading/program.hpp"

namespace cucore::cpu::runtime {

class Context;
class Module;

/// A kernel's requirements and limits for clusters.
struct ClusterLimits {
  std::uint32_t required[3];  ///< blocks; all 0: none required
  std::uint32_t largest;      ///< blocks in all
  bool must_be_given;
};

/// What cuFuncSetBlockShape, cuFuncSetSharedSize and cuParamSet* say of the next cuLaunch.
struct PreparedLaunch {
  unsigned int block[3] = {1, 1, 1};
  unsigned int dynamic_shared = 0;
  std::vector<std::byte> parameters;
};

class Function {
 public:
  Function(Module& module, const KernelDescription& description);

  Module& module() const { return module_; }
  /// All but the name is there once it is complete.
  const KernelDescription& description() const { return description_; }
  bool is_complete() const { return is_complete_.load(std::memory_order_acquire); }
  /// Program::complete for this kernel. Whoever is given a function to launch or ask calls it first.
  Result<void> complete();
  CUfunction handle();  ///< made at first use
  void end_handle();

  /// Code for a launch of so many threads in such blocks; compiles where it has none yet. The report says why if it
  /// fails. Every launch calls this, and a Result would pass its value through memory. `later`, unless it is null: the
  /// launch may change to another form when that is there; it is set if the code is the scalar form until then.
  CUresult code(const unsigned int (&block)[3], std::uint64_t threads, std::shared_ptr<const Code>* code,
                std::shared_ptr<LaterForm>* later = nullptr);

  Result<int> attribute(CUfunction_attribute attribute);
  Result<void> set_attribute(CUfunction_attribute attribute, int value);
  std::size_t max_dynamic_shared() const { return max_dynamic_shared_.load(); }
  ClusterLimits cluster_limits() const;
  PreparedLaunch prepared_launch();
  /// `change(PreparedLaunch&)`, one at a time.
  template <class F>
  void prepare_launch(F&& change) {
    const std::lock_guard lock(mutex_);
    std::forward<F>(change)(prepared_);
  }
  /// Picoseconds that a device thread took in the last grid of many; 0 if there was none.
  std::atomic<std::uint64_t>& pace() { return pace_; }
  /// Whether the kernel, which is complete, uses a variable of the program.
  bool reaches(std::size_t variable) const;
  /// Blocks of `threads` threads that one worker keeps going at once: what the scheduler really does.
  int max_active_blocks(std::uint32_t threads, std::size_t dynamic_shared) const;

 private:
  const loader::ModuleAddresses& addresses() const;
  std::string name_of_compile() const;  ///< for the trace
  // With the mutex held.
  bool find(const CompileOptions& options, std::shared_ptr<const Code>* code);
  CUresult compile(const CompileOptions& options, bool is_until_later, std::shared_ptr<const Code>* code);
  std::shared_ptr<const Code> keep(const CompileOptions& options, loader::CompiledKernel compiled,
                                   bool is_until_later = false);
  std::shared_ptr<const Code> take(const std::shared_ptr<LaterForm>& made);
  std::shared_ptr<LaterForm> begin_later(const CompileOptions& options, std::uint64_t threads, bool needs_no_vectors);

  Module& module_;
  const KernelDescription& description_;
  std::mutex mutex_;
  CUfunction handle_ = nullptr;
  PreparedLaunch prepared_;
  CodeVariants code_;
  std::atomic<bool> is_complete_{false};
  loader::ModuleAddresses addresses_;  ///< of the module, for an excerpt; else empty
  std::uint64_t threads_ = 0;          ///< launched so far
  std::atomic<std::uint64_t> pace_{0};
  std::atomic<std::size_t> max_dynamic_shared_{0};
  std::atomic<int> carveout_{-1};
  std::atomic<std::uint32_t> required_cluster_[3]{};
  std::atomic<bool> may_be_large_cluster_{false};
  std::atomic<int> cluster_policy_{CU_CLUSTER_SCHEDULING_POLICY_DEFAULT};
};

/// A function, or a library's kernel, which means its function in `context` (loaded there at first use). Every launch
/// calls this, and a Result would pass its value through memory. The function is complete.
CUresult find_function(Context& context, CUfunction handle, std::shared_ptr<Function>* function);
/// The same for those who ask for no more than its name or its module.
CUresult find_named_function(Context& context, CUfunction handle, std::shared_ptr<Function>* function);
/// A function handle alone, with no context.
std::shared_ptr<Function> find_function(CUfunction handle);

}  // namespace cucore::cpu::runtime
