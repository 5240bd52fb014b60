#include "cpu/codegen/tensor_copy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "cpu/codegen/self_checks.hpp"
#include "cpu/codegen/tensor_map_contents.hpp"
#include "cpu/codegen/tensor_reduction.hpp"

namespace cucore::cpu::codegen::tensor_copy {

namespace {

constexpr std::size_t largest_rank = 5;

/// The map at an address that a program gave; none if this cannot be copied.
std::optional<TensorMapContents> read_map(const void* map, std::uint32_t rank, bool is_im2col) {
  TensorMapContents contents;
  std::memcpy(&contents, map, sizeof contents);
  if (contents.magic != TensorMapContents::expected_magic || contents.rank != rank) return {};
  if ((contents.is_im2col != 0) != is_im2col || contents.interleave != 0) return {};
  return contents;
}

/// Where byte `offset` of the shared window lies under the swizzle of the map: chunks of 16 bytes change places within
/// 32, 64 or 128 bytes by the number of the 128 bytes they are in.
std::uint64_t swizzled(std::uint64_t offset, unsigned swizzle) {
  const std::uint64_t chunks = (std::uint64_t{1} << swizzle) - 1;  // none, 32, 64, 128 bytes: 0 to 3 bits
  return offset ^ (offset >> 7 & chunks) << 4;
}

constexpr unsigned largest_swizzle = 3;  // of 128 bytes in its plain form

/// The pattern of the NaN that fills what lies outside, if the map asks for one.
std::uint64_t filler(const TensorMapContents& map) {
  if (map.fill == 0) return 0;
  return map.element_bytes == 2 ? 0x7fff : map.element_bytes == 4 ? 0x7fffffff : 0x7fffffffffffffff;
}

using Place = std::array<std::int64_t, largest_rank>;

/// The element at `place`, or null if it lies outside.
std::byte* element_at(const TensorMapContents& map, const Place& place) {
  std::uint64_t at = map.address;
  for (std::size_t d = 0; d < map.rank; ++d) {
    if (place[d] < 0 || place[d] > std::int64_t{map.extents[d]}) return nullptr;
    at += static_cast<std::uint64_t>(place[d]) * (d == 0 ? map.element_bytes : map.strides[d - 1]);
  }
  return reinterpret_cast<std::byte*>(at);
}

/// The next pixel of the bounding box, row by row and image by image: a row ends `upper` before that of the tensor, and
/// the next one begins at `lower`.
void step(const TensorMapContents& map, Place& pixel) {
  const std::size_t images = map.rank - 1U;
  for (std::size_t d = 1; d < images; ++d) {
    pixel[d] += map.element_strides[d];
    if (pixel[d] <= std::int64_t{map.extents[d]} + map.upper[d - 1]) return;
    pixel[d] = map.lower[d - 1];
  }
  ++pixel[images];
}

/// For an im2col map: the channels of one pixel after the other.
template <typename Visit>
std::uint32_t for_each_of_pixels(const TensorMapContents& map, const std::int32_t* coordinates,
                                 const std::int32_t* offsets, const Visit& visit) {
  Place pixel{};
  std::copy_n(coordinates, map.rank, pixel.begin());
  std::uint64_t to = 0;
  for (std::uint32_t n = 0; n < map.box[1]; ++n, step(map, pixel)) {
    Place place = pixel;
    for (std::size_t d = 1; d + 1 < map.rank; ++d) place[d] += offsets[d - 1];
    for (std::uint32_t channel = 0; channel < map.box[0]; ++channel, ++place[0], to += map.element_bytes)
      visit(to, element_at(map, place));
  }
  return static_cast<std::uint32_t>(to);
}

/// Calls visit(offset in the dense box, address of the element or null if it lies outside) for each element of the box.
template <typename Visit>
std::uint32_t for_each_element(const TensorMapContents& map, const std::int32_t* coordinates,
                               const std::int32_t* offsets, const Visit& visit) {
  if (map.is_im2col != 0) return for_each_of_pixels(map, coordinates, offsets, visit);
  std::array<std::uint32_t, largest_rank> counts{1, 1, 1, 1, 1};
  std::uint32_t total = 1;
  for (std::size_t d = 0; d < map.rank; ++d) {
    counts[d] = (map.box[d] + map.element_strides[d] - 1U) / map.element_strides[d];
    total *= counts[d];
  }
  for (std::uint32_t n = 0; n < total; ++n) {
    Place place{};
    for (std::uint32_t d = 0, rest = n; d < map.rank; rest /= counts[d], ++d)
      place[d] = coordinates[d] + std::int64_t{rest % counts[d]} * map.element_strides[d];
    visit(std::uint64_t{n} * map.element_bytes, element_at(map, place));
  }
  return total * map.element_bytes;
}

/// What a copy does, of check_access.
struct BoxAccess {
  std::uint32_t of_shared, of_tensor;
};

/// Calls visit(place in shared memory, element or null) for each element of a box that begins at `shared`, if all of
/// it may be accessed. Returns the bytes of the box.
template <typename Visit>
std::uint32_t copy_box(ThreadState* thread, const void* shared, const TensorMapContents& map,
                       const std::int32_t* coordinates, const std::int32_t* offsets, BoxAccess access,
                       const Visit& visit) {
  std::byte* const window = thread->block->shared;
  const auto first = static_cast<std::uint64_t>(static_cast<const std::byte*>(shared) - window);
  const auto for_each = [&](const auto& of_place) {
    return for_each_element(map, coordinates, offsets, [&](std::uint64_t offset, std::byte* element) {
      of_place(window + swizzled(first + offset, map.swizzle), element);
    });
  };
  const bool loads = access.of_shared == check_access::kWrites;
  SelfChecks in_shared(thread, access.of_shared, CheckedSpace::Shared, map.element_bytes);
  SelfChecks in_tensor(thread, access.of_tensor, CheckedSpace::Global, map.element_bytes);
  if (in_shared.are_wanted()) {
    const std::uint32_t bytes = for_each([&](const std::byte* place, const std::byte* element) {
      if (loads || element != nullptr) in_shared.add(place, map.element_bytes);
      if (element != nullptr) in_tensor.add(element, map.element_bytes);
    });
    const bool may_happen = in_shared.may_happen();
    if (!in_tensor.may_happen() || !may_happen) return bytes;
  }
  return for_each(visit);
}

}  // namespace

std::uint32_t load(ThreadState* thread, void* shared, const void* map, std::uint32_t rank,
                   const std::int32_t* coordinates, const std::int32_t* offsets) {
  const auto contents = read_map(map, rank, offsets != nullptr);
  if (!contents || contents->swizzle > largest_swizzle) {
    cucpu_trap(thread);
    return 0;
  }
  const std::uint64_t outside = filler(*contents);
  return copy_box(thread, shared, *contents, coordinates, offsets, {check_access::kWrites, check_access::kReads},
                  [&](std::byte* to, const std::byte* element) {
                    std::memcpy(to, element != nullptr ? static_cast<const void*>(element) : &outside,
                                contents->element_bytes);
                  });
}

namespace {

constexpr std::uint32_t kCombines = check_access::kReads | check_access::kWrites | check_access::kStrong;

/// Calls visit(element of the tensor, element of the box) for each element of the box that lies inside the tensor.
/// False, and nothing called, if that cannot be done. `of_tensor`: the access, of check_access.
template <typename Check, typename Visit>
bool write_box(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
               const std::int32_t* coordinates, const std::int32_t* offsets, std::uint32_t of_tensor,
               const Check& check, const Visit& visit) {
  const auto contents = read_map(map, rank, offsets != nullptr);
  // A box that is written may reach beyond the tensor, but not begin before it.
  const bool begins_outside = std::any_of(coordinates, coordinates + rank, [](std::int32_t c) { return c < 0; });
  if (!contents || contents->swizzle > largest_swizzle || begins_outside || !check(*contents)) return false;
  copy_box(thread, shared, *contents, coordinates, offsets, {check_access::kReads, of_tensor},
           [&](const std::byte* place, std::byte* element) {
             if (element != nullptr) visit(*contents, element, place);
           });
  return true;
}

}  // namespace

void store(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
           const std::int32_t* coordinates, const std::int32_t* offsets) {
  const auto any = [](const TensorMapContents&) { return true; };
  const auto copy = [](const TensorMapContents& contents, std::byte* to, const std::byte* from) {
    std::memcpy(to, from, contents.element_bytes);
  };
  if (!write_box(thread, shared, map, rank, coordinates, offsets, check_access::kWrites, any, copy)) cucpu_trap(thread);
}

void reduce(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
            const std::int32_t* coordinates, const std::int32_t* offsets, std::uint32_t operation) {
  const auto reduction = static_cast<Reduction>(operation);
  const auto is_possible = [&](const TensorMapContents& contents) {
    return can_combine(static_cast<TensorElement>(contents.type), reduction);
  };
  const auto visit = [&](const TensorMapContents& contents, std::byte* to, const std::byte* from) {
    combine(to, from, static_cast<TensorElement>(contents.type), reduction);
  };
  if (!write_box(thread, shared, map, rank, coordinates, offsets, kCombines, is_possible, visit)) cucpu_trap(thread);
}

}  // namespace cucore::cpu::codegen::tensor_copy
