// Memory copies and fills of every shape. Copies to and from CUDA arrays are not here.
#include "cpu/runtime/copy.hpp"

#include <cstdint>

#include "cpu/api/entry.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Place;
using runtime::Shape;
using runtime::Side;

namespace {

constexpr bool kWait = true;
constexpr bool kAsync = false;

std::uintptr_t as_address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

Place place(CUdeviceptr address, Side side) { return {address, side, 0, 0}; }
Place place(const void* address, Side side) { return {as_address(address), side, 0, 0}; }

CUresult copy(CUstream handle, const Place& to, const Place& from, size_t bytes, bool wait) {
  return on_stream(handle,
                   [&](Context&, Stream& stream) { return runtime::copy(stream, to, from, {bytes, 1, 1}, wait); });
}

CUresult copy_between_contexts(CUstream handle, CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                               CUcontext from_context, size_t bytes, bool wait) {
  return on_stream(handle, [&](Context&, Stream& stream) {
    if (!to_context || !from_context || !runtime::find_context(to_context) || !runtime::find_context(from_context))
      return CUDA_ERROR_INVALID_CONTEXT;
    return runtime::copy(stream, place(to, Side::Device), place(from, Side::Device), {bytes, 1, 1}, wait);
  });
}

template <class Request>
CUresult copy_shape(CUstream handle, const Request* request, bool wait) {
  return on_stream(handle, [&](Context&, Stream& stream) {
    if (!request) return CUDA_ERROR_INVALID_VALUE;
    Place to, from;
    Shape shape;
    if (const CUresult result = runtime::resolve(*request, &to, &from, &shape); result != CUDA_SUCCESS) return result;
    return runtime::copy(stream, to, from, shape, wait);
  });
}

/// The peer form is the 3-D form plus the two contexts.
CUresult copy_peer_shape(CUstream handle, const CUDA_MEMCPY3D_PEER* request, bool wait) {
  return on_stream(handle, [&](Context&, Stream& stream) {
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
    Place to, from;
    Shape shape;
    if (const CUresult result = runtime::resolve(plain, &to, &from, &shape); result != CUDA_SUCCESS) return result;
    return runtime::copy(stream, to, from, shape, wait);
  });
}

CUresult fill(CUstream handle, CUdeviceptr to, size_t pitch, std::uint32_t value, unsigned int element, size_t width,
              size_t height, bool wait) {
  return on_stream(handle, [&](Context&, Stream& stream) {
    size_t row = 0;
    if (__builtin_mul_overflow(width, element, &row)) return CUDA_ERROR_INVALID_VALUE;
    const Place target{to, Side::Device, pitch, 0};
    return runtime::fill(stream, target, value, element, {row, height, 1}, wait);
  });
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
  return copy(nullptr, place(dst, Side::Any), place(src, Side::Any), ByteCount, kWait);
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dst, Side::Any), place(src, Side::Any), ByteCount, kAsync);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
  return copy(nullptr, place(dstDevice, Side::Device), place(srcHost, Side::Host), ByteCount, kWait);
}
CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(nullptr, place(dstHost, Side::Host), place(srcDevice, Side::Device), ByteCount, kWait);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
  return copy(nullptr, place(dstDevice, Side::Device), place(srcDevice, Side::Device), ByteCount, kWait);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dstDevice, Side::Device), place(srcHost, Side::Host), ByteCount, kAsync);
}
CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dstHost, Side::Host), place(srcDevice, Side::Device), ByteCount, kAsync);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
  return copy(hStream, place(dstDevice, Side::Device), place(srcDevice, Side::Device), ByteCount, kAsync);
}
CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                      size_t ByteCount) {
  return copy_between_contexts(nullptr, dstDevice, dstContext, srcDevice, srcContext, ByteCount, kWait);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                           size_t ByteCount, CUstream hStream) {
  return copy_between_contexts(hStream, dstDevice, dstContext, srcDevice, srcContext, ByteCount, kAsync);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) { return copy_shape(nullptr, pCopy, kWait); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) { return copy_shape(nullptr, pCopy, kWait); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) { return copy_shape(hStream, pCopy, kAsync); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) { return copy_shape(nullptr, pCopy, kWait); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) { return copy_shape(hStream, pCopy, kAsync); }
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) { return copy_peer_shape(nullptr, pCopy, kWait); }
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
  return copy_peer_shape(hStream, pCopy, kAsync);
}

CUresult cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
  return fill(nullptr, dstDevice, 0, uc, 1, N, 1, kWait);
}
CUresult cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
  return fill(nullptr, dstDevice, 0, us, 2, N, 1, kWait);
}
CUresult cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
  return fill(nullptr, dstDevice, 0, ui, 4, N, 1, kWait);
}
CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream) {
  return fill(hStream, dstDevice, 0, uc, 1, N, 1, kAsync);
}
CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream) {
  return fill(hStream, dstDevice, 0, us, 2, N, 1, kAsync);
}
CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream) {
  return fill(hStream, dstDevice, 0, ui, 4, N, 1, kAsync);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height) {
  return fill(nullptr, dstDevice, dstPitch, uc, 1, Width, Height, kWait);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height) {
  return fill(nullptr, dstDevice, dstPitch, us, 2, Width, Height, kWait);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height) {
  return fill(nullptr, dstDevice, dstPitch, ui, 4, Width, Height, kWait);
}
CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                           CUstream hStream) {
  return fill(hStream, dstDevice, dstPitch, uc, 1, Width, Height, kAsync);
}
CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill(hStream, dstDevice, dstPitch, us, 2, Width, Height, kAsync);
}
CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                            CUstream hStream) {
  return fill(hStream, dstDevice, dstPitch, ui, 4, Width, Height, kAsync);
}
