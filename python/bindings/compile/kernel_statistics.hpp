// What the logs of compilers and linkers say about kernels, as Python objects.
#pragma once

#include <vector>

#include "cucore/kernel_statistics.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

/// As Python's list of named tuples.
nb::list statistics_list(const std::vector<KernelStatistics>& kernels);

}  // namespace cucore::python
