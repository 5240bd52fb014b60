// From Python objects to kernel arguments.
#pragma once

#include <vector>

#include "cucore/launch.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

/// What arrays of other libraries, as arguments, need to know about a launch and require of it.
struct LaunchDependencies {
  StreamHandle stream = nullptr;        ///< the launch's
  std::vector<StreamHandle> producers;  ///< to wait for before it: streams the arrays say they are written on
};

/// Packs `count` arguments; the GIL is held. Throws TypeError for one that has no form on the device or does not fit
/// its parameter, and OverflowError for a number out of its range, naming kernel, position, parameter and what was
/// given. Objects may have a method `__kernel_argument__()`, which returns anything that can itself be passed, or the
/// bytes to pass (a bytes-like object).
void add_arguments(ArgumentPack& pack, PyObject* const* arguments, Py_ssize_t count, LaunchDependencies& dependencies);

}  // namespace cucore::python
