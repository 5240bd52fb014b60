// How messages and traces write handles and addresses: see hexadecimal.hpp.
#include "src/error/hexadecimal.hpp"

#include <array>
#include <cstdio>

namespace cucore {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace cucore
