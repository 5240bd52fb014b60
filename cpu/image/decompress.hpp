// Decompression of untrusted bytes with a bound on what may come out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cucore::cpu::image {

/// No image decompresses to more than this.
inline constexpr std::uint64_t max_decompressed_size = std::uint64_t{256} << 20;

struct Decompressed {
  std::string bytes;
  std::string error;  ///< empty: success
};

/// A raw LZ4 block that must give exactly `size` bytes.
Decompressed decompress_lz4(std::string_view compressed, std::uint64_t size);

/// A Zstandard frame that must give exactly `size` bytes. Memory grows with what really comes out, not with `size`.
Decompressed decompress_zstd(std::string_view compressed, std::uint64_t size);

}  // namespace cucore::cpu::image
