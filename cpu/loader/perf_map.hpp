// The names of generated code for `perf`: /tmp/perf-PID.map, a line of address, size and name for each function.
#pragma once

#include <string_view>

#include "cpu/loader/loaded_object.hpp"

namespace cucore::cpu::loader {

/// Adds an object's functions, the entry points under the kernel's name and C++ names in words. A file that cannot be
/// written, or is not this user's, is left alone. Thread-safe.
void add_to_perf_map(const LoadedObject& object, std::string_view kernel);

}  // namespace cucore::cpu::loader
