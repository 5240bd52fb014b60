// What the machine code in a cubin defines for others to see.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cucore::cpu::image {

struct CubinSymbol {
  enum class Kind : std::uint8_t { Kernel, Function, Variable };
  std::string name;
  Kind kind = Kind::Function;
};

/// None if `cubin` is no well-formed one, or has no machine code.
std::vector<CubinSymbol> defined_symbols(std::string_view cubin);

}  // namespace cucore::cpu::image
