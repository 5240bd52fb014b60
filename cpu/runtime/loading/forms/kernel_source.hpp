// Where the code of kernels comes from: the compiler, or the cache folder that processes share.
#pragma once

#include <cstddef>
#include <optional>

#include "cpu/error/result.hpp"
#include "cpu/loader/cache/kernel_cache.hpp"
#include "cpu/loader/compiler.hpp"

namespace cucore::cpu::runtime {

/// The cache that CUCORE_CPU_CACHE names (read once): a folder, or 0 for none. Unset, it is cucore/cpu-kernels in
/// $XDG_CACHE_HOME or else in ~/.cache. CUCORE_CPU_CACHE_READ_ONLY names one beside it. Null if there is neither.
/// Thread-safe.
const loader::KernelCache* kernel_cache();

/// loader::compile with that cache. Thread-safe.
Result<loader::CompiledKernel> compile_or_load(const ptx::Module& module, ptx::FunctionId kernel,
                                               const loader::ModuleAddresses& addresses, const CompileOptions& options);

/// The same if the cache has it; else nothing.
std::optional<loader::CompiledKernel> find_compiled(const ptx::Module& module, ptx::FunctionId kernel,
                                                    const loader::ModuleAddresses& addresses,
                                                    const CompileOptions& options);

/// loader::compile_object with that cache.
Result<KernelRecord> compile_object(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options);

/// What this process has made so far.
struct KernelCounts {
  std::size_t compiled = 0;
  std::size_t loaded = 0;  ///< from the cache
};
KernelCounts kernel_counts();

}  // namespace cucore::cpu::runtime
