// StridedLayout: where the elements of a tensor lie: shape, strides, element size, and the offset of a slice.
//
//   const cucore::StridedLayout rows({4, 8}, 4);               // four rows of eight floats, C order
//   rows.strides();                                            // {8, 1}, in elements
//   rows.permuted({1, 0}).is_contiguous_f();                   // true
//   rows.sliced({{1, 3, 1}, {0, 8, 2}}).slice_offset();        // 8
//   rows.reshaped({2, -1});                                    // {2, 16}
//
// No memory is touched and no driver needed: a layout is numbers. Arithmetic is in 64 bits and checked. Ownership: a
// value. Thread-safety: immutable but for assignment, so it may be read concurrently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cucore/export.hpp"

namespace cucore {

class CUCORE_API StridedLayout {
 public:
  using Numbers = std::vector<std::int64_t>;  ///< one for each axis
  using Axes = std::vector<int>;
  static constexpr std::size_t max_rank = 64;

  /// The part of one axis that a slice takes: `count` elements from `start` on, `step` apart. Without a count: the
  /// element at `start`, and the axis is removed.
  struct Slice {
    std::int64_t start = 0;
    std::optional<std::int64_t> count = std::nullopt;
    std::int64_t step = 1;
  };

  /// C order: the last axis is the innermost one.
  /// @throws ValueError more than 64 axes, a negative extent, an element size below 1  @throws OverflowError
  StridedLayout(Numbers shape, std::int64_t itemsize);
  /// Strides in elements. @throws ValueError as above, or another number of strides than of extents
  StridedLayout(Numbers shape, Numbers strides, std::int64_t itemsize);
  /// @throws ValueError as above, or a stride is not a multiple of the element size
  static StridedLayout with_byte_strides(Numbers shape, Numbers strides, std::int64_t itemsize);
  /// No gaps, the axes in this order from the outermost to the innermost. @throws ValueError not a permutation
  static StridedLayout dense(Numbers shape, std::int64_t itemsize, std::span<const int> order);

  static Axes c_order(std::size_t rank);
  static Axes f_order(std::size_t rank);

  std::size_t rank() const noexcept { return shape_.size(); }
  const Numbers& shape() const noexcept { return shape_; }
  /// In elements; computed where they were not given.
  const Numbers& strides() const noexcept { return strides_; }
  /// Whether strides were given, or an operation made them: without, it is C order.
  bool has_strides() const noexcept { return has_strides_; }
  Numbers strides_in_bytes() const;
  std::int64_t itemsize() const noexcept { return itemsize_; }
  /// How many elements there are.
  std::int64_t volume() const noexcept { return volume_; }
  /// Distance of the first element from the base address, in elements.
  std::int64_t slice_offset() const noexcept { return offset_; }
  std::int64_t slice_offset_in_bytes() const;
  /// Axes by falling |stride|, then falling extent, then number.
  Axes stride_order() const;

  // Axes of extent 1 do not count, and an empty layout is contiguous.
  bool is_contiguous_c() const;
  bool is_contiguous_f() const;
  bool is_contiguous_any() const;
  /// Contiguous in some order, and beginning at the base address.
  bool is_dense() const { return offset_ == 0 && is_contiguous_any(); }
  /// Whether no two elements share an address. May be false although none do.
  bool is_unique() const;

  /// Offsets of the first and the last element from the base address; (0, -1) if there are no elements.
  std::pair<std::int64_t, std::int64_t> offset_bounds() const;
  /// Bytes of memory that it needs from the base address on. @throws ValueError elements lie before it  @throws
  /// OverflowError
  std::int64_t required_size_in_bytes() const;

  /// The same elements in C order, in another shape, where one extent may be -1 for what remains.
  /// @throws ValueError the number of elements differs, or no strides express it
  StridedLayout reshaped(Numbers shape) const;
  /// Axis i of the result is axes[i] of this; negative ones count from the end. @throws ValueError not a permutation
  StridedLayout permuted(const Axes& axes) const;
  /// Without axes of extent 1; an empty one is of shape {0}.
  StridedLayout squeezed() const;
  /// With axes of extent 1 at these places of the result. @throws ValueError out of range, or twice
  StridedLayout unsqueezed(const Axes& axes) const;
  /// Merges adjacent axes from `first` to `last` that can be one. `mask`: as flattened_axis_mask(), which is the
  /// default.
  StridedLayout flattened(int first = 0, int last = -1, std::optional<std::uint64_t> mask = std::nullopt) const;
  /// Bit i: axis i continues axis i - 1. What two layouts have in common is the `and` of both.
  std::uint64_t flattened_axis_mask() const;
  /// New axes in front, and ones of extent 1, get stride 0. @throws ValueError extents disagree
  StridedLayout broadcast_to(Numbers shape) const;
  /// Elements of another size along an axis of stride 1. Without `keep_dim` an axis that packing makes 1 long is
  /// removed, and unpacking adds a new last axis. @throws ValueError sizes, strides, the offset or the address do
  /// not allow it
  StridedLayout repacked(std::int64_t itemsize, std::uint64_t address = 0, int axis = -1, bool keep_dim = true) const;
  /// The largest element size up to `most` that repacked() takes.
  std::int64_t max_compatible_itemsize(std::int64_t most = 16, std::uint64_t address = 0, int axis = -1) const;
  /// Slices the first axes; those without a slice are taken whole. @throws ValueError too many, or out of range
  StridedLayout sliced(std::span<const Slice> slices) const;
  StridedLayout sliced(std::initializer_list<Slice> slices) const {
    return sliced(std::span(slices.begin(), slices.size()));
  }
  /// No gaps and no offset, in the order of strides there is, or in `order`.
  StridedLayout to_dense() const;
  StridedLayout to_dense(std::span<const int> order) const;

  /// Compares element size, offset, shape and strides; strides not given differ from equal ones that were given.
  friend bool operator==(const StridedLayout&, const StridedLayout&) = default;

 private:
  StridedLayout(Numbers shape, Numbers strides, std::int64_t itemsize, std::int64_t offset);
  /// Brings an axis of -rank to rank - 1 into 0 to rank - 1. @throws ValueError
  std::size_t axis_number(int axis, std::size_t rank, const char* call) const;

  Numbers shape_;
  Numbers strides_;
  std::int64_t itemsize_;
  std::int64_t offset_ = 0;
  std::int64_t volume_ = 1;
  bool has_strides_ = true;
};

}  // namespace cucore
