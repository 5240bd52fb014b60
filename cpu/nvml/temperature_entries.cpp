// The calls about the temperature of the device and its limits.
#include "cpu/nvml/temperature.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "cpu/nvml/entry.hpp"

namespace nvml = cucore::cpu::nvml;
using nvml::of_device, nvml::put;

namespace {

/// Degrees Celsius of the hottest zone that the host's kernel reports, 0 if it reports none.
int temperature() {
  long hottest = 0;
  std::error_code failed;
  for (const auto& zone : std::filesystem::directory_iterator("/sys/class/thermal", failed)) {
    long thousandths = 0;
    if (std::ifstream(zone.path() / "temp") >> thousandths) hottest = std::max(hottest, thousandths);
  }
  return static_cast<int>(hottest / 1000);
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, unsigned int sensor, unsigned int* degrees) {
  return sensor == 0 ? put(device, degrees, static_cast<unsigned int>(temperature())) : NVML_ERROR_INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetTemperatureV(nvmlDevice_t device, nvmlTemperature_v1_t* reading) {
  return of_device(device, reading, [&] {
    if (reading->version != version_of<nvmlTemperature_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (reading->sensorType != 0) return NVML_ERROR_INVALID_ARGUMENT;
    reading->temperature = temperature();
    return NVML_SUCCESS;
  });
}

/// `which` is of nvmlTemperatureThresholds_t. Acoustic limits and those of games are not there.
nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, unsigned int which, unsigned int* degrees) {
  return of_device(device, degrees, [&] {
    constexpr int temperature_limits[] = {nvml::shutdown_temperature, nvml::slowdown_temperature,
                                          nvml::highest_temperature,
                                          nvml::highest_temperature};  // the third is the memory's
    constexpr unsigned int thresholds = 8;
    if (which >= thresholds) return NVML_ERROR_INVALID_ARGUMENT;
    if (which >= std::size(temperature_limits)) return NVML_ERROR_NOT_SUPPORTED;
    *degrees = static_cast<unsigned int>(temperature_limits[which]);
    return NVML_SUCCESS;
  });
}

/// How far it is to the nearest limit that slows the device down.
nvmlReturn_t nvmlDeviceGetMarginTemperature(nvmlDevice_t device, nvmlMarginTemperature_v1_t* margin) {
  return of_device(device, margin, [&] {
    if (margin->version != version_of<nvmlMarginTemperature_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    margin->marginTemperature = nvml::slowdown_temperature - temperature();
    return NVML_SUCCESS;
  });
}

/// The only sensor, by its index or as all of them. Any other index is a sensor without data.
nvmlReturn_t nvmlDeviceGetThermalSettings(nvmlDevice_t device, unsigned int sensor,
                                          nvmlGpuThermalSettings_t* settings) {
  return of_device(device, settings, [&] {
    constexpr unsigned int all_bits = 15;
    constexpr int internal = 1, gpu = 1;  // of nvmlThermalController_t and nvmlThermalTarget_t
    *settings = {};
    settings->count = 1;
    if (sensor == 0 || sensor == all_bits)
      settings->sensor[0] = {internal, 0, nvml::highest_temperature, temperature(), gpu};
    return NVML_SUCCESS;
  });
}

}  // extern "C"
