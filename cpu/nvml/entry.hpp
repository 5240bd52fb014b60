// What entries have in common: the checks before an answer, and ways to return one.
#pragma once

#include <cstring>
#include <string_view>
#include <type_traits>

#include "cpu/nvml/session.hpp"

namespace cucore::cpu::nvml {

template <class Call>
nvmlReturn_t initialised(Call call) {
  return is_initialised() ? call() : NVML_ERROR_UNINITIALIZED;
}

/// For calls that return one value of a device.
template <class Out, class Call>
nvmlReturn_t of_device(nvmlDevice_t device, Out* out, Call call) {
  if (!is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!is_device(device) || !out) return NVML_ERROR_INVALID_ARGUMENT;
  return call();
}

/// A value that is the same for every device.
template <class Value>
nvmlReturn_t put(nvmlDevice_t device, Value* out, std::type_identity_t<Value> value) {
  return of_device(device, out, [&] {
    *out = value;
    return NVML_SUCCESS;
  });
}

inline nvmlReturn_t put_text(std::string_view text, char* out, unsigned int size) {
  if (!out) return NVML_ERROR_INVALID_ARGUMENT;
  if (size <= text.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return NVML_SUCCESS;
}

/// The device that `matches`, or NOT_FOUND.
template <class Match>
nvmlReturn_t find(nvmlDevice_t* out, Match matches) {
  for (unsigned int index = 0; index < device_count(); ++index)
    if (matches(*device_at(index))) {
      *out = device_at(index);
      return NVML_SUCCESS;
    }
  return NVML_ERROR_NOT_FOUND;
}

/// With its prefix "GPU-" or without, as the driver's own text of it.
inline bool is_uuid_of(const nvmlDevice_st& device, std::string_view text) {
  return device.uuid == text || std::string_view(device.uuid).substr(4) == text;
}

}  // namespace cucore::cpu::nvml
