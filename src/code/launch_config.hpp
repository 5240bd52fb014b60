// A LaunchConfig in the driver's form: the contents of a ResolvedConfig.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "cucore/launch_config.hpp"
#include "src/driver/abi.hpp"

namespace cucore {
class Kernel;
}

namespace cucore::detail {

struct KernelState;
struct StreamState;

struct DriverLaunchConfig {
  /// @throws ValueError an extent of 0, too many blocks in a direction, too much shared memory for any device, or a
  /// field out of its range  @throws StateError an event is closed
  explicit DriverLaunchConfig(const LaunchConfig& config);
  DriverLaunchConfig(const DriverLaunchConfig&) = delete;
  DriverLaunchConfig& operator=(const DriverLaunchConfig&) = delete;

  driver::CUlaunchConfig native;  ///< without the stream
  /// Whether the device has to be asked if it supports the attributes.
  bool needs_device = false;
  std::shared_ptr<const EventState> programmatic_event;
  std::shared_ptr<const EventState> completion_event;
  static constexpr std::size_t most_attributes = 12;
  std::array<driver::CUlaunchAttribute, most_attributes> attributes;  // the first native.numAttrs of them
};

/// The attribute's value, or null if it is not set.
const driver::CUlaunchAttributeValue* find_attribute(const driver::CUlaunchConfig& config, int attribute) noexcept;

/// Asks what only the device can answer: clusters, cooperative launches, priorities. @throws DriverError (not
/// supported), ValueError (more blocks than can be resident; a priority the device does not have)
void check_device_features(const driver::CUlaunchConfig& config, const Kernel& kernel, int device);

/// Which limit a refused launch exceeded, in words; empty if none that is known.
std::string exceeded_limit(const driver::CUlaunchConfig& config, const Kernel& kernel, int device);

}  // namespace cucore::detail
