// MD2 and HMAC: see md2.hpp.
#include "cpu/api/export_tables/md2.hpp"

namespace cucore::cpu::api {

namespace {

/// The permutation of RFC 1319, made of the digits of pi.
constexpr std::array<std::uint8_t, 256> permutation_table = {
    41,  46,  67,  201, 162, 216, 124, 1,   61,  54,  84,  161, 236, 240, 6,   19,  98,  167, 5,   243, 192, 199,
    115, 140, 152, 147, 43,  217, 188, 76,  130, 202, 30,  155, 87,  60,  253, 212, 224, 22,  103, 66,  111, 24,
    138, 23,  229, 18,  190, 78,  196, 214, 218, 158, 222, 73,  160, 251, 245, 142, 187, 47,  238, 122, 169, 104,
    121, 145, 21,  178, 7,   63,  148, 194, 16,  137, 11,  34,  95,  33,  128, 127, 93,  154, 90,  144, 50,  39,
    53,  62,  204, 231, 191, 247, 151, 3,   255, 25,  48,  179, 72,  165, 181, 209, 215, 94,  146, 42,  172, 86,
    170, 198, 79,  184, 56,  210, 150, 164, 125, 182, 118, 252, 107, 226, 156, 116, 4,   241, 69,  157, 112, 89,
    100, 113, 135, 32,  134, 91,  207, 101, 230, 45,  168, 2,   27,  96,  37,  173, 174, 176, 185, 246, 28,  70,
    97,  105, 52,  64,  126, 15,  85,  71,  163, 35,  221, 81,  175, 58,  195, 92,  249, 206, 186, 197, 234, 38,
    44,  83,  13,  110, 133, 40,  132, 9,   211, 223, 205, 244, 65,  129, 77,  82,  106, 220, 55,  200, 108, 193,
    171, 250, 36,  225, 123, 8,   12,  189, 177, 74,  120, 136, 149, 139, 227, 99,  232, 109, 233, 203, 213, 254,
    59,  0,   29,  57,  242, 239, 183, 14,  102, 88,  208, 228, 166, 119, 114, 248, 235, 117, 75,  10,  49,  68,
    80,  180, 143, 237, 31,  26,  219, 153, 141, 51,  159, 17,  131, 20};

constexpr unsigned int round_count = 18;

}  // namespace

void Md2::add(const void* bytes, std::size_t size) {
  const auto* const message = static_cast<const std::uint8_t*>(bytes);
  for (std::size_t i = 0; i < size; ++i) add(message[i]);
}

void Md2::add(std::uint8_t byte) {
  const std::uint8_t last = checksum_[(filled_ + block_bytes - 1) % block_bytes];
  checksum_[filled_] ^= permutation_table[byte ^ last];
  state_[block_bytes + filled_] = byte;
  if (++filled_ == block_bytes) compress();
}

void Md2::compress() {
  for (std::size_t i = 0; i < block_bytes; ++i) state_[2 * block_bytes + i] = state_[block_bytes + i] ^ state_[i];
  std::uint8_t last = 0;
  for (unsigned int round = 0; round < round_count; ++round) {
    for (std::uint8_t& byte : state_) last = byte ^= permutation_table[last];
    last = static_cast<std::uint8_t>(last + round);
  }
  filled_ = 0;
}

Md2::Digest Md2::digest() {
  const auto missing = static_cast<std::uint8_t>(block_bytes - filled_);
  for (unsigned int i = 0; i < missing; ++i) add(missing);
  const Digest checksum = checksum_;
  add(checksum.data(), checksum.size());
  Digest result;
  for (std::size_t i = 0; i < block_bytes; ++i) result[i] = state_[i];
  return result;
}

HmacMd2::HmacMd2(const Md2::Digest& key) {
  for (const std::uint8_t byte : key) {
    const std::uint8_t inner = byte ^ 0x36, outer = byte ^ 0x5c;
    inner_.add(&inner, 1);
    outer_.add(&outer, 1);
  }
}

Md2::Digest HmacMd2::digest() {
  const Md2::Digest inner = inner_.digest();
  outer_.add(inner.data(), inner.size());
  return outer_.digest();
}

}  // namespace cucore::cpu::api
