// The commands of the `cucore` tool: one function and one file each, listed once in main.cpp.
#pragma once

#include <span>
#include <string_view>

namespace cucore::cli {

/// What follows the command's name on the command line.
using Arguments = std::span<const std::string_view>;

// Each returns the exit status, prints to standard output, and throws cucore::Error for what went wrong.
int devices(Arguments arguments);
int doctor(Arguments arguments);
int driver_path(Arguments arguments);
int driver_status(Arguments arguments);
int dump(Arguments arguments);
int version(Arguments arguments);

}  // namespace cucore::cli
