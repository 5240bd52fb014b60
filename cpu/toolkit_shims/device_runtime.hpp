// The functions of CUDA's device runtime library (libcudadevrt.a, which is machine code alone) that grid-wide barriers
// call, in PTX for the CPU device.
#pragma once

#include <string>
#include <vector>

namespace cucore::cpu::toolkit_shims {

/// What has to be linked with `ptx` so that its calls find them; empty if it makes none.
std::string device_runtime_for(const std::vector<std::string>& ptx);

}  // namespace cucore::cpu::toolkit_shims
