// `cucore devices`: which driver is in use and why, and its devices.
#include "cucore/device.hpp"

#include <cstdio>

#include "cli/commands.hpp"
#include "cucore/driver.hpp"

int cucore::cli::devices(Arguments) {
  const DriverInfo driver = driver_info();
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
