// Kernel arguments: which C++ value a Python object stands for.
#pragma once

#include "cucore/launch.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

/// Adds `argument`, the one at `position` (from 0), to `pack`. Throws Python's TypeError or OverflowError.
void add_argument(ArgumentPack& pack, const Kernel& kernel, PyObject* argument, Py_ssize_t position);

}  // namespace cucore::python
