// `cucore devices`: which driver is in use and why, and its devices.
#include "cucore/device.hpp"

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cucore/driver.hpp"

namespace cucore::cli {

std::string driver_as_json(const DriverInfo& driver) {
  return JsonObject()
      .text("kind", driver.kind == DriverKind::gpu ? "gpu" : "cpu")
      .number("version", static_cast<unsigned long long>(driver.version))
      .text("path", driver.path)
      .text("chosen_by", driver.chosen_by)
      .str();
}

namespace {

std::string device_as_json(const Device& device) {
  const ComputeCapability capability = device.compute_capability();
  return JsonObject()
      .number("ordinal", static_cast<unsigned long long>(device.ordinal()))
      .text("name", device.name())
      .text("compute_capability", std::to_string(capability.major) + "." + std::to_string(capability.minor))
      .number("multiprocessors", static_cast<unsigned long long>(device.properties().multiprocessor_count()))
      .number("memory_bytes", device.total_memory())
      .text("uuid", device.uuid())
      .text("pci", device.pci_bus_id())
      .str();
}

int run_devices(const CLI::App& command) {
  const DriverInfo driver = driver_info();
  if (wants_json(command)) {
    std::vector<std::string> devices;
    for (const Device& device : Device::all()) devices.push_back(device_as_json(device));
    JsonObject json;
    json.raw("driver", driver_as_json(driver)).raw("devices", json_array(devices));
    std::printf("%s\n", json.str().c_str());
    return 0;
  }
  std::printf("driver: %s, CUDA %d.%d, %s (%s)\n", driver.kind == DriverKind::gpu ? "GPU" : "CPU device",
              driver.version / 1000, driver.version % 1000 / 10, driver.path.c_str(), driver.chosen_by.c_str());
  for (const Device& device : Device::all()) {
    const ComputeCapability capability = device.compute_capability();
    std::printf("%d: %s, compute capability %d.%d, %d multiprocessors, %.1f GiB, uuid %s, pci %s\n", device.ordinal(),
                device.name().c_str(), capability.major, capability.minor, device.properties().multiprocessor_count(),
                static_cast<double>(device.total_memory()) / (1024.0 * 1024.0 * 1024.0), device.uuid().c_str(),
                device.pci_bus_id().c_str());
  }
  return 0;
}

}  // namespace

void add_devices(CLI::App& tool, int& status) {
  add_json(add_command(tool, status, "devices", "List the devices and the driver in use", run_devices));
}

}  // namespace cucore::cli
