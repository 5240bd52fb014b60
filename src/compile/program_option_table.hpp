// program_options.def as a table of values.
#pragma once

#include <span>

#include "cucore/linker.hpp"
#include "cucore/program_options.hpp"
#include "src/compile/option_table.hpp"

namespace cucore::detail {

/// A line of program_options.def: the option, and what is done with it (option_table.hpp has the words).
struct ProgramOptionLine {
  OptionLine<ProgramOptions> line;
  Handling nvrtc, linker, nvvm;  ///< by each back end
  FirstVersion since;            ///< of NVRTC
  Handling key;                  ///< by the key under which a result is cached
};

/// In the order of the struct, without `name`.
std::span<const ProgramOptionLine> program_option_lines();

/// `options` for the linker that compiles PTX, with use_fast_math not expanded.
LinkerOptions linker_options(const ProgramOptions& options);

}  // namespace cucore::detail
