// The memory operations of streams: see memory_operations.hpp.
#include "cpu/runtime/memory/memory_operations.hpp"

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/stream.hpp"

namespace cucore::cpu::runtime {

namespace {

template <class T>
bool is_met(T now, T value, unsigned int flags) {
  switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::make_signed_t<T>>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & value) != 0;
    default:
      return static_cast<T>(~(now | value)) != 0;
  }
}

template <class T>
void wait(CUdeviceptr address, T value, unsigned int flags) {
  const std::atomic_ref<T> word(*reinterpret_cast<T*>(address));
  sleep_until([&] { return is_met(word.load(std::memory_order_acquire), value, flags); });
}

template <class T>
void write(CUdeviceptr address, T value) {
  shadow::mark_written(address, sizeof(T));
  std::atomic_ref<T>(*reinterpret_cast<T*>(address)).store(value, std::memory_order_release);
}

Result<void> check(CUdeviceptr address, unsigned int flags, unsigned int known, std::size_t size) {
  if ((flags & ~known) != 0 || address % size != 0 || !is_device_range(address, size)) return ErrorCode::InvalidValue;
  return find_allocation(address)->is_pool_memory() ? ErrorCode::InvalidValue : Result<void>();  // as NVIDIA's driver
}

Result<void> check_wait(CUdeviceptr address, unsigned int flags, std::size_t size) {
  // The device reports that it cannot flush remote writes; there is nothing to flush.
  if ((flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return ErrorCode::NotSupported;
  constexpr unsigned int conditions = 3;
  return check(address, flags, conditions, size);
}

constexpr unsigned int write_flags = CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER;

}  // namespace

Result<void> check_memory_operation(const CUstreamBatchMemOpParams& operation) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return check_wait(operation.waitValue.address, operation.waitValue.flags, 4);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return check_wait(operation.waitValue.address, operation.waitValue.flags, 8);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return check(operation.writeValue.address, operation.writeValue.flags, write_flags, 4);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return check(operation.writeValue.address, operation.writeValue.flags, write_flags, 8);
    case CU_STREAM_MEM_OP_BARRIER:
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return {};  // the operations of a stream are ordered anyway
    default:
      return ErrorCode::InvalidValue;
  }
}

void run_memory_operation(const CUstreamBatchMemOpParams& operation) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait<std::uint32_t>(operation.waitValue.address, operation.waitValue.value, operation.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait<std::uint64_t>(operation.waitValue.address, operation.waitValue.value64, operation.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write<std::uint32_t>(operation.writeValue.address, operation.writeValue.value);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write<std::uint64_t>(operation.writeValue.address, operation.writeValue.value64);
    default:
      return;
  }
}

}  // namespace cucore::cpu::runtime
