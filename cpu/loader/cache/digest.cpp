// The rounds of BLAKE2b: see digest.hpp.
#include "cpu/loader/cache/digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cucore::cpu::loader {
namespace {

static_assert(std::endian::native == std::endian::little, "words stand in memory as BLAKE2b reads them");

constexpr std::array<std::uint64_t, 8> start = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                                0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                                0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr std::uint8_t slot_order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

struct Words {
  std::uint64_t v[16];

  void mix(int a, int b, int c, int d, std::uint64_t x, std::uint64_t y) {
    v[a] += v[b] + x;
    v[d] = std::rotr(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = std::rotr(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = std::rotr(v[b] ^ v[c], 63);
  }
};

}  // namespace

Digest::Digest() : state_(start) { state_[0] ^= 0x01010000 | sizeof(Bytes); }

void Digest::compress(const std::uint8_t* block, bool is_last) {
  std::uint64_t message[16];
  std::memcpy(message, block, sizeof message);
  Words words;
  std::copy_n(state_.begin(), 8, words.v);
  std::copy_n(start.begin(), 8, words.v + 8);
  words.v[12] ^= total_;
  if (is_last) words.v[14] = ~words.v[14];
  // Unrolled whole, the orders are constants: twice as fast.
#pragma GCC unroll 12
  for (int round = 0; round < 12; ++round) {
    const auto& order = slot_order[round % 10];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)  // columns
      words.mix(i, 4 + i, 8 + i, 12 + i, message[order[2 * i]], message[order[2 * i + 1]]);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)  // diagonals
      words.mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, message[order[8 + 2 * i]],
                message[order[9 + 2 * i]]);
  }
  for (std::size_t i = 0; i < 8; ++i) state_[i] ^= words.v[i] ^ words.v[i + 8];
}

void Digest::add(std::string_view bytes) {
  while (!bytes.empty()) {
    if (waiting_bytes_ == block_bytes) {
      total_ += block_bytes;
      compress(waiting_.data(), false);
      waiting_bytes_ = 0;
    }
    const std::size_t count = std::min(bytes.size(), block_bytes - waiting_bytes_);
    std::memcpy(waiting_.data() + waiting_bytes_, bytes.data(), count);
    waiting_bytes_ += count;
    bytes.remove_prefix(count);
  }
}

Digest::Bytes Digest::finish() {
  total_ += waiting_bytes_;
  std::fill(waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_bytes_), waiting_.end(), std::uint8_t{0});
  compress(waiting_.data(), true);
  Bytes bytes;
  std::memcpy(bytes.data(), state_.data(), bytes.size());
  return bytes;
}

}  // namespace cucore::cpu::loader
