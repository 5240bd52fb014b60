// The two commands below `cucore cache` that are about the CPU device's own folder.
#pragma once

#include <CLI/CLI.hpp>

namespace cucore::cli {

/// `cache`: the command `cucore cache`.
void add_cache_kernels(CLI::App& cache, int& status);

}  // namespace cucore::cli
