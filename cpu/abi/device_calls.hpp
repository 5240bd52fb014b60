// Calls of CUDA's device runtime, by which kernels launch kernels: their names and shapes, and the one service behind
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cucore::cpu {

struct ThreadState;

enum class DeviceCall : std::uint32_t {
#define DEVICE_CALL(name, ...) name,
#include "cpu/abi/device_calls.def"
#undef DEVICE_CALL
};

inline constexpr int most_device_call_parameters = 8;

struct DeviceCallShape {
  std::string_view name;
  std::uint8_t result;                                   ///< bytes
  std::uint8_t parameters[most_device_call_parameters];  ///< bytes of each, then zeros
};

/// By DeviceCall.
inline constexpr DeviceCallShape device_calls[] = {
#define DEVICE_CALL_SHAPE(result, ...) \
  result, { __VA_ARGS__ }
#define DEVICE_CALL(name, ...) {#name, DEVICE_CALL_SHAPE(__VA_ARGS__)},
#include "cpu/abi/device_calls.def"
#undef DEVICE_CALL
#undef DEVICE_CALL_SHAPE
};

/// `__cudaCDP2LaunchDevice`, `cudaLaunchDevice`: which call it is.
constexpr std::optional<DeviceCall> find_device_call(std::string_view function) {
  constexpr std::string_view prefix = "cuda";
  constexpr std::string_view second_prefix = "__cudaCDP2";
  if (function.starts_with(second_prefix))
    function.remove_prefix(second_prefix.size());
  else if (function.starts_with(prefix))
    function.remove_prefix(prefix.size());
  else
    return std::nullopt;
  for (std::uint32_t i = 0; i < std::size(device_calls); ++i)
    if (device_calls[i].name == function) return static_cast<DeviceCall>(i);
  return std::nullopt;
}

extern "C" {
/// Calls the device runtime. `operands`: where the result goes, then where the parameters are.
void cucpu_device_call(ThreadState*, std::uint32_t call, void* const* operands);
}

}  // namespace cucore::cpu
