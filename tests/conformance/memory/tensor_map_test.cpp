// TensorMap: what a map says, what is refused in words, and that kernels get its bytes. (What copies by tensor maps do
// is tested from Python, where there is a compiler.)
#include "cucore/tensor_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

// ends(map, out): the first and the last 8 bytes of the map.
constexpr const char* ends_ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry ends(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .b64 %first, %last, %out;
  ld.param.b64 %first, [map];
  ld.param.b64 %last, [map+120];
  ld.param.u64 %out, [out];
  cvta.to.global.u64 %out, %out;
  st.global.b64 [%out], %first;
  st.global.b64 [%out+8], %last;
  ret;
}
)";

class TensorMaps : public testing::Test {
 protected:
  void SetUp() override {
    if (device().compute_capability() < ComputeCapability{9, 0}) GTEST_SKIP() << "needs compute capability 9.0";
  }
  TensorMap tiled(const StridedLayout& layout, const std::vector<std::int64_t>& box,
                  const TensorMapOptions& options = {}, std::size_t offset = 0) const {
    return TensorMap::tiled(memory.handle() + offset, layout, TensorMapDataType::float32, box, options);
  }

  Stream stream = device().create_stream();
  Buffer memory = device().allocate(8192, stream);
  StridedLayout image{{16, 64}, 4};
};

TEST_F(TensorMaps, a_map_at_a_replaced_address_is_the_map_of_that_address) {
  TensorMap map = tiled(image, {4, 32});
  map.replace_address(memory.handle() + 1024);
  EXPECT_TRUE(std::ranges::equal(map.bytes(), tiled(image, {4, 32}, {}, 1024).bytes()));
  EXPECT_FALSE(std::ranges::equal(map.bytes(), tiled(image, {4, 32}).bytes()));
  EXPECT_THROW(map.replace_address(memory.handle() + 8), ValueError);
  EXPECT_TRUE(std::ranges::equal(map.bytes(), tiled(image, {4, 32}, {}, 1024).bytes()));
}

TEST_F(TensorMaps, a_map_begins_where_the_layout_does) {
  const StridedLayout lower = image.sliced({{4, 16 - 4, 1}});
  const StridedLayout same({12, 64}, {64, 1}, 4);
  EXPECT_TRUE(std::ranges::equal(tiled(lower, {4, 32}).bytes(), tiled(same, {4, 32}, {}, 4 * 256).bytes()));
}

TEST_F(TensorMaps, a_kernel_gets_the_bytes_of_a_map) {
  const TensorMap map = tiled(image, {4, 32}, {.swizzle = TensorMapSwizzle::bytes_128});
  const Buffer out = device().allocate(16, stream);
  const ObjectCode code = ObjectCode::from_ptx(ends_ptx);
  launch(stream, {.grid = {1}, .block = {1}}, code.get_kernel("ends"), map, out);
  const std::vector<std::uint64_t> got = read<std::uint64_t>(out, stream);
  EXPECT_EQ(std::memcmp(got.data(), map.bytes().data(), 8), 0);
  EXPECT_EQ(std::memcmp(&got[1], map.bytes().data() + 120, 8), 0);
}

TEST_F(TensorMaps, what_a_map_cannot_be_is_refused_in_words) {
  const auto refused = [&](const char* words, const StridedLayout& layout, const std::vector<std::int64_t>& box,
                           const TensorMapOptions& options = {}, std::size_t offset = 0) {
    try {
      tiled(layout, box, options, offset);
      ADD_FAILURE() << "not refused: " << words;
    } catch (const ValueError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused("not aligned to 16 bytes", image, {4, 32}, {}, 8);
  refused("box_dim must have 2 elements, not 1", image, {4});
  refused("box_dim[0] must be from 1 to 256, not 257", image, {257, 32});
  refused("12 bytes, which is not a multiple of 16", image, {4, 3});
  refused("more than the 32 that are swizzled", image, {4, 32}, {.swizzle = TensorMapSwizzle::bytes_32});
  refused("element_strides[1] must be from 1 to 8, not 9", image, {4, 32}, {.element_strides = {1, 9}});
  refused("innermost axis must have stride 1", image.permuted({1, 0}), {4, 8});
  refused("a stride of 12 bytes", StridedLayout({4, 3}, 4), {4, 4});
  refused("1 to 5 axes, not 6", StridedLayout({1, 1, 1, 1, 4, 4}, 4), {1, 1, 1, 1, 4, 4});
  refused("elements of 8 bytes", StridedLayout({4, 4}, 8), {4, 4});
  refused("interleave needs", image, {4, 32}, {.interleave = TensorMapInterleave::bytes_16});
  EXPECT_THROW(
      TensorMap::tiled(memory.handle(), image, TensorMapDataType::int32, {4, 32}, {.oob_fill = TensorMapOobFill::nan}),
      ValueError);
  EXPECT_THROW(TensorMap::im2col(memory.handle(), image, TensorMapDataType::float32, {}), ValueError);
}

TEST_F(TensorMaps, columns_of_pixels_have_corners_for_the_axes_between) {
  const StridedLayout pixels({2, 8, 8, 16}, 4);
  const auto encode = [&](std::vector<std::int64_t> lower) {
    return TensorMap::im2col(
        memory.handle(), pixels, TensorMapDataType::float32,
        {.lower_corner = std::move(lower), .upper_corner = {-1, -1}, .channels_per_pixel = 16, .pixels_per_column = 8});
  };
  EXPECT_FALSE(std::ranges::equal(encode({-1, 0}).bytes(), encode({0, -1}).bytes()));
  EXPECT_THROW(encode({0}), ValueError);
}

}  // namespace
}  // namespace cucore::test
