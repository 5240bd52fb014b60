// What is added to all functions of the module once they are there.
#pragma once

#include <nanobind/nanobind.h>

namespace cucore::python {

/// Those in the module by now, and in its classes, again where some have been: their errors become one sentence.
void adopt_functions(nanobind::handle module);

void bind_callables(nanobind::module_& module);

}  // namespace cucore::python
