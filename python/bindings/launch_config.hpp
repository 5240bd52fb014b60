// LaunchConfig as a Python object: the core's, behind checked properties.
#pragma once

#include "cucore/launch.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

struct PyLaunchConfig {
  LaunchConfig config;
};

}  // namespace cucore::python
