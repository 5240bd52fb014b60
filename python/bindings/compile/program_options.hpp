// ProgramOptions of Python as the core's.
#pragma once

#include "cucore/program_options.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

/// Reads the fields of a Python ProgramOptions. What is to be text is taken as Python prints it. A field of the wrong
/// type raises TypeError that names the option, the value and what is allowed.
ProgramOptions program_options(nb::handle options);

}  // namespace cucore::python
