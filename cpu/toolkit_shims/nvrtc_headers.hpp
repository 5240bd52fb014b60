// The headers of C and C++ that device code includes and NVRTC does not have, as far as device code has use for them.
#pragma once

#include <span>

namespace cucore::cpu::toolkit_shims {

struct MemoryHeader {
  const char* name;
  const char* text;
};

std::span<const MemoryHeader> standard_headers();

}  // namespace cucore::cpu::toolkit_shims
