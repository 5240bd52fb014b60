// Additions to all functions of the module, made when all are bound.
#pragma once

#include <nanobind/nanobind.h>

namespace cucore::python {

/// Processes all functions in the module and its classes so far; may be called again: their errors become one sentence.
void adopt_functions(nanobind::handle module);

void bind_callables(nanobind::module_& module);

}  // namespace cucore::python
