// Diagnostic: one message of a compiler, taken from its log.
//
//   CompileReport report;
//   program.compile("cubin", {}, {.report = &report});          // filled on success and on failure
//   for (const Diagnostic& d : report.diagnostics) std::cerr << d.file << ":" << d.line << ": " << d.text << "\n";
//
// Thread-safety: a value. parse_diagnostics() is pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cucore/export.hpp"

namespace cucore {

enum class Severity { info, remark, warning, error, fatal };

/// "info", "remark", "warning", "error" or "fatal".
CUCORE_API std::string_view severity_name(Severity severity) noexcept;

struct Diagnostic {
  std::string file = {};  ///< as the compiler names it; empty if the message names no place in a text
  int line = 0;           ///< from 1; 0 without a place
  int column = 0;         ///< from 1; 0 if the compiler does not tell (NVRTC: from the mark under the source line)
  Severity severity = Severity::error;
  int number = 0;            ///< for diag_suppress, diag_warn and diag_error; 0 without
  std::string text = {};     ///< the message
  std::string context = {};  ///< the lines that follow it: the source line, template instantiations

  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// The messages in a log of NVRTC, ptxas, nvJitLink or libNVVM, in its order. What is not a message (counts of errors,
/// advice) is left out; anything may be given.
CUCORE_API std::vector<Diagnostic> parse_diagnostics(std::string_view log);

}  // namespace cucore
