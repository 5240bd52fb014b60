// Queries of device code: the device, its kernels, errors. See device_runtime.hpp.
#include <cuda.h>

#include <cstring>

#include "cpu/runtime/execution/device_runtime.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

/// As far as every version of the runtime library has it.
struct DeviceFunction {
  std::uint64_t static_shared;
  std::uint64_t constant;
  std::uint64_t local;
  std::int32_t max_threads;
  std::int32_t registers;
  std::int32_t ptx_version;
  std::int32_t binary_version;
  std::int32_t cache_mode;
  std::int32_t max_dynamic_shared;
  std::int32_t carveout;
};

namespace {

struct DeviceErrorText {
  std::int32_t number;
  const char* name;
  const char* text;
};

constexpr DeviceErrorText device_errors[] = {
#define DEVICE_ERROR(number, name, text) {number, name, text},
#include "cpu/runtime/execution/device_errors.def"
#undef DEVICE_ERROR
};

const DeviceErrorText& describe_error(std::int32_t number) {
  static constexpr DeviceErrorText unknown{0, "unrecognized error code", "unrecognized error code"};
  for (const DeviceErrorText& each : device_errors)
    if (each.number == number) return each;
  return unknown;
}

/// In memory that device code may read: checked code may not read the driver's own.
const char* readable(const DeviceCaller& caller, const char* text) {
  const CheckTable* const checks = caller.grid().state.checks;
  if (!checks) return text;
  const std::size_t bytes = std::strlen(text) + 1;
  const std::uint64_t copy = checks->allocate(caller.thread(), bytes, caller.thread()->place & ~aligned_place);
  if (copy == 0) return text;
  std::memcpy(reinterpret_cast<void*>(copy), text, bytes);
  checks->wrote(copy, static_cast<std::uint32_t>(bytes));
  return reinterpret_cast<const char*>(copy);
}

}  // namespace

namespace device_runtime {

const char* GetErrorName(DeviceCaller& caller, std::int32_t error) {
  return readable(caller, describe_error(error).name);
}
const char* GetErrorString(DeviceCaller& caller, std::int32_t error) {
  return readable(caller, describe_error(error).text);
}

DeviceError GetDevice(DeviceCaller& caller, std::int32_t* device) {
  caller.write(device, caller.grid().context->device().ordinal());
  return DeviceError::Success;
}

DeviceError GetDeviceCount(DeviceCaller& caller, std::int32_t* count) {
  caller.write(count, static_cast<std::int32_t>(devices().size()));
  return DeviceError::Success;
}

DeviceError DeviceGetAttribute(DeviceCaller& caller, std::int32_t* value, std::uint32_t attribute,
                               std::int32_t ordinal) {
  const Device* const device = find_device(ordinal);
  if (!device) return DeviceError::InvalidDevice;
  const Result<int> answer = device->attribute(static_cast<CUdevice_attribute>(attribute));
  if (!answer) return DeviceError::InvalidValue;
  caller.write(value, *answer);
  return DeviceError::Success;
}

DeviceError DeviceGetLimit(DeviceCaller& caller, std::uint64_t* value, std::uint32_t limit) {
  const Result<std::size_t> answer = caller.grid().context->limit(static_cast<CUlimit>(limit));
  if (!answer)
    return answer.failure().code() == ErrorCode::UnsupportedLimit ? DeviceError::UnsupportedLimit
                                                                  : DeviceError::InvalidValue;
  caller.write(value, std::uint64_t{*answer});
  return DeviceError::Success;
}

DeviceError DeviceGetCacheConfig(DeviceCaller& caller, std::uint32_t* config) {
  caller.write(config, static_cast<std::uint32_t>(caller.grid().context->cache_config));
  return DeviceError::Success;
}

DeviceError DeviceGetSharedMemConfig(DeviceCaller& caller, std::uint32_t* config) {
  caller.write(config, static_cast<std::uint32_t>(caller.grid().context->shared_config));
  return DeviceError::Success;
}

DeviceError RuntimeGetVersion(DeviceCaller& caller, std::int32_t* version) {
  caller.write(version, std::int32_t{CUDA_VERSION});
  return DeviceError::Success;
}

DeviceError FuncGetAttributes(DeviceCaller& caller, DeviceFunction* attributes, std::uint64_t function) {
  const auto kernel = find_kernel_at(function);
  if (!kernel) return DeviceError::InvalidDeviceFunction;
  const auto attribute = [&](CUfunction_attribute which) { return *kernel->attribute(which); };
  DeviceFunction answer{};
  answer.static_shared = static_cast<std::uint64_t>(attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  answer.constant = static_cast<std::uint64_t>(attribute(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
  answer.local = static_cast<std::uint64_t>(attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  answer.max_threads = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  answer.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS);
  answer.ptx_version = attribute(CU_FUNC_ATTRIBUTE_PTX_VERSION);
  answer.binary_version = attribute(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  answer.max_dynamic_shared = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  answer.carveout = attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  caller.write(attributes, answer);
  return DeviceError::Success;
}

DeviceError OccupancyMaxActiveBlocksPerMultiprocessor(DeviceCaller& caller, std::int32_t* blocks,
                                                      std::uint64_t function, std::int32_t threads,
                                                      std::uint64_t shared) {
  const auto kernel = find_kernel_at(function);
  if (!kernel) return DeviceError::InvalidDeviceFunction;
  if (threads <= 0) return DeviceError::InvalidValue;
  caller.write(blocks, std::int32_t{kernel->max_active_blocks(static_cast<std::uint32_t>(threads), shared)});
  return DeviceError::Success;
}

DeviceError OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(DeviceCaller& caller, std::int32_t* blocks,
                                                               std::uint64_t function, std::int32_t threads,
                                                               std::uint64_t shared, std::uint32_t flags) {
  constexpr std::uint32_t disable_caching_override = 1;
  if ((flags & ~disable_caching_override) != 0) return DeviceError::InvalidValue;
  return OccupancyMaxActiveBlocksPerMultiprocessor(caller, blocks, function, threads, shared);
}

}  // namespace device_runtime
}  // namespace cucore::cpu::runtime
