// What the device says of its temperature. The reading is the host's; the limits are nominal, as the clocks are.
#pragma once

namespace cucore::cpu::nvml {

/// Degrees Celsius. Nothing here throttles or shuts down: the host's own firmware does.
inline constexpr int kHighestTemperature = 95;  ///< in operation
inline constexpr int kSlowdownTemperature = 100;
inline constexpr int kShutdownTemperature = 105;

}  // namespace cucore::cpu::nvml
