// Waits in the driver that may last, and Ctrl-C meanwhile.
#pragma once

#include <utility>

#include "python/bindings/python.hpp"

namespace cucore::python {

/// If `wait` fails and a signal came meanwhile, that is what is raised: KeyboardInterrupt, which would else come in the
/// middle of whatever looks at the error.
template <class Wait>
void wait_or_be_interrupted(Wait&& wait) {
  try {
    std::forward<Wait>(wait)();
  } catch (const std::exception&) {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    throw;
  }
}

}  // namespace cucore::python
