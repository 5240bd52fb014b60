// The part of NVML's C interface that this library answers: codes, structs, sizes. NVML's own names; a test compares
// the structs with those of nvidia-ml-py.
#pragma once

enum nvmlReturn_t {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
  NVML_ERROR_UNKNOWN = 999
};

struct nvmlDevice_st;
using nvmlDevice_t = nvmlDevice_st*;

/// The versions that structs carry: their size, and the number in the top byte.
template <class Struct>
constexpr unsigned int version_of(unsigned int number) {
  return static_cast<unsigned int>(sizeof(Struct)) | number << 24;
}

struct nvmlPciInfo_v2_t {
  char busId[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  unsigned int reserved[4];
};

struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned int domain, bus, device, pciDeviceId, pciSubSystemId;
  char busId[32];
};

struct nvmlPciInfoExt_v1_t {
  unsigned int version, domain, bus, device, pciDeviceId, pciSubSystemId, baseClass, subClass;
  char busId[32];
};

struct nvmlMemory_t {
  unsigned long long total, free, used;
};

struct nvmlMemory_v2_t {
  unsigned int version;
  unsigned long long total, reserved, free, used;
};

struct nvmlBAR1Memory_t {
  unsigned long long bar1Total, bar1Free, bar1Used;
};

struct nvmlFieldValue_t {
  unsigned int fieldId, scopeId;
  long long timestamp, latencyUsec;
  unsigned int valueType;
  nvmlReturn_t nvmlReturn;
  unsigned long long value;
};

struct nvmlProcessInfo_v1_t {
  unsigned int pid;
  unsigned long long usedGpuMemory;
};

/// Of the calls whose names end in _v2 and _v3.
struct nvmlProcessInfo_t {
  unsigned int pid;
  unsigned long long usedGpuMemory;
  unsigned int gpuInstanceId, computeInstanceId;
};

struct nvmlDeviceAttributes_t {
  unsigned int multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount, sharedJpegCount;
  unsigned int sharedOfaCount, gpuInstanceSliceCount, computeInstanceSliceCount;
  unsigned long long memorySizeMB;
};

struct nvmlDeviceAddressingMode_v1_t {
  unsigned int version, value;
};

struct nvmlC2cModeInfo_v1_t {
  unsigned int isC2cEnabled;
};

struct nvmlRepairStatus_v1_t {
  unsigned int version, bChannelRepairPending, bTpcRepairPending;
};

struct nvmlTemperature_v1_t {
  unsigned int version, sensorType;
  int temperature;
};

struct nvmlMarginTemperature_v1_t {
  unsigned int version;
  int marginTemperature;
};

struct nvmlGpuThermalSettings_t {
  unsigned int count;
  struct {
    int controller, defaultMinTemp, defaultMaxTemp, currentTemp, target;
  } sensor[3];
};

struct nvmlClockOffset_v1_t {
  unsigned int version, type, pstate;
  int clockOffsetMHz, minClockOffsetMHz, maxClockOffsetMHz;
};

struct nvmlGpuDynamicPstatesInfo_t {
  unsigned int flags;
  struct {
    unsigned int bIsPresent, percentage, incThreshold, decThreshold;
  } utilization[8];
};

struct nvmlEventSet_st;
using nvmlEventSet_t = nvmlEventSet_st*;

/// Of sets of events of the system: to make one and to free it.
struct nvmlSystemEventSetRequest_v1_t {
  unsigned int version;
  nvmlEventSet_t set;
};

struct nvmlSystemRegisterEventRequest_v1_t {
  unsigned int version;
  unsigned long long eventTypes;
  nvmlEventSet_t set;
};

struct nvmlSystemEventSetWaitRequest_v1_t {
  unsigned int version, timeoutms;
  nvmlEventSet_t set;
  void* data;
  unsigned int dataSize, numEvent;
};

/// Of nvmlGpuTopologyLevel_t.
inline constexpr unsigned int NVML_TOPOLOGY_INTERNAL = 0;
inline constexpr unsigned int NVML_TOPOLOGY_SYSTEM = 50;

struct nvmlUtilization_t {
  unsigned int gpu, memory;
};

struct nvmlUUID_v1_t {
  unsigned int version, type;  // 1: text, 2: 16 bytes
  union {
    char str[41];
    unsigned char bytes[16];
  } value;
};

struct nvmlSystemDriverBranchInfo_v1_t {
  unsigned int version;
  char branch[80];
};
