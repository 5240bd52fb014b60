// The calls about states of the device: modes, clocks, links, values by their numbers. What a CPU device does not have
// is off, none or 0; unknown values (power, fans, a serial number) stay NOT_SUPPORTED.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>

#include "cpu/nvml/entry.hpp"
#include "cpu/nvml/temperature.hpp"
#include "cpu/runtime/process/host_memory.hpp"

namespace nvml = cucore::cpu::nvml;
namespace runtime = cucore::cpu::runtime;
using nvml::of_device, nvml::put;

namespace {

// Of nvmlClockType_t, nvmlClockId_t and nvmlPstates_t. The device is always in the state of its highest clocks.
constexpr unsigned int memory_clock = 2, clock_types = 4;
constexpr unsigned int current_clock = 0, highest_clock = 3;
constexpr unsigned int fastest = 0, unknown_state = 32, state_count = 16;

nvmlReturn_t put_clock(nvmlDevice_t device, unsigned int type, unsigned int* megahertz) {
  if (type >= clock_types) return NVML_ERROR_INVALID_ARGUMENT;
  return put(device, megahertz, type == memory_clock ? runtime::memory_clock_megahertz : runtime::clock_megahertz);
}

/// For engines that are not there: never busy.
nvmlReturn_t put_idle(nvmlDevice_t device, unsigned int* share, unsigned int* microseconds) {
  const nvmlReturn_t result = put(device, share, 0);
  return result == NVML_SUCCESS ? put(device, microseconds, 0) : result;
}

long long microseconds_since_1970() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

constexpr unsigned int first_limit = 193, last_limit = 196;

constexpr unsigned int fields = 308;  ///< NVML_FI_MAX of CUDA 13.5

/// Values by their NVML_FI_ numbers: what counts or enables something that the device does not have is 0.
std::optional<int> field_value(unsigned int field) {
  if (field >= 173 && field <= 183) return 0;  // PCIE_COUNT_: errors by kind
  switch (field) {
    case 1:    // ECC_CURRENT
    case 2:    // ECC_PENDING
    case 91:   // NVLINK_LINK_COUNT
    case 94:   // PCIE_REPLAY_COUNTER
    case 95:   // PCIE_REPLAY_ROLLOVER_COUNTER
    case 142:  // REMAPPED_COR
    case 143:  // REMAPPED_UNC
    case 144:  // REMAPPED_PENDING
    case 145:  // REMAPPED_FAILURE
    case 147:  // NVSWITCH_CONNECTED_LINK_COUNT
    case 169:  // PCIE_L0_TO_RECOVERY_COUNTER
    case 170:  // C2C_LINK_COUNT
    case 197:  // PCIE_COUNT_TX_BYTES
    case 198:  // PCIE_COUNT_RX_BYTES
      return 0;
    case first_limit:  // TEMPERATURE_SHUTDOWN_TLIMIT: degrees left to the highest temperature in operation
      return nvml::highest_temperature - nvml::shutdown_temperature;
    case 194:  // TEMPERATURE_SLOWDOWN_TLIMIT
      return nvml::highest_temperature - nvml::slowdown_temperature;
    case 195:         // TEMPERATURE_MEM_MAX_TLIMIT
    case last_limit:  // TEMPERATURE_GPU_MAX_TLIMIT
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

#pragma GCC visibility push(default)

extern "C" {

// ---- modes ---------------------------------------------------------------------------------------------------------

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, unsigned int* brand) { return put(device, brand, 0); }
nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, unsigned int* mode) { return put(device, mode, 0); }
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, unsigned int* mode) { return put(device, mode, 0); }
nvmlReturn_t nvmlDeviceGetAccountingMode(nvmlDevice_t device, unsigned int* mode) { return put(device, mode, 0); }
nvmlReturn_t nvmlDeviceGetVirtualizationMode(nvmlDevice_t device, unsigned int* mode) { return put(device, mode, 0); }
nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, unsigned int* active) { return put(device, active, 0); }
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, unsigned int* mode) { return put(device, mode, 0); }
nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int* count) { return put(device, count, 0); }
nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned int* is_one) { return put(device, is_one, 0); }
nvmlReturn_t nvmlDeviceGetModuleId(nvmlDevice_t device, unsigned int* module) { return put(device, module, 0); }
nvmlReturn_t nvmlDeviceGetNumFans(nvmlDevice_t device, unsigned int* count) { return put(device, count, 0); }

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int* current, unsigned int* pending) {
  const nvmlReturn_t result = put(device, current, 0);
  return result == NVML_SUCCESS ? put(device, pending, 0) : result;
}
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int, nvmlDevice_t* mig) {
  return of_device(device, mig, [] { return NVML_ERROR_NOT_FOUND; });
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t, nvmlDevice_t*) {
  return nvml::initialised([] { return NVML_ERROR_INVALID_ARGUMENT; });  // no handle is one of these
}

/// Address translation services: the device reads the host's page tables.
nvmlReturn_t nvmlDeviceGetAddressingMode(nvmlDevice_t device, nvmlDeviceAddressingMode_v1_t* mode) {
  return of_device(device, mode, [&] {
    constexpr unsigned int ats = 2;
    if (mode->version != version_of<nvmlDeviceAddressingMode_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    mode->value = ats;
    return NVML_SUCCESS;
  });
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  return of_device(device, attributes, [&] {
    *attributes = {};
    attributes->multiprocessorCount = runtime::multiprocessor_count();
    attributes->memorySizeMB = runtime::host_memory().total >> 20;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t* attributes) {
  return nvmlDeviceGetAttributes_v2(device, attributes);
}

nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_v1_t* status) {
  return of_device(device, status, [&] {
    if (status->version != version_of<nvmlRepairStatus_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    status->bChannelRepairPending = status->bTpcRepairPending = 0;
    return NVML_SUCCESS;
  });
}

// ---- clocks and load ----------------------------------------------------------------------------------

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, unsigned int type, unsigned int* megahertz) {
  return put_clock(device, type, megahertz);
}
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, unsigned int type, unsigned int* megahertz) {
  return put_clock(device, type, megahertz);
}
nvmlReturn_t nvmlDeviceGetMaxCustomerBoostClock(nvmlDevice_t device, unsigned int type, unsigned int* megahertz) {
  return put_clock(device, type, megahertz);
}
nvmlReturn_t nvmlDeviceGetClock(nvmlDevice_t device, unsigned int type, unsigned int which, unsigned int* megahertz) {
  if (which > highest_clock) return NVML_ERROR_INVALID_ARGUMENT;
  if (which != current_clock && which != highest_clock) return NVML_ERROR_NOT_SUPPORTED;  // clocks of applications
  return put_clock(device, type, megahertz);
}
nvmlReturn_t nvmlDeviceGetMinMaxClockOfPState(nvmlDevice_t device, unsigned int type, unsigned int state,
                                              unsigned int* least, unsigned int* most) {
  if (state >= state_count) return NVML_ERROR_INVALID_ARGUMENT;
  if (state != fastest) return NVML_ERROR_NOT_SUPPORTED;
  const nvmlReturn_t result = put_clock(device, type, least);
  return result == NVML_SUCCESS ? put_clock(device, type, most) : result;
}
nvmlReturn_t nvmlDeviceGetClockOffsets(nvmlDevice_t device, nvmlClockOffset_v1_t* offset) {
  return of_device(device, offset, [&] {
    if (offset->version != version_of<nvmlClockOffset_v1_t>(1)) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    if (offset->type >= clock_types || offset->pstate >= state_count) return NVML_ERROR_INVALID_ARGUMENT;
    offset->clockOffsetMHz = offset->minClockOffsetMHz = offset->maxClockOffsetMHz = 0;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned int* bits) {
  return put(device, bits, runtime::memory_bus_bits);
}

nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, unsigned int* state) {
  return put(device, state, fastest);
}
/// `size` is in bytes.
nvmlReturn_t nvmlDeviceGetSupportedPerformanceStates(nvmlDevice_t device, unsigned int* states, unsigned int size) {
  return of_device(device, states, [&] {
    const auto count = static_cast<unsigned int>(size / sizeof *states);
    if (count == 0) return NVML_ERROR_INSUFFICIENT_SIZE;
    std::fill_n(states, count, unknown_state);
    states[0] = fastest;
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t* info) {
  return of_device(device, info, [&] {
    *info = {};
    info->utilization[0] = {1, nvml::busy_share(), 0, 0};  // of the cores; other engines are not there
    return NVML_SUCCESS;
  });
}

// Nothing here throttles clocks.
nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) {
  return put(device, reasons, 0);
}
nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long* reasons) {
  return put(device, reasons, 0);
}
nvmlReturn_t nvmlDeviceGetSupportedClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) {
  return put(device, reasons, 0);
}
nvmlReturn_t nvmlDeviceGetSupportedClocksThrottleReasons(nvmlDevice_t device, unsigned long long* reasons) {
  return put(device, reasons, 0);
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int* share, unsigned int* microseconds) {
  return put_idle(device, share, microseconds);
}
nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int* share, unsigned int* microseconds) {
  return put_idle(device, share, microseconds);
}
nvmlReturn_t nvmlDeviceGetJpgUtilization(nvmlDevice_t device, unsigned int* share, unsigned int* microseconds) {
  return put_idle(device, share, microseconds);
}
nvmlReturn_t nvmlDeviceGetOfaUtilization(nvmlDevice_t device, unsigned int* share, unsigned int* microseconds) {
  return put_idle(device, share, microseconds);
}

// ---- links ---------------------------------------------------------------------------------------------------------
// The device is in the host, so nothing goes over a link: no bytes, no repeats. Programs that divide by a width get the
// least that PCIe has, one lane of the first generation.

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* number) {
  return put(device, number, 1);
}
nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int* number) {
  return put(device, number, 1);
}
nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned int* number) {
  return put(device, number, 1);
}
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int* lanes) { return put(device, lanes, 1); }
nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned int* lanes) { return put(device, lanes, 1); }
nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int* count) { return put(device, count, 0); }
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, unsigned int direction, unsigned int* kilobytes) {
  constexpr unsigned int directions = 2;
  return direction < directions ? put(device, kilobytes, 0) : NVML_ERROR_INVALID_ARGUMENT;
}
nvmlReturn_t nvmlDeviceGetC2cModeInfoV(nvmlDevice_t device, nvmlC2cModeInfo_v1_t* info) {
  return put(device, info, {});
}

// ---- values by number ----------------------------------------------------------------------------------------------

/// Each value carries its own return code; the call succeeds.
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return of_device(device, values, [&] {
    if (count <= 0) return NVML_ERROR_INVALID_ARGUMENT;
    constexpr unsigned int unsigned_int = 1, signed_int = 5;
    for (int i = 0; i < count; ++i) {
      nvmlFieldValue_t& each = values[i];
      each.timestamp = microseconds_since_1970();
      each.latencyUsec = 0;
      const std::optional<int> value = field_value(each.fieldId);
      const bool is_known = each.fieldId != 0 && each.fieldId < fields;
      each.nvmlReturn = value ? NVML_SUCCESS : is_known ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
      if (!value) continue;
      each.valueType = each.fieldId >= first_limit && each.fieldId <= last_limit ? signed_int : unsigned_int;
      each.value = static_cast<unsigned int>(*value);
    }
    return NVML_SUCCESS;
  });
}
nvmlReturn_t nvmlDeviceClearFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t* values) {
  return of_device(device, values, [&] {
    if (count <= 0) return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; ++i) values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
    return NVML_SUCCESS;
  });
}

}  // extern "C"
