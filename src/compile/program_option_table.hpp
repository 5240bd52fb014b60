// program_options.def as a table of values.
#pragma once

#include <span>

#include "cucore/linker.hpp"
#include "cucore/program_options.hpp"
#include "src/compile/option_table.hpp"

namespace cucore::detail {

struct ProgramOptionLine {
  OptionLine<ProgramOptions> line;
  Column nvrtc, linker, nvvm;
  Since since;  ///< the first NVRTC
  Column key;
};

/// In the order of the struct, without `name`.
std::span<const ProgramOptionLine> program_option_lines();

/// `options` for the linker that compiles PTX, with use_fast_math not expanded.
LinkerOptions linker_options(const ProgramOptions& options);

}  // namespace cucore::detail
