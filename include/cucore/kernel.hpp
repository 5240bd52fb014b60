// Kernel: a function that launch() can run, and what is known about it.
//
//   cucore::Kernel kernel = object_code.get_kernel("saxpy");
//   kernel.name();                                  // "saxpy"
//   kernel.signature()->size();                     // how many parameters
//   kernel.attributes(device).num_regs();
//   kernel.occupancy(device).max_potential_block_size(0, 0).max_block_size;
//
// Ownership: a Kernel is a cheap copyable reference; it keeps the loaded library alive.
// Thread-safety: every member may be called concurrently; copies of one kernel share what has been found out about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/detail/parameter_slot.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct KernelState;
}
class Device;
class Stream;
struct LaunchConfig;

/// The kind of value a parameter takes, as far as the PTX and the mangled name tell.
enum class ParameterKind : std::uint8_t {
  unknown,         ///< only the size is known
  boolean,         ///< C++ bool
  signed_integer,  ///< of the parameter's size
  unsigned_integer,
  integer,   ///< integer whose signedness is not known; of 8 bytes possibly a pointer
  floating,  ///< half, float or double by size
  bfloat16,  ///< 2 bytes
  pointer,
  aggregate  ///< a struct, complex or vector: bytes
};

struct Parameter {
  std::size_t offset = 0;     ///< bytes from the start of the parameter block
  std::size_t size = 0;       ///< bytes
  std::size_t alignment = 1;  ///< bytes; 1 if not known
  ParameterKind kind = ParameterKind::unknown;
  std::string type_name = {};  ///< as in the C++ source ("float const*"), else the PTX type (".u64"), else empty
  std::string name = {};       ///< as hand-written PTX calls it; empty where only the compiler named it
};

/// A kernel's parameters, in order. "offset, size" agree with cuKernelGetParamInfo. Immutable.
class CUCORE_API Signature {
 public:
  explicit Signature(std::vector<Parameter> parameters);
  std::size_t size() const noexcept { return parameters_.size(); }
  const Parameter& operator[](std::size_t i) const noexcept { return parameters_[i]; }
  auto begin() const noexcept { return parameters_.begin(); }
  auto end() const noexcept { return parameters_.end(); }
  /// Bytes of the whole parameter block.
  std::size_t bytes() const noexcept { return bytes_; }
  /// "(float, float const*, float*, int)".
  std::string text() const;

  /// Internal.
  const detail::ParameterSlot* slots() const noexcept { return slots_.data(); }

 private:
  std::vector<Parameter> parameters_;
  std::vector<detail::ParameterSlot> slots_;
  std::size_t bytes_ = 0;
};

/// Attributes of one kernel on one device (cuKernelGetAttribute). @throws DriverError from every member
class CUCORE_API KernelAttributes {
 public:
  int max_threads_per_block() const { return get(0); }
  int shared_size_bytes() const { return get(1); }  ///< static shared memory
  int const_size_bytes() const { return get(2); }
  int local_size_bytes() const { return get(3); }  ///< per thread
  int num_regs() const { return get(4); }          ///< per thread
  int ptx_version() const { return get(5); }
  int binary_version() const { return get(6); }
  bool cache_mode_ca() const { return get(7) != 0; }
  int max_dynamic_shared_size_bytes() const { return get(8); }
  int preferred_shared_memory_carveout() const { return get(9); }
  bool cluster_size_must_be_set() const { return get(10) != 0; }
  int required_cluster_width() const { return get(11); }
  int required_cluster_height() const { return get(12); }
  int required_cluster_depth() const { return get(13); }
  bool non_portable_cluster_size_allowed() const { return get(14) != 0; }
  int cluster_scheduling_policy_preference() const { return get(15); }

  /// launch() raises this by itself; set it to reserve more than one launch asks for.
  void set_max_dynamic_shared_size_bytes(int bytes) const { set(8, bytes); }
  void set_preferred_shared_memory_carveout(int percent) const { set(9, percent); }
  void set_required_cluster_width(int blocks) const { set(11, blocks); }
  void set_required_cluster_height(int blocks) const { set(12, blocks); }
  void set_required_cluster_depth(int blocks) const { set(13, blocks); }
  void set_non_portable_cluster_size_allowed(bool allowed) const { set(14, allowed ? 1 : 0); }
  void set_cluster_scheduling_policy_preference(int policy) const { set(15, policy); }

  /// By CUfunction_attribute number.
  int get(int attribute) const;
  void set(int attribute, int value) const;

  /// Internal.
  KernelAttributes(std::shared_ptr<const detail::KernelState> kernel, int device) noexcept
      : kernel_(std::move(kernel)), device_(device) {}

 private:
  std::shared_ptr<const detail::KernelState> kernel_;
  int device_;
};

struct MaxPotentialBlockSize {
  int min_grid_size = 0;   ///< fewest blocks that fill the device
  int max_block_size = 0;  ///< threads per block with the highest occupancy
};

/// Occupancy of one kernel on one device; no context needs to be current. @throws DriverError from every member
class CUCORE_API KernelOccupancy {
 public:
  int max_active_blocks_per_multiprocessor(int block_size, std::size_t dynamic_shared_memory_size) const;
  /// `block_size_limit` 0: no limit.
  MaxPotentialBlockSize max_potential_block_size(std::size_t dynamic_shared_memory_needed, int block_size_limit) const;
  /// `shared_memory_for` returns the bytes for a block size; it is called many times, in this thread. What it throws is
  /// passed on.
  MaxPotentialBlockSize max_potential_block_size(const std::function<std::size_t(int)>& shared_memory_for,
                                                 int block_size_limit) const;
  std::size_t available_dynamic_shared_memory_per_block(int num_blocks_per_multiprocessor, int block_size) const;
  /// The largest cluster that can be launched with `config`, whose own cluster is ignored.
  int max_potential_cluster_size(const LaunchConfig& config, const Stream& stream) const;
  /// How many clusters of `config` can be resident at a time.
  int max_active_clusters(const LaunchConfig& config, const Stream& stream) const;

  /// Internal.
  KernelOccupancy(std::shared_ptr<const detail::KernelState> kernel, int device) noexcept
      : kernel_(std::move(kernel)), device_(device) {}

 private:
  std::shared_ptr<const detail::KernelState> kernel_;
  int device_;
};

class CUCORE_API Kernel {
 public:
  /// Refers to nothing; launching it throws StateError.
  Kernel() noexcept = default;
  /// Refers to a kernel that someone else loaded and keeps loaded; `owner` is kept alive.
  /// @throws ValueError null
  static Kernel from_handle(KernelHandle handle, std::shared_ptr<const void> owner = nullptr);

  KernelHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// The symbol's name (mangled for C++ functions); empty when it cannot be known.
  const std::string& name() const;
  /// The name as written in the source, demangled where possible.
  std::string display_name() const;
  /// The parameters, learned at first use from the PTX and the mangled name, else from the driver. Null when neither
  /// knows (a foreign kernel on a driver before 12.4): arguments cannot be checked then.
  std::shared_ptr<const Signature> signature() const;
  KernelAttributes attributes(const Device& device) const;
  KernelOccupancy occupancy(const Device& device) const;

  /// By handle.
  friend bool operator==(const Kernel& a, const Kernel& b) noexcept { return a.handle() == b.handle(); }

  /// Internal.
  explicit Kernel(std::shared_ptr<const detail::KernelState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<const detail::KernelState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<const detail::KernelState> state_;
};

}  // namespace cucore
