// Where the code of kernels comes from: see kernel_source.hpp.
#include "cpu/runtime/loading/forms/kernel_source.hpp"

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "cpu/runtime/process/settings.hpp"

namespace cucore::cpu::runtime {
namespace {

std::atomic<std::size_t> compiled_kernels{0};
std::atomic<std::size_t> loaded_kernels{0};

/// The folder of this user's kernels; empty for none.
std::filesystem::path folder_of_environment() {
  std::string wanted = setting(Setting::cache).value_or("");
  if (wanted == "0") return {};
  if (!wanted.empty()) return wanted;
  const std::filesystem::path caches = setting(Setting::xdg_cache_home).value_or("");
  const std::filesystem::path home = setting(Setting::home).value_or("");
  if (caches.is_absolute()) return caches / "cucore" / "cpu-kernels";
  return home.is_absolute() ? home / ".cache" / "cucore" / "cpu-kernels" : std::filesystem::path();
}

/// Null for none.
loader::KernelCache* cache_of_environment() {
  const std::string folder = folder_of_environment().string();
  const std::string shipped = setting(Setting::shipped_cache).value_or("");
  if (folder.empty() && shipped.empty()) return nullptr;
  return new loader::KernelCache(folder, loader::KernelCache::most_of_bytes, shipped);
}

/// Never destroyed: a thread may still compile when the process ends.
loader::KernelCache* shared_cache() {
  static loader::KernelCache* const cache = cache_of_environment();
  return cache;
}

}  // namespace

const loader::KernelCache* kernel_cache() { return shared_cache(); }

Result<loader::CompiledKernel> compile_or_load(const ptx::Module& module, ptx::FunctionId kernel,
                                               const loader::ModuleAddresses& addresses,
                                               const CompileOptions& options) {
  Result<loader::CompiledKernel> compiled = loader::compile(module, kernel, addresses, options, shared_cache());
  if (compiled) ++(compiled->was_cached ? loaded_kernels : compiled_kernels);
  return compiled;
}

std::optional<loader::CompiledKernel> find_compiled(const ptx::Module& module, ptx::FunctionId kernel,
                                                    const loader::ModuleAddresses& addresses,
                                                    const CompileOptions& options) {
  const loader::KernelCache* const cache = shared_cache();
  if (cache == nullptr) return std::nullopt;
  auto found = loader::find_compiled(module, kernel, addresses, options, *cache);
  if (found) ++loaded_kernels;
  return found;
}

Result<KernelRecord> compile_object(const ptx::Module& module, ptx::FunctionId kernel, const CompileOptions& options) {
  Result<KernelRecord> compiled = loader::compile_object(module, kernel, options, shared_cache());
  if (compiled) ++compiled_kernels;
  return compiled;
}

KernelCounts kernel_counts() { return {.compiled = compiled_kernels.load(), .loaded = loaded_kernels.load()}; }

}  // namespace cucore::cpu::runtime
