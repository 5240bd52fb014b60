// The temperatures that the device reports. The reading is the host's; the limits are nominal, as the clocks are.
#pragma once

namespace cucore::cpu::nvml {

/// Degrees Celsius. Nothing here throttles or shuts down: the host's own firmware does.
inline constexpr int highest_temperature = 95;  ///< in operation
inline constexpr int slowdown_temperature = 100;
inline constexpr int shutdown_temperature = 105;

}  // namespace cucore::cpu::nvml
