// The environment that the tool was started in, for finding programs and preparing their environment.
#pragma once

#include <string>

namespace cucore::cli {

/// The value of `variable`; empty if it is not set.
std::string environment_value(const char* variable);

}  // namespace cucore::cli
