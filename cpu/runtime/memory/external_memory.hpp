// Memory that another API or process made, as a file descriptor: cuImportExternalMemory. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class Context;

/// Takes the descriptor over. InvalidValue if it is none of a file of at least `size` bytes that can be mapped.
Result<CUexternalMemory> import_external_memory(int file, std::size_t size);
/// Ends the handle; buffers stay until they are freed.
Result<void> destroy_external_memory(CUexternalMemory handle);
/// A part of it as device memory, which cuMemFree gives back.
Result<std::uintptr_t> map_external_buffer(Context& context, CUexternalMemory handle, std::size_t offset,
                                           std::size_t size);

}  // namespace cucore::cpu::runtime
