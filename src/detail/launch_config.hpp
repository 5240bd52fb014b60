// A LaunchConfig as the driver takes it, on the stack.
#pragma once

#include <array>

#include "cucore/launch.hpp"
#include "src/driver/abi.hpp"

namespace cucore::detail {

struct DriverLaunchConfig {
  /// @throws ValueError an extent of 0, too many blocks in a direction, or too much shared memory for any device
  DriverLaunchConfig(const LaunchConfig& config, driver::CUstream stream);
  DriverLaunchConfig(const DriverLaunchConfig&) = delete;
  DriverLaunchConfig& operator=(const DriverLaunchConfig&) = delete;

  driver::CUlaunchConfig native{};
  std::array<driver::CUlaunchAttribute, 3> attributes;
};

/// Asks what only the device can answer: clusters and cooperative launches. @throws DriverError (not supported),
/// ValueError (more blocks than can be resident)
void check_device_features(const LaunchConfig& config, const DriverLaunchConfig& native, const Kernel& kernel,
                           int device);

/// Which limit a refused launch exceeded, in words; empty if none that is known.
std::string exceeded_limit(const LaunchConfig& config, const Kernel& kernel, int device);

}  // namespace cucore::detail
