// What the machine code in a cubin defines for others to see.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::cpu::image {

struct CubinSymbol {
  enum class Kind : std::uint8_t { Kernel, Function, Variable };
  std::string name;
  Kind kind = Kind::Function;
};

/// None if `cubin` is not well-formed, or has no machine code.
std::vector<CubinSymbol> defined_symbols(std::string_view cubin);

/// How many registers the machine code of its kernels and functions takes, by name; functions without that attribute
/// are left out.
std::map<std::string, std::uint32_t, std::less<>> registers_of_kernels(std::string_view cubin);

}  // namespace cucore::cpu::image
