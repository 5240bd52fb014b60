// Layers, cubes, mipmaps and views of textures, and surfaces; on any driver.
#include "cpu/tests/any_driver/texture_driver.hpp"

namespace {

// ---- layers, cubes and mipmaps
// -----------------------------------------------------------------------------------------

TEST_F(Textures, a_layer_is_chosen_by_its_index_and_never_blended) {
  const CUarray lines = counting(4, 0, 3, CUDA_ARRAY3D_LAYERED);
  const CUtexObject line = texture(resource_of(lines), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ((std::vector<float>{0, 5.5F, 11}), at<float>("tex_1d_layered", line, {{0.5F}, {2, 0, 0, 1}, {9, 0, 0, 2}}));
  const CUarray images = counting(4, 3, 2, CUDA_ARRAY3D_LAYERED);
  const CUtexObject image = texture(resource_of(images), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR));
  EXPECT_EQ((std::vector<float>{2.5F, 14.5F}), at<float>("tex_2d_layered", image, {{1, 1, 0, 0}, {1, 1, 0, 1}}));
}

/// Each face of a cube of 2 x 2 texels holds 4 * face and the next three.
struct Direction {
  Float4 place;
  float expected;
};
constexpr Direction directions[] = {
    {{1, 0.5F, 0.5F}, 0},    {{1, 0.5F, -0.5F}, 1},   {{1, -0.5F, 0.5F}, 2},    {{1, -0.5F, -0.5F}, 3},
    {{-1, 0.5F, -0.5F}, 4},  {{-1, 0.5F, 0.5F}, 5},   {{-1, -0.5F, -0.5F}, 6},  {{-1, -0.5F, 0.5F}, 7},
    {{-0.5F, 1, -0.5F}, 8},  {{0.5F, 1, -0.5F}, 9},   {{-0.5F, 1, 0.5F}, 10},   {{0.5F, 1, 0.5F}, 11},
    {{-0.5F, -1, 0.5F}, 12}, {{0.5F, -1, 0.5F}, 13},  {{-0.5F, -1, -0.5F}, 14}, {{0.5F, -1, -0.5F}, 15},
    {{-0.5F, 0.5F, 1}, 16},  {{0.5F, 0.5F, 1}, 17},   {{-0.5F, -0.5F, 1}, 18},  {{0.5F, -0.5F, 1}, 19},
    {{0.5F, 0.5F, -1}, 20},  {{-0.5F, 0.5F, -1}, 21}, {{0.5F, -0.5F, -1}, 22},  {{-0.5F, -0.5F, -1}, 23}};

TEST_F(Textures, a_direction_meets_a_face_of_a_cube) {
  const CUarray a = counting(2, 2, 6, CUDA_ARRAY3D_CUBEMAP);
  const CUarray layers = counting(2, 2, 12, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
  const CUDA_TEXTURE_DESC how =
      reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES);
  const CUtexObject cube = texture(resource_of(a), how);
  const CUtexObject layered = texture(resource_of(layers), how);
  for (const Direction& d : directions) {
    const Float4 further{3 * d.place.x, 3 * d.place.y, 3 * d.place.z, 1};
    EXPECT_EQ(d.expected, one<float>("tex_cubemap", cube, d.place));
    EXPECT_EQ(d.expected + 24, one<float>("tex_cubemap_layered", layered, further));
  }
}

TEST_F(Textures, filtering_inside_a_face_takes_its_four_texels) {
  const CUtexObject t =
      texture(resource_of(counting(2, 2, 6, CUDA_ARRAY3D_CUBEMAP)),
              reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES));
  EXPECT_EQ((std::vector<float>{1.5F, 9.5F, 21.5F}), at<float>("tex_cubemap", t, {{1}, {0, 2, 0}, {0, 0, -3}}));
}

TEST_F(Textures, a_seamless_cube_blends_across_an_edge) {
  const CUtexObject t = texture(resource_of(counting(2, 2, 6, CUDA_ARRAY3D_CUBEMAP)),
                                reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR,
                                        CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SEAMLESS_CUBEMAP));
  // Just inside face +z at its edge to +x: half of its texels 17 and 19, half of 0 and 2 of face +x.
  EXPECT_NEAR((17 + 19 + 0 + 2) / 4.0, one<float>("tex_cubemap", t, Float4{1 - 0x1p-20F, 0, 1}), 0.1);
}

TEST_F(Textures, nothing_but_a_cube_is_seamless) {
  const CUDA_RESOURCE_DESC flat = resource_of(counting(2, 2, 0, 0));
  const CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_SEAMLESS_CUBEMAP);
  CUtexObject none = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&none, &flat, &how, nullptr));
}

TEST_F(Textures, the_level_of_detail_chooses_a_mipmap_level) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmaps(8, 4);
  CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES);
  how.maxMipmapLevelClamp = 10;
  const CUtexObject point = texture(resource, how);
  EXPECT_EQ((std::vector<float>{0, 10, 20, 30, 30, 0, 20}), at<float>("tex_2d_lod", point,
                                                                      {{0.5F, 0.5F, 0},
                                                                       {0.5F, 0.5F, 1},
                                                                       {0.5F, 0.5F, 2},
                                                                       {0.5F, 0.5F, 3},
                                                                       {0.5F, 0.5F, 9},
                                                                       {0.5F, 0.5F, -4},
                                                                       {0.5F, 0.5F, 1.75F}}));
  EXPECT_EQ(0.0F, one<float>("tex_2d", point, Float4{0.5F, 0.5F}));
  // Steps of two texels of the first level in one direction: level 1.
  EXPECT_EQ((std::vector<float>{10, 20, 0}),
            at<float>("tex_2d_grad", point,
                      {{0.5F, 0.5F, 0.25F, 0.125F}, {0.5F, 0.5F, 0.5F, 0.5F}, {0.5F, 0.5F, 0.0625F, 0.125F}}));
  how.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  how.maxMipmapLevelClamp = 2.5F;
  const CUtexObject between = texture(resource, how);
  EXPECT_EQ((std::vector<float>{5, 12.5F, 25}),
            at<float>("tex_2d_lod", between, {{0.5F, 0.5F, 0.5F}, {0.5F, 0.5F, 1.25F}, {0.5F, 0.5F, 3}}));
  how.mipmapLevelBias = 1;
  EXPECT_EQ(15.0F, one<float>("tex_2d_lod", texture(resource, how), Float4{0.5F, 0.5F, 0.5F}));
}

TEST_F(Textures, a_view_shows_some_levels_some_layers_and_another_format) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmaps(8, 4);
  CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_NORMALIZED_COORDINATES);
  how.maxMipmapLevelClamp = 10;
  CUDA_RESOURCE_VIEW_DESC view{};
  view.format = CU_RES_VIEW_FORMAT_FLOAT_1X32;
  view.width = view.height = 8;
  view.firstMipmapLevel = 1;
  view.lastMipmapLevel = 2;
  const CUtexObject levels = texture(resource, how, &view);
  EXPECT_EQ((std::vector<float>{10, 20, 20}),
            at<float>("tex_2d_lod", levels, {{0.5F, 0.5F, 0}, {0.5F, 0.5F, 1}, {0.5F, 0.5F, 3}}));

  const CUarray layers = counting(4, 2, 3, CUDA_ARRAY3D_LAYERED);
  view = {};
  view.format = CU_RES_VIEW_FORMAT_UINT_1X32;
  view.width = 4;
  view.height = 2;
  view.depth = 3;
  view.firstLayer = 1;
  view.lastLayer = 2;
  how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  const CUtexObject bits = texture(resource_of(layers), how, &view);
  EXPECT_EQ(8.0F, one<float>("tex_2d_layered", bits, Float4{0.5F, 0.5F, 0, 0}));  // the bits of 8.0
  CUDA_RESOURCE_VIEW_DESC back{};
  EXPECT_OK(cuTexObjectGetResourceViewDesc(&back, bits));
  EXPECT_EQ(1u, back.firstLayer);
}

TEST_F(Textures, a_view_that_does_not_fit_is_refused) {
  const CUDA_RESOURCE_DESC layers = resource_of(counting(4, 2, 3, CUDA_ARRAY3D_LAYERED));
  const CUDA_RESOURCE_DESC flat = resource_of(counting(4, 2));
  const CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  CUDA_RESOURCE_VIEW_DESC fits{};
  fits.format = CU_RES_VIEW_FORMAT_UINT_1X32;
  fits.width = 4;
  fits.height = 2;
  const auto answer = [&](const CUDA_RESOURCE_DESC& resource, auto&& change) {
    CUDA_RESOURCE_VIEW_DESC view = fits;
    view.depth = &resource == &layers ? 3 : 0;
    change(view);
    CUtexObject made = 0;
    const CUresult result = cuTexObjectCreate(&made, &resource, &how, &view);
    if (result == CUDA_SUCCESS) textures_.push_back(made);
    return result;
  };
  using View = CUDA_RESOURCE_VIEW_DESC;
  EXPECT_OK(answer(layers, [](View&) {}));
  EXPECT_OK(answer(flat, [](View&) {}));
  EXPECT_OK(answer(layers, [](View& view) { view.lastLayer = 3; }));  // more than there are: up to the last
  EXPECT_OK(answer(layers, [](View& view) { view.firstLayer = 5, view.lastLayer = 9; }));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(layers, [](View& view) { view.firstLayer = 2, view.lastLayer = 1; }));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(flat, [](View& view) { view.lastLayer = 1; }));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(layers, [](View& view) { view.depth = 0; }));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(flat, [](View& view) { view.depth = 1; }));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(flat, [](View& view) { view.width = 3; }));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(flat, [](View& view) { view.lastMipmapLevel = 0, view.height = 0; }));
  for (const CUresourceViewFormat format : {CU_RES_VIEW_FORMAT_NONE, CU_RES_VIEW_FORMAT_UINT_1X8,
                                            CU_RES_VIEW_FORMAT_FLOAT_2X32, CU_RES_VIEW_FORMAT_UNSIGNED_BC1}) {
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, answer(flat, [&](View& view) { view.format = format; })) << format;
  }
}

TEST_F(Textures, surfaces_are_read_and_written_by_byte_offsets) {
  constexpr unsigned int flag_bits = CUDA_ARRAY3D_SURFACE_LDST;
  const CUarray bytes = array(CU_AD_FORMAT_UNSIGNED_INT8, 1, 8, 0, 0, flag_bits);
  const CUarray more = array(CU_AD_FORMAT_UNSIGNED_INT8, 1, 8, 0, 0, flag_bits);
  fill<std::uint8_t>(bytes, {0, 1, 2, 3, 4, 5, 6, 255});
  CUsurfObject from = surface(bytes), to = surface(more);
  int width = 8;
  ASSERT_OK(run("surface_1d", 8, 1, 1, {&from, &to, &width}));
  EXPECT_EQ((std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 0}), contents<std::uint8_t>(more, 8));

  const CUarray source = array(CU_AD_FORMAT_FLOAT, 4, 3, 2, 0, flag_bits);
  const CUarray turned = array(CU_AD_FORMAT_FLOAT, 4, 2, 3, 0, flag_bits);
  std::vector<Float4> texels(6);
  for (int i = 0; i < 6; ++i) texels[static_cast<std::size_t>(i)] = {static_cast<float>(i), 1, 2, -3};
  fill(source, texels, 2);
  from = surface(source);
  to = surface(turned);
  ASSERT_OK(run("surface_2d_transpose", 3, 2, 1, {&from, &to}));
  const auto found = contents<Float4>(turned, 6, 3);
  for (std::size_t y = 0; y < 2; ++y)
    for (std::size_t x = 0; x < 3; ++x) EXPECT_EQ(texels[3 * y + x], found[2 * x + y]);
  // The texture over the same array sees what the surface wrote.
  const CUtexObject t = texture(resource_of(turned), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  EXPECT_EQ(texels[1], one<Float4>("tex_2d_float4", t, Float4{0.5F, 1.5F}));
}

TEST_F(Textures, surfaces_have_depth_layers_and_faces) {
  constexpr unsigned int flag_bits = CUDA_ARRAY3D_SURFACE_LDST;
  const CUarray volume = array(CU_AD_FORMAT_SIGNED_INT16, 1, 4, 3, 2, flag_bits);
  CUsurfObject s = surface(volume);
  ASSERT_OK(run("surface_3d", 4, 3, 2, {&s}));
  const auto values = contents<std::int16_t>(volume, 24, 3, 2);
  EXPECT_EQ(123, values[1 * 12 + 2 * 4 + 3]);
  EXPECT_EQ(10, values[4]);

  const CUarray layers = array(CU_AD_FORMAT_FLOAT, 1, 4, 3, 2, flag_bits | CUDA_ARRAY3D_LAYERED);
  s = surface(layers);
  ASSERT_OK(run("surface_layered", 4, 3, 2, {&s}));
  EXPECT_EQ(123.0F, contents<float>(layers, 24, 3, 2)[1 * 12 + 2 * 4 + 3]);

  const CUarray cube = array(CU_AD_FORMAT_FLOAT, 1, 2, 2, 6, flag_bits | CUDA_ARRAY3D_CUBEMAP);
  s = surface(cube);
  ASSERT_OK(run("surface_cubemap", 2, 2, 6, {&s}));
  EXPECT_EQ(511.0F, contents<float>(cube, 24, 2, 6)[5 * 4 + 1 * 2 + 1]);
}

TEST_F(Textures, outside_a_surface_there_is_zero_or_its_edge) {
  const CUarray a = array(CU_AD_FORMAT_SIGNED_INT32, 1, 4, 3, 0, CUDA_ARRAY3D_SURFACE_LDST);
  std::vector<int> values(12);
  for (int i = 0; i < 12; ++i) values[static_cast<std::size_t>(i)] = 100 + i;
  fill(a, values, 3);
  CUsurfObject s = surface(a);
  std::vector<int> found(4, -1);
  CUdeviceptr out = device_copy(found.data(), 16);
  ASSERT_OK(run("surface_outside", 1, 1, 1, {&s, &out}));
  ASSERT_OK(cuMemcpyDtoH(found.data(), out, 16));
  EXPECT_EQ((std::vector<int>{0, 0, 104, 111}), found);
  values[0] = 88;
  EXPECT_EQ(values, contents<int>(a, 12, 3));
}

// In a process of its own: on a GPU one that has had such a fault cannot use the driver any more.
TEST_F(Textures, a_surface_access_outside_is_a_fault_that_stays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fault = [this] {
    const CUarray a = array(CU_AD_FORMAT_SIGNED_INT32, 1, 4, 3, 0, CUDA_ARRAY3D_SURFACE_LDST);
    CUsurfObject s = surface(a);
    const CUresult result = run("surface_trap", 1, 1, 1, {&s});
    const bool is_fault = result == CUDA_ERROR_LAUNCH_FAILED || result == CUDA_ERROR_ILLEGAL_ADDRESS;
    std::_Exit(is_fault && result == cuCtxSynchronize() ? 0 : 1);
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0), "");
}

TEST_F(Textures, surface_reductions_are_atomic) {
  const CUarray a = array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, 2, 0, CUDA_ARRAY3D_SURFACE_LDST);
  fill<std::uint32_t>(a, std::vector<std::uint32_t>(8, 0), 2);
  CUsurfObject s = surface(a);
  ASSERT_OK(run("surface_reduce", 100, 1, 1, {&s}));
  EXPECT_EQ((std::vector<std::uint32_t>{4950, 59, static_cast<std::uint32_t>(-40), 0xffffffffu, 0, 100, 0, 0}),
            contents<std::uint32_t>(a, 8, 2));
}

TEST_F(Textures, formatted_stores_convert_to_the_format_of_the_surface) {
  const CUarray a = array(CU_AD_FORMAT_HALF, 4, 2, 2, 0, CUDA_ARRAY3D_SURFACE_LDST);
  fill<std::uint16_t>(a, std::vector<std::uint16_t>(16, 0), 2);
  CUsurfObject s = surface(a);
  ASSERT_OK(run("surface_formatted", 1, 1, 1, {&s}));
  const auto found = contents<std::uint16_t>(a, 16, 2);
  EXPECT_EQ((std::vector<std::uint16_t>{0x3400, 0xc000, 0x3c00, 0x3800}),
            (std::vector<std::uint16_t>{found.begin() + 12, found.end()}));
}

// ---- objects
// -----------------------------------------------------------------------------------------------------------

TEST_F(Textures, kernels_can_ask_for_the_size) {
  const CUtexObject t =
      texture(resource_of(counting(5, 4, 3)), reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  std::vector<int> found(3, -1);
  CUdeviceptr out = device_copy(found.data(), 12);
  CUtexObject given = t;
  ASSERT_OK(run("describe_texture", 1, 1, 1, {&given, &out}));
  ASSERT_OK(cuMemcpyDtoH(found.data(), out, 12));
  EXPECT_EQ((std::vector<int>{5, 4, 3}), found);
  CUsurfObject s = surface(array(CU_AD_FORMAT_FLOAT, 1, 5, 4, 3, CUDA_ARRAY3D_SURFACE_LDST));
  ASSERT_OK(run("describe_surface", 1, 1, 1, {&s, &out}));
  ASSERT_OK(cuMemcpyDtoH(found.data(), out, 12));
  EXPECT_EQ((std::vector<int>{5, 4, 3}), found);
}

TEST_F(Textures, kernels_can_ask_for_the_number_of_levels) {
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  resource.res.mipmap.hMipmappedArray = mipmaps(8, 4);
  const CUtexObject t = texture(resource, reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT));
  CUtexObject given = t;
  int found = -1;
  CUdeviceptr out = device_copy(&found, 4);
  texture_kernel("describe_texture");  // loads the module
  CUfunction levels = nullptr;
  if (cuModuleGetFunction(&levels, module, "describe_levels") == CUDA_ERROR_NOT_FOUND) {
    GTEST_SKIP()
        << "an H200's driver loads kernels that ask an object for more than its extent, but does not find them";
  }
  ASSERT_OK(run("describe_levels", 1, 1, 1, {&given, &out}));
  ASSERT_OK(cuMemcpyDtoH(&found, out, 4));
  EXPECT_EQ(4, found);
}

TEST_F(Textures, an_object_tells_what_it_was_made_from) {
  const CUarray a = counting(4, 4);
  CUDA_TEXTURE_DESC how = reading(CU_TR_ADDRESS_MODE_MIRROR, CU_TR_FILTER_MODE_LINEAR, CU_TRSF_NORMALIZED_COORDINATES);
  const CUtexObject t = texture(resource_of(a), how);
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC back{};
  CUDA_RESOURCE_VIEW_DESC view{};
  EXPECT_OK(cuTexObjectGetResourceDesc(&resource, t));
  EXPECT_EQ(CU_RESOURCE_TYPE_ARRAY, resource.resType);
  EXPECT_EQ(a, resource.res.array.hArray);
  EXPECT_OK(cuTexObjectGetTextureDesc(&back, t));
  EXPECT_EQ(CU_TR_ADDRESS_MODE_MIRROR, back.addressMode[1]);
  EXPECT_EQ(CU_TR_FILTER_MODE_LINEAR, back.filterMode);
  EXPECT_OK(cuTexObjectGetResourceViewDesc(&view, t));  // also of one that has no view
}

TEST_F(Textures, what_cannot_be_bound_is_refused) {
  const CUDA_TEXTURE_DESC point = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT);
  CUtexObject t = 0;
  const CUDA_RESOURCE_DESC floats = resource_of(counting(4, 4));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(nullptr, &floats, &point, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&t, nullptr, &point, nullptr));
}

TEST_F(Textures, what_is_of_no_use_is_bound_all_the_same) {
  const CUDA_RESOURCE_DESC floats = resource_of(counting(4, 4));
  CUsurfObject s = 0;
  EXPECT_OK(cuSurfObjectCreate(&s, &floats));  // made without CUDA_ARRAY3D_SURFACE_LDST
  EXPECT_OK(cuSurfObjectDestroy(s));
  const CUDA_RESOURCE_DESC words = resource_of(array(CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, 4));
  const CUDA_TEXTURE_DESC linear = reading(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR);
  CUtexObject t = 0;
  EXPECT_OK(cuTexObjectCreate(&t, &words, &linear, nullptr));  // there is nothing between integers
  EXPECT_OK(cuTexObjectDestroy(t));
}

}  // namespace
