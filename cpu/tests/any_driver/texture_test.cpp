// Textures of one to three dimensions against the formulas of CUDA's programming guide.
// Nothing here knows which driver runs it, and coordinates are such that filter weights of 8 bits are exact.
#include <cmath>

#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

constexpr CUaddress_mode modes[] = {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_MIRROR,
                                    CU_TR_ADDRESS_MODE_BORDER};

/// The index that an address mode gives, or -1: the border.
int addressed(int i, int n, CUaddress_mode mode) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      return (i % n + n) % n;
    case CU_TR_ADDRESS_MODE_MIRROR: {
      const int place = (i % (2 * n) + 2 * n) % (2 * n);
      return place < n ? place : 2 * n - 1 - place;
    }
    case CU_TR_ADDRESS_MODE_BORDER:
      return i < 0 || i >= n ? -1 : i;
    default:
      return std::clamp(i, 0, n - 1);
  }
}

// ---- linear and pitched memory -------------------------------------------------------------------------------------

class LinearTextures : public Textures {
 protected:
  template <class T>
  CUtexObject linear(const std::vector<T>& values, CUarray_format format, unsigned int channels, unsigned int flags) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {device_copy(values.data(), values.size() * sizeof(T)), format, channels,
                           values.size() * sizeof(T)};
    return texture(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, flags));
  }
};

TEST_F(LinearTextures, a_fetch_reads_an_element_and_zero_outside) {
  const CUtexObject t = linear<float>({1.5F, -2, 3}, CU_AD_FORMAT_FLOAT, 1, 0);
  EXPECT_EQ((std::vector<float>{1.5F, -2, 3, 0, 0}), at<float>("fetch_float", t, {{0}, {1}, {2}, {3}, {-1}}));
}

TEST_F(LinearTextures, integers_of_every_width_are_read_as_they_are) {
  constexpr unsigned int flag_bits = CU_TRSF_READ_AS_INTEGER;
  const auto u8 = linear<std::uint8_t>({1, 255, 0, 7}, CU_AD_FORMAT_UNSIGNED_INT8, 4, flag_bits);
  const auto s8 = linear<std::int8_t>({1, -1, -128, 127}, CU_AD_FORMAT_SIGNED_INT8, 4, flag_bits);
  const auto u16 = linear<std::uint16_t>({1, 65535, 0, 7}, CU_AD_FORMAT_UNSIGNED_INT16, 4, flag_bits);
  const auto s16 = linear<std::int16_t>({1, -1, -32768, 7}, CU_AD_FORMAT_SIGNED_INT16, 4, flag_bits);
  const auto u32 = linear<std::uint32_t>({1, 0xffffffffu, 0, 7}, CU_AD_FORMAT_UNSIGNED_INT32, 4, flag_bits);
  const auto s32 = linear<std::int32_t>({1, -1, INT32_MIN, 7}, CU_AD_FORMAT_SIGNED_INT32, 4, flag_bits);
  EXPECT_EQ((Uint4{1, 255, 0, 7}), one<Uint4>("fetch_uint4", u8));
  EXPECT_EQ((Int4{1, -1, -128, 127}), one<Int4>("fetch_int4", s8));
  EXPECT_EQ((Uint4{1, 65535, 0, 7}), one<Uint4>("fetch_uint4", u16));
  EXPECT_EQ((Int4{1, -1, -32768, 7}), one<Int4>("fetch_int4", s16));
  EXPECT_EQ((Uint4{1, 0xffffffffu, 0, 7}), one<Uint4>("fetch_uint4", u32));
  EXPECT_EQ((Int4{1, -1, INT32_MIN, 7}), one<Int4>("fetch_int4", s32));
}

TEST_F(LinearTextures, small_integers_become_fractions_of_the_largest) {
  const auto u8 = linear<std::uint8_t>({0, 255, 51, 0}, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
  const auto s8 = linear<std::int8_t>({0, 127, -127, -128}, CU_AD_FORMAT_SIGNED_INT8, 4, 0);
  const auto u16 = linear<std::uint16_t>({0, 65535, 13107, 0}, CU_AD_FORMAT_UNSIGNED_INT16, 4, 0);
  const auto s16 = linear<std::int16_t>({0, 32767, -32767, -32768}, CU_AD_FORMAT_SIGNED_INT16, 4, 0);
  const auto near = [](const Float4& expected, const Float4& found) {
    EXPECT_NEAR(expected.x, found.x, 1e-6);
    EXPECT_NEAR(expected.y, found.y, 1e-6);
    EXPECT_NEAR(expected.z, found.z, 1e-6);
    EXPECT_NEAR(expected.w, found.w, 1e-6);
  };
  near({0, 1, 0.2F, 0}, one<Float4>("fetch_float4", u8));
  near({0, 1, -1, -1}, one<Float4>("fetch_float4", s8));
  near({0, 1, 0.2F, 0}, one<Float4>("fetch_float4", u16));
  near({0, 1, -1, -1}, one<Float4>("fetch_float4", s16));
}

TEST_F(LinearTextures, halves_are_read_as_floats) {
  const auto t = linear<std::uint16_t>({0x3c00, 0xc000, 0x0001, 0x7bff}, CU_AD_FORMAT_HALF, 4, 0);
  EXPECT_EQ((Float4{1, -2, 0x1p-24F, 65504}), one<Float4>("fetch_float4", t));
}

TEST_F(Textures, pitched_memory_is_a_2d_texture) {
  constexpr std::size_t pitch = 512;
  std::vector<float> values(pitch / 4 * 3, -1.0F);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x)
      values[static_cast<std::size_t>(y) * pitch / 4 + static_cast<std::size_t>(x)] = static_cast<float>(10 * y + x);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {device_copy(values.data(), values.size() * 4), CU_AD_FORMAT_FLOAT, 1, 5, 3, pitch};
  const CUtexObject point = texture(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ((std::vector<float>{0, 12, 24, 24, 20}),
            at<float>("tex_2d", point, {{0.5F, 0.5F}, {2.5F, 1.5F}, {4.9F, 2.9F}, {99, 99}, {-3, 99}}));
  const CUtexObject linear = texture(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ(6.0F, one<float>("tex_2d", linear, Float4{1.5F, 1.0F}));  // between 1 and 11
}

// ---- arrays: addressing and filtering
// --------------------------------------------------------------------------------

TEST_F(Textures, point_sampling_in_1d_takes_the_texel_that_holds_the_place) {
  const CUarray a = counting(6);
  for (const CUaddress_mode mode : modes) {
    CUDA_TEXTURE_DESC how = reading(mode, CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES);
    how.borderColor[0] = -7;
    const CUtexObject t = texture(resource_of(a), how);
    std::vector<Float4> places;
    std::vector<float> expected;
    for (int i = -20; i < 26; ++i) {  // the middle of each texel and of those beyond
      places.push_back({(static_cast<float>(i) + 0.5F) / 6.0F});
      const int index = addressed(i, 6, mode);
      expected.push_back(index < 0 ? -7.0F : static_cast<float>(index));
    }
    EXPECT_EQ(expected, at<float>("tex_1d", t, places)) << "mode " << mode;
  }
}

TEST_F(Textures, coordinates_that_are_not_normalised_neither_wrap_nor_mirror) {
  const CUarray a = counting(4);
  for (const CUaddress_mode mode : {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_ADDRESS_MODE_CLAMP}) {
    const CUtexObject t = texture(resource_of(a), reading(mode, CU_TR_FILTER_MODE_POINT));
    EXPECT_EQ((std::vector<float>{0, 3, 2, 3}), at<float>("tex_1d", t, {{-1.5F}, {4.5F}, {2.99F}, {1e30F}}));
  }
}

/// Linear filtering in two dimensions as the guide writes it, of a texture of 8 x 4 counting texels.
double bilinear(double x, double y, CUaddress_mode mode, double border) {
  const auto texel = [&](int i, int j) {
    const int column = addressed(i, 8, mode), row = addressed(j, 4, mode);
    return column < 0 || row < 0 ? border : 8.0 * row + column;
  };
  const double xb = x - 0.5, yb = y - 0.5;
  const int i = static_cast<int>(std::floor(xb)), j = static_cast<int>(std::floor(yb));
  const double a = xb - i, b = yb - j;
  return (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) + (1 - a) * b * texel(i, j + 1) +
         a * b * texel(i + 1, j + 1);
}

TEST_F(Textures, linear_filtering_in_2d_follows_the_guide_in_every_address_mode) {
  const CUarray a = counting(8, 4);
  for (const CUaddress_mode mode : modes) {
    CUDA_TEXTURE_DESC how = reading(mode, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES);
    how.borderColor[0] = 64;
    const CUtexObject t = texture(resource_of(a), how);
    std::vector<Float4> places;
    std::vector<float> expected;
    for (int y = -16; y < 32; y += 3) {
      for (int x = -40; x < 80; x += 3) {  // in quarters of a texel: weights of a quarter are exact
        places.push_back({static_cast<float>(x) / 32.0F, static_cast<float>(y) / 16.0F});
        expected.push_back(static_cast<float>(bilinear(x / 4.0, y / 4.0, mode, 64)));
      }
    }
    EXPECT_EQ(expected, at<float>("tex_2d", t, places)) << "mode " << mode;
  }
}

TEST_F(Textures, filter_weights_have_eight_bits) {
  const CUarray a = array(CU_AD_FORMAT_FLOAT, 1, 2);
  fill<float>(a, {0, 256});
  const CUtexObject t = texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  std::vector<Float4> places;
  std::vector<float> expected;
  for (int k = 0; k <= 256; ++k) {
    places.push_back({0.5F + static_cast<float>(k) / 256.0F});
    expected.push_back(static_cast<float>(k));
  }
  EXPECT_EQ(expected, at<float>("tex_1d", t, places));
  const float between = one<float>("tex_1d", t, Float4{0.5F + 10.3F / 256.0F});
  EXPECT_TRUE(between == 10.0F || between == 11.0F) << between;
}

TEST_F(Textures, linear_filtering_in_3d_takes_eight_texels) {
  const CUarray a = counting(4, 3, 2);
  const CUtexObject t = texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ((std::vector<float>{0, 23, 8.5F, 6.5F, 18.0F}),
            at<float>("tex_3d", t, {{0.5F, 0.5F, 0.5F}, {9, 9, 9}, {1, 1, 1}, {3, 1.5F, 0}, {2.5F, 1.5F, 2}}));
  const CUtexObject point = texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ((std::vector<float>{0, 12 + 4 + 3, 23}),
            at<float>("tex_3d", point, {{0, 0, 0}, {3.5F, 1.5F, 1.5F}, {99, 99, 99}}));
}

TEST_F(Textures, four_channels_of_bytes_are_filtered_and_read) {
  const CUarray a = array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 2, 2);
  fill<std::uint8_t>(a, {0, 0, 0, 255, 255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 0}, 2);
  const CUtexObject integers =
      texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER));
  EXPECT_EQ((std::vector<Uint4>{{255, 0, 0, 255}, {0, 0, 255, 0}}),
            at<Uint4>("tex_2d_uint4", integers, {{1.5F, 0.5F}, {1.5F, 1.5F}}));
  const CUtexObject filtered = texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  const Float4 middle = one<Float4>("tex_2d_float4", filtered, Float4{1, 1});
  EXPECT_NEAR(0.25, middle.x, 1e-3);  // bytes are filtered with fewer bits than floats
  EXPECT_NEAR(0.25, middle.y, 1e-3);
  EXPECT_NEAR(0.25, middle.z, 1e-3);
  EXPECT_NEAR(0.75, middle.w, 1e-3);
}

TEST_F(Textures, signed_integers_of_an_array_keep_their_sign) {
  const CUarray a = array(CU_AD_FORMAT_SIGNED_INT16, 2, 2, 1);
  fill<std::int16_t>(a, {-1, 2, -32768, 32767});
  const CUtexObject t =
      texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER));
  const auto found = at<Int4>("tex_2d_int4", t, {{0.5F, 0.5F}, {1.5F, 0.5F}});
  EXPECT_EQ((std::pair{-1, 2}), (std::pair{found[0].x, found[0].y}));
  EXPECT_EQ((std::pair{-32768, 32767}), (std::pair{found[1].x, found[1].y}));
}

TEST_F(Textures, srgb_is_decoded_before_it_is_read_and_alpha_is_not) {
  const CUarray a = array(CU_AD_FORMAT_UNSIGNED_INT8, 4, 1, 1);
  fill<std::uint8_t>(a, {0, 255, 188, 188});
  const CUtexObject t =
      texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_SRGB));
  const Float4 found = one<Float4>("tex_2d_float4", t, Float4{0.5F, 0.5F});
  EXPECT_EQ(0.0F, found.x);
  EXPECT_NEAR(1.0, found.y, 1e-3);
  EXPECT_NEAR(0.5029, found.z, 2e-3);
  EXPECT_NEAR(188.0 / 255.0, found.w, 1e-5);
}

TEST_F(Textures, a_fetch_can_be_moved_by_whole_texels) {
  const CUtexObject t =
      texture(resource_of(counting(4, 4)), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ((std::vector<float>{1 * 4 + 2, 3}), at<float>("tex_2d_offset", t, {{1.5F, 2.5F}, {3.5F, 0.5F}}));
}

TEST_F(Textures, results_can_be_halves) {
  const CUarray a = array(CU_AD_FORMAT_FLOAT, 4, 1, 1);
  fill<float>(a, {1, -2, 65504, 0x1p-24F});
  const CUtexObject t = texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  const Uint4 expected{0xc0003c00u, 0x00017bffu, 0xc0003c00u, 0x00017bffu};
  EXPECT_EQ(expected, one<Uint4>("tex_2d_half", t, Float4{0.5F, 0.5F}));
}

TEST_F(Textures, gathering_takes_one_channel_of_four_texels_counter_clockwise) {
  const CUarray a = array(CU_AD_FORMAT_FLOAT, 2, 3, 2, 0, CUDA_ARRAY3D_TEXTURE_GATHER);
  std::vector<float> values;
  for (int i = 0; i < 6; ++i) values.insert(values.end(), {static_cast<float>(i), static_cast<float>(100 + i)});
  fill(a, values, 2);
  const CUtexObject t = texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ((Float4{3, 4, 1, 0}), one<Float4>("gather_red", t, Float4{1, 1}));
  EXPECT_EQ((Float4{104, 105, 102, 101}), one<Float4>("gather_green", t, Float4{2, 1}));
}

TEST_F(Textures, what_lies_between_small_integers_comes_in_steps_of_sixteen_bits) {
  const CUDA_TEXTURE_DESC filtered = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR);
  const std::vector<Float4> places{{0.5F + 1 / 256.0F, 0.5F}, {0.5F + 77 / 256.0F, 0.5F}};
  const CUarray bytes = array(CU_AD_FORMAT_UNSIGNED_INT8, 1, 2, 1);
  fill(bytes, std::vector<std::uint8_t>{122, 66});
  EXPECT_EQ((std::vector<float>{31298 / 65535.0F, 27025 / 65535.0F}),
            at<float>("tex_2d", texture(resource_of(bytes), filtered), places));
  const CUarray with_signs = array(CU_AD_FORMAT_SIGNED_INT16, 1, 2, 1);
  fill(with_signs, std::vector<std::int16_t>{-1334, 29049});
  EXPECT_EQ((std::vector<float>{-1215 / 32767.0F, 7805 / 32767.0F}),
            at<float>("tex_2d", texture(resource_of(with_signs), filtered), places));
}

}  // namespace
