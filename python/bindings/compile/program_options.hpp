// ProgramOptions of Python as the core's.
#pragma once

#include "cucore/program_options.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

/// Reads the fields of a Python ProgramOptions. A field of the wrong type raises TypeError that names the option, the
/// value and what is allowed. With `macros` false define_macro is left out, which Python checks later than the rest.
ProgramOptions program_options(nb::handle options, bool macros = true);

}  // namespace cucore::python
