// What is wrong with a PTX text, and where.
#pragma once

#include <cstdint>
#include <string>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::ptx {

/// The newest major version of the PTX ISA that `.version` may name. Any minor one may stand after it: compilers of
/// newer toolkits write it under every program, and what a minor version added is refused by name where it stands.
inline constexpr std::uint32_t newest_major_version = 9;

struct Diagnostic {
  /// UnsupportedVersion: the text asks for a PTX ISA newer than `newest_major_version`; nothing else was looked at.
  enum class Kind : std::uint8_t { Syntax, Semantic, UnsupportedVersion };

  Kind kind = Kind::Syntax;
  Position position;
  std::string message;  ///< one sentence, lower case, no trailing dot, names the offending word
};

}  // namespace cucore::cpu::ptx
