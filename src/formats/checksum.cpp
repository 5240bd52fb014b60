// XXH64: four sums over stripes of 32 bytes, folded into one, then the rest in steps of 8, 4 and 1 bytes.
#include "src/formats/checksum.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace cucore::detail {
namespace {

constexpr std::uint64_t prime1 = 0x9e3779b185ebca87;
constexpr std::uint64_t prime2 = 0xc2b2ae3d27d4eb4f;
constexpr std::uint64_t prime3 = 0x165667b19e3779f9;
constexpr std::uint64_t prime4 = 0x85ebca77c2b2ae63;
constexpr std::uint64_t prime5 = 0x27d4eb2f165667c5;

static_assert(std::endian::native == std::endian::little, "the words of the checksum are little-endian");

template <class Word>
std::uint64_t word_at(const char* at) noexcept {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) noexcept {
  return std::rotl(sum + word * prime2, 31) * prime1;
}

}  // namespace

std::uint64_t checksum(std::string_view bytes) noexcept {
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t hash = prime5;
  if (left >= 32) {
    std::array<std::uint64_t, 4> sums = {prime1 + prime2, prime2, 0, 0 - prime1};
    for (; left >= 32; at += 32, left -= 32) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        sums[lane] = mixed(sums[lane], word_at<std::uint64_t>(at + 8 * lane));
      }
    }
    hash = std::rotl(sums[0], 1) + std::rotl(sums[1], 7) + std::rotl(sums[2], 12) + std::rotl(sums[3], 18);
    for (const std::uint64_t sum : sums) hash = (hash ^ mixed(0, sum)) * prime1 + prime4;
  }
  hash += bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    hash = std::rotl(hash ^ mixed(0, word_at<std::uint64_t>(at)), 27) * prime1 + prime4;
  }
  if (left >= 4) {
    hash = std::rotl(hash ^ (word_at<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
    at += 4;
    left -= 4;
  }
  for (; left > 0; ++at, --left) hash = std::rotl(hash ^ (word_at<unsigned char>(at) * prime5), 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

}  // namespace cucore::detail
