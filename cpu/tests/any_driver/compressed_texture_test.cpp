// Textures in compressed blocks, by views of arrays of words: BC1 to BC7. What blocks hold was computed by other
// decoders, in eight bits a channel: BC6H and BC7 by the specification's, BC1 to BC5 by a model of what an H100 gives
// for all end points. The alpha of BC6H is 0, as an H100 gives it.
#include <array>
#include <cmath>
#include <cstdint>

#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

struct Block {
  CUresourceViewFormat format;
  std::uint32_t words[4];    ///< of a block of eight bytes the first two
  std::uint32_t texels[16];  ///< red in the highest byte, then green, blue and alpha
};

const Block blocks[] = {
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC1,
     {0x1055f812, 0xdda1494c, 0x00000000, 0x00000000},
     {0xff0094ff, 0x6005a5ff, 0xff0094ff, 0x1008adff, 0x1008adff, 0xb0039cff, 0xff0094ff, 0x1008adff, 0x1008adff,
      0xff0094ff, 0xb0039cff, 0xb0039cff, 0x1008adff, 0x6005a5ff, 0x1008adff, 0x6005a5ff}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC1,
     {0xf8121055, 0xc7fde805, 0x00000000, 0x00000000},
     {0xff0094ff, 0xff0094ff, 0x1008adff, 0x1008adff, 0x1008adff, 0x8804a0ff, 0x8804a0ff, 0x00000000, 0xff0094ff,
      0x00000000, 0x00000000, 0x00000000, 0x00000000, 0xff0094ff, 0x1008adff, 0x00000000}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC2,
     {0x8201e2bd, 0xdae44550, 0x965eda32, 0x309d6b79},
     {0x94cbf7dd, 0xc66fb5bb, 0xada1d622, 0x94cbf7ee, 0xada1d611, 0xc66fb500, 0xc66fb522, 0x94cbf788, 0x94cbf700,
      0xada1d655, 0x94cbf755, 0xc66fb544, 0xde459444, 0xde4594ee, 0xada1d6aa, 0xde4594dd}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC3,
     {0x2f4514c8, 0xcdcc6929, 0x830c71c2, 0x79cb9e86},
     {0x79452c61, 0x846163c8, 0x73381061, 0x79452c2d, 0x79452cae, 0x7e5447ae, 0x846163ae, 0x79452c14, 0x7e544714,
      0x79452c61, 0x73381014, 0x7e544747, 0x8461637a, 0x79452c94, 0x7e544794, 0x84616347}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC4,
     {0xa13fc814, 0x9d2c67ed, 0x00000000, 0x00000000},
     {0xff000000, 0xff000000, 0x85000000, 0x14000000, 0x36000000, 0x57000000, 0x57000000, 0xff000000, 0xff000000,
      0x85000000, 0xc8000000, 0x00000000, 0x36000000, 0x36000000, 0xff000000, 0x85000000}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC5,
     {0x18187993, 0x7253edc6, 0x4dabb481, 0x244caf9c},
     {0x93940000, 0x8caa0000, 0x93000000, 0x88000000, 0x79a10000, 0x88810000, 0x79ff0000, 0x80a10000, 0x84ff0000,
      0x84aa0000, 0x7d8b0000, 0x79000000, 0x84a10000, 0x88810000, 0x88b40000, 0x8cb40000}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0xb1852f24, 0xa26b7f62, 0x0ab8ab67, 0x986e86cb},
     {0x18ff0b00, 0x19ff0b00, 0x11ff0c00, 0x10ff0d00, 0x16ff0b00, 0x11ff0d00, 0x10ff0e00, 0x11ff0d00, 0x19ff0b00,
      0x10ff0e00, 0x11ff0c00, 0x11ff0d00, 0x11ff0d00, 0x10ff0e00, 0x11ff0d00, 0x10ff0d00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x8743feb5, 0x102b938b, 0x0f3ebdd3, 0x09208a65},
     {0xff004400, 0xff004400, 0xff010600, 0xff004400, 0xff00b300, 0xff000e00, 0xff001d00, 0xff00ff00, 0xff007d00,
      0xff007d00, 0xff009400, 0xff00ff00, 0xff016100, 0xff016100, 0xff016100, 0xff00ff00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x1dd377a2, 0x65151c40, 0x6bb6a3de, 0xfd741069},
     {0xc08f0000, 0xc48b0000, 0xcd820000, 0xc28d0000, 0xd4910000, 0xc08f0000, 0xc9860000, 0xc08f0000, 0xdb8e0000,
      0xd6900000, 0xbe910000, 0xc28d0000, 0xcb950000, 0xd6900000, 0xcb950000, 0xcd820000}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x4ddc74c6, 0xff769e37, 0xe286852c, 0x050684bf},
     {0x93ffff00, 0x91ffff00, 0x9affff00, 0x9affff00, 0x9bffff00, 0x9dffff00, 0x9dffff00, 0x8cffff00, 0x98ffff00,
      0x91ffff00, 0x95ffff00, 0x96ffff00, 0x91ffff00, 0x95ffff00, 0x93ffff00, 0x91ffff00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0xdab871ca, 0x9a1de24e, 0xa44f576a, 0x93b3a3d9},
     {0x6e00ff00, 0x7200ff00, 0x7600ff00, 0x6f00ff00, 0x6f00ff00, 0x7300ff00, 0x7000ff00, 0x6b00ff00, 0x6e00ff00,
      0x7200ff00, 0x7000ff00, 0x7000ff00, 0x6e00ff00, 0x6f00ff00, 0x7200ff00, 0x6d00ff00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x36971e0e, 0x7108e022, 0x421e7a60, 0x027385c9},
     {0xd4ffff00, 0x67ffff00, 0x65ffff00, 0x67ffff00, 0xd8ffff00, 0xcfffff00, 0x69ffff00, 0x72ffff00, 0xddffff00,
      0xc7ffff00, 0xe1ffff00, 0x67ffff00, 0xe5ffff00, 0xd8ffff00, 0xc7ffff00, 0xc7ffff00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0xc5cefdd2, 0x9c3ecb54, 0x54366c21, 0xd48dd9f3},
     {0xffff1c00, 0xffff1200, 0xffff1700, 0xffff1400, 0xffff1300, 0xffff1100, 0x5cff1100, 0x00ff0e00, 0xffff1c00,
      0xffff1800, 0xffff0f00, 0x00ff0f00, 0xffff1e00, 0xffff1c00, 0xffff1300, 0xffff1100}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x1711eb56, 0x356f8bd1, 0x952e1b8b, 0xa2f7647a},
     {0x0d00ff00, 0x0d00ff00, 0x0d00ff00, 0x0b00ff00, 0x0c01ff00, 0x0d00ff00, 0x0900ff00, 0x0e00ff00, 0x1101ff00,
      0x0801ff00, 0x0801ff00, 0x0b00ff00, 0x0701ff00, 0x1101ff00, 0x0c01ff00, 0x1101ff00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x3e36185a, 0x03f8670d, 0x99edbce7, 0x5e617f8e},
     {0xff52ff00, 0xff5cff00, 0xff52ff00, 0xff5cff00, 0xff55ff00, 0xff5cff00, 0xff4bff00, 0xff5cff00, 0xff40ff00,
      0xff40ff00, 0xff57ff00, 0xff5fff00, 0xff52ff00, 0xff45ff00, 0xff52ff00, 0xff5bff00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x931719fe, 0x22bfb8e0, 0xddd4a054, 0x62d74145},
     {0x02ff0000, 0x20ff0000, 0x1eff0000, 0x00ff0000, 0x3dff0000, 0x00ff0000, 0xff730000, 0x00ff0000, 0x01ff0000,
      0x03ff0000, 0x00ff0000, 0x00ff0000, 0x00ff0000, 0xe4ff0000, 0x03ff0000, 0xffff0000}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x2ecdcc03, 0xa0931ed4, 0x27756991, 0x4f91540c},
     {0xff2eff00, 0xff01ff00, 0xff01ff00, 0xff05ff00, 0xff07ff00, 0xff03ff00, 0xff03ff00, 0xff15ff00, 0xff00ff00,
      0xff2eff00, 0xff0aff00, 0xff07ff00, 0xff1fff00, 0xff01ff00, 0xff00ff00, 0xff0aff00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0xe88e7527, 0x3a775505, 0xd15b77f2, 0x9c461cb5},
     {0xffff1800, 0x00ff4c00, 0xffff2800, 0xffff2800, 0x03ff3700, 0xffff2000, 0xffff1800, 0x00ff3e00, 0xffff2000,
      0x03ff3700, 0x00ff3a00, 0xffff1800, 0xffff2500, 0xffff1e00, 0x00ff3a00, 0x36ff2f00}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x119b4feb, 0x205bc308, 0x3a782ebb, 0x7ab36602},
     {0x00780100, 0x00710200, 0x006e0200, 0x007b0100, 0x00750200, 0x00760200, 0x00720200, 0x007a0100, 0x007b0100,
      0x007d0100, 0x00770200, 0x00770200, 0x007a0100, 0x00710200, 0x00720200, 0x00760200}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC6H,
     {0x2c7c856f, 0x07efdda7, 0x789b9d63, 0x362ff564},
     {0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000,
      0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0x856548c3, 0xdea4e401, 0x2d09c10d, 0x13ab29de},
     {0x5fab6aff, 0x63c652ff, 0x513dceff, 0x9a0ddcff, 0x5fab6aff, 0x4e23e7ff, 0x7516b7ff, 0x29296bff, 0xb57384ff,
      0x4b3825ff, 0x611ba3ff, 0x4e2090ff, 0x8b5c5fff, 0x212100ff, 0x5f4438ff, 0xad08efff}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0xa901bbd6, 0x8603a053, 0x908a1393, 0x043f0c63},
     {0xb13821ff, 0xed4c18ff, 0x51cac9ff, 0x7f646cff, 0x72222bff, 0x6e898dff, 0x7f646cff, 0xcf421dff, 0x9c2330ff,
      0x42ebe7ff, 0x360e34ff, 0x180438ff, 0x51cac9ff, 0x72222bff, 0xed4c18ff, 0x42ebe7ff}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0xf6892594, 0xb2bce769, 0xf436ae9e, 0xd89602a3},
     {0x9473a5ff, 0x477373ff, 0x477373ff, 0xb8e199ff, 0x8cf76bff, 0x8cf76bff, 0x8cf76bff, 0x7bb5d6ff, 0x21735aff,
      0x477373ff, 0x9473a5ff, 0x99cbb8ff, 0x8cf76bff, 0xb55218ff, 0xa88833ff, 0x99cbb8ff}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0xa0acc938, 0xd7d60777, 0x16a57ddf, 0xc6341b41},
     {0x643aeeff, 0x41fb4bff, 0x41fb4bff, 0x75f950ff, 0xac607cff, 0x9454a1ff, 0x75f950ff, 0x41fb4bff, 0x643aeeff,
      0x7c46c9ff, 0xac607cff, 0x41fb4bff, 0x9454a1ff, 0x7c46c9ff, 0x643aeeff, 0xac607cff}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0x85a72c70, 0xfe2d2685, 0x4573302b, 0xdc841c36},
     {0x864f658a, 0x864f4e8a, 0x864f528a, 0x634a60c6, 0xce5a5710, 0xce5a5710, 0xce5a5210, 0xce5a6510, 0x864f578a,
      0x864f5c8a, 0x864f698a, 0x634a60c6, 0x634a69c6, 0xab55654c, 0x864f498a, 0xab554e4c}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0x475d48e0, 0xd8b7c06b, 0x1363d219, 0xf71f57ea},
     {0x913a450c, 0x74b55ef1, 0x913a5e0c, 0x913a760c, 0x87627657, 0x7e8d45a6, 0x7e8d45a6, 0x74b545f1, 0x87627657,
      0x913a760c, 0x74b545f1, 0x7e8d2da6, 0x87627657, 0x7e8d45a6, 0x913a760c, 0x913a760c}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0xb0ee8f40, 0x348badb4, 0xa80db04f, 0x2d7772b4},
     {0x574e9e7b, 0x4b328881, 0x3c0e6c8a, 0x6673bb72, 0x6d84c86e, 0x3c0e6c8a, 0x5a57a578, 0x626ab474, 0x4b328881,
      0x6673bb72, 0x44217b85, 0x574e9e7b, 0x574e9e7b, 0x574e9e7b, 0x6d84c86e, 0x44217b85}},
    {CU_RES_VIEW_FORMAT_UNSIGNED_BC7,
     {0x46543080, 0xb5451f8d, 0x3b102f44, 0x0eaa3cbb},
     {0x8218aa59, 0x5514d7ef, 0x7262ad3c, 0x7262ad3c, 0x4a3c9ccf, 0x5514d7ef, 0x3f665fae, 0x8218aa59, 0x61b1af1d,
      0x4a3c9ccf, 0x61b1af1d, 0x61b1af1d, 0x61b1af1d, 0x51fbb200, 0x8218aa59, 0x8218aa59}},
};

bool is_short(CUresourceViewFormat format) {
  return format == CU_RES_VIEW_FORMAT_UNSIGNED_BC1 || format == CU_RES_VIEW_FORMAT_UNSIGNED_BC4 ||
         format == CU_RES_VIEW_FORMAT_SIGNED_BC4;
}

bool has_alpha(CUresourceViewFormat format) { return !is_short(format) || format == CU_RES_VIEW_FORMAT_UNSIGNED_BC1; }

class CompressedTextures : public Textures {
 protected:
  /// A texture of one block beside an empty one.
  CUtexObject texture_of(CUresourceViewFormat format, const std::uint32_t (&words)[4], unsigned int flags = 0) {
    const unsigned int count = is_short(format) ? 2 : 4;
    const CUarray made = array(CU_AD_FORMAT_UNSIGNED_INT32, count, 2, 1);
    std::vector<std::uint32_t> values(std::size_t{2} * count);
    std::copy_n(words, count, values.begin());
    fill(made, values, 1);
    CUDA_RESOURCE_VIEW_DESC view{};
    view.format = format;
    view.width = 8;
    view.height = 4;
    return texture(resource_of(made), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, flags), &view);
  }

  static std::vector<Float4> places() {
    std::vector<Float4> all;
    for (int n = 0; n < 16; ++n) all.push_back({static_cast<float>(n % 4) + 0.5F, static_cast<float>(n / 4) + 0.5F});
    return all;
  }
};

std::vector<float> channels_of(const Float4& texel) {
  const auto* const first = reinterpret_cast<const float*>(&texel);
  return {first, first + 4};
}

TEST_F(CompressedTextures, blocks_decode_to_their_texels) {
  for (const Block& block : blocks) {
    const auto found = at<Float4>("tex_2d_float4", texture_of(block.format, block.words), places());
    for (std::size_t n = 0; n < 16; ++n) {
      for (unsigned c = 0; c < (block.format == CU_RES_VIEW_FORMAT_UNSIGNED_BC5 ? 2U : 4U); ++c) {
        if (c == 3 && !has_alpha(block.format)) continue;
        const float expected = static_cast<float>(block.texels[n] >> (24 - 8 * c) & 255);
        const float value = std::fmin(std::fmax(channels_of(found[n])[c], 0.0F), 1.0F) * 255.0F;
        EXPECT_NEAR(expected, value, 2) << "format " << block.format << ", first word " << block.words[0] << ", texel "
                                        << n << ", channel " << c;
      }
    }
  }
}

TEST_F(CompressedTextures, signed_channels_go_from_minus_one_to_one) {
  // 127 and -127 as end points: all eight places, the lines between them too, in 129ths as an H100 has them.
  const float expected[] = {1.0F,        -1.0F,        93 / 129.0F,  57 / 129.0F,
                            15 / 129.0F, -15 / 129.0F, -57 / 129.0F, -93 / 129.0F};
  for (const auto format : {CU_RES_VIEW_FORMAT_SIGNED_BC4, CU_RES_VIEW_FORMAT_SIGNED_BC5}) {
    std::uint64_t indices = 0;
    for (std::uint64_t n = 0; n < 8; ++n) indices |= n << 3 * n;
    const std::uint64_t bits = 0x817fU | indices << 16;
    const auto low = static_cast<std::uint32_t>(bits), high = static_cast<std::uint32_t>(bits >> 32);
    const std::uint32_t block[4] = {low, high, low, high};
    const auto found = at<Float4>("tex_2d_float4", texture_of(format, block), places());
    for (std::size_t n = 0; n < 8; ++n) {
      EXPECT_NEAR(expected[n], channels_of(found[n])[0], 1e-4) << n;
      if (format == CU_RES_VIEW_FORMAT_SIGNED_BC5) {
        EXPECT_NEAR(expected[n], channels_of(found[n])[1], 1e-4) << n;
      }
    }
  }
}

TEST_F(CompressedTextures, what_lies_between_end_points_has_the_bits_that_gpus_give) {
  // Red 31 and 0, green 63 and 0, blue 0 and 31: places 0 to 3.
  const std::uint32_t colours[4] = {0x001fffe0, 0xe4, 0, 0};
  const auto colour = at<Float4>("tex_2d_float4", texture_of(CU_RES_VIEW_FORMAT_UNSIGNED_BC1, colours), places());
  EXPECT_EQ(170 / 255.0F, colour[2].x);
  EXPECT_EQ(175 / 255.0F, colour[2].y);
  EXPECT_EQ(85 / 255.0F, colour[2].z);
  EXPECT_EQ(85 / 255.0F, colour[3].x);
  EXPECT_EQ(80 / 255.0F, colour[3].y);
  EXPECT_EQ(170 / 255.0F, colour[3].z);
  // 5 and 0, then 0 and 5: places 0 to 7.
  std::uint64_t indices = 0;
  for (std::uint64_t n = 0; n < 8; ++n) indices |= n << 3 * n;
  const auto words_of = [&](std::uint32_t ends) {
    const std::uint64_t bits = ends | indices << 16;
    return std::array<std::uint32_t, 2>{static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  };
  const auto six = words_of(0x0005), four = words_of(0x0500);
  const std::uint32_t wide[4] = {six[0], six[1], 0, 0}, narrow[4] = {four[0], four[1], 0, 0};
  const auto of_six = at<Float4>("tex_2d_float4", texture_of(CU_RES_VIEW_FORMAT_UNSIGNED_BC4, wide), places());
  const auto of_four = at<Float4>("tex_2d_float4", texture_of(CU_RES_VIEW_FORMAT_UNSIGNED_BC4, narrow), places());
  const float expected_six[] = {1285, 0, 1105, 925, 720, 565, 360, 180};
  const float expected_four[] = {0, 1285, 240, 480, 805, 1045, 0, 65535};
  for (std::size_t n = 0; n < 8; ++n) {
    EXPECT_EQ(expected_six[n] / 65535.0F, of_six[n].x) << n;
    EXPECT_EQ(expected_four[n] / 65535.0F, of_four[n].x) << n;
  }
}

TEST_F(CompressedTextures, signed_halves_may_be_negative_between_their_end_points_too) {
  // Of one line with end points of ten bits: -1 and -255 of 511 in each channel, places 0 to 15.
  std::uint64_t low = 3, high = 0;
  const auto put = [&](unsigned at, std::uint64_t value, unsigned count) {
    for (unsigned n = 0; n < count; ++n) (at + n < 64 ? low : high) |= (value >> n & 1) << (at + n) % 64;
  };
  for (unsigned c = 0; c < 3; ++c) put(5 + 10 * c, 0x3ff, 10), put(35 + 10 * c, 0x301, 10);
  for (unsigned n = 1; n < 16; ++n) put(64 + 4 * n, n, 4);
  const std::uint32_t words[4] = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32),
                                  static_cast<std::uint32_t>(high), static_cast<std::uint32_t>(high >> 32)};
  const auto found = at<Float4>("tex_2d_float4", texture_of(CU_RES_VIEW_FORMAT_SIGNED_BC6H, words), places());
  for (std::size_t n = 0; n < 16; ++n) {
    EXPECT_LT(channels_of(found[n])[0], 0) << n;
    EXPECT_EQ(channels_of(found[n])[0], channels_of(found[n])[2]) << n;
    if (n > 0) {
      EXPECT_LT(channels_of(found[n])[0], channels_of(found[n - 1])[0]) << n;
    }
  }
}

TEST_F(CompressedTextures, other_arrays_and_extents_do_not_fit) {
  const CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  const auto answer = [&](CUarray_format format, unsigned int channels, CUresourceViewFormat as, std::size_t width) {
    const CUDA_RESOURCE_DESC resource = resource_of(array(format, channels, 2, 2));
    CUDA_RESOURCE_VIEW_DESC view{};
    view.format = as;
    view.width = width;
    view.height = 8;
    CUtexObject made = 0;
    const CUresult result = cuTexObjectCreate(&made, &resource, &how, &view);
    if (result == CUDA_SUCCESS) textures_.push_back(made);
    return result;
  };
  EXPECT_OK(answer(CU_AD_FORMAT_UNSIGNED_INT32, 2, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 8));
  EXPECT_OK(answer(CU_AD_FORMAT_UNSIGNED_INT32, 4, CU_RES_VIEW_FORMAT_UNSIGNED_BC7, 8));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(CU_AD_FORMAT_UNSIGNED_INT32, 2, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 2));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(CU_AD_FORMAT_UNSIGNED_INT32, 4, CU_RES_VIEW_FORMAT_UNSIGNED_BC1, 8));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(CU_AD_FORMAT_UNSIGNED_INT32, 2, CU_RES_VIEW_FORMAT_UNSIGNED_BC7, 8));
}

}  // namespace
