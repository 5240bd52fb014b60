// How messages and traces write handles and addresses: 0x7f00a0.
#pragma once

#include <cstdint>
#include <string>

namespace cucore {

std::string hexadecimal(std::uint64_t value);

inline std::string hexadecimal(const void* handle) {
  return hexadecimal(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle)));
}

}  // namespace cucore
