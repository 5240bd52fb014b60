// What a CPU device is, before any driver is initialised: how many there are, their names, and the host behind them.
// The driver (device.hpp) and NVML (cpu/nvml) answer from here, so that they never differ. No state; any thread.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>
#include <vector>

namespace cucore::cpu::runtime {

/// The version of CUDA whose driver API this is, whatever headers it was built with.
inline constexpr int cuda_version = 13050;

/// How many devices the host has: CUCORE_CPU_DEVICES, 1 if not set. An index below counts them.
int device_count_from_environment();

/// Indices of the devices that the driver shows, in its order: all, or what CUDA_VISIBLE_DEVICES lists with commas, as
/// indices or as "GPU-" with the beginning of a UUID. An entry that names no device, several or one again ends the
/// list, as for NVIDIA's driver.
std::vector<int> visible_devices();

/// CUCORE_CPU_COMPUTE_CAPABILITY as 10 * major + minor ("8.0" and "80" alike), 90 if not set.
int compute_capability_from_environment();

/// Threads that run blocks: one per core this process may use.
unsigned int worker_count();

/// How many multiprocessors a device shows: CUCORE_CPU_MULTIPROCESSORS, 1 to 1024; as many as there are workers if that
/// is not set. Fixed at the first call.
unsigned int multiprocessor_count();

/// Nominal values, for programs that divide by them: the host's real clocks vary.
inline constexpr unsigned int clock_megahertz = 2000;
inline constexpr unsigned int memory_clock_megahertz = 1600;
inline constexpr unsigned int memory_bus_bits = 128;

std::string device_name();

/// The same on every start on this host, different between hosts and devices.
CUuuid device_uuid(int index);
/// As NVIDIA's tools write it: "GPU-" and five groups of digits.
std::string text_of(const CUuuid& uuid);

/// The PCI bus that a device claims; its domain, device and function are 0.
unsigned int pci_bus(int index);

}  // namespace cucore::cpu::runtime
