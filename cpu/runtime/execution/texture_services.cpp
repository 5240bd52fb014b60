// The services behind texture and surface instructions (cpu/abi/kernel_abi.hpp): from a handle in a register to
// the object, and from what cannot be done to a failed grid.
#include <cuda.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/device_library/self_checks.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/texture/sampler.hpp"
#include "cpu/runtime/texture/surface.hpp"
#include "cpu/runtime/texture/texture.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu {

namespace {

using runtime::Grid;
using runtime::ResourceObject;
using runtime::TexelFormat;
using runtime::TexelGrid;

Grid& grid_with_textures(ThreadState* thread) { return *static_cast<Grid*>(thread->block->launch->runtime); }

[[noreturn]] void trap(ThreadState* thread, ErrorCode error, const char* what, std::uint64_t handle) {
  {
    Grid& grid = grid_with_textures(thread);
    grid.fail(error, runtime::whereabouts(grid, *thread->block, thread) + ": " + what + " (object " +
                         runtime::hexadecimal(handle) + ")");
  }  // the fiber is left for good: nothing may be owned here any more
  runtime::Fiber::finish();
  __builtin_unreachable();
}

/// Whether the checker reports the fault and the thread goes on, instead of being trapped.
bool reports(const ThreadState* thread) {
  return thread->block->launch->checks != nullptr && runtime::checker::checks(check_class::memory_checks);
}

void report(ThreadState* thread, ErrorCode error, const char* headline, std::vector<std::string> details) {
  runtime::checker::Finding finding;
  finding.headline = headline;
  finding.line = thread->place & ~aligned_place;
  finding.error = error;
  finding.details = std::move(details);
  runtime::checker::add(grid_with_textures(thread), *thread->block, thread, std::move(finding));
}

/// The object of a handle, or null if there is none; the last ones that this thread used in this grid without a
/// look-up.
const ResourceObject* object_of(ThreadState* thread, std::uint64_t handle, bool is_surface) {
  struct Known {
    std::uint64_t grid_id = 0;
    std::uint64_t handle = 0;
    const ResourceObject* object = nullptr;
  };
  constexpr std::size_t known_bits = 8;
  thread_local Known known[known_bits];
  const std::uint64_t grid_id = thread->block->launch->grid_id;
  Known& entry = known[(handle >> 4) % known_bits];
  if (entry.grid_id == grid_id && entry.handle == handle && entry.object->is_surface == is_surface) return entry.object;
  const ResourceObject* const object = grid_with_textures(thread).resources.find(handle, is_surface);
  if (object == nullptr) {
    if (!reports(thread))
      trap(thread, ErrorCode::IllegalAddress,
           is_surface ? "no such surface object: it never was, or was destroyed before this work was queued"
                      : "no such texture object: it never was, or was destroyed before this work was queued",
           handle);
    report(thread, ErrorCode::IllegalAddress, is_surface ? "Invalid surface object" : "Invalid texture object",
           runtime::describe_missing_object(handle));
    return nullptr;
  }
  entry = {grid_id, handle, object};
  return object;
}

/// The numbers that PTX shares with OpenCL.
std::uint32_t channel_data_type(const ResourceObject& object) {
  const TexelFormat& f = object.format;
  const bool as_number = !object.is_surface && !runtime::reads_integers(object);
  const std::uint32_t width = f.channel_bytes == 1 ? 0 : f.channel_bytes == 2 ? 1 : 2;
  switch (f.kind) {
    case TexelFormat::Kind::Float:
      return 0x10de;
    case TexelFormat::Kind::Half:
      return 0x10dd;
    case TexelFormat::Kind::UnsignedNormalized:
      return 0x10d2 + width;
    case TexelFormat::Kind::SignedNormalized:
      return 0x10d0 + width;
    case TexelFormat::Kind::Unsigned:
      return (as_number ? 0x10d2 : 0x10da) + width;
    default:
      return (as_number ? 0x10d0 : 0x10d7) + width;
  }
}

std::uint32_t channel_order(const TexelFormat& format) {
  return format.channels == 1 ? 0x10b0 : format.channels == 2 ? 0x10b2 : 0x10b5;  // R, RG, RGBA
}

}  // namespace

extern "C" {

void cucpu_texture_fetch(ThreadState* thread, std::uint64_t texture, std::uint32_t operation,
                         const TexelRequest* request, std::uint32_t* texel) {
  std::uint32_t result[4] = {};
  const ResourceObject* const object = object_of(thread, texture, false);
  device_library::SelfChecks checks(thread, check_access::reads_memory, CheckedSpace::Texture, 1);
  if (object != nullptr) runtime::sample(*object, operation, *request, checks, result);
  for (int c = 0; c < 4; ++c) texel[c] = result[c];
}

void cucpu_surface_access(ThreadState* thread, std::uint64_t surface, std::uint32_t operation,
                          const std::int32_t* coordinates, void* data) {
  const ResourceObject* const object = object_of(thread, surface, true);
  const bool reduces = (operation & texel_operation::reduce_bit) != 0;
  const bool stores = (operation & texel_operation::store_bit) != 0;
  device_library::SelfChecks checks(
      thread,
      reduces  ? check_access::reads_memory | check_access::writes_memory | check_access::is_strong
      : stores ? check_access::writes_memory
               : check_access::reads_memory,
      CheckedSpace::Surface, 1);
  const char* const what =
      object != nullptr ? runtime::access_surface(*object, operation, coordinates, checks, data) : nullptr;
  if (what != nullptr) {
    if (!reports(thread)) trap(thread, ErrorCode::LaunchFailed, what, surface);
    report(thread, ErrorCode::LaunchFailed, "Invalid surface access", {what});
  }
  if ((object == nullptr || what != nullptr) && !reduces && !stores)
    std::memset(data, 0, operation >> texel_operation::bytes_shift & 63);
}

std::uint32_t cucpu_texel_query(ThreadState* thread, std::uint64_t handle, std::uint32_t is_surface,
                                std::uint32_t query, std::uint32_t level) {
  const ResourceObject* const found = object_of(thread, handle, is_surface != 0);
  if (found == nullptr) return 0;
  const ResourceObject& object = *found;
  const TexelGrid& grid = object.levels[std::min<std::size_t>(level, object.levels.size() - 1)];
  const auto extent = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const CUDA_TEXTURE_DESC& texture = object.texture;
  switch (static_cast<TexelQuery>(query)) {
    case TexelQuery::Width:
      return extent(grid.width);
    case TexelQuery::Height:
      return object.dimensions > 1 ? extent(grid.height) : 0;
    case TexelQuery::Depth:
      return object.dimensions > 2 ? extent(grid.depth) : 0;
    case TexelQuery::ArraySize:
      if (!object.is_layered) return 0;
      return extent(object.is_cubemap ? grid.depth / 6 : grid.depth);
    case TexelQuery::ChannelDataType:
      return channel_data_type(object);
    case TexelQuery::ChannelOrder:
      return channel_order(object.format);
    case TexelQuery::NumMipmapLevels:
      return static_cast<std::uint32_t>(object.levels.size());
    case TexelQuery::NumSamples:
      return 1;
    case TexelQuery::NormalizedCoords:
      return (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
    case TexelQuery::FilterMode:
      return texture.filterMode;
    case TexelQuery::AddrMode0:
    case TexelQuery::AddrMode1:
    case TexelQuery::AddrMode2:
      return texture.addressMode[query - static_cast<std::uint32_t>(TexelQuery::AddrMode0)];
    default:
      return 0;  // coordinates are never forced; memory is pitch-linear
  }
}

}  // extern "C"

}  // namespace cucore::cpu
