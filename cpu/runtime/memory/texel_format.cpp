// Texel formats: see texel_format.hpp.
#include "cpu/runtime/memory/texel_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace cucore::cpu::runtime {

namespace {

using Kind = TexelFormat::Kind;

template <class T>
T channel_at(const std::byte* texel, unsigned int channel) {
  T value;
  std::memcpy(&value, texel + channel * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void put_channel(std::byte* texel, unsigned int channel, T value) {
  std::memcpy(texel + channel * sizeof(T), &value, sizeof(T));
}

float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 31;
  const std::uint32_t fraction = half & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
  return sign != 0 ? -magnitude : magnitude;
}

/// A whole number of steps for a value in [-1, 1] or [0, 1].
std::int32_t steps_of(float value, float least, float most_steps) {
  return static_cast<std::int32_t>(
      std::nearbyint(std::clamp(std::isnan(value) ? 0.0F : value, least, 1.0F) * most_steps));
}

}  // namespace

std::optional<TexelFormat> texel_format(CUarray_format format, unsigned int channels) {
  const auto made = [channels](Kind kind, std::uint8_t bytes) -> std::optional<TexelFormat> {
    if (channels != 1 && channels != 2 && channels != 4) return std::nullopt;
    return TexelFormat{kind, bytes, static_cast<std::uint8_t>(channels)};
  };
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return made(Kind::Unsigned, 1);
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return made(Kind::Unsigned, 2);
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return made(Kind::Unsigned, 4);
    case CU_AD_FORMAT_SIGNED_INT8:
      return made(Kind::Signed, 1);
    case CU_AD_FORMAT_SIGNED_INT16:
      return made(Kind::Signed, 2);
    case CU_AD_FORMAT_SIGNED_INT32:
      return made(Kind::Signed, 4);
    case CU_AD_FORMAT_HALF:
      return made(Kind::Half, 2);
    case CU_AD_FORMAT_FLOAT:
      return made(Kind::Float, 4);
    default:
      break;
  }
  // The normalised formats say their number of channels themselves: 1, 2 and 4 of each width.
  const int index = static_cast<int>(format) - static_cast<int>(CU_AD_FORMAT_UNORM_INT8X1);
  if (index < 0 || format > CU_AD_FORMAT_SNORM_INT16X4 || channels != 1U << index % 3) return std::nullopt;
  return made(index < 6 ? Kind::UnsignedNormalized : Kind::SignedNormalized, index / 3 % 2 == 0 ? 1 : 2);
}

std::optional<TexelFormat> texel_format(CUresourceViewFormat format) {
  if (format >= CU_RES_VIEW_FORMAT_UNSIGNED_BC1 && format <= CU_RES_VIEW_FORMAT_UNSIGNED_BC7) {
    constexpr auto number = Kind::UnsignedNormalized;
    constexpr TexelFormat formats[] = {{number, 1, 4, BlockFormat::Bc1},
                                       {number, 1, 4, BlockFormat::Bc2},
                                       {number, 1, 4, BlockFormat::Bc3},
                                       {number, 1, 1, BlockFormat::Bc4},
                                       {Kind::SignedNormalized, 1, 1, BlockFormat::Bc4Signed},
                                       {number, 1, 2, BlockFormat::Bc5},
                                       {Kind::SignedNormalized, 1, 2, BlockFormat::Bc5Signed},
                                       {Kind::Half, 2, 4, BlockFormat::Bc6h},
                                       {Kind::Half, 2, 4, BlockFormat::Bc6hSigned},
                                       {number, 1, 4, BlockFormat::Bc7}};
    return formats[format - CU_RES_VIEW_FORMAT_UNSIGNED_BC1];
  }
  if (format < CU_RES_VIEW_FORMAT_UINT_1X8 || format > CU_RES_VIEW_FORMAT_FLOAT_4X32) return std::nullopt;
  const int index = static_cast<int>(format) - static_cast<int>(CU_RES_VIEW_FORMAT_UINT_1X8);
  struct Row {
    Kind kind;
    std::uint8_t bytes;
  };
  constexpr Row rows[] = {{Kind::Unsigned, 1}, {Kind::Signed, 1}, {Kind::Unsigned, 2}, {Kind::Signed, 2},
                          {Kind::Unsigned, 4}, {Kind::Signed, 4}, {Kind::Half, 2},     {Kind::Float, 4}};
  const Row& row = rows[index / 3];
  return TexelFormat{row.kind, row.bytes, static_cast<std::uint8_t>(1 << index % 3)};
}

std::uint32_t channel_word(const TexelFormat& format, const std::byte* texel, unsigned int channel) {
  if (!format.is_integer()) return std::bit_cast<std::uint32_t>(channel_float(format, texel, channel));
  const bool is_signed = format.kind == Kind::Signed;
  switch (format.channel_bytes) {
    case 1:
      return is_signed ? static_cast<std::uint32_t>(channel_at<std::int8_t>(texel, channel))
                       : channel_at<std::uint8_t>(texel, channel);
    case 2:
      return is_signed ? static_cast<std::uint32_t>(channel_at<std::int16_t>(texel, channel))
                       : channel_at<std::uint16_t>(texel, channel);
    default:
      return channel_at<std::uint32_t>(texel, channel);
  }
}

float channel_float(const TexelFormat& format, const std::byte* texel, unsigned int channel) {
  switch (format.kind) {
    case Kind::Float:
      return channel_at<float>(texel, channel);
    case Kind::Half:
      return float_of_half(channel_at<std::uint16_t>(texel, channel));
    case Kind::Unsigned:
    case Kind::UnsignedNormalized:
      return format.channel_bytes == 1 ? static_cast<float>(channel_at<std::uint8_t>(texel, channel)) / 255.0F
                                       : static_cast<float>(channel_at<std::uint16_t>(texel, channel)) / 65535.0F;
    default:
      return std::max(-1.0F, format.channel_bytes == 1
                                 ? static_cast<float>(channel_at<std::int8_t>(texel, channel)) / 127.0F
                                 : static_cast<float>(channel_at<std::int16_t>(texel, channel)) / 32767.0F);
  }
}

void store_channel(const TexelFormat& format, std::byte* texel, unsigned int channel, std::uint32_t word) {
  const auto number = std::bit_cast<float>(word);
  switch (format.kind) {
    case Kind::Half:
      return put_channel(texel, channel, half_of(number));
    case Kind::UnsignedNormalized:
      word = static_cast<std::uint32_t>(steps_of(number, 0.0F, format.channel_bytes == 1 ? 255.0F : 65535.0F));
      break;
    case Kind::SignedNormalized:
      word = static_cast<std::uint32_t>(steps_of(number, -1.0F, format.channel_bytes == 1 ? 127.0F : 32767.0F));
      break;
    default:
      break;
  }
  if (format.channel_bytes == 1) {
    put_channel(texel, channel, static_cast<std::uint8_t>(word));
  } else if (format.channel_bytes == 2) {
    put_channel(texel, channel, static_cast<std::uint16_t>(word));
  } else {
    put_channel(texel, channel, word);
  }
}

float linear_of_srgb(float encoded) {
  return encoded <= 0.04045F ? encoded / 12.92F : std::pow((encoded + 0.055F) / 1.055F, 2.4F);
}

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const float magnitude = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(0x7fffu);
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x1p-14F) {  // steps of 2^-24, to nearest even
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, 24))));
  }
  const std::uint32_t rounded = (bits & 0x7fffffffu) + 0xfffu + (bits >> 13 & 1);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112u << 10)));
}

}  // namespace cucore::cpu::runtime
