// Copies and fills: see copy.hpp.
#include "cpu/runtime/memory/copy.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/memory/array.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/memory/memory_pool.hpp"
#include "cpu/runtime/memory/virtual_memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/trace.hpp"
#include "cpu/runtime/threads/fiber.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Copies at most this large run on the calling thread when nothing precedes them: waking a thread costs more.
constexpr std::size_t inline_bytes = 64 * 1024;

bool is_empty(const Shape& shape) { return shape.width == 0 || shape.height == 0 || shape.depth == 0; }

/// Bytes from the first to the last touched; false if that is more than there are addresses.
bool extent(const Place& place, const Shape& shape, std::size_t* bytes) {
  std::size_t slices = 0;
  std::size_t rows = 0;
  return !__builtin_mul_overflow(shape.depth - 1, place.slice_pitch, &slices) &&
         !__builtin_mul_overflow(shape.height - 1, place.row_pitch, &rows) &&
         !__builtin_add_overflow(slices, rows, bytes) && !__builtin_add_overflow(*bytes, shape.width, bytes) &&
         !__builtin_add_overflow(place.address, *bytes, &slices);
}

Result<void> check(const Place& place, const Shape& shape, Asked when = Asked::ByCall) {
  std::size_t bytes = 0;
  if (shape.height > 1 && place.row_pitch < shape.width) return ErrorCode::InvalidValue;
  if (place.address == 0 || !extent(place, shape, &bytes)) return ErrorCode::InvalidValue;
  const bool valid = place.side == Side::Device ? is_device_range(place.address, bytes, when)
                                                : is_any_range(place.address, bytes, when);
  return valid ? Result<void>() : ErrorCode::InvalidValue;
}

Result<void> check(const Transfer& asked, Asked when) {
  if (Result<void> result = check(asked.to, asked.shape, when); !result) return result;
  return check(asked.from, asked.shape, when);
}

/// Host memory that is not page-locked.
bool is_pageable(const Place& place) { return place.side != Side::Device && !find_allocation(place.address); }

void copy_rows(const Place& to, const Place& from, const Shape& shape) {
  for (std::size_t slice = 0; slice < shape.depth; ++slice) {
    const std::uintptr_t target = to.address + slice * to.slice_pitch;
    const std::uintptr_t source = from.address + slice * from.slice_pitch;
    for (std::size_t row = 0; row < shape.height; ++row)
      std::memmove(reinterpret_cast<void*>(target + row * to.row_pitch),
                   reinterpret_cast<const void*>(source + row * from.row_pitch), shape.width);
  }
}

template <class T>
void fill_row(std::uintptr_t address, T value, std::size_t bytes) {
  T* const out = reinterpret_cast<T*>(address);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) out[i] = value;
}

void fill_rows(const Place& to, std::uint32_t value, unsigned int element, const Shape& shape) {
  for (std::size_t row = 0; row < shape.height; ++row) {
    const std::uintptr_t address = to.address + row * to.row_pitch;
    if (element == 1)
      std::memset(reinterpret_cast<void*>(address), static_cast<int>(value & 0xff), shape.width);
    else if (element == 2)
      fill_row(address, static_cast<std::uint16_t>(value), shape.width);
    else
      fill_row(address, value, shape.width);
  }
}

/// The caller may have unmapped host memory meanwhile: an error of the context then, as on a device.
template <class F>
void run_guarded(Context& context, F& function) {
  const Fault fault = call_guarded([](void* call) { (*static_cast<F*>(call))(); }, &function);
  if (fault.signal == 0) return;
  report_fault("an asynchronous copy or fill touched inaccessible memory");
  context.set_error(ErrorCode::IllegalAddress);
}

/// For the checker, when the copy is requested: the source may itself be uninitialised.
void note_written(const Place& to, const Shape& shape) {
  std::size_t bytes = 0;
  if (shadow::is_open() && extent(to, shape, &bytes)) shadow::mark_written(to.address, bytes);
}

template <class F>
Result<void> run(Stream& stream, std::size_t bytes, bool wait, F function) {
  if (trace::is_on()) trace::describe({}, trace::Arguments().add("size", std::uint64_t{bytes}));
  if ((wait || bytes <= inline_bytes) && stream.run_if_ready(function)) return {};
  Context& context = stream.context();
  const std::uint64_t number = stream.enqueue(make_work(
      [function, &context](const Result<void>& before) mutable {
        if (before) run_guarded(context, function);
      },
      bytes <= inline_bytes ? Work::Runner::Briefly : Work::Runner::Anyone));
  if (wait) stream.wait_for(number);
  return wait ? context.error() : Result<void>();
}

/// Fills are refused for memory of a pool or a mapping that gave the device no access (copies to pools work, as in the
/// driver).
bool may_fill(const Context& context, std::uintptr_t address) {
  const auto allocation = find_allocation(address);
  if (!allocation || (!allocation->pool && allocation->origin != Allocation::Origin::Mapping)) return true;
  const CUmemLocation here{CU_MEM_LOCATION_TYPE_DEVICE, context.device().ordinal()};
  if (allocation->pool) return allocation->pool->access(here) == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const Result<CUmemAccess_flags> access = memory_access(address, here);
  return access && *access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

/// Common part of both descriptors' ends.
struct End {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
};

Result<Place> start_of(const End& end) {
  switch (end.type) {
    case CU_MEMORYTYPE_HOST:
      return Place{.address = reinterpret_cast<std::uintptr_t>(end.host), .side = Side::Host};
    case CU_MEMORYTYPE_DEVICE:
      return Place{.address = end.device, .side = Side::Device};
    case CU_MEMORYTYPE_UNIFIED:
      return Place{.address = end.device, .side = Side::Any};
    default:
      return ErrorCode::InvalidValue;
  }
}

/// An array is linear memory with pitches of its own; x counts bytes, and z layers of a layered one.
Result<Place> locate_in_array(CUarray handle, std::size_t x, std::size_t y, std::size_t z, const Shape& shape) {
  const auto array = find_array(handle);
  if (!array) return ErrorCode::InvalidHandle;
  if (x + shape.width > array->row_bytes() || y + shape.height > array->rows() || z + shape.depth > array->slices())
    return ErrorCode::InvalidValue;
  const std::size_t row = array->row_bytes();
  const std::size_t slice = row * array->rows();
  return Place{array->address() + x + y * row + z * slice, Side::Device, row, slice};
}

Result<Place> locate(const End& end, std::size_t pitch, std::size_t height, std::size_t x, std::size_t y, std::size_t z,
                     const Shape& shape) {
  if (end.type == CU_MEMORYTYPE_ARRAY) return locate_in_array(end.array, x, y, z, shape);
  Result<Place> place = start_of(end);
  if (!place) return place;
  place->row_pitch = pitch != 0 ? pitch : x + shape.width;  // a single row needs none
  if (shape.height > 1 && pitch != 0 && pitch < x + shape.width) return ErrorCode::InvalidValue;
  const std::size_t rows = height != 0 ? height : y + shape.height;
  if (shape.depth > 1 && height != 0 && height < y + shape.height) return ErrorCode::InvalidValue;
  place->slice_pitch = place->row_pitch * rows;
  if (place->address != 0) place->address += x + y * place->row_pitch + z * place->slice_pitch;
  return place;
}

}  // namespace

Result<void> copy(Stream& stream, const Place& to, const Place& from, const Shape& shape, bool wait) {
  if (is_empty(shape)) return {};
  if (Result<void> result = check(to, shape); !result) return result;
  if (Result<void> result = check(from, shape); !result) return result;
  const std::size_t bytes = shape.width * shape.height * shape.depth;
  note_written(to, shape);
  return run(stream, bytes, wait, [to, from, shape] { copy_rows(to, from, shape); });
}

Result<void> copy_during_call(Stream& stream, const Place& to, const Place& from, const Shape& shape) {
  if (is_empty(shape)) return {};
  if (!is_pageable(from)) return copy(stream, to, from, shape, true);
  if (Result<void> result = check(to, shape); !result) return result;
  if (Result<void> result = check(from, shape); !result) return result;
  Place packed{0, Side::Host, shape.width, shape.width * shape.height};
  const std::size_t bytes = packed.slice_pitch * shape.depth;
  const auto snapshot = std::make_shared<std::vector<char>>(bytes);
  packed.address = reinterpret_cast<std::uintptr_t>(snapshot->data());
  copy_rows(packed, from, shape);
  note_written(to, shape);
  return run(stream, bytes, is_pageable(to), [to, packed, shape, snapshot] { copy_rows(to, packed, shape); });
}

Result<void> copy_async(Stream& stream, const Place& to, const Place& from, const Shape& shape) {
  const bool is_read_back = is_pageable(to);
  if (is_read_back || is_pageable(from)) {
    const bool runs_here = shape.width * shape.height * shape.depth <= inline_bytes && stream.is_ready();
    if (!runs_here)
      return is_read_back ? copy(stream, to, from, shape, true) : copy_during_call(stream, to, from, shape);
  }
  return copy(stream, to, from, shape, false);
}

Result<void> copy_ordered(Stream& stream, const Place& to, const Place& from, const Shape& shape,
                          CUmemcpySrcAccessOrder order) {
  if (order == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL) return copy_during_call(stream, to, from, shape);
  if (!is_pageable(from)) return copy(stream, to, from, shape, false);
  if (order == CU_MEMCPY_SRC_ACCESS_ORDER_STREAM) return copy(stream, to, from, shape, true);
  const bool is_little = shape.width * shape.height * shape.depth <= inline_bytes;
  return is_little ? copy_during_call(stream, to, from, shape) : copy(stream, to, from, shape, false);
}

Result<void> check_fill(const Context& context, const Place& to, unsigned int element, const Shape& shape) {
  if (to.address % element != 0 || (shape.height > 1 && to.row_pitch % element != 0)) return ErrorCode::InvalidValue;
  if (Result<void> result = check(to, shape); !result) return result;
  return may_fill(context, to.address) ? Result<void>() : ErrorCode::InvalidValue;
}

Result<void> fill(Stream& stream, const Place& to, std::uint32_t value, unsigned int element, const Shape& shape,
                  bool wait) {
  if (is_empty(shape)) return {};
  if (Result<void> result = check_fill(stream.context(), to, element, shape); !result) return result;
  note_written(to, shape);
  return run(stream, shape.width * shape.height, wait,
             [to, value, element, shape] { fill_rows(to, value, element, shape); });
}

void fill_now(Context& context, const Place& to, std::uint32_t value, unsigned int element, const Shape& shape) {
  note_written(to, shape);
  auto call = [&] { fill_rows(to, value, element, shape); };
  run_guarded(context, call);
}

Result<void> check_copy(const CUDA_MEMCPY3D& request) {
  Result<Transfer> asked = resolve(request);
  if (!asked) return std::move(asked).failure();
  if (is_empty(asked->shape)) return ErrorCode::InvalidValue;
  return check(*asked, Asked::ByCall);
}

void copy_now(Context& context, const CUDA_MEMCPY3D& request) {
  const Result<Transfer> asked = resolve(request);
  if (!asked || !check(*asked, Asked::InTurn)) {  // freed since
    report_fault(asked ? "a copy of a graph: there is no memory, or none that large, at " +
                             hexadecimal(asked->to.address) + " or " + hexadecimal(asked->from.address)
                       : "a copy of a graph: there is no such array any more");
    return context.set_error(ErrorCode::IllegalAddress);
  }
  note_written(asked->to, asked->shape);
  auto call = [&] { copy_rows(asked->to, asked->from, asked->shape); };
  run_guarded(context, call);
}

Result<Transfer> resolve(const CUDA_MEMCPY2D& request) {
  const Shape shape{request.WidthInBytes, request.Height, 1};
  const End source{request.srcMemoryType, request.srcHost, request.srcDevice, request.srcArray};
  const End target{request.dstMemoryType, request.dstHost, request.dstDevice, request.dstArray};
  Result<Place> from = locate(source, request.srcPitch, 0, request.srcXInBytes, request.srcY, 0, shape);
  if (!from) return std::move(from).failure();
  Result<Place> to = locate(target, request.dstPitch, 0, request.dstXInBytes, request.dstY, 0, shape);
  if (!to) return std::move(to).failure();
  return Transfer{*to, *from, shape};
}

Result<Transfer> resolve(const CUDA_MEMCPY3D& request) {
  if (request.srcLOD != 0 || request.dstLOD != 0) return ErrorCode::InvalidValue;
  const Shape shape{request.WidthInBytes, request.Height, request.Depth};
  const End source{request.srcMemoryType, request.srcHost, request.srcDevice, request.srcArray};
  const End target{request.dstMemoryType, request.dstHost, request.dstDevice, request.dstArray};
  Result<Place> from =
      locate(source, request.srcPitch, request.srcHeight, request.srcXInBytes, request.srcY, request.srcZ, shape);
  if (!from) return std::move(from).failure();
  Result<Place> to =
      locate(target, request.dstPitch, request.dstHeight, request.dstXInBytes, request.dstY, request.dstZ, shape);
  if (!to) return std::move(to).failure();
  return Transfer{*to, *from, shape};
}

}  // namespace cucore::cpu::runtime
