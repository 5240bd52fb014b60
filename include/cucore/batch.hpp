// Batches: many copies, prefetches or discards in one call of the driver, where it has such calls (CUDA 13).
//
//   const cucore::Buffer* from[] = {&a, &b};
//   const cucore::Buffer* to[] = {&c, &d};
//   cucore::copy_batch(stream, from, to);
//   const cucore::MemoryLocation there[] = {device};                  // one for all, or one for each
//   cucore::prefetch_batch(stream, managed, there);
//
// Everything is checked before anything is done. The items of a batch may run in any order: ranges must not overlap.
// All functions throw ValueError (no buffers, a null one, numbers or sizes that do not fit) and StateError (a closed
// one). Thread-safety: may be called concurrently.
#pragma once

#include <compare>
#include <optional>
#include <span>

#include "cucore/buffer.hpp"
#include "cucore/export.hpp"
#include "cucore/managed_memory.hpp"

namespace cucore {

/// When the source of a copy may be read.
enum class CopySourceOrder {
  stream,           ///< in the order of the stream
  during_api_call,  ///< before the call returns
  any,              ///< at any time until the copy is complete
};

struct CopyOptions {
  CopySourceOrder src_access_order = CopySourceOrder::stream;
  /// Hints: where the managed or pageable memory is, and where it is to be.
  std::optional<MemoryLocation> src_location_hint = std::nullopt;
  std::optional<MemoryLocation> dst_location_hint = std::nullopt;
  /// A hint: leave the SMs to kernels, even if the copy is slower for it.
  bool prefer_overlap_with_compute = false;

  friend bool operator==(const CopyOptions&, const CopyOptions&) noexcept = default;
};

/// Copies each of `sources` into the destination with the same index, in the order of `stream`. `options`: none, one
/// for all, or one for each. A driver before CUDA 13 copies one after the other, and without the hints.
/// @throws TypeError the legacy default stream, or one that is captured: the driver takes neither
/// @throws UnavailableError `during_api_call`, and a driver before CUDA 13
CUCORE_API void copy_batch(const Stream& stream, std::span<const Buffer* const> sources,
                           std::span<const Buffer* const> destinations, std::span<const CopyOptions> options = {});

/// Brings managed buffers to `locations`: one for all, or one for each. On the legacy default stream, and with a driver
/// before CUDA 13, it is a call for each. @throws ValueError a buffer is not managed
CUCORE_API void prefetch_batch(const Stream& stream, std::span<const Buffer* const> buffers,
                               std::span<const MemoryLocation> locations);

/// Calls ManagedBuffer::discard() for each buffer. @throws what that throws
CUCORE_API void discard_batch(const Stream& stream, std::span<const Buffer* const> buffers);

/// Calls ManagedBuffer::discard_prefetch() for each buffer. @throws what that throws
CUCORE_API void discard_prefetch_batch(const Stream& stream, std::span<const Buffer* const> buffers,
                                       std::span<const MemoryLocation> locations);

}  // namespace cucore
