// The heap of kernels: malloc and free of device code, which cudaMalloc and cudaFree are there. It knows its blocks, so
// that a kernel which frees something else is answered as by an H100 (driver 580) and harms no memory of the process.
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime::kernel_heap {

/// 0: there is no memory.
std::uint64_t allocate(std::uint64_t bytes);

/// Why a kernel ends that frees what it must not.
struct Misuse {
  ErrorCode error;
  std::string what;
};

/// free(address) by a thread. Nothing happens for null, inside a block that is there or was, and in shared memory,
/// local memory and the variables of modules, but MisalignedAddress where that is no multiple of four. LaunchFailed for
/// a block that is free already, IllegalAddress for any other address.
std::optional<Misuse> release(const ThreadState& thread, std::uint64_t address);

}  // namespace cucore::cpu::runtime::kernel_heap
