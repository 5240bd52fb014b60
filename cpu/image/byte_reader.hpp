// Little-endian numbers out of untrusted bytes: reading past the end gives none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cucore::cpu::image {

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::uint16_t> u16(std::uint64_t offset) const { return read<std::uint16_t>(offset); }
  std::optional<std::uint32_t> u32(std::uint64_t offset) const { return read<std::uint32_t>(offset); }
  std::optional<std::uint64_t> u64(std::uint64_t offset) const { return read<std::uint64_t>(offset); }

  /// `length` bytes at `offset`; none if they do not all lie inside.
  std::optional<std::string_view> slice(std::uint64_t offset, std::uint64_t length) const {
    if (offset > bytes_.size() || length > bytes_.size() - offset) return std::nullopt;
    return bytes_.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  }

 private:
  template <typename Number>
  std::optional<Number> read(std::uint64_t offset) const {
    const auto bytes = slice(offset, sizeof(Number));
    if (!bytes) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>((*bytes)[i])} << (8 * i);
    }
    return static_cast<Number>(value);
  }

  std::string_view bytes_;
};

}  // namespace cucore::cpu::image
