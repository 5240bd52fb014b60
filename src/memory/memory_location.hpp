// A memory location in the driver's form.
#pragma once

#include <optional>
#include <string>

#include "cucore/managed_memory.hpp"
#include "src/driver/table.hpp"

namespace cucore::detail {

driver::CUmemLocation location_of(const MemoryLocation& location) noexcept;

/// The location that the driver's type and id name; empty for none.
std::optional<MemoryLocation> location_named(int type, int id);

/// "Device 0", "the host".
std::string describe(const MemoryLocation& location);

/// Throws if the memory is not managed. @throws ValueError
void require_managed(const Buffer& buffer, const char* call);

}  // namespace cucore::detail
