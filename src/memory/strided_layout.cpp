// StridedLayout.
#include "cucore/strided_layout.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "cucore/error.hpp"
#include "src/error/refuse.hpp"

namespace cucore {
namespace {

using Numbers = StridedLayout::Numbers;
using Axes = StridedLayout::Axes;

[[noreturn]] void refuse(const char* call, std::string message, std::string hint = {}) {
  detail::refuse(std::string("StridedLayout::") + call, std::move(message), std::move(hint));
}

[[noreturn]] void overflow() {
  throw OverflowError({.call = "StridedLayout",
                       .message = "a size or an offset of the layout does not fit into 64 bits",
                       .hint = "use smaller extents and strides"});
}

std::int64_t multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) overflow();
  return product;
}

std::int64_t add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflow();
  return sum;
}

std::string text(const Numbers& numbers) {
  std::string list = "(";
  for (const std::int64_t number : numbers) list += (list.size() > 1 ? ", " : "") + std::to_string(number);
  return list + ")";
}

// 0 if any extent is 0, whatever the others are.
std::int64_t volume_of(const Numbers& shape) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, multiply);
}

void check_shape(const Numbers& shape, const char* call) {
  if (shape.size() > StridedLayout::max_rank) {
    refuse(call, std::to_string(shape.size()) + " axes are more than the 64 that a layout may have");
  }
  for (const std::int64_t extent : shape) {
    if (extent < 0) refuse(call, "the extents " + text(shape) + " must not be negative");
  }
}

// Whether `axes` names each of 0 to rank - 1 once.
bool is_permutation(std::span<const int> axes, std::size_t rank) {
  if (axes.size() != rank) return false;
  std::uint64_t seen = 0;
  for (const int axis : axes) {
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank || (seen >> axis & 1) != 0) return false;
    seen |= std::uint64_t{1} << axis;
  }
  return true;
}

// The strides without gaps, the last of `order` innermost. An axis of extent 0 counts as 1: strides stay meaningful.
Numbers dense_strides(const Numbers& shape, std::span<const int> order) {
  Numbers strides(shape.size());
  std::int64_t stride = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    const auto i = static_cast<std::size_t>(*axis);
    strides[i] = stride;
    stride = multiply(stride, std::max<std::int64_t>(shape[i], 1));
  }
  return strides;
}

bool is_contiguous(const Numbers& shape, const Numbers& strides, std::span<const int> order) {
  std::int64_t expected = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    const auto i = static_cast<std::size_t>(*axis);
    if (shape[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

// The extents with -1 replaced by what remains of `volume`.
void infer_extent(StridedLayout::Numbers& shape, std::int64_t volume) {
  std::int64_t* open = nullptr;
  std::int64_t known = 1;
  for (std::int64_t& extent : shape) {
    if (extent == -1) {
      if (open != nullptr) refuse("reshaped", "only one extent can be -1");
      open = &extent;
    } else if (extent < 0) {
      refuse("reshaped", "an extent of the new shape is " + std::to_string(extent), "only -1 has a meaning");
    } else {
      known = multiply(known, extent);
    }
  }
  if (open != nullptr) {
    if (known == 0) refuse("reshaped", "the extent -1 is ambiguous when another one is 0");
    *open = volume / known;
    known *= *open;
  }
  if (known != volume) {
    refuse("reshaped",
           "the new shape has " + std::to_string(known) + " elements; the layout has " + std::to_string(volume));
  }
}

}  // namespace

StridedLayout::StridedLayout(Numbers shape, std::int64_t itemsize)
    : shape_(std::move(shape)), itemsize_(itemsize), has_strides_(false) {
  check_shape(shape_, "StridedLayout");
  if (itemsize < 1) refuse("StridedLayout", "the element size must be at least 1, not " + std::to_string(itemsize));
  volume_ = volume_of(shape_);
  strides_ = dense_strides(shape_, c_order(rank()));
}

StridedLayout::StridedLayout(Numbers shape, Numbers strides, std::int64_t itemsize)
    : StridedLayout(std::move(shape), std::move(strides), itemsize, 0) {}

StridedLayout::StridedLayout(Numbers shape, Numbers strides, std::int64_t itemsize, std::int64_t offset)
    : shape_(std::move(shape)), strides_(std::move(strides)), itemsize_(itemsize), offset_(offset) {
  check_shape(shape_, "StridedLayout");
  if (itemsize < 1) refuse("StridedLayout", "the element size must be at least 1, not " + std::to_string(itemsize));
  if (strides_.size() != shape_.size()) {
    refuse("StridedLayout",
           "the strides must have the same length as the shape: " + text(strides_) + " is not of " + text(shape_));
  }
  volume_ = volume_of(shape_);
}

StridedLayout StridedLayout::with_byte_strides(Numbers shape, Numbers strides, std::int64_t itemsize) {
  StridedLayout layout(std::move(shape), std::move(strides), itemsize);
  for (std::int64_t& stride : layout.strides_) {
    if (stride % itemsize != 0) {
      refuse("with_byte_strides", "the strides must be divisible by the element size: " + std::to_string(stride) +
                                      " is not a multiple of " + std::to_string(itemsize));
    }
    stride /= itemsize;
  }
  return layout;
}

StridedLayout StridedLayout::dense(Numbers shape, std::int64_t itemsize, std::span<const int> order) {
  check_shape(shape, "dense");
  if (!is_permutation(order, shape.size())) {
    refuse("dense", "the order of strides must name each of the " + std::to_string(shape.size()) + " axes once");
  }
  Numbers strides = dense_strides(shape, order);
  return {std::move(shape), std::move(strides), itemsize, 0};
}

Axes StridedLayout::c_order(std::size_t rank) {
  Axes order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Axes StridedLayout::f_order(std::size_t rank) {
  Axes order = c_order(rank);
  std::ranges::reverse(order);
  return order;
}

Numbers StridedLayout::strides_in_bytes() const {
  Numbers bytes = strides_;
  for (std::int64_t& stride : bytes) stride = multiply(stride, itemsize_);
  return bytes;
}

std::int64_t StridedLayout::slice_offset_in_bytes() const { return multiply(offset_, itemsize_); }

Axes StridedLayout::stride_order() const {
  Axes order = c_order(rank());
  if (!has_strides_) return order;
  const auto size = [](std::int64_t stride) {
    return stride < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(stride) : static_cast<std::uint64_t>(stride);
  };
  std::ranges::sort(order, [&](int a, int b) {
    const auto i = static_cast<std::size_t>(a);
    const auto j = static_cast<std::size_t>(b);
    if (size(strides_[i]) != size(strides_[j])) return size(strides_[i]) > size(strides_[j]);
    if (shape_[i] != shape_[j]) return shape_[i] > shape_[j];
    return a < b;
  });
  return order;
}

bool StridedLayout::is_contiguous_c() const { return volume_ == 0 || is_contiguous(shape_, strides_, c_order(rank())); }

bool StridedLayout::is_contiguous_f() const { return volume_ == 0 || is_contiguous(shape_, strides_, f_order(rank())); }

bool StridedLayout::is_contiguous_any() const {
  return volume_ == 0 || is_contiguous(shape_, strides_, stride_order());
}

bool StridedLayout::is_unique() const {
  if (volume_ <= 1) return true;
  const Axes order = stride_order();
  std::int64_t reach = 0;  // the distance from the first to the last element of the inner axes
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    const auto i = static_cast<std::size_t>(*axis);
    if (shape_[i] == 1) continue;
    const std::int64_t stride = strides_[i] < 0 ? multiply(strides_[i], -1) : strides_[i];
    if (stride <= reach) return false;
    reach = add(reach, multiply(stride, shape_[i] - 1));
  }
  return true;
}

std::pair<std::int64_t, std::int64_t> StridedLayout::offset_bounds() const {
  if (volume_ == 0) return {0, -1};
  std::pair bounds{offset_, offset_};
  for (std::size_t i = 0; i < rank(); ++i) {
    const std::int64_t reach = multiply(strides_[i], shape_[i] - 1);
    (reach < 0 ? bounds.first : bounds.second) = add(reach < 0 ? bounds.first : bounds.second, reach);
  }
  return bounds;
}

std::int64_t StridedLayout::required_size_in_bytes() const {
  const auto [first, last] = offset_bounds();
  if (first < 0) {
    refuse("required_size_in_bytes",
           "elements lie before the base address (min_offset is " + std::to_string(first) + ")",
           "use a base address and an offset that leave room for them");
  }
  return multiply(add(last, 1), itemsize_);
}

std::size_t StridedLayout::axis_number(int axis, std::size_t rank, const char* call) const {
  const auto most = static_cast<int>(rank);
  if (axis < -most || axis >= most) {
    refuse(call, "axis " + std::to_string(axis) + " is out of range for " + std::to_string(rank) + " axes");
  }
  return static_cast<std::size_t>(axis < 0 ? axis + most : axis);
}

StridedLayout StridedLayout::permuted(const Axes& axes) const {
  Axes order;
  for (const int axis : axes) order.push_back(static_cast<int>(axis_number(axis, rank(), "permuted")));
  if (!is_permutation(order, rank())) {
    refuse("permuted", "the axes must name each of the " + std::to_string(rank()) + " axes once");
  }
  Numbers shape;
  Numbers strides;
  for (const int axis : order) {
    shape.push_back(shape_[static_cast<std::size_t>(axis)]);
    strides.push_back(strides_[static_cast<std::size_t>(axis)]);
  }
  return {std::move(shape), std::move(strides), itemsize_, offset_};
}

StridedLayout StridedLayout::squeezed() const {
  if (volume_ == 0) return {{0}, {0}, itemsize_, offset_};
  Numbers shape;
  Numbers strides;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (shape_[i] == 1) continue;
    shape.push_back(shape_[i]);
    strides.push_back(strides_[i]);
  }
  return {std::move(shape), std::move(strides), itemsize_, offset_};
}

StridedLayout StridedLayout::unsqueezed(const Axes& axes) const {
  const std::size_t total = rank() + axes.size();
  if (total > max_rank) refuse("unsqueezed", std::to_string(total) + " axes are more than the 64 a layout may have");
  std::uint64_t added = 0;
  for (const int axis : axes) {
    const std::uint64_t bit = std::uint64_t{1} << axis_number(axis, total, "unsqueezed");
    if ((added & bit) != 0) refuse("unsqueezed", "axis " + std::to_string(axis) + " is named twice");
    added |= bit;
  }
  Numbers shape(total, 1);
  Numbers strides(total, 1);
  std::size_t from = rank();
  for (std::size_t to = total; to-- > 0;) {
    if ((added >> to & 1) != 0) {
      if (to + 1 < total) strides[to] = multiply(strides[to + 1], shape[to + 1]);
    } else {
      --from;
      shape[to] = shape_[from];
      strides[to] = strides_[from];
    }
  }
  return {std::move(shape), std::move(strides), itemsize_, offset_};
}

std::uint64_t StridedLayout::flattened_axis_mask() const {
  std::uint64_t mask = 0;
  for (std::size_t i = 1; i < rank(); ++i) {
    if (strides_[i - 1] == multiply(strides_[i], shape_[i])) mask |= std::uint64_t{1} << i;
  }
  return mask;
}

StridedLayout StridedLayout::flattened(int first, int last, std::optional<std::uint64_t> mask) const {
  if (rank() == 0) return *this;
  const std::size_t begin = axis_number(first, rank(), "flattened");
  const std::size_t end = axis_number(last, rank(), "flattened");
  const std::uint64_t possible = flattened_axis_mask();
  const std::uint64_t wanted = mask.value_or(possible);
  if ((wanted & ~possible) != 0) {
    refuse("flattened", "the mask names axes that do not continue the one before",
           "and it with this layout's flattened_axis_mask()");
  }
  Numbers shape{shape_[0]};
  Numbers strides{strides_[0]};
  for (std::size_t i = 1; i < rank(); ++i) {
    if (i > begin && i <= end && (wanted >> i & 1) != 0) {
      shape.back() = multiply(shape.back(), shape_[i]);
      strides.back() = strides_[i];
    } else {
      shape.push_back(shape_[i]);
      strides.push_back(strides_[i]);
    }
  }
  return {std::move(shape), std::move(strides), itemsize_, offset_};
}

StridedLayout StridedLayout::broadcast_to(Numbers shape) const {
  check_shape(shape, "broadcast_to");
  if (shape.size() < rank()) refuse("broadcast_to", text(shape) + " has fewer axes than " + text(shape_));
  Numbers strides(shape.size(), 0);
  const std::size_t in_front = shape.size() - rank();
  for (std::size_t i = 0; i < rank(); ++i) {
    const std::int64_t extent = shape[in_front + i];
    if (extent == shape_[i]) {
      strides[in_front + i] = strides_[i];
    } else if (shape_[i] != 1) {
      refuse("broadcast_to", text(shape_) + " cannot be broadcast to " + text(shape),
             "only axes of extent 1 can be of another extent");
    }
  }
  return {std::move(shape), std::move(strides), itemsize_, offset_};
}

StridedLayout StridedLayout::sliced(std::span<const Slice> slices) const {
  if (slices.size() > rank()) {
    refuse("sliced", std::to_string(slices.size()) + " slices are more than the " + std::to_string(rank()) + " axes");
  }
  Numbers shape;
  Numbers strides;
  std::int64_t offset = offset_;
  for (std::size_t i = 0; i < rank(); ++i) {
    const Slice slice = i < slices.size() ? slices[i] : Slice{0, shape_[i], 1};
    const std::int64_t count = slice.count.value_or(1);
    if (count < 0) refuse("sliced", "a slice cannot have " + std::to_string(count) + " elements");
    if (count > 0) {
      const std::int64_t last = add(slice.start, multiply(slice.step, count - 1));
      if (std::min(slice.start, last) < 0 || std::max(slice.start, last) >= shape_[i]) {
        refuse("sliced", "index " + std::to_string(last < 0 || last >= shape_[i] ? last : slice.start) +
                             " is out of range for axis " + std::to_string(i) + " with extent " +
                             std::to_string(shape_[i]));
      }
      offset = add(offset, multiply(slice.start, strides_[i]));
    }
    if (!slice.count.has_value()) continue;
    shape.push_back(count);
    strides.push_back(multiply(strides_[i], slice.step));
  }
  return {std::move(shape), std::move(strides), itemsize_, offset};
}

StridedLayout StridedLayout::to_dense() const { return to_dense(stride_order()); }

StridedLayout StridedLayout::to_dense(std::span<const int> order) const { return dense(shape_, itemsize_, order); }

StridedLayout StridedLayout::reshaped(Numbers shape) const {
  infer_extent(shape, volume_);
  if (shape.size() > max_rank) refuse("reshaped", "the new shape has more than 64 axes");
  Numbers strides(shape.size(), 1);
  // Each merged axis (one that a single stride walks) must be the product of some of the new extents, from the last on.
  const StridedLayout merged = volume_ == 0 ? StridedLayout({0}, itemsize_) : squeezed().flattened();
  std::size_t part = merged.rank();
  std::int64_t left = 1;  // of that part's extent, in front of the axes given out so far
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (volume_ != 0 && shape[i] != 1 && left == 1) {
      --part;
      left = merged.shape_[part];
      stride = merged.strides_[part];
    }
    strides[i] = stride;
    if (volume_ != 0 && left % shape[i] != 0) {
      refuse("reshaped", "the strides are incompatible with the new shape",
             "copy the elements into a dense layout first (to_dense())");
    }
    const std::int64_t extent = std::max<std::int64_t>(shape[i], 1);
    left /= volume_ != 0 ? extent : 1;
    stride = multiply(stride, extent);
  }
  return {std::move(shape), std::move(strides), itemsize_, offset_};
}

StridedLayout StridedLayout::repacked(std::int64_t itemsize, std::uint64_t address, int axis, bool keep_dim) const {
  if (itemsize < 1) refuse("repacked", "the element size must be at least 1, not " + std::to_string(itemsize));
  if (rank() == 0) refuse("repacked", "a layout of no axes cannot be repacked");
  if (itemsize == itemsize_) return *this;
  const std::size_t i = axis_number(axis, rank(), "repacked");
  const bool packs = itemsize > itemsize_;
  const std::int64_t ratio = packs ? itemsize / itemsize_ : itemsize_ / itemsize;
  if ((packs ? itemsize % itemsize_ : itemsize_ % itemsize) != 0) {
    refuse("repacked", "one of the element sizes " + std::to_string(itemsize_) + " and " + std::to_string(itemsize) +
                           " must be a multiple of the other");
  }
  if (address % static_cast<std::uint64_t>(itemsize) != 0) {
    refuse("repacked", "the address must be aligned to the new element size, " + std::to_string(itemsize));
  }
  if (strides_[i] != 1 && shape_[i] != 1) {
    refuse("repacked", "the stride of axis " + std::to_string(i) + " must be 1, not " + std::to_string(strides_[i]));
  }
  Numbers shape = shape_;
  Numbers strides = strides_;
  std::int64_t offset = offset_;
  // In new elements.
  const auto scale = [&](std::int64_t& number, const char* what) {
    if (packs && number % ratio != 0) {
      refuse("repacked", std::string(what) + " (" + std::to_string(number) + ") must be divisible by " +
                             std::to_string(ratio) + ", the ratio of the element sizes");
    }
    number = packs ? number / ratio : multiply(number, ratio);
  };
  scale(offset, "the slice offset");
  for (std::size_t other = 0; other < rank(); ++other) {
    if (other != i) scale(strides[other], "a stride");
  }
  if (packs || keep_dim) scale(shape[i], "the extent of the axis");
  strides[i] = 1;
  if (!keep_dim && packs && shape[i] == 1) {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(i));
    strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (!keep_dim && !packs) {
    strides[i] = ratio;
    shape.push_back(ratio);
    strides.push_back(1);
  }
  return {std::move(shape), std::move(strides), itemsize, offset};
}

std::int64_t StridedLayout::max_compatible_itemsize(std::int64_t most, std::uint64_t address, int axis) const {
  if (most < 1) refuse("max_compatible_itemsize", "the largest element size must be at least 1");
  const std::size_t i = rank() == 0 ? 0 : axis_number(axis, rank(), "max_compatible_itemsize");
  if (rank() == 0 || (strides_[i] != 1 && shape_[i] != 1)) return itemsize_;
  // The largest size that divides the extent, the offset and the other strides, in bytes, and the address.
  std::int64_t divisor = std::gcd(shape_[i], offset_);
  for (std::size_t other = 0; other < rank(); ++other) {
    if (other != i) divisor = std::gcd(divisor, strides_[other]);
  }
  std::int64_t width = itemsize_;
  for (std::int64_t ratio = 2; itemsize_ <= most / ratio; ratio *= 2) {
    const auto bytes = static_cast<std::uint64_t>(itemsize_ * ratio);
    if (divisor % ratio != 0 || address % bytes != 0) break;
    width = itemsize_ * ratio;
  }
  return width;
}

}  // namespace cucore
