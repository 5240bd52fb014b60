// Memory copies and fills of every shape. The calls that name an array are in array.cpp.
#include "cpu/runtime/memory/copy.hpp"

#include <cstdint>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/memory.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Place;
using runtime::Side;
using runtime::Transfer;

namespace {

constexpr bool waits = true;
constexpr bool async = false;

std::uintptr_t as_address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

Place place(CUdeviceptr address, Side side) { return {address, side, 0, 0}; }
Place place(const void* address, Side side) { return {as_address(address), side, 0, 0}; }

/// A synchronous copy cannot be captured, and may not be made while anything that it could wait for is being captured.
template <class F>
CUresult for_copy(EntryName entry, CUstream handle, bool wait, F&& call) {
  if (!wait) return in_stream_order(entry, handle, std::forward<F>(call));
  return on_stream(entry, handle, [&](Context& context, Stream& stream) {
    if (const CUresult result = driver_result(runtime::check_unsafe_call()); result != CUDA_SUCCESS) return result;
    return call(context, stream);
  });
}

CUresult capture_copy(Stream& stream, const CUDA_MEMCPY3D& request) {
  CUgraphNodeParams node{};
  node.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  node.memcpy.copyParams = request;
  return driver_result(runtime::capture_node(stream, node));
}

/// One end of a captured copy says what kind of memory it is.
CUmemorytype kind_of(const Place& place) {
  if (place.side != Side::Any) return place.side == Side::Device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  const auto allocation = runtime::find_allocation(place.address);
  const bool is_device = allocation && allocation->kind != runtime::Allocation::Kind::Host &&
                         allocation->kind != runtime::Allocation::Kind::Registered;
  return is_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

CUresult capture_copy(Stream& stream, const Place& to, const Place& from, size_t bytes) {
  if (bytes == 0) return CUDA_SUCCESS;
  CUDA_MEMCPY3D request{};
  request.srcMemoryType = kind_of(from);
  request.srcHost = reinterpret_cast<const void*>(from.address);
  request.srcDevice = from.address;
  request.dstMemoryType = kind_of(to);
  request.dstHost = reinterpret_cast<void*>(to.address);
  request.dstDevice = to.address;
  request.srcPitch = request.dstPitch = bytes;
  request.WidthInBytes = bytes;
  request.Height = request.Depth = request.srcHeight = request.dstHeight = 1;
  return capture_copy(stream, request);
}

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY3D& request) { return request; }

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY2D& given) {
  CUDA_MEMCPY3D request{};
  request.srcXInBytes = given.srcXInBytes;
  request.srcY = given.srcY;
  request.srcMemoryType = given.srcMemoryType;
  request.srcHost = given.srcHost;
  request.srcDevice = given.srcDevice;
  request.srcArray = given.srcArray;
  request.srcPitch = given.srcPitch;
  request.dstXInBytes = given.dstXInBytes;
  request.dstY = given.dstY;
  request.dstMemoryType = given.dstMemoryType;
  request.dstHost = given.dstHost;
  request.dstDevice = given.dstDevice;
  request.dstArray = given.dstArray;
  request.dstPitch = given.dstPitch;
  request.WidthInBytes = given.WidthInBytes;
  request.Height = given.Height;
  request.Depth = 1;
  return request;
}

CUresult run_copy(Stream& stream, const Transfer& asked, bool wait) {
  const auto& [to, from, shape] = asked;
  return driver_result(wait ? runtime::copy(stream, to, from, shape, wait)
                            : runtime::copy_async(stream, to, from, shape));
}

CUresult copy(CUstream handle, const Place& to, const Place& from, size_t bytes, bool wait,
              EntryName entry = EntryName(__builtin_FUNCTION())) {
  return for_copy(entry, handle, wait, [&](Context&, Stream& stream) {
    if (stream.is_capturing()) return capture_copy(stream, to, from, bytes);
    return run_copy(stream, {to, from, {bytes, 1, 1}}, wait);
  });
}

CUresult copy_between_contexts(CUstream handle, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes, bool wait,
                               EntryName entry = EntryName(__builtin_FUNCTION())) {
  return for_copy(entry, handle, wait, [&](Context&, Stream& stream) {
    if (!to_context || !from_context || !runtime::find_context(to_context) || !runtime::find_context(from_context))
      return CUDA_ERROR_INVALID_CONTEXT;
    if (stream.is_capturing()) return capture_copy(stream, place(to, Side::Device), place(from, Side::Device), bytes);
    return driver_result(
        runtime::copy(stream, place(to, Side::Device), place(from, Side::Device), {bytes, 1, 1}, wait));
  });
}

template <class Request>
CUresult copy_shape(CUstream handle, const Request* request, bool wait,
                    EntryName entry = EntryName(__builtin_FUNCTION())) {
  return for_copy(entry, handle, wait, [&](Context&, Stream& stream) {
    if (!request) return CUDA_ERROR_INVALID_VALUE;
    if (stream.is_capturing()) return capture_copy(stream, as_3d(*request));
    const Result<Transfer> asked = runtime::resolve(*request);
    return asked ? run_copy(stream, *asked, wait) : driver_result(asked.failure());
  });
}

/// The peer form is the 3-D form plus the two contexts.
CUresult copy_peer_shape(CUstream handle, const CUDA_MEMCPY3D_PEER* request, bool wait,
                         EntryName entry = EntryName(__builtin_FUNCTION())) {
  return on_stream(entry, handle, [&](Context&, Stream& stream) {
    if (!request) return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D plain{};
    plain.srcXInBytes = request->srcXInBytes;
    plain.srcY = request->srcY;
    plain.srcZ = request->srcZ;
    plain.srcLOD = request->srcLOD;
    plain.srcMemoryType = request->srcMemoryType;
    plain.srcHost = request->srcHost;
    plain.srcDevice = request->srcDevice;
    plain.srcPitch = request->srcPitch;
    plain.srcHeight = request->srcHeight;
    plain.dstXInBytes = request->dstXInBytes;
    plain.dstY = request->dstY;
    plain.dstZ = request->dstZ;
    plain.dstLOD = request->dstLOD;
    plain.dstMemoryType = request->dstMemoryType;
    plain.dstHost = request->dstHost;
    plain.dstDevice = request->dstDevice;
    plain.dstPitch = request->dstPitch;
    plain.dstHeight = request->dstHeight;
    plain.WidthInBytes = request->WidthInBytes;
    plain.Height = request->Height;
    plain.Depth = request->Depth;
    const Result<Transfer> asked = runtime::resolve(plain);
    return asked ? run_copy(stream, *asked, wait) : driver_result(asked.failure());
  });
}

CUresult fill(CUstream handle, CUdeviceptr to, size_t pitch, std::uint32_t value, unsigned int element, size_t width,
              size_t height, bool wait, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return for_copy(entry, handle, wait, [&](Context&, Stream& stream) {
    size_t row = 0;
    if (__builtin_mul_overflow(width, element, &row)) return CUDA_ERROR_INVALID_VALUE;
    if (stream.is_capturing()) {
      if (row == 0 || height == 0) return CUDA_SUCCESS;
      CUgraphNodeParams node{};
      node.type = CU_GRAPH_NODE_TYPE_MEMSET;
      node.memset = {to, pitch, value, element, width, height, nullptr};
      return driver_result(runtime::capture_node(stream, node));
    }
    const Place target{to, Side::Device, pitch, 0};
    return driver_result(runtime::fill(stream, target, value, element, {row, height, 1}, wait));
  });
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy(nullptr, place(dst, Side::Any), place(src, Side::Any), ByteCount, waits);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dst, Side::Any), place(src, Side::Any), ByteCount, async);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
  return copy(nullptr, place(dstDevice, Side::Device), place(srcHost, Side::Host), ByteCount, waits);
}
CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(nullptr, place(dstHost, Side::Host), place(srcDevice, Side::Device), ByteCount, waits);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(nullptr, place(dstDevice, Side::Device), place(srcDevice, Side::Device), ByteCount, waits);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dstDevice, Side::Device), place(srcHost, Side::Host), ByteCount, async);
}
CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dstHost, Side::Host), place(srcDevice, Side::Device), ByteCount, async);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dstDevice, Side::Device), place(srcDevice, Side::Device), ByteCount, async);
}
CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                      size_t ByteCount) {
  return copy_between_contexts(nullptr, dstDevice, dstContext, srcDevice, srcContext, ByteCount, waits);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream) {
  return copy_between_contexts(hStream, dstDevice, dstContext, srcDevice, srcContext, ByteCount, async);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) { return copy_shape(nullptr, pCopy, waits); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) { return copy_shape(nullptr, pCopy, waits); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) { return copy_shape(hStream, pCopy, async); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) { return copy_shape(nullptr, pCopy, waits); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) { return copy_shape(hStream, pCopy, async); }
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) { return copy_peer_shape(nullptr, pCopy, waits); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return copy_peer_shape(hStream, pCopy, async);
}

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill(nullptr, dstDevice, 0, uc, 1, N, 1, waits);
}
CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
  return fill(nullptr, dstDevice, 0, us, 2, N, 1, waits);
}
CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill(nullptr, dstDevice, 0, ui, 4, N, 1, waits);
}
CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
  return fill(hStream, dstDevice, 0, uc, 1, N, 1, async);
}
CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
  return fill(hStream, dstDevice, 0, us, 2, N, 1, async);
}
CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
  return fill(hStream, dstDevice, 0, ui, 4, N, 1, async);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height) {
  return fill(nullptr, dstDevice, dstPitch, uc, 1, Width, Height, waits);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
  return fill(nullptr, dstDevice, dstPitch, us, 2, Width, Height, waits);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height) {
  return fill(nullptr, dstDevice, dstPitch, ui, 4, Width, Height, waits);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                           CUstream hStream) {
  return fill(hStream, dstDevice, dstPitch, uc, 1, Width, Height, async);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill(hStream, dstDevice, dstPitch, us, 2, Width, Height, async);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill(hStream, dstDevice, dstPitch, ui, 4, Width, Height, async);
}
