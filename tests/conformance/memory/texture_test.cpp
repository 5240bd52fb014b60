// Arrays, textures and surfaces. Coordinates are such that the 9 bits a GPU filters with are exact.
#include "cucore/texture.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <span>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

// sample(texture, x, y, out): *out = the first channel at (x, y).
// paint(surface, value): writes the element at (1, 1).
constexpr const char* texture_ptx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry sample(.param .u64 texture, .param .f32 x, .param .f32 y, .param .u64 out)
{
  .reg .f32 %f<8>;
  .reg .b64 %t, %out;
  ld.param.u64 %t, [texture];
  ld.param.f32 %f1, [x];
  ld.param.f32 %f2, [y];
  ld.param.u64 %out, [out];
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%t, {%f1, %f2}];
  cvta.to.global.u64 %out, %out;
  st.global.f32 [%out], %f3;
  ret;
}
.visible .entry paint(.param .u64 surface, .param .f32 value)
{
  .reg .b32 %x, %y, %v;
  .reg .b64 %s;
  ld.param.u64 %s, [surface];
  ld.param.b32 %v, [value];
  mov.b32 %x, 4;
  mov.b32 %y, 1;
  sust.b.2d.b32.trap [%s, {%x, %y}], {%v};
  ret;
}
)";

class Texture : public testing::Test {
 protected:
  /// 4 wide, 2 high, the element at (x, y) is 10 y + x.
  OpaqueArray image(bool is_surface = false) const {
    OpaqueArray array = device().create_opaque_array({.shape = {4, 2}, .is_surface_load_store = is_surface});
    array.copy_from(std::as_bytes(std::span(ramp)), stream);
    return array;
  }
  float sample(const TextureObject& texture, float x, float y) const {
    const Buffer out = device().allocate(sizeof(float), stream);
    launch(stream, {.grid = {1}, .block = {1}}, kernel("sample"), texture, x, y, out);
    return read<float>(out, stream)[0];
  }
  static Kernel kernel(const char* name) {
    static const ObjectCode code = ObjectCode::from_ptx(texture_ptx);
    return code.get_kernel(name);
  }
  std::vector<float> elements(const OpaqueArray& array) const {
    std::vector<float> values(array.size_bytes() / sizeof(float));
    array.copy_to(std::as_writable_bytes(std::span(values)), stream);
    stream.sync();
    return values;
  }

  const std::vector<float> ramp = {0, 1, 2, 3, 10, 11, 12, 13};
  Stream stream = device().create_stream();
};

TEST_F(Texture, an_array_gives_back_what_was_put_in) {
  for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{6}, {3, 2}, {3, 2, 5}}) {
    const OpaqueArray array =
        device().create_opaque_array({.shape = shape, .format = ArrayFormat::uint16, .num_channels = 4});
    EXPECT_EQ(array.shape(), shape);
    EXPECT_EQ(array.element_bytes(), 8u);
    std::vector<std::uint16_t> values(array.size_bytes() / 2);
    std::iota(values.begin(), values.end(), std::uint16_t{1});
    const Buffer buffer = device().allocate(array.size_bytes(), stream);
    write(buffer, values, stream);
    array.copy_from(buffer, stream);
    const Buffer back = device().allocate(array.size_bytes(), stream);
    array.copy_to(back, stream);
    EXPECT_EQ(read<std::uint16_t>(back, stream), values);
  }
}

TEST_F(Texture, options_of_arrays_are_checked) {
  const auto refused = [](const OpaqueArrayOptions& options) {
    return refusal([&] { device().create_opaque_array(options); });
  };
  EXPECT_TRUE(says(refused({.shape = {}}), "1 to 3 extents"));
  EXPECT_TRUE(says(refused({.shape = {1, 1, 1, 1}}), "1 to 3 extents"));
  EXPECT_TRUE(says(refused({.shape = {4, 0}}), "at least 1", "(4, 0)"));
  EXPECT_TRUE(says(refused({.shape = {4}, .num_channels = 3}), "1, 2 or 4"));
  EXPECT_TRUE(says(refused({.shape = {4}, .format = static_cast<ArrayFormat>(7)}), "no array format 7"));
  EXPECT_THROW(device().create_opaque_array({.shape = {std::size_t{1} << 40}}), DriverError);
  EXPECT_TRUE(
      says(refusal([&] { device().create_mipmapped_array({.shape = {4, 2}, .num_levels = 0}); }), "at least 1 level"));
  const MipmappedArray levels = device().create_mipmapped_array({.shape = {4, 2}, .num_levels = 4});
  EXPECT_EQ(levels.num_levels(), 4u);
  EXPECT_THROW(levels.get_level(3), DriverError);  // the driver made three
  const OpaqueArray array = image();
  std::vector<float> few(7);
  EXPECT_TRUE(says(refusal([&] { array.copy_from(std::as_bytes(std::span(few)), stream); }), "28 bytes", "32"));
  EXPECT_TRUE(says(refusal([&] { array.copy_to(std::as_writable_bytes(std::span(few)), stream); }), "28 bytes", "32"));
}

TEST_F(Texture, a_texture_reads_by_address_filter_and_coordinates) {
  const OpaqueArray array = image();
  const ResourceDescriptor resource = ResourceDescriptor::from_opaque_array(array);
  const TextureObject points = device().create_texture_object(resource);
  EXPECT_EQ(sample(points, 2.5f, 1.5f), 12);
  EXPECT_EQ(sample(points, 9.5f, 1.5f), 13);
  const TextureObject linear = device().create_texture_object(resource, {.filter_mode = FilterMode::linear});
  EXPECT_EQ(sample(linear, 1.25f, 1.0f), 5.75f);
  const TextureObject wrapping = device().create_texture_object(
      resource, {.address_mode = {AddressMode::wrap, AddressMode::clamp}, .normalized_coords = true});
  EXPECT_EQ(sample(wrapping, 1.125f, 1.25f), 10);
  const TextureObject bordered =
      device().create_texture_object(resource, {.address_mode = {AddressMode::border}, .border_color = {7, 0, 0, 0}});
  EXPECT_EQ(sample(bordered, 4.5f, 0.5f), 7);
  EXPECT_EQ(bordered.options().border_color[0], 7);
  EXPECT_EQ(bordered.device(), device());
}

TEST_F(Texture, memory_of_a_buffer_is_read_as_rows) {
  const std::size_t pitch = 512;
  const Buffer buffer = device().allocate(2 * pitch, stream);
  std::vector<float> rows(2 * pitch / sizeof(float));
  for (std::size_t i = 0; i < ramp.size(); ++i) rows[i / 4 * pitch / sizeof(float) + i % 4] = ramp[i];
  write(buffer, rows, stream);
  const ResourceDescriptor resource =
      ResourceDescriptor::from_pitch2d(buffer, {.width = 4, .height = 2, .pitch_bytes = pitch});
  EXPECT_EQ(sample(device().create_texture_object(resource), 2.5f, 1.5f), 12);
  EXPECT_EQ(resource.width(), 4u);
  EXPECT_FALSE(resource.size_bytes().has_value());
  EXPECT_EQ(ResourceDescriptor::from_linear(buffer, {}).size_bytes(), 2 * pitch);
  const auto refused = [&](const Pitch2dLayout& layout) {
    return refusal([&] { ResourceDescriptor::from_pitch2d(buffer, layout); });
  };
  EXPECT_TRUE(says(refused({.width = 0, .height = 2, .pitch_bytes = pitch}), "at least 1"));
  EXPECT_TRUE(says(refused({.width = 129, .height = 2, .pitch_bytes = pitch}), "less than a row"));
  EXPECT_TRUE(says(refused({.width = 4, .height = 3, .pitch_bytes = pitch}), "more than"));
  EXPECT_TRUE(says(refusal([&] { ResourceDescriptor::from_linear(buffer, {.size_bytes = 6}); }), "multiple"));
  EXPECT_TRUE(says(refusal([&] { ResourceDescriptor::from_linear(buffer, {.size_bytes = 2}); }), "less than"));
  EXPECT_TRUE(says(refusal([&] { ResourceDescriptor::from_linear(buffer, {.size_bytes = 1028}); }), "more than"));
}

TEST_F(Texture, what_does_not_go_together_is_refused) {
  const OpaqueArray array = image();
  const ResourceDescriptor resource = ResourceDescriptor::from_opaque_array(array);
  const auto refused = [&](const TextureObjectOptions& options) {
    return refusal([&] { device().create_texture_object(resource, options); });
  };
  EXPECT_TRUE(says(refused({.address_mode = {}}), "1 to 3 modes"));
  EXPECT_TRUE(says(refused({.seamless_cubemap = true}), "cubemap"));
  EXPECT_TRUE(says(refusal([&] { device().create_surface_object(resource); }), "is_surface_load_store"));
  const Buffer buffer = device().allocate(512, stream);
  const ResourceDescriptor linear = ResourceDescriptor::from_linear(buffer, {});
  EXPECT_TRUE(says(refusal([&] { device().create_surface_object(linear); }), "of an OpaqueArray"));
}

TEST_F(Texture, a_surface_writes_an_element) {
  const OpaqueArray array = image(true);
  const SurfaceObject surface = device().create_surface_object(ResourceDescriptor::from_opaque_array(array));
  launch(stream, {.grid = {1}, .block = {1}}, kernel("paint"), surface, 42.0f);
  EXPECT_EQ(elements(array), (std::vector<float>{0, 1, 2, 3, 10, 42, 12, 13}));
  const TypedKernel<void(unsigned long long, float)> typed(kernel("paint"));
  typed.launch(stream, {.grid = {1}, .block = {1}}, surface, 43.0f);
  EXPECT_EQ(elements(array)[5], 43);
}

TEST_F(Texture, a_level_is_an_array_that_keeps_all_of_them) {
  MipmappedArray levels = device().create_mipmapped_array({.shape = {8, 4}, .num_levels = 3});
  const OpaqueArray level = levels.get_level(1);
  EXPECT_EQ(level.shape(), (std::vector<std::size_t>{4, 2}));
  EXPECT_TRUE(says(refusal([&] { levels.get_level(3); }), "no level 3", "0 to 2"));
  levels.close();
  level.copy_from(std::as_bytes(std::span(ramp)), stream);
  EXPECT_EQ(elements(level), ramp);
  EXPECT_TRUE(says(refusal([&] { levels.get_level(0); }), "has been closed"));
}

TEST_F(Texture, what_reads_memory_keeps_it) {
  const LiveHandles before = live_handles();
  {
    OpaqueArray array = image(true);
    TextureObject texture = device().create_texture_object(ResourceDescriptor::from_opaque_array(array));
    const SurfaceObject surface = device().create_surface_object(ResourceDescriptor::from_opaque_array(array));
    array.close();
    EXPECT_EQ(sample(texture, 2.5f, 1.5f), 12);
    EXPECT_EQ(live_handles().arrays, before.arrays + 1);
    EXPECT_EQ(live_handles().textures, before.textures + 1);
    EXPECT_EQ(live_handles().surfaces, before.surfaces + 1);
    texture.close();
    texture.close();
    EXPECT_TRUE(says(refusal([&] { sample(texture, 0, 0); }), "TextureObject has been closed"));
    EXPECT_EQ(texture.handle(), 0u);
    EXPECT_TRUE(says(refusal([&] { ResourceDescriptor::from_opaque_array(array); }), "has been closed"));
  }
  EXPECT_EQ(live_handles(), before);
}

TEST_F(Texture, an_array_of_somebody_elses_is_described_and_left_alone) {
  const OpaqueArray own = image(true);
  device().set_current();
  {
    const auto owner = std::make_shared<int>(1);
    const OpaqueArray borrowed = OpaqueArray::from_handle(own.handle(), owner);
    EXPECT_EQ(owner.use_count(), 2);
    EXPECT_EQ(borrowed, own);
    EXPECT_EQ(borrowed.shape(), own.shape());
    EXPECT_TRUE(borrowed.is_surface_load_store());
  }
  EXPECT_EQ(elements(own), ramp);
  EXPECT_THROW(OpaqueArray::from_handle(nullptr), ValueError);
}

TEST_F(Texture, memory_of_the_host_is_kept_until_its_copy_has_happened) {
  const OpaqueArray array = image();
  // Page-locked, so that the copy does not wait for the stream on any driver.
  const Buffer memory = LegacyPinnedMemoryResource::create()->allocate(array.size_bytes(), stream);
  memory.fill(3.0f, stream);
  const auto owner = std::make_shared<int>(1);
  const Buffer gate = LegacyPinnedMemoryResource::create()->allocate(4, stream);
  gate.fill(std::uint32_t{0}, stream);
  stream.sync();
  stream.wait_value(gate.handle(), std::uint32_t{1});
  array.copy_from(std::span(reinterpret_cast<const std::byte*>(memory.handle()), memory.size()), stream, owner);
  EXPECT_EQ(owner.use_count(), 2);
  device().create_stream().write_value(gate.handle(), std::uint32_t{1});
  stream.sync();
  EXPECT_EQ(elements(array), std::vector<float>(8, 3.0f));
  EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
}  // namespace cucore::test
