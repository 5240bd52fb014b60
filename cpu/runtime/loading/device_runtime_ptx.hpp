// CUDA's device runtime library (libcudadevrt.a), which programs link: its code is for GPUs, so none of it is used. The
// device has its functions itself (cpu/abi/device_calls.hpp), and the barriers of whole grids in PTX.
#pragma once

#include <string_view>

#include "cpu/linker/ptx_symbols.hpp"

namespace cucore::cpu::runtime {

/// A module that defines what barriers of whole grids call.
std::string_view grid_barrier_ptx();
/// Whether this PTX may contain calls of it.
bool may_call_grid_barrier(std::string_view ptx);

/// Whether this module is that library's.
bool is_device_runtime(std::string_view ptx);

}  // namespace cucore::cpu::runtime
