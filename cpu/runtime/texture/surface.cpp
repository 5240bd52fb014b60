// Surface instructions: see surface.hpp.
#include "cpu/runtime/texture/surface.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cpu/runtime/texture/texture.hpp"

namespace cucore::cpu::runtime {
namespace {

namespace op = texel_operation;

template <class T>
void reduce_as(std::byte* at, const void* data, std::uint32_t reduction) {
  T operand;
  std::memcpy(&operand, data, sizeof operand);
  std::atomic_ref<T> value(*reinterpret_cast<T*>(at));
  T before = value.load(std::memory_order_relaxed);
  for (;;) {
    T after = before;
    switch (reduction) {
      case 0:
        after = static_cast<T>(static_cast<std::uint64_t>(before) + static_cast<std::uint64_t>(operand));
        break;
      case 1:
        after = std::min(before, operand);
        break;
      case 2:
        after = std::max(before, operand);
        break;
      case 3:
        after = static_cast<T>(before & operand);
        break;
      default:
        after = static_cast<T>(before | operand);
        break;
    }
    if (value.compare_exchange_weak(before, after, std::memory_order_relaxed)) return;
  }
}

void reduce(std::byte* at, const void* data, std::uint32_t operation, std::uint32_t bytes) {
  const std::uint32_t reduction = operation >> op::reduction_shift & 7;
  const bool is_signed = (operation & op::signed_bit) != 0;
  if (bytes == 4) {
    is_signed ? reduce_as<std::int32_t>(at, data, reduction) : reduce_as<std::uint32_t>(at, data, reduction);
  } else {
    is_signed ? reduce_as<std::int64_t>(at, data, reduction) : reduce_as<std::uint64_t>(at, data, reduction);
  }
}

/// A formatted store: each component in the format of the texels.
void store_formatted(const TexelFormat& format, std::byte* at, const void* data, std::uint32_t bytes) {
  const unsigned int components = std::min<unsigned int>(format.channels, bytes / 4);
  for (unsigned int c = 0; c < components; ++c) {
    std::uint32_t word;
    std::memcpy(&word, static_cast<const std::byte*>(data) + std::size_t{c} * 4, sizeof word);
    store_channel(format, at, c, word);
  }
}

}  // namespace

const char* access_surface(const ResourceObject& surface, std::uint32_t operation, const std::int32_t* coordinates,
                           device_library::SelfChecks& checks, void* data) {
  const auto has = [operation](std::uint32_t bit) { return (operation & bit) != 0; };
  const TexelGrid& grid = surface.levels.front();
  const auto texel = static_cast<std::int64_t>(surface.format.bytes());
  const std::uint32_t bytes = operation >> op::bytes_shift & 63;
  const std::uint32_t dimensions = operation & op::dimension_mask;
  const bool loads = !has(op::store_bit) && !has(op::reduce_bit);

  // The lowest coordinate counts bytes, except in formatted accesses.
  const auto span = static_cast<std::int64_t>(has(op::formatted_bit) ? static_cast<std::uint32_t>(texel) : bytes);
  std::int64_t place[3] = {std::int64_t{coordinates[0]} * (has(op::formatted_bit) ? texel : 1),
                           dimensions > 1 ? coordinates[1] : 0, dimensions > 2 ? coordinates[2] : 0};
  if (has(op::layered)) place[2] = coordinates[3] & 0xffff;  // as on an H200: layers have 16 bits
  const std::int64_t most[3] = {static_cast<std::int64_t>(grid.row_bytes) - span, grid.height - 1, grid.depth - 1};
  for (int axis = 0; axis < 3; ++axis) {
    if (place[axis] >= 0 && place[axis] <= most[axis]) continue;
    if (has(op::zero_bit) || most[axis] < 0) {
      if (loads) std::memset(data, 0, bytes);
      return has(op::zero_bit) ? nullptr : "a surface access wider than the surface";
    }
    if (!has(op::clamp_bit)) return "a surface access out of range";
    place[axis] = std::clamp<std::int64_t>(place[axis], 0, most[axis]);
  }
  const std::int64_t unit = std::min<std::int64_t>(span, texel);
  if (place[0] % std::max<std::int64_t>(unit, 1) != 0) {
    if (!has(op::clamp_bit) || place[0] != most[0]) return "a misaligned surface access";
    place[0] -= place[0] % unit;
  }

  std::byte* const at = grid.base + static_cast<std::size_t>(place[2]) * grid.slice_bytes +
                        static_cast<std::size_t>(place[1]) * grid.row_bytes + static_cast<std::size_t>(place[0]);
  checks.add(at, static_cast<std::uint32_t>(span));
  if (!checks.may_happen()) {
    if (loads) std::memset(data, 0, bytes);
  } else if (loads) {
    std::memcpy(data, at, bytes);
  } else if (has(op::reduce_bit)) {
    if (bytes > texel || reinterpret_cast<std::uintptr_t>(at) % bytes != 0) return "a misaligned surface access";
    if (has(op::formatted_bit) && surface.format.kind == TexelFormat::Kind::Signed) operation |= op::signed_bit;
    reduce(at, data, operation, bytes);
  } else if (has(op::formatted_bit)) {
    store_formatted(surface.format, at, data, bytes);
  } else {
    std::memcpy(at, data, bytes);
  }
  return nullptr;
}

}  // namespace cucore::cpu::runtime
