// Where the texture unit looks, and with which weights, for coordinates far outside, infinite, not numbers or between
// texels. The expected values are an H200's; they have to be met bit by bit.
#include <cmath>
#include <limits>

#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

constexpr float float_infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float largest_size = std::numeric_limits<float>::max();

class TexturePlaces : public Textures {
 protected:
  /// An array of 1, 4, 9, 16 and so on, in rows.
  CUarray squares(std::size_t width, std::size_t height = 0, std::size_t depth = 0, unsigned int flags = 0) {
    const CUarray made = array(CU_AD_FORMAT_FLOAT, 1, width, height, depth, flags);
    fill_with_squares(made, width, height, depth, 1);
    return made;
  }
  void fill_with_squares(CUarray made, std::size_t width, std::size_t height, std::size_t depth, std::size_t first) {
    const std::size_t rows = std::max<std::size_t>(height, 1), slices = std::max<std::size_t>(depth, 1);
    std::vector<float> values(width * rows * slices);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i + first) * (i + first));
    fill(made, values, rows, slices);
  }
  CUtexObject normalized(CUarray of, CUaddress_mode mode, CUfilter_mode filter, unsigned int flags = 0) {
    CUDA_TEXTURE_DESC how = reading(mode, filter, CU_TRSF_NORMALIZED_COORDINATES | flags);
    how.borderColor[0] = -7;
    return texture(resource_of(of), how);
  }
};

TEST_F(TexturePlaces, coordinates_far_outside_repeat_with_their_fraction) {
  const CUarray a = squares(3);
  const std::vector<Float4> places = {
      {16},       {16.3F}, {-16.3F},       {255.75F},       {8388607.5F},  {8388608},      {8388609},
      {16777216}, {1e20F}, {largest_size}, {-largest_size}, {-8388607.5F}, {-2147483648.F}};
  EXPECT_EQ((std::vector<float>{1, 1, 9, 9, 4, 1, 1, 1, 1, 1, 1, 4, 1}),
            at<float>("tex_1d", normalized(a, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT), places));
  EXPECT_EQ((std::vector<float>{1, 1, 1, 1, 4, 1, 9, 1, 1, 1, 1, 4, 1}),
            at<float>("tex_1d", normalized(a, CU_TR_ADDRESS_MODE_MIRROR, CU_TR_FILTER_MODE_POINT), places));
  EXPECT_EQ((std::vector<float>{9, 9, 1, 9, 9, 9, 9, 9, 9, 9, 1, 1, 1}),
            at<float>("tex_1d", normalized(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT), places));
  EXPECT_EQ(std::vector<float>(13, -7),
            at<float>("tex_1d", normalized(a, CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_POINT), places));
}

TEST_F(TexturePlaces, nan_and_denormals_are_zero_and_infinities_are_so_where_they_repeat) {
  const CUarray a = squares(3);
  const std::vector<Float4> places = {{nan}, {float_infinity}, {-float_infinity}, {-1e-38F}, {-1e-20F}};
  const auto found = [&](CUaddress_mode mode) {
    return at<float>("tex_1d", normalized(a, mode, CU_TR_FILTER_MODE_POINT), places);
  };
  EXPECT_EQ((std::vector<float>{1, 1, 1, 1, 9}), found(CU_TR_ADDRESS_MODE_WRAP));
  EXPECT_EQ((std::vector<float>{1, 1, 1, 1, 1}), found(CU_TR_ADDRESS_MODE_MIRROR));
  EXPECT_EQ((std::vector<float>{1, 9, 1, 1, 1}), found(CU_TR_ADDRESS_MODE_CLAMP));
  EXPECT_EQ((std::vector<float>{1, -7, -7, 1, -7}), found(CU_TR_ADDRESS_MODE_BORDER));
}

TEST_F(TexturePlaces, coordinates_that_are_not_normalised_are_clamped_however_large) {
  const CUtexObject t = texture(resource_of(squares(3)), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ(
      (std::vector<float>{9, 1, 1, 9, 1, 9}),
      at<float>("tex_1d", t, {{float_infinity}, {-float_infinity}, {nan}, {largest_size}, {-1e20F}, {2147483648.F}}));
}

TEST_F(TexturePlaces, normalised_coordinates_have_21_fractional_bits) {
  const CUtexObject three = normalized(squares(3), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  // A third is a little more as a float, and less when it is cut off.
  EXPECT_EQ((std::vector<float>{1, 1, 4}),
            at<float>("tex_1d", three, {{0.333333343F}, {0.333333433F}, {0.333333F + 0x1p-20F}}));
  const CUtexObject hundred = normalized(squares(100), CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_POINT);
  EXPECT_EQ(9801.0F, one<float>("tex_1d", hundred, Float4{0.99000001F}));
}

TEST_F(TexturePlaces, the_weights_of_a_fetch_are_256ths_that_add_up_to_one) {
  const CUtexObject two = normalized(squares(5, 3), CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ((std::vector<float>{32.95703125F, 35.46484375F, 54.16015625F}),
            at<float>("tex_2d", two, {{0.25F, 0.4F}, {4.30000019F, 0.4F}, {0.99000001F, 0.4F}}));
  const CUtexObject three = normalized(squares(3, 4, 5), CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ((std::vector<float>{545.7109375F, 552.484375F, 583.8515625F}),
            at<float>("tex_3d", three, {{0.25F, 0.4F, 0.4F}, {4.30000019F, 0.4F, 0.4F}, {0.99000001F, 0.4F, 0.4F}}));
  const CUtexObject clamped = normalized(squares(3, 4, 5), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ((std::vector<float>{224.40625F, 2810.44140625F}),
            at<float>("tex_3d", clamped, {{0.4F, 0.4F, 0.25F}, {0.4F, 0.4F, 4.3F}}));
}

TEST_F(TexturePlaces, sums_halfway_between_two_floats_are_rounded_away_from_zero) {
  const CUarray a = array(CU_AD_FORMAT_FLOAT, 1, 4);
  fill<float>(a, {16769025, 16777216, -16769025, -16777216});
  const CUtexObject t = texture(resource_of(a), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ((std::vector<float>{16773121, -16773121}), at<float>("tex_1d", t, {{1}, {3}}));
}

TEST_F(TexturePlaces, a_texture_of_one_dimension_is_read_half_in_the_border) {
  const CUtexObject t = normalized(squares(4), CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_LINEAR);
  EXPECT_EQ((std::vector<float>{-2.25F, 2.75F, -0.80078125F, -7}),
            at<float>("tex_1d", t, {{0.25F}, {0.75F}, {0.99000001F}, {4.3F}}));
  const CUtexObject layered = texture(resource_of(squares(5, 0, 3, CUDA_ARRAY3D_LAYERED)), [] {
    CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_BORDER, CU_TR_FILTER_MODE_LINEAR);
    how.borderColor[0] = -7;
    return how;
  }());
  EXPECT_EQ(36.0F, one<float>("tex_1d_layered", layered, Float4{0.5F, 0, 0, 1}));
}

TEST_F(TexturePlaces, levels_between_two_are_cut_off_and_share_the_weights) {
  const CUDA_ARRAY3D_DESCRIPTOR descriptor{16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
  CUmipmappedArray array = nullptr;
  ASSERT_OK(cuMipmappedArrayCreate(&array, &descriptor, 4));
  mipmapped_.push_back(array);
  for (unsigned int level = 0; level < 4; ++level) {
    CUarray each = nullptr;
    ASSERT_OK(cuMipmappedArrayGetLevel(&each, array, level));
    fill_with_squares(each, 16 >> level, 16 >> level, 0, 1 + 100 * level);
  }
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = array;
  CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES);
  how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  how.maxMipmapLevelClamp = 100;
  const CUtexObject t = texture(resource, how);
  EXPECT_EQ((std::vector<float>{11626.734375F, 15689.4296875F, 91146.078125F, 10279.8046875F, 10279.8046875F}),
            at<float>("tex_2d_lod", t,
                      {{0.4F, 0.4F, 0.25F},
                       {0.4F, 0.4F, 0.9999F},
                       {0.4F, 0.4F, float_infinity},
                       {0.4F, 0.4F, -float_infinity},
                       {0.4F, 0.4F, nan}}));
}

TEST_F(TexturePlaces, layers_beyond_the_last_and_negative_ones_are_the_last) {
  const CUtexObject t = texture(resource_of(squares(5, 0, 3, CUDA_ARRAY3D_LAYERED)),
                                reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ((std::vector<float>{144, 144, 144}),
            at<float>("tex_1d_layered", t, {{1.7F, 0, 0, 3}, {1.7F, 0, 0, -1}, {1.7F, 0, 0, -65536}}));
}

TEST_F(TexturePlaces, of_equal_coordinates_of_a_direction_the_last_chooses_the_face) {
  const CUtexObject t =
      normalized(squares(4, 4, 6, CUDA_ARRAY3D_CUBEMAP), CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  EXPECT_EQ((std::vector<float>{6561, 1600, 6400, 5625, 5625, 1849}), at<float>("tex_cubemap", t,
                                                                                {{0.25F, 0.25F, -0.25F},
                                                                                 {0.5F, 0.5F, -0.25F},
                                                                                 {0.5F, -0.25F, 0.5F},
                                                                                 {largest_size, 0.5F, 0.25F},
                                                                                 {float_infinity, 0.5F, 0.25F},
                                                                                 {0.5F, -0.25F, float_infinity}}));
}

TEST_F(TexturePlaces, a_face_ends_as_the_address_mode_says_unless_it_is_seamless) {
  const CUarray a = squares(4, 4, 6, CUDA_ARRAY3D_CUBEMAP);
  const Float4 edge{0.5F, 0.5F, 0.25F};
  const auto found = [&](CUaddress_mode mode, unsigned int flags) {
    return one<float>("tex_cubemap", normalized(a, mode, CU_TR_FILTER_MODE_POINT, flags), edge);
  };
  EXPECT_EQ(2304.0F, found(CU_TR_ADDRESS_MODE_CLAMP, 0));
  EXPECT_EQ(2025.0F, found(CU_TR_ADDRESS_MODE_WRAP, 0));
  EXPECT_EQ(-7.0F, found(CU_TR_ADDRESS_MODE_BORDER, 0));
  EXPECT_EQ(2304.0F, found(CU_TR_ADDRESS_MODE_WRAP, CU_TRSF_SEAMLESS_CUBEMAP));
  // The corner, where three texels meet.
  EXPECT_EQ(2639.7109375F,
            one<float>("tex_cubemap",
                       normalized(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_SEAMLESS_CUBEMAP),
                       Float4{0.25F, 0.25F, -0.25F}));
}

TEST_F(TexturePlaces, layers_of_a_surface_have_16_bits) {
  const CUarray a = array(CU_AD_FORMAT_FLOAT, 1, 4, 2, 3, CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST);
  fill(a, std::vector<float>(24), 2, 3);
  CUsurfObject s = surface(a);
  constexpr const char* store_bit = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 to)
{
.reg .b64 %s;
.reg .b32 %layer, %zero, %value;
ld.param.u64 %s, [to];
mov.b32 %layer, 65537;
mov.b32 %zero, 0;
mov.b32 %value, 0f40000000;
sust.b.a2d.b32.zero [%s, {%layer, %zero, %zero, %zero}], {%value};
ret;
}
)";
  ASSERT_OK(cuModuleLoadData(&module, store_bit));
  void* parameters[] = {&s};
  ASSERT_OK(cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(2.0F, contents<float>(a, 24, 2, 3)[8]);
}

}  // namespace
