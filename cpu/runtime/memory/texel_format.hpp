// What a texel's bytes mean: its channels, and their values as words or as floats.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace cucore::cpu::runtime {

/// Texels that are compressed in blocks of 4 by 4.
enum class BlockFormat : std::uint8_t { None, Bc1, Bc2, Bc3, Bc4, Bc4Signed, Bc5, Bc5Signed, Bc6h, Bc6hSigned, Bc7 };

/// Texels of a block along each axis.
constexpr std::int64_t side_of_block = 4;

struct TexelFormat {
  enum class Kind : std::uint8_t { Unsigned, Signed, UnsignedNormalized, SignedNormalized, Half, Float };

  Kind kind = Kind::Unsigned;
  std::uint8_t channel_bytes = 1;  ///< 1, 2 or 4
  std::uint8_t channels = 1;       ///< 1, 2 or 4
  BlockFormat block = BlockFormat::None;

  /// Of a texel, or of a block of them.
  std::size_t bytes() const {
    if (block == BlockFormat::None) return std::size_t{channel_bytes} * channels;
    const bool is_half = block == BlockFormat::Bc1 || block == BlockFormat::Bc4 || block == BlockFormat::Bc4Signed;
    return is_half ? 8 : 16;
  }
  bool is_integer() const { return kind == Kind::Unsigned || kind == Kind::Signed; }
  bool is_normalized() const { return kind == Kind::UnsignedNormalized || kind == Kind::SignedNormalized; }
  /// Other formats are read as they are, whatever the texture's read mode.
  bool can_be_srgb() const {
    return channel_bytes == 1 && (block == BlockFormat::None || channels == 4) &&
           (kind == Kind::Unsigned || kind == Kind::UnsignedNormalized);
  }
  bool operator==(const TexelFormat&) const = default;
};

/// Nothing for formats that this driver does not know (planes, compressed blocks) and for wrong numbers of channels.
std::optional<TexelFormat> texel_format(CUarray_format format, unsigned int channels);
/// Nothing for CU_RES_VIEW_FORMAT_NONE. Channels of compressed blocks are what they decode to.
std::optional<TexelFormat> texel_format(CUresourceViewFormat format);

/// One channel as the 32-bit register that an instruction sees: integers widened, floats by their bits.
std::uint32_t channel_word(const TexelFormat& format, const std::byte* texel, unsigned int channel);
/// One channel as a number; integers as fractions of the largest one.
float channel_float(const TexelFormat& format, const std::byte* texel, unsigned int channel);
/// Stores one channel of a formatted write: a float for normalised and floating formats, else an integer.
void store_channel(const TexelFormat& format, std::byte* texel, unsigned int channel, std::uint32_t word);

float linear_of_srgb(float encoded);
std::uint16_t half_of(float value);

}  // namespace cucore::cpu::runtime
