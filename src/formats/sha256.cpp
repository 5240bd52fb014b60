// SHA-256 as FIPS 180-4 describes it.
#include "src/formats/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cucore::detail {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

constexpr std::array<std::uint32_t, 64> round = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t* p) noexcept {
  return (std::uint32_t{p[0]} << 24) | (std::uint32_t{p[1]} << 16) | (std::uint32_t{p[2]} << 8) | p[3];
}

}  // namespace

void Sha256::block(const std::uint8_t* bytes) noexcept {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(bytes + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += add[i];
}

void Sha256::update(std::string_view bytes) noexcept {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  size_ += left;
  while (left != 0) {
    if (pending_size_ == 0 && left >= 64) {
      block(data);
      data += 64;
      left -= 64;
      continue;
    }
    const std::size_t take = std::min(left, 64 - pending_size_);
    std::memcpy(pending_.data() + pending_size_, data, take);
    pending_size_ += take;
    data += take;
    left -= take;
    if (pending_size_ == 64) {
      block(pending_.data());
      pending_size_ = 0;
    }
  }
}

Sha256Digest Sha256::finish() noexcept {
  const std::uint64_t bits = size_ * 8;
  update(std::string_view("\x80", 1));
  while (pending_size_ != 56) update(std::string_view("\0", 1));
  char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
  update(std::string_view(length, 8));
  Sha256Digest digest;
  for (std::size_t i = 0; i < 32; ++i) digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256Digest sha256(std::string_view bytes) noexcept {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Sha256Digest hmac_sha256(std::string_view key, std::string_view bytes) noexcept {
  std::array<char, 64> block = {};
  const Sha256Digest hashed = sha256(key);
  if (key.size() > block.size()) {
    std::memcpy(block.data(), hashed.data(), hashed.size());
  } else {
    std::copy(key.begin(), key.end(), block.begin());
  }
  const auto keyed = [&block](std::uint8_t pad, std::string_view message) {
    std::array<char, 64> padded;
    for (std::size_t i = 0; i < block.size(); ++i) padded[i] = static_cast<char>(block[i] ^ pad);
    Sha256 hash;
    hash.update({padded.data(), padded.size()});
    hash.update(message);
    return hash.finish();
  };
  const Sha256Digest inner = keyed(0x36, bytes);
  return keyed(0x5c, {reinterpret_cast<const char*>(inner.data()), inner.size()});
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += hex_digits[byte >> 4];
    hex += hex_digits[byte & 15];
  }
  return hex;
}

bool is_hex_of_digest(std::string_view text) noexcept {
  return text.size() == 2 * sizeof(Sha256Digest) && text.find_first_not_of(hex_digits) == std::string_view::npos;
}

}  // namespace cucore::detail
