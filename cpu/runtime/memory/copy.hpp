// Copies and fills: one description for every shape, checked against the allocations, then run on a stream or at once.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class Context;
class Stream;

/// What an address of a copy must be.
enum class Side {
  Device,  ///< inside one allocation of ours
  Host,    ///< any host memory
  Any,     ///< found out by look-up (unified addressing)
};

/// `depth` slices of `height` rows of `width` bytes. A plain copy has height and depth 1.
struct Shape {
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
};

/// One end of a copy: the first byte, and the distances between rows and slices.
struct Place {
  std::uintptr_t address = 0;
  Side side = Side::Any;
  std::size_t row_pitch = 0;
  std::size_t slice_pitch = 0;
};

Result<void> copy(Stream& stream, const Place& to, const Place& from, const Shape& shape, bool wait);

/// The source has been read when this returns. Pageable memory is read at once, whatever the stream is waiting for;
/// what the stream may be about to write is read in its order, and waited for.
Result<void> copy_during_call(Stream& stream, const Place& to, const Place& from, const Shape& shape);

/// What the calls named Async do: as copy() without waiting, but the caller may reuse pageable memory on return, as in
/// the driver. What is copied to it is there, and what is copied from it has been read.
Result<void> copy_async(Stream& stream, const Place& to, const Place& from, const Shape& shape);

/// A copy that says when its source is read. What the order leaves open is as in the driver: pageable memory to be read
/// in stream order is waited for, and a little of it that may be read at any time is read at once.
Result<void> copy_ordered(Stream& stream, const Place& to, const Place& from, const Shape& shape,
                          CUmemcpySrcAccessOrder order);

/// `element` is 1, 2 or 4 bytes; the address and pitch must be multiples of it. shape.width in bytes.
Result<void> fill(Stream& stream, const Place& to, std::uint32_t value, unsigned int element, const Shape& shape,
                  bool wait);

/// For graphs: the checks of a copy or a fill alone, and the operation itself on the calling thread, one of the
/// driver's.
Result<void> check_copy(const CUDA_MEMCPY3D& request);
Result<void> check_fill(const Context& context, const Place& to, unsigned int element, const Shape& shape);
void copy_now(Context& context, const CUDA_MEMCPY3D& request);
void fill_now(Context& context, const Place& to, std::uint32_t value, unsigned int element, const Shape& shape);

/// A copy that is yet to be checked.
struct Transfer {
  Place to;
  Place from;
  Shape shape;
};

/// cuMemcpy2D and 3D descriptors to the common form. InvalidValue for what they forbid, InvalidHandle for a stale
/// array.
Result<Transfer> resolve(const CUDA_MEMCPY2D& request);
Result<Transfer> resolve(const CUDA_MEMCPY3D& request);

}  // namespace cucore::cpu::runtime
