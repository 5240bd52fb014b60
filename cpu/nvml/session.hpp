// What lies between nvmlInit and nvmlShutdown: the count of both, and the devices behind the handles.
#pragma once

#include <string>

#include "cpu/nvml/abi.hpp"
#include "cpu/runtime/process/device_identity.hpp"

/// A device as handles name it. Handles stay valid for the life of the process.
struct nvmlDevice_st {
  unsigned int index = 0;
  int capability = 0;
  std::string name, uuid;
  CUuuid uuid_bytes{};
  unsigned int bus = 0;
};

namespace cucore::cpu::nvml {

/// The version that this library reports: the branch of NVIDIA's drivers that its CUDA version belongs to, but no
/// release of it.
inline constexpr char driver_version[] = "615.00.00";
inline constexpr char driver_branch[] = "r615_00";
inline constexpr char nvml_version[] = "13.615.00.00";

void begin();
nvmlReturn_t end();
bool is_initialised();

unsigned int device_count();
/// Null if there is none.
nvmlDevice_t device_at(unsigned int index);
/// True for a handle that device_at gave.
bool is_device(nvmlDevice_t device);

/// Bytes that the host has left for processes, as the kernel estimates it; at most `total`.
unsigned long long available_memory(unsigned long long total);

/// Per cent of the host's processor time that was busy since the last call, or since `begin`.
unsigned int busy_share();

}  // namespace cucore::cpu::nvml
