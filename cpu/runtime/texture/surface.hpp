// Surface instructions: reads, writes and reductions of texels, with what is outside handled as the instruction says.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/device_library/self_checks.hpp"

namespace cucore::cpu::runtime {

struct ResourceObject;

/// `operation`: bits of texel_operation; `coordinates`: x, y, z, layer; `data`: up to 16 bytes. Null, or why the thread
/// must be trapped. `checks` are asked first; of what may not be accessed a load gives zeros. Thread-safe as far as the
/// texels are different; reductions are atomic.
const char* access_surface(const ResourceObject& surface, std::uint32_t operation, const std::int32_t* coordinates,
                           device_library::SelfChecks& checks, void* data);

}  // namespace cucore::cpu::runtime
