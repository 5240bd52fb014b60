// Addresses and handles in reports.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace cucore::cpu::runtime {

/// "0x7f00"
inline std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace cucore::cpu::runtime
