// A checksum against accidents: bytes that were cut off, flipped or mixed up. It is no protection against intent:
// whoever can write the bytes can write a matching checksum.
#pragma once

#include <cstdint>
#include <string_view>

namespace cucore::detail {

/// XXH64 with seed 0, as its specification defines it: many gigabytes in a second, so that pickling and cache hits do
/// not wait for it.
std::uint64_t checksum(std::string_view bytes) noexcept;

}  // namespace cucore::detail
