// StridedLayout: numbers only, no driver.
#include "cucore/strided_layout.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cucore/error.hpp"

namespace cucore {
namespace {

using Numbers = StridedLayout::Numbers;
using Axes = StridedLayout::Axes;

const StridedLayout rows({4, 8}, 4);

TEST(strided_layout, is_in_c_order_without_strides) {
  EXPECT_EQ(rows.strides(), (Numbers{8, 1}));
  EXPECT_EQ(rows.strides_in_bytes(), (Numbers{32, 4}));
  EXPECT_FALSE(rows.has_strides());
  EXPECT_EQ(rows.volume(), 32);
  EXPECT_NE(rows, StridedLayout({4, 8}, {8, 1}, 4));
  EXPECT_EQ(StridedLayout::with_byte_strides({4, 8}, {32, 4}, 4), StridedLayout({4, 8}, {8, 1}, 4));
  EXPECT_EQ(StridedLayout({}, 4).volume(), 1);
}

TEST(strided_layout, refuses_what_is_no_layout) {
  EXPECT_THROW(StridedLayout({-1}, 4), ValueError);
  EXPECT_THROW(StridedLayout({2}, 0), ValueError);
  EXPECT_THROW(StridedLayout({2}, {1, 1}, 4), ValueError);
  EXPECT_THROW(StridedLayout(Numbers(65, 1), 4), ValueError);
  EXPECT_THROW(StridedLayout::with_byte_strides({2}, {6}, 4), ValueError);
  EXPECT_THROW(StridedLayout::dense({2, 3}, 4, Axes{0, 0}), ValueError);
}

TEST(strided_layout, never_overflows_in_silence) {
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_THROW(StridedLayout({large, 4}, 4), OverflowError);
  EXPECT_THROW(StridedLayout({large}, 8).required_size_in_bytes(), OverflowError);
  EXPECT_THROW(StridedLayout({3, 3}, {large, large}, 1).offset_bounds(), OverflowError);
  EXPECT_THROW(StridedLayout({2}, {large}, 4).strides_in_bytes(), OverflowError);
  EXPECT_EQ(StridedLayout({large, 0, large}, {1, 1, 1}, 4).volume(), 0) << "nothing is there";
  EXPECT_EQ(StridedLayout({1, 1}, {std::numeric_limits<std::int64_t>::min(), 1}, 1).stride_order(), (Axes{0, 1}));
}

TEST(strided_layout, is_dense_in_any_order) {
  EXPECT_EQ(StridedLayout::dense({2, 3, 4}, 4, Axes{1, 0, 2}).strides(), (Numbers{4, 8, 1}));
  EXPECT_EQ(StridedLayout::dense({2, 3, 4}, 4, Axes{1, 2, 0}).strides(), (Numbers{1, 8, 2}));
  EXPECT_EQ(StridedLayout({2, 3, 4}, {4, 8, 1}, 4).stride_order(), (Axes{1, 0, 2}));
  EXPECT_EQ(StridedLayout({2, 3}, {0, 0}, 4).stride_order(), (Axes{1, 0}));
  EXPECT_EQ(StridedLayout({2, 3}, {2, 4}, 4).to_dense().strides(), (Numbers{1, 2}));
  EXPECT_EQ(StridedLayout({2, 3}, {1, 2}, 4).to_dense(StridedLayout::c_order(2)).strides(), (Numbers{3, 1}));
}

TEST(strided_layout, knows_whether_it_is_contiguous) {
  EXPECT_TRUE(rows.is_contiguous_c());
  EXPECT_FALSE(rows.is_contiguous_f());
  EXPECT_TRUE(rows.permuted({1, 0}).is_contiguous_f());
  EXPECT_TRUE(rows.permuted({1, 0}).is_contiguous_any());
  EXPECT_FALSE(StridedLayout({2, 3}, {3, -1}, 4).is_contiguous_any());
  EXPECT_TRUE(StridedLayout({2, 1, 3}, {3, 7, 1}, 4).is_contiguous_c()) << "an axis of one element has no stride";
  EXPECT_TRUE(StridedLayout({2, 0}, {5, 7}, 4).is_contiguous_c()) << "nothing lies anywhere";
  EXPECT_TRUE(rows.is_dense());
  EXPECT_FALSE(rows.sliced({{1, 2}}).is_dense()) << "it begins elsewhere";
}

TEST(strided_layout, knows_whether_elements_share_an_address) {
  EXPECT_TRUE(rows.is_unique());
  EXPECT_TRUE(StridedLayout({2, 3}, {-3, 1}, 4).is_unique());
  EXPECT_FALSE(StridedLayout({2, 3}, {1, 1}, 4).is_unique());
  EXPECT_FALSE(StridedLayout({2, 3}, {0, 1}, 4).is_unique());
}

TEST(strided_layout, knows_the_memory_it_needs) {
  EXPECT_EQ(rows.offset_bounds(), (std::pair<std::int64_t, std::int64_t>{0, 31}));
  EXPECT_EQ(StridedLayout({2, 3}, {3, -1}, 4).offset_bounds(), (std::pair<std::int64_t, std::int64_t>{-2, 3}));
  EXPECT_EQ(StridedLayout({2, 0}, 4).offset_bounds(), (std::pair<std::int64_t, std::int64_t>{0, -1}));
  EXPECT_EQ(rows.required_size_in_bytes(), 128);
  EXPECT_EQ(StridedLayout({2, 0}, 4).required_size_in_bytes(), 0);
  EXPECT_THROW(StridedLayout({2, 3}, {3, -1}, 4).required_size_in_bytes(), ValueError);
}

TEST(strided_layout, is_sliced) {
  const StridedLayout every_other = rows.sliced({{3, 2, -2}, {1, 4, 1}});
  EXPECT_EQ(every_other.shape(), (Numbers{2, 4}));
  EXPECT_EQ(every_other.strides(), (Numbers{-16, 1}));
  EXPECT_EQ(every_other.slice_offset(), 25);
  EXPECT_EQ(every_other.slice_offset_in_bytes(), 100);
  EXPECT_EQ(every_other.sliced({{1}}).slice_offset(), 9) << "slices of slices add up";
  EXPECT_EQ(rows.sliced({{1}}).shape(), (Numbers{8}));
  EXPECT_THROW(rows.sliced({{4}}), ValueError);
  EXPECT_THROW(rows.sliced({{2, 3, 1}}), ValueError);
  EXPECT_THROW(rows.sliced({{0}, {0}, {0}}), ValueError);
}

TEST(strided_layout, is_reshaped_where_strides_can_say_it) {
  EXPECT_EQ(rows.reshaped({2, -1}).shape(), (Numbers{2, 16}));
  EXPECT_EQ(rows.reshaped({2, 2, 4, 2}).strides(), (Numbers{16, 8, 2, 1}));
  EXPECT_EQ(StridedLayout({2, 3}, {1, 2}, 4).reshaped({2, 1, 3}).strides(), (Numbers{1, 6, 2}));
  EXPECT_EQ(StridedLayout({4, 6}, {12, 2}, 4).reshaped({2, 12}).strides(), (Numbers{24, 2}));
  EXPECT_EQ(StridedLayout({0, 3}, 4).reshaped({5, 0}).volume(), 0);
  EXPECT_EQ(StridedLayout({1, 1}, 4).reshaped({}).rank(), 0u);
  EXPECT_THROW(StridedLayout({2, 3}, {1, 2}, 4).reshaped({6}), ValueError);
  EXPECT_THROW(rows.reshaped({3, -1}), ValueError);
  EXPECT_THROW(rows.reshaped({-1, -1}), ValueError);
  EXPECT_THROW(StridedLayout({2, 0}, 4).reshaped({-1, 0}), ValueError);
}

TEST(strided_layout, gains_loses_and_merges_axes) {
  EXPECT_EQ(rows.unsqueezed({0, 2}).shape(), (Numbers{1, 4, 1, 8}));
  EXPECT_EQ(rows.unsqueezed({-1}).shape(), (Numbers{4, 8, 1}));
  EXPECT_EQ(rows.unsqueezed({0, 2}).squeezed().shape(), rows.shape());
  EXPECT_EQ(StridedLayout({1, 0}, 4).squeezed().shape(), (Numbers{0}));
  EXPECT_THROW(rows.unsqueezed({5}), ValueError);
  EXPECT_THROW(rows.unsqueezed({1, 1}), ValueError);
  EXPECT_THROW(rows.permuted({0, 0}), ValueError);
  const StridedLayout padded({2, 3, 4}, {24, 4, 1}, 4);
  EXPECT_EQ(padded.flattened_axis_mask(), 4u);
  EXPECT_EQ(padded.flattened().shape(), (Numbers{2, 12}));
  EXPECT_EQ(StridedLayout({2, 3, 4}, 4).flattened().shape(), (Numbers{24}));
  EXPECT_EQ(StridedLayout({2, 3, 4}, 4).flattened(0, 1).shape(), (Numbers{6, 4}));
  EXPECT_EQ(StridedLayout({2, 3, 4}, 4).flattened(0, -1, 4).shape(), (Numbers{2, 12}));
  EXPECT_THROW(padded.flattened(0, -1, 2), ValueError);
}

TEST(strided_layout, is_broadcast) {
  EXPECT_EQ(StridedLayout({1, 3}, 4).broadcast_to({5, 2, 3}).strides(), (Numbers{0, 0, 1}));
  EXPECT_THROW(rows.broadcast_to({4, 9}), ValueError);
  EXPECT_THROW(rows.broadcast_to({8}), ValueError);
}

TEST(strided_layout, is_repacked_into_other_elements) {
  EXPECT_EQ(rows.repacked(8).shape(), (Numbers{4, 4}));
  EXPECT_EQ(rows.repacked(8).strides(), (Numbers{4, 1}));
  EXPECT_EQ(rows.repacked(2).shape(), (Numbers{4, 16}));
  EXPECT_EQ(StridedLayout({4, 2}, 4).repacked(8, 0, -1, false).shape(), (Numbers{4}));
  EXPECT_EQ(StridedLayout({4, 1}, 8).repacked(4, 0, -1, false).volume(), 8);
  EXPECT_EQ(rows.sliced({{1, 2}}).repacked(16).slice_offset(), 2);
  EXPECT_THROW(rows.repacked(6), ValueError);
  EXPECT_THROW(rows.repacked(8, 4), ValueError) << "the address";
  EXPECT_THROW(rows.repacked(8, 0, 0), ValueError) << "the stride";
  EXPECT_THROW(rows.sliced({{0, 4}, {1, 4}}).repacked(8), ValueError) << "the offset";
  EXPECT_EQ(rows.max_compatible_itemsize(), 16);
  EXPECT_EQ(rows.max_compatible_itemsize(16, 8), 8);
  EXPECT_EQ(StridedLayout({4, 7}, 4).max_compatible_itemsize(), 4);
}

}  // namespace
}  // namespace cucore
