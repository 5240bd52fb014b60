// Where a variable of a module or library is, as entries return it.
#pragma once

#include <cuda.h>

#include <cstddef>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/loading/variables.hpp"

namespace cucore::cpu::api {

/// To a caller who may want only one of the two.
inline CUresult hand_out(const Result<runtime::VariableMemory>& found, CUdeviceptr* address, std::size_t* size) {
  if (!found) return driver_result(found.failure());
  if (address) *address = found->address;
  if (size) *size = found->size;
  return CUDA_SUCCESS;
}

}  // namespace cucore::cpu::api
