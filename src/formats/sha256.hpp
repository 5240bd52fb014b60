// SHA-256 (FIPS 180-4), the hash of cache keys, and HMAC of it (FIPS 198-1), which signs entries of shared stores.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace cucore::detail {

using Sha256Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  void update(std::string_view bytes) noexcept;
  /// Ends the hash; the object must not be used after.
  Sha256Digest finish() noexcept;

 private:
  void block(const std::uint8_t* bytes) noexcept;

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_ = {};
  std::size_t pending_size_ = 0;
  std::uint64_t size_ = 0;
};

Sha256Digest sha256(std::string_view bytes) noexcept;
Sha256Digest hmac_sha256(std::string_view key, std::string_view bytes) noexcept;

/// Lower-case hex digits, two a byte.
std::string to_hex(std::span<const std::uint8_t> bytes);
/// Whether these are the digits of a digest, which name the entries of caches and stores.
bool is_hex_of_digest(std::string_view text) noexcept;

}  // namespace cucore::detail
