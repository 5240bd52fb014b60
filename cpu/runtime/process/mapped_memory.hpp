// What the process may do with memory that it has from its host.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::runtime {

/// Whether it may read all of these bytes, and write them if `writes`, as /proc/self/maps has it now. Where that is not
/// there to be read, it is believed. Any thread.
bool is_accessible(std::uintptr_t begin, std::size_t bytes, bool writes);

}  // namespace cucore::cpu::runtime
