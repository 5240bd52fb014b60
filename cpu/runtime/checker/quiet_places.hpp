// Where numbers are made on purpose that the checker would report: by CUCORE_CPU_CHECK_FP_QUIET, and by comments in the
// CUDA source or the PTX. docs/checker.md has the rules. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"
#include "cpu/runtime/checker/number_values.hpp"

namespace cucore::cpu::runtime {

/// One entry of the variable: which events are no report, and where. An empty list of events is all of them.
struct QuietPlace {
  std::vector<NumberEvent> events;
  std::string kernel;                           ///< with `*` for any text; empty: any
  std::string file;                             ///< the end of a path; empty: any
  std::uint32_t first_line = 0, last_line = 0;  ///< 0: any

  bool covers(NumberEvent event, std::string_view of_kernel, std::string_view of_file, std::uint32_t line) const;
};

/// Entries with commas or line breaks; `#` begins a comment. What is no entry goes to `errors`.
std::vector<QuietPlace> parse_quiet_places(std::string_view text, std::vector<std::string>& errors);

/// Whether `event` of this instruction is none to report.
bool is_quiet(const ptx::Module& module, const ptx::Function& function, const ptx::Instruction& instruction,
              std::string_view kernel, NumberEvent event);

}  // namespace cucore::cpu::runtime
