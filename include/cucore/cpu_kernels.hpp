// The CPU device's compiled kernels in a store: what one host has compiled, another takes into its folder.
//
//   auto store = std::make_shared<FolderStore>("/nfs/kernels");
//   pull_cpu_kernels(store, {.keys = keys});    // before the work
//   push_cpu_kernels(store, {.keys = keys});    // after it
//
// The CPU device itself knows no stores and asks its folder alone, so kernels move when a program says so. Each is one
// signed entry (docs/cache-format.md): native code, so that nothing gets into the folder that no known key has signed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cucore/export.hpp"
#include "cucore/shared_store.hpp"

namespace cucore {

struct CpuKernelOptions {
  /// Empty: the CPU device's own: $CUCORE_CPU_CACHE, else cucore/cpu-kernels in $XDG_CACHE_HOME, else in ~/.cache.
  std::filesystem::path folder = {};
  std::optional<KeyRing> keys = {};  ///< as in SharedStoreOptions
  bool allow_unsigned = false;
  std::chrono::milliseconds limit = std::chrono::seconds(60);       ///< of the whole
  std::chrono::milliseconds call_limit = std::chrono::seconds(10);  ///< of one call to the store
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  ///< nothing more is pulled once what was pulled passes it
};

struct CpuKernelTransfer {
  std::size_t copied = 0;
  std::size_t already_there = 0;
  std::vector<std::pair<std::string, std::string>> rejected = {};  ///< keys, and why they were not taken
  std::size_t left = 0;                                            ///< not come to, since ...
  std::string stopped = {};  ///< ... the store failed, or time or room was used up; empty: nothing was left
};

/// Stores what the folder has and the store lacks. Throws ValueError: no store, no keys, no folder to be found, or one
/// that is another user's, that others can write to, or that is a symbolic link: what is in it is not to be signed.
CUCORE_API CpuKernelTransfer push_cpu_kernels(const std::shared_ptr<Store>& store,
                                              const CpuKernelOptions& options = {});

/// Takes into the folder what the store has and the folder lacks. Throws as push_cpu_kernels() does, and ValueError if
/// the folder cannot be written.
CUCORE_API CpuKernelTransfer pull_cpu_kernels(const std::shared_ptr<Store>& store,
                                              const CpuKernelOptions& options = {});

}  // namespace cucore
