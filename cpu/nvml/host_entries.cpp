// The calls whose answer follows from the host's cores, memory and processes: affinity, topology, processes.
#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "cpu/nvml/entry.hpp"

namespace nvml = cucore::cpu::nvml;
using nvml::initialised, nvml::of_device, nvml::put;

extern "C" nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory);

namespace {

constexpr unsigned int bits_of_word = 8 * sizeof(unsigned long);

unsigned int core_count() { return static_cast<unsigned int>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))); }

/// The first `bits` bits of a set of `words` words, the others cleared.
nvmlReturn_t put_bits(unsigned int bits, unsigned int words, unsigned long* set) {
  if (words == 0 || !set) return NVML_ERROR_INVALID_ARGUMENT;
  if (words < (bits + bits_of_word - 1) / bits_of_word) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::fill_n(set, words, 0UL);
  for (unsigned int bit = 0; bit < bits; ++bit) set[bit / bits_of_word] |= 1UL << bit % bits_of_word;
  return NVML_SUCCESS;
}

/// Every core is as near to the device as any other.
nvmlReturn_t run_on_all_cores(nvmlDevice_t device) {
  if (!nvml::is_initialised()) return NVML_ERROR_UNINITIALIZED;
  if (!nvml::is_device(device)) return NVML_ERROR_INVALID_ARGUMENT;
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (unsigned int core = 0; core < std::min<unsigned int>(core_count(), CPU_SETSIZE); ++core) CPU_SET(core, &cores);
  return sched_setaffinity(0, sizeof cores, &cores) == 0 ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

/// Returns up to `*count` devices that `matches`, and how many there are; if `*count` is 0, only that.
template <class Match>
nvmlReturn_t put_devices(unsigned int* count, nvmlDevice_t* devices, Match matches) {
  if (!count || (*count != 0 && !devices)) return NVML_ERROR_INVALID_ARGUMENT;
  const unsigned int room = *count;
  *count = 0;
  for (unsigned int index = 0; index < nvml::device_count(); ++index) {
    if (!matches(nvml::device_at(index))) continue;
    if (*count < room) devices[*count] = nvml::device_at(index);
    ++*count;
  }
  return room != 0 && *count > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

/// What NVML calls NVML_VALUE_NOT_AVAILABLE: a process's memory is the host's, and the host's kernel counts it all.
constexpr unsigned long long memory_not_known = ~0ull;

/// The processes that this one may look at and that have loaded the driver which lies beside this library.
std::vector<unsigned int> users_of_the_driver() {
  namespace files = std::filesystem;
  std::vector<unsigned int> processes;
  Dl_info own{};
  std::error_code failed;
  if (dladdr(reinterpret_cast<const void*>(&nvmlDeviceGetMemoryInfo), &own) == 0) return processes;
  const std::string driver = files::canonical(files::path(own.dli_fname).parent_path() / "libcuda.so.1", failed);
  if (failed) return processes;
  for (const files::directory_entry& entry : files::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream maps(entry.path() / "maps");
    for (std::string line; std::getline(maps, line);) {
      if (!line.ends_with(driver)) continue;
      processes.push_back(static_cast<unsigned int>(std::stoul(name)));
      break;
    }
  }
  return processes;
}

template <class Info, class Make>
nvmlReturn_t put_processes(nvmlDevice_t device, unsigned int* count, Info* out, Make make) {
  return of_device(device, count, [&] {
    if (*count != 0 && !out) return NVML_ERROR_INVALID_ARGUMENT;
    const std::vector<unsigned int> processes = users_of_the_driver();
    const unsigned int room = *count;
    *count = static_cast<unsigned int>(processes.size());
    if (room < processes.size()) return NVML_ERROR_INSUFFICIENT_SIZE;
    std::ranges::transform(processes, out, make);
    return NVML_SUCCESS;
  });
}

template <class Out, class Call>
nvmlReturn_t of_two(nvmlDevice_t first, nvmlDevice_t second, Out* out, Call call) {
  return of_device(first, out, [&] { return of_device(second, out, call); });
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

/// The host reaches all of the device's memory, which is its own.
nvmlReturn_t nvmlDeviceGetBAR1MemoryInfo(nvmlDevice_t device, nvmlBAR1Memory_t* memory) {
  return of_device(device, memory, [&] {
    nvmlMemory_t all{};
    const nvmlReturn_t result = nvmlDeviceGetMemoryInfo(device, &all);
    if (result == NVML_SUCCESS) *memory = {all.total, all.free, all.used};
    return result;
  });
}

// ---- affinity ------------------------------------------------------------------------------------------------------

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device, unsigned int words, unsigned long* set) {
  return of_device(device, set, [&] { return put_bits(core_count(), words, set); });
}
nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device, unsigned int words, unsigned long* set,
                                                 unsigned int scope) {
  return scope <= 1 ? nvmlDeviceGetCpuAffinity(device, words, set) : NVML_ERROR_INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int words, unsigned long* set,
                                         unsigned int scope) {
  return of_device(device, set, [&] { return scope <= 1 ? put_bits(1, words, set) : NVML_ERROR_INVALID_ARGUMENT; });
}
nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device) { return run_on_all_cores(device); }
nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device) { return run_on_all_cores(device); }

// ---- topology: all devices are one host ----------------------------------------------------------------------------

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t first, nvmlDevice_t second, int* on_same) {
  return of_two(first, second, on_same, [&] {
    *on_same = 1;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second, unsigned int* level) {
  return of_two(first, second, level, [&] {
    *level = NVML_TOPOLOGY_INTERNAL;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetTopologyNearestGpus(nvmlDevice_t device, unsigned int level, unsigned int* count,
                                              nvmlDevice_t* devices) {
  return of_device(device, count, [&] {
    if (level > NVML_TOPOLOGY_SYSTEM || level % 10 != 0) return NVML_ERROR_INVALID_ARGUMENT;
    const bool is_level = level == NVML_TOPOLOGY_INTERNAL;
    return put_devices(count, devices, [&](nvmlDevice_t each) { return is_level && each != device; });
  });
}

nvmlReturn_t nvmlSystemGetTopologyGpuSet(unsigned int core, unsigned int* count, nvmlDevice_t* devices) {
  return initialised([&] { return put_devices(count, devices, [&](nvmlDevice_t) { return core < core_count(); }); });
}

/// Reads, writes and atomics go through, as the driver says of its devices; there is no NVLink.
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t first, nvmlDevice_t second, unsigned int what, unsigned int* status) {
  return of_two(first, second, status, [&] {
    constexpr unsigned int nv_link = 2, not_supported = 5;
    if (what > 4) return NVML_ERROR_INVALID_ARGUMENT;
    *status = what == nv_link ? not_supported : 0;
    return NVML_SUCCESS;
  });
}

// ---- processes -----------------------------------------------------------------------------------------------------

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_t* processes) {
  return put_processes(device, count, processes, [](unsigned int id) {
    constexpr unsigned int no_instance = 0xffffffff;
    return nvmlProcessInfo_t{id, memory_not_known, no_instance, no_instance};
  });
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int* count,
                                                     nvmlProcessInfo_t* processes) {
  return nvmlDeviceGetComputeRunningProcesses_v3(device, count, processes);
}
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int* count,
                                                  nvmlProcessInfo_v1_t* processes) {
  return put_processes(device, count, processes,
                       [](unsigned int id) { return nvmlProcessInfo_v1_t{id, memory_not_known}; });
}

/// The device does no graphics, and there is no MPS server.
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t*) {
  return put(device, count, 0);
}
nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count, nvmlProcessInfo_t*) {
  return put(device, count, 0);
}

/// The beginning of it, if it does not fit.
nvmlReturn_t nvmlSystemGetProcessName(unsigned int process, char* name, unsigned int length) {
  return initialised([&] {
    if (!name || length == 0) return NVML_ERROR_INVALID_ARGUMENT;
    std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
    std::string program;
    if (!file.is_open() || !std::getline(file, program, '\0')) return NVML_ERROR_NOT_FOUND;
    program.resize(std::min<std::size_t>(program.size(), length - 1));
    std::copy(program.begin(), program.end(), name);
    name[program.size()] = '\0';
    return NVML_SUCCESS;
  });
}

}  // extern "C"
