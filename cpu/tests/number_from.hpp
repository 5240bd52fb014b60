// Numbers that the environment gives, by which the tests of random programs run longer, or from another seed.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace cucore::cpu {

/// The number in an environment variable, or the usual one.
inline std::uint32_t number_from(const char* variable, std::uint32_t usual) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : usual;
}

}  // namespace cucore::cpu
