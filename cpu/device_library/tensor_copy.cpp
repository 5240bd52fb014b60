// Copies boxes between tensors in global memory and shared memory, as a tensor map says: see tensor_copy.hpp.
#include "cpu/device_library/tensor_copy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "cpu/abi/tensor_map_contents.hpp"
#include "cpu/device_library/self_checks.hpp"
#include "cpu/device_library/tensor_reduction.hpp"

namespace cucore::cpu::device_library::tensor_copy {
namespace {

constexpr std::size_t largest_rank = 5;

constexpr unsigned largest_swizzle = 3;  // of 128 bytes in its plain form
constexpr std::uintptr_t shared_alignment = 128;
constexpr std::int64_t box_alignment = 16;  // bytes of the tensor's first dimension

TensorMapContents contents_of(const void* map) {
  TensorMapContents contents;
  std::memcpy(&contents, map, sizeof contents);
  return contents;
}

/// Where in a tensor an instruction's box lies.
struct BoxPlace {
  std::uint32_t rank;  ///< or four_rows
  const std::int32_t* coordinates;
  const std::int32_t* offsets;  ///< of an im2col copy, else null

  bool is_im2col() const { return offsets != nullptr; }
  /// A box that is written may reach beyond the tensor, but not begin before it.
  bool begins_before_tensor() const {
    const std::int32_t* const end = coordinates + (rank == four_rows ? 1 : rank);
    return std::any_of(coordinates, end, [](std::int32_t coordinate) { return coordinate < 0; });
  }
};

/// What a map that a kernel made of zeros can lack; one that the driver encoded has it.
bool lacks_steps_or_extents(const TensorMapContents& map) {
  const auto is_zero = [](auto number) { return number == 0; };
  const std::size_t corners = map.is_im2col != 0 ? 2 : map.rank;
  return map.element_bytes == 0 || std::any_of(map.box, map.box + corners, is_zero) ||
         std::any_of(map.element_strides, map.element_strides + map.rank, is_zero);
}

/// Why hardware refuses a copy as illegal; null if it does not.
const char* why_illegal(const TensorMapContents& map, const BoxPlace& box) {
  if (map.magic != TensorMapContents::expected_magic)
    return "the tensor map is none that this driver encoded, or to which tensormap.replace gave a rank";
  if (map.rank != (box.rank == four_rows ? 2 : box.rank))
    return "the tensor map has another number of dimensions than the instruction";
  if (lacks_steps_or_extents(map))
    return "the tensor map has no type of elements, or 0 for an element stride or an extent of its box";
  if (map.is_wide != 0) return "the tensor map is for im2col::w copies, which this device does not have";
  if ((map.is_im2col != 0) != box.is_im2col()) return "the tensor map is of the other mode, tiled or im2col";
  if (box.rank == four_rows && map.box[1] != 1) return "four rows are copied by a tensor map whose box is not one row";
  if (map.interleave != 0) return "interleaved tensor maps are not supported";
  if (map.swizzle > largest_swizzle) return "the tensor map's swizzle is not supported";
  if (std::int64_t{box.coordinates[0]} * map.element_bytes % box_alignment != 0)
    return "the box does not begin at a multiple of 16 bytes of the tensor's first dimension";
  return nullptr;
}

/// Ends the kernel if a copy cannot be done; `why`: what is illegal about it, if anything.
bool is_refused(ThreadState* thread, const void* shared, const char* why) {
  const auto offset = static_cast<std::uintptr_t>(static_cast<const std::byte*>(shared) - thread->block->shared);
  if (why != nullptr) {
    cucpu_fault(thread, KernelFault::IllegalInstruction, why);
  } else if (offset % shared_alignment != 0) {
    cucpu_fault(thread, KernelFault::MisalignedAddress, "a box in shared memory that is not aligned to 128 bytes");
  } else {
    return false;
  }
  return true;
}

/// Where byte `offset` of the shared window lies under the swizzle of the map: chunks of 16 bytes change places within
/// 32, 64 or 128 bytes by the number of the 128 bytes they are in.
std::uint64_t swizzled(std::uint64_t offset, unsigned swizzle) {
  const std::uint64_t chunks = (std::uint64_t{1} << swizzle) - 1;  // none, 32, 64, 128 bytes: 0 to 3 bits
  return offset ^ (offset >> 7 & chunks) << 4;
}

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

/// For four rows: the columns of one after the other.
template <typename Visit>
std::uint32_t for_each_of_rows(const TensorMapContents& map, const std::int32_t* coordinates, const Visit& visit) {
  constexpr std::size_t row_count = 4;
  std::uint64_t to = 0;
  for (std::size_t row = 1; row <= row_count; ++row) {
    Place place{coordinates[0], coordinates[row]};
    for (std::uint32_t n = 0; n < map.box[0]; n += map.element_strides[0]) {
      visit(to, element_at(map, place));
      to += map.element_bytes;
      place[0] += map.element_strides[0];
    }
  }
  return static_cast<std::uint32_t>(to);
}

/// Calls visit(offset in the dense box, address of the element or null if it lies outside) for each element of the box.
template <typename Visit>
std::uint32_t for_each_element(const TensorMapContents& map, const BoxPlace& box, const Visit& visit) {
  const std::int32_t* const coordinates = box.coordinates;
  if (map.is_im2col != 0) return for_each_of_pixels(map, coordinates, box.offsets, visit);
  if (box.rank == four_rows) return for_each_of_rows(map, coordinates, visit);
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

bool is_tensor_float(TensorElement type) { return type == TensorElement::Tf32 || type == TensorElement::Tf32Ftz; }

/// Rounds a float to the ten fraction bits of TensorFloat-32; a NaN becomes the canonical one.
void round_to_tensor_float(std::byte* element) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, element, sizeof bits);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  bits = is_nan ? 0x7fffe000 : (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
  std::memcpy(element, &bits, sizeof bits);
}

/// What a copy does, of check_access.
struct BoxAccess {
  std::uint32_t of_shared, of_tensor;
};

/// Calls visit(place in shared memory, element or null) for each element of a box that begins at `shared`, if all of
/// it may be accessed. Returns the bytes of the box.
template <typename Visit>
std::uint32_t copy_box(ThreadState* thread, const void* shared, const TensorMapContents& map, const BoxPlace& box,
                       BoxAccess access, const Visit& visit) {
  std::byte* const window = thread->block->shared;
  const auto first = static_cast<std::uint64_t>(static_cast<const std::byte*>(shared) - window);
  const auto for_each = [&](const auto& of_place) {
    return for_each_element(map, box, [&](std::uint64_t offset, std::byte* element) {
      of_place(window + swizzled(first + offset, map.swizzle), element);
    });
  };
  const bool loads = (access.of_shared & check_access::writes_memory) != 0;
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
  const TensorMapContents contents = contents_of(map);
  const BoxPlace box{rank, coordinates, offsets};
  if (is_refused(thread, shared, why_illegal(contents, box))) return 0;
  const std::uint64_t outside = filler(contents);
  const bool rounds = is_tensor_float(static_cast<TensorElement>(contents.type));
  return copy_box(thread, shared, contents, box,
                  {check_access::writes_memory | check_access::until_delivered, check_access::reads_memory},
                  [&](std::byte* to, const std::byte* element) {
                    std::memcpy(to, element != nullptr ? static_cast<const void*>(element) : &outside,
                                contents.element_bytes);
                    if (rounds && element != nullptr) round_to_tensor_float(to);
                  });
}

namespace {

constexpr std::uint32_t combines = check_access::reads_memory | check_access::writes_memory | check_access::is_strong;

/// Calls visit(element of the tensor, element of the box) for each element of the box that lies inside the tensor.
/// `of_tensor`: the access, of check_access; `why`: what is illegal about it, if anything.
template <typename Visit>
void write_box(ThreadState* thread, const void* shared, const TensorMapContents& map, const BoxPlace& box,
               std::uint32_t of_tensor, const char* why, const Visit& visit) {
  if (why == nullptr && box.begins_before_tensor()) why = "a box to be written begins before the tensor";
  if (is_refused(thread, shared, why)) return;
  constexpr std::uint32_t shared_access =
      check_access::reads_memory | check_access::async_proxy | check_access::until_waited;
  copy_box(thread, shared, map, box, {shared_access, of_tensor}, [&](const std::byte* place, std::byte* element) {
    if (element != nullptr) visit(element, place);
  });
}

}  // namespace

void store(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
           const std::int32_t* coordinates, const std::int32_t* offsets) {
  const TensorMapContents contents = contents_of(map);
  const BoxPlace box{rank, coordinates, offsets};
  write_box(thread, shared, contents, box, check_access::writes_memory, why_illegal(contents, box),
            [&](std::byte* to, const std::byte* from) { std::memcpy(to, from, contents.element_bytes); });
}

void reduce(ThreadState* thread, const void* shared, const void* map, std::uint32_t rank,
            const std::int32_t* coordinates, const std::int32_t* offsets, std::uint32_t operation) {
  const TensorMapContents contents = contents_of(map);
  const auto type = static_cast<TensorElement>(contents.type);
  const auto reduction = static_cast<Reduction>(operation);
  const BoxPlace box{rank, coordinates, offsets};
  const char* why = why_illegal(contents, box);
  if (why == nullptr && !can_combine(type, reduction)) why = "the tensor's type does not have this reduction";
  write_box(thread, shared, contents, box, combines, why,
            [&](std::byte* to, const std::byte* from) { combine(to, from, type, reduction); });
}

}  // namespace cucore::cpu::device_library::tensor_copy
