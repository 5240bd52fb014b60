// DeviceResources: the part of a device that a context may use, and how to divide it.
//
//   const cucore::Device device(0);
//   const auto split = device.resources().sm().split({{.count = 16}, {.count = 16}});
//   const auto latency = device.create_context({.resources = {split.groups[0]}});   // a green context
//   const auto stream = latency.create_stream();                                    // runs on its 16 multiprocessors
//
// Splits of one resource are alternatives: nothing is reserved before a context is made of them. Multiprocessors (SMs)
// need a driver of CUDA 12.4, work queues one of 13.1; before 13.1 all groups of a split are of one size.
//
// Ownership: SMResource and WorkqueueResource are values that hold a copy of the driver's description. Copies share it.
// Thread-safety: const members may be called concurrently; WorkqueueResource::configure() needs exclusion.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "cucore/export.hpp"

namespace cucore {

namespace detail {
struct ContextState;
struct SMResourceState;
struct WorkqueueResourceState;
}  // namespace detail
class Context;
class Device;
struct SMSplit;

/// One group that a split is to give.
struct SMGroup {
  unsigned count = 0;                                                     ///< how many SMs; 0 lets the driver choose
  std::optional<unsigned> coscheduled_sm_count = std::nullopt;            ///< SMs that lie together, for clusters
  std::optional<unsigned> preferred_coscheduled_sm_count = std::nullopt;  ///< the same, but only as far as possible
  bool backfill = false;  ///< fill up with SMs that do not lie together; ignored before CUDA 13.1
};

/// Multiprocessors of a device.
class CUCORE_API SMResource {
 public:
  /// How many there are; 0 for the remainder of a split that left nothing.
  unsigned sm_count() const noexcept;
  /// The smallest group a split can give.
  unsigned min_partition_size() const noexcept;
  /// Groups are multiples of this many.
  unsigned coscheduled_alignment() const noexcept;
  /// The driver's flags of the resource; 0 before CUDA 13.1.
  unsigned flags() const noexcept;
  Device device() const;
  /// Whether it is from a dry run, and so no context can be made of it.
  bool is_dry_run() const noexcept;
  /// The driver's description (CUdevResource), valid as long as this object or a copy lives.
  const void* handle() const noexcept;

  /// Divides the SMs into groups and a remainder. The driver may round counts up; before CUDA 13.1 it may also give
  /// fewer groups. With `dry_run` the counts are the same, but no context can be made of what is returned.
  /// @throws ValueError no groups  @throws UnavailableError the driver is older than 12.4, or older than 13.1 and the
  /// groups are not of one size or are to be co-scheduled  @throws DriverError they cannot be had
  SMSplit split(std::span<const SMGroup> groups, bool dry_run = false) const;
  SMSplit split(std::initializer_list<SMGroup> groups, bool dry_run = false) const;
  /// Groups of these fractions of the SMs, each rounded down to what a split can give. @throws ValueError a fraction is
  /// not in (0, 1], their sum is more than 1, or one is too small for a group
  std::vector<SMGroup> fractions(std::span<const double> parts) const;
  std::vector<SMGroup> fractions(std::initializer_list<double> parts) const;

  /// Internal.
  explicit SMResource(std::shared_ptr<const detail::SMResourceState> state) noexcept : state_(std::move(state)) {}
  const detail::SMResourceState& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<const detail::SMResourceState> state_;
};

/// What a split gives.
struct SMSplit {
  std::vector<SMResource> groups;
  SMResource remainder;
};

/// Which contexts a work queue may be shared between.
enum class WorkqueueSharingScope {
  device_ctx = 0,          ///< all contexts of the device
  green_ctx_balanced = 1,  ///< not with other balanced green contexts, where possible
};

struct WorkqueueResourceOptions {
  std::optional<WorkqueueSharingScope> sharing_scope = std::nullopt;  ///< unset: left as it is
  std::optional<unsigned> concurrency_limit = std::nullopt;           ///< at least 1; unset: left as it is
};

/// How work reaches the device from a context: how many streams can have work in flight at once, and whether other
/// contexts use the same queues.
class CUCORE_API WorkqueueResource {
 public:
  WorkqueueSharingScope sharing_scope() const noexcept;
  /// At first the largest that the driver supports.
  unsigned concurrency_limit() const noexcept;
  Device device() const;
  /// The driver's description (CUdevResource), valid as long as this object or a copy lives.
  const void* handle() const noexcept;
  /// Changes this description, and so the contexts that are made of it later. @throws ValueError the limit is 0
  void configure(const WorkqueueResourceOptions& options);

  /// Internal.
  explicit WorkqueueResource(std::shared_ptr<detail::WorkqueueResourceState> state) noexcept
      : state_(std::move(state)) {}
  const detail::WorkqueueResourceState& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<detail::WorkqueueResourceState> state_;
};

/// What Device::create_context() makes a green context of.
struct ContextOptions {
  std::vector<std::variant<SMResource, WorkqueueResource>> resources;
};

/// What a device has, or a context was provisioned with. Each call asks the driver.
class CUCORE_API DeviceResources {
 public:
  /// @throws UnavailableError the driver is older than CUDA 12.4  @throws DriverError
  SMResource sm() const;
  /// @throws UnavailableError the driver is older than CUDA 13.1  @throws DriverError
  WorkqueueResource workqueue() const;
  Device device() const;

  /// Internal: of a device, or of a context on it.
  explicit DeviceResources(int device, std::shared_ptr<const detail::ContextState> context = nullptr) noexcept
      : device_(device), context_(std::move(context)) {}

 private:
  int device_;
  std::shared_ptr<const detail::ContextState> context_;
};

}  // namespace cucore
