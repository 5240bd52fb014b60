// Kernel nodes of graphs that kernels may change (CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE): what device code
// has asked for, which counts from the next run of the node on. Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cpu/runtime/execution/launch.hpp"

namespace cucore::cpu::runtime {

class UpdatableNode {
 public:
  /// Of a kernel with so many bytes of parameters.
  static std::shared_ptr<UpdatableNode> make(std::size_t parameter_bytes);
  /// By the handle that device code has; null if there is none.
  static std::shared_ptr<UpdatableNode> find(std::uint64_t handle);
  explicit UpdatableNode(std::size_t parameter_bytes) : parameter_bytes_(parameter_bytes) {}
  ~UpdatableNode();
  UpdatableNode(const UpdatableNode&) = delete;
  UpdatableNode& operator=(const UpdatableNode&) = delete;

  std::uint64_t handle() const { return reinterpret_cast<std::uintptr_t>(this); }

  // By device code. False: there is no such shape, or no such bytes among the parameters.
  bool set_grid(std::uint32_t x, std::uint32_t y, std::uint32_t z);
  bool set_parameter(std::uint64_t offset, const std::byte* value, std::uint64_t bytes);
  void set_enabled(bool is_enabled);

  /// What the host gave is what counts again, for a kernel with so many bytes of parameters.
  void forget(std::size_t parameter_bytes);
  /// What a run does: `request` as device code has changed it, with parameters that lie in `block`. False: nothing.
  bool apply(bool is_enabled, LaunchRequest* request, std::vector<std::max_align_t>* block) const;

 private:
  struct Written {
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };

  mutable std::mutex mutex_;
  std::size_t parameter_bytes_;
  std::optional<std::array<std::uint32_t, 3>> grid_;
  std::optional<bool> is_enabled_;
  std::vector<Written> parameters_;  ///< in the order in which they were written
};

}  // namespace cucore::cpu::runtime
