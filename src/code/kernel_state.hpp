// KernelState: what all copies of a kernel share, with what has been found out about it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/kernel.hpp"
#include "cucore/launch_config.hpp"
#include "src/code/library_state.hpp"

namespace cucore::detail {

struct KernelState : KernelPlan {
  std::shared_ptr<LibraryState> library;  ///< null for a kernel that cucore did not load
  std::shared_ptr<const void> owner;
  std::string name;

  // The parameter table: learned once, then read without a lock.
  mutable std::mutex learning;
  mutable std::shared_ptr<const Signature> signature;  ///< null: not known
  mutable Dim3 required_block{0, 0, 0};                ///< .reqntid; 0: any, or not known

  /// Dynamic shared memory known to be allowed, by device; only grows. For devices beyond the limit the driver is asked
  /// each time.
  static constexpr std::size_t remembered_devices = 16;
  mutable std::array<std::atomic<std::size_t>, remembered_devices> dynamic_shared_allowed{};

  /// The table, learning it if need be. Null when it cannot be known.
  const Signature* parameters() const {
    if (!learned.load(std::memory_order_acquire)) [[unlikely]] {
      learn();
    }
    return signature.get();
  }
  void learn() const;
};

/// The kernel as launch and occupancy calls take it.
inline driver::CUfunction function_of(const KernelState& kernel) {
  return reinterpret_cast<driver::CUfunction>(kernel.handle);
}

/// "Kernel 'saxpy'".
std::string describe(const KernelState& kernel);

/// The kernel's state. @throws StateError it refers to nothing
const KernelState& open_kernel(const std::shared_ptr<const KernelState>& state, const char* call);

/// Lets the kernel use `bytes` of dynamic shared memory on the device: raises its attribute if need be, and never
/// lowers it. @throws ValueError more than the device has
void allow_dynamic_shared(const KernelState& kernel, int device, std::size_t bytes);

}  // namespace cucore::detail
