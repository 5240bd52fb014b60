// PTX text in, module tree or a list of diagnostics out. Never throws on bad input, never crashes, and never takes
// more than linear time and memory in the size of the text (nesting is bounded).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/ptx/ast.hpp"

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

struct ParseResult {
  std::unique_ptr<Module> module;  ///< null if there is any diagnostic
  std::vector<Diagnostic> diagnostics;
};

/// Parses and verifies one PTX translation unit. The text ends at its first NUL, if it has one. A syntax error ends the
/// work; up to fifty semantic errors are collected. Thread-safe.
ParseResult parse(std::string_view text);

/// `ptxas`-like text: "ptx:LINE:COLUMN: error: MESSAGE", one line each.
std::string format(const std::vector<Diagnostic>& diagnostics);

}  // namespace cucore::cpu::ptx
