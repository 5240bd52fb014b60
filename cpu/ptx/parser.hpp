// PTX text in, module tree or a list of diagnostics out. Never throws on bad input, never crashes, and never takes
// more than linear time and memory in the size of the text (nesting is bounded).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"
#include "cpu/ptx/tree/diagnostic.hpp"

namespace cucore::cpu::ptx {

/// Not a Result<T>, which is a value or one sentence: a text may be wrong in several places, each with line and column.
struct ParseResult {
  std::unique_ptr<Module> module;  ///< null if there is any diagnostic
  std::vector<Diagnostic> diagnostics;
};

/// Parses and verifies one PTX translation unit. The text ends at its first NUL, if it has one. A syntax error ends the
/// work; up to fifty semantic errors are collected. Thread-safe.
ParseResult parse(std::string_view text);
/// The same for an excerpt, with the positions of the text that it is of.
ParseResult parse(const Excerpt& excerpt);

/// `ptxas`-like text: "ptx:LINE:COLUMN: error: MESSAGE", one line each.
std::string format(const std::vector<Diagnostic>& diagnostics);

}  // namespace cucore::cpu::ptx
