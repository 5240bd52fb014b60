// The texture unit: addressing, filtering and mipmapping as CUDA's programming guide defines them, in the fixed-point
// arithmetic of the hardware.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/device_library/self_checks.hpp"

namespace cucore::cpu::runtime {

struct ResourceObject;

/// One fetch or gather (`operation`: bits of texel_operation). Writes the four registers of the result. No coordinate
/// reads outside the texture; `checks` are asked for each texel, and if one may not be read, the result is zero.
/// Thread-safe.
void sample(const ResourceObject& texture, std::uint32_t operation, const TexelRequest& request,
            device_library::SelfChecks& checks, std::uint32_t (&texel)[4]);

}  // namespace cucore::cpu::runtime
