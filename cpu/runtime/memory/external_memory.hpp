// Memory that another API or process made, as a file descriptor: cuImportExternalMemory. Thread-safe.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::runtime {

class Context;

/// Takes the descriptor over. INVALID_VALUE if it is none of a file of at least `size` bytes that can be mapped.
CUresult import_external_memory(int file, std::size_t size, CUexternalMemory* handle);
/// Ends the handle; buffers stay until they are freed.
CUresult destroy_external_memory(CUexternalMemory handle);
/// A part of it as device memory, which cuMemFree gives back.
CUresult map_external_buffer(Context& context, CUexternalMemory handle, std::size_t offset, std::size_t size,
                             std::uintptr_t* address);

}  // namespace cucore::cpu::runtime
