// The MD2 digest (RFC 1319). Broken for security; the integrity check of the CUDA run-time library is made of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cucore::cpu::api {

class Md2 {
 public:
  static constexpr std::size_t block_bytes = 16;
  using Digest = std::array<std::uint8_t, block_bytes>;

  void add(const void* bytes, std::size_t size);
  /// Ends the message: call once, last.
  Digest digest();

 private:
  void add(std::uint8_t byte);
  void compress();

  std::array<std::uint8_t, 3 * block_bytes> state_{};  ///< the digest so far, the block, both combined
  Digest checksum_{};
  std::size_t filled_ = 0;  ///< bytes of the block that are there
};

/// HMAC (RFC 2104) with MD2 and a key of one block.
class HmacMd2 {
 public:
  explicit HmacMd2(const Md2::Digest& key);
  void add(const void* bytes, std::size_t size) { inner_.add(bytes, size); }
  Md2::Digest digest();

 private:
  Md2 inner_, outer_;
};

}  // namespace cucore::cpu::api
