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
