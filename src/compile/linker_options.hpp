// How the driver's linker takes a Linker's options.
#pragma once

#include <string>
#include <vector>

#include "cucore/linker.hpp"
#include "src/link/link_session.hpp"

namespace cucore::detail {

/// Names of options that are set and that the driver's linker does not support.
std::vector<std::string> refused_by_driver(const LinkerOptions& options);

/// CU_JIT_... and value for each option that is set and that the driver knows, in the order of LinkerOptions.
std::vector<JitOption> driver_options(const LinkerOptions& options);

}  // namespace cucore::detail
