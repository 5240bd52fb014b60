// Decompression of untrusted bytes with a bound on what may come out. Fails with InvalidImage.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cpu/error/result.hpp"

namespace cucore::cpu::image {

/// No image decompresses to more than this.
inline constexpr std::uint64_t max_decompressed_size = std::uint64_t{256} << 20;

/// A raw LZ4 block that must give exactly `size` bytes.
Result<std::string> decompress_lz4(std::string_view compressed, std::uint64_t size);

/// A Zstandard frame that must give exactly `size` bytes. Memory grows with the actual output, not with `size`.
Result<std::string> decompress_zstd(std::string_view compressed, std::uint64_t size);

}  // namespace cucore::cpu::image
