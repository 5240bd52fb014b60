// BLAKE2b (RFC 7693) with a digest of 32 bytes: names compiled kernels, and tells whether a file of one is whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cucore::cpu::loader {

class Digest {
 public:
  using Bytes = std::array<std::uint8_t, 32>;

  Digest();
  void add(std::string_view bytes);
  /// Ends it: nothing may be added after this.
  Bytes finish();

 private:
  static constexpr std::size_t block_bytes = 128;

  void compress(const std::uint8_t* block, bool is_last);

  std::array<std::uint64_t, 8> state_;
  std::array<std::uint8_t, block_bytes> waiting_{};  ///< the last block is not known to be the last until the end
  std::size_t waiting_bytes_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace cucore::cpu::loader
