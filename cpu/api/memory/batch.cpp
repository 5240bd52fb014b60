// Batches: many copies, prefetches or discards in one call. As in the driver, they refuse the legacy default stream.
#include <algorithm>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/array.hpp"
#include "cpu/runtime/memory/copy.hpp"
#include "cpu/runtime/memory/memory.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

template <class F>
CUresult on_batch_stream(CUstream handle, F&& call) {
  return on_stream(handle, [&](Context& context, Stream& stream) {
    return stream.kind() == Stream::Kind::Legacy ? CUDA_ERROR_INVALID_VALUE : call(context, stream);
  });
}

/// The attributes of copy `i`: those of the last index not above it. Indices ascend from 0.
bool are_ascending(const size_t* indices, size_t count, size_t copies) {
  if (count == 0 || indices[0] != 0) return false;
  for (size_t i = 1; i < count; ++i)
    if (indices[i] <= indices[i - 1] || indices[i] >= copies) return false;
  return true;
}

runtime::Place anywhere(CUdeviceptr address) { return {address, runtime::Side::Any, 0, 0}; }

bool is_known(CUmemcpySrcAccessOrder order) {
  return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

CUresult copy_batch(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count, CUmemcpyAttributes* attrs,
                    size_t* indices, size_t attribute_count, size_t* failed, Stream& stream) {
  if (!dsts || !srcs || !sizes || count == 0 || !attrs || !indices || !are_ascending(indices, attribute_count, count))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < attribute_count; ++i)
    if (!is_known(attrs[i].srcAccessOrder)) return CUDA_ERROR_INVALID_VALUE;
  size_t set = 0;
  for (size_t i = 0; i < count; ++i) {
    if (set + 1 < attribute_count && indices[set + 1] == i) ++set;
    const CUresult result = dsts[i] == 0 || srcs[i] == 0
                                ? CUDA_ERROR_INVALID_VALUE  // of 0 bytes too
                                : driver_result(runtime::copy_ordered(stream, anywhere(dsts[i]), anywhere(srcs[i]),
                                                                      {sizes[i], 1, 1}, attrs[set].srcAccessOrder));
    if (result == CUDA_SUCCESS) continue;
    if (failed) *failed = i;
    return result;
  }
  return CUDA_SUCCESS;
}

/// One operand as an end of a 3-D copy: `element` is 1 between pointers, else an element of the array.
CUresult describe_operand(const CUmemcpy3DOperand& operand, const CUextent3D& extent, size_t element, bool is_source,
                          CUDA_MEMCPY3D* request) {
  CUmemorytype& type = is_source ? request->srcMemoryType : request->dstMemoryType;
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    const CUoffset3D& offset = operand.op.array.offset;
    type = CU_MEMORYTYPE_ARRAY;
    (is_source ? request->srcArray : request->dstArray) = operand.op.array.array;
    (is_source ? request->srcXInBytes : request->dstXInBytes) = offset.x * element;
    (is_source ? request->srcY : request->dstY) = offset.y;
    (is_source ? request->srcZ : request->dstZ) = offset.z;
    return CUDA_SUCCESS;
  }
  const auto& pointer = operand.op.ptr;
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_POINTER || (pointer.rowLength != 0 && pointer.rowLength < extent.width) ||
      (pointer.layerHeight != 0 && pointer.layerHeight < extent.height))
    return CUDA_ERROR_INVALID_VALUE;
  type = CU_MEMORYTYPE_UNIFIED;
  (is_source ? request->srcDevice : request->dstDevice) = pointer.ptr;
  (is_source ? request->srcPitch : request->dstPitch) = pointer.rowLength * element;
  (is_source ? request->srcHeight : request->dstHeight) = pointer.layerHeight;
  return CUDA_SUCCESS;
}

/// Bytes of an array's element, or 0 if there is no such array.
size_t element_of(const CUmemcpy3DOperand& operand) {
  const auto array = runtime::find_array(operand.op.array.array);
  return array && array->descriptor().Width != 0 ? array->row_bytes() / array->descriptor().Width : 0;
}

CUresult copy_one(const CUDA_MEMCPY3D_BATCH_OP& operation, Stream& stream) {
  const CUextent3D& extent = operation.extent;
  constexpr unsigned int known_flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0 || (operation.flags & ~known_flags) != 0 ||
      !is_known(operation.srcAccessOrder))
    return CUDA_ERROR_INVALID_VALUE;
  const bool from_array = operation.src.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
  const bool to_array = operation.dst.type == CU_MEMCPY_OPERAND_TYPE_ARRAY;
  const size_t source_element = from_array ? element_of(operation.src) : 1;
  const size_t target_element = to_array ? element_of(operation.dst) : 1;
  if (source_element == 0 || target_element == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (from_array && to_array && source_element != target_element) return CUDA_ERROR_INVALID_VALUE;
  const size_t element = std::max(source_element, target_element);
  CUDA_MEMCPY3D request{};
  if (__builtin_mul_overflow(extent.width, element, &request.WidthInBytes)) return CUDA_ERROR_INVALID_VALUE;
  request.Height = extent.height;
  request.Depth = extent.depth;
  for (const bool is_source : {true, false}) {
    const CUresult result =
        describe_operand(is_source ? operation.src : operation.dst, extent, element, is_source, &request);
    if (result != CUDA_SUCCESS) return result;
  }
  const Result<runtime::Transfer> asked = runtime::resolve(request);
  if (!asked) return driver_result(asked.failure());
  const auto& [to, from, shape] = *asked;
  return driver_result(from_array ? runtime::copy(stream, to, from, shape, false)
                                  : runtime::copy_ordered(stream, to, from, shape, operation.srcAccessOrder));
}

CUresult copy_shapes(size_t count, const CUDA_MEMCPY3D_BATCH_OP* operations, size_t* failed, unsigned long long flags,
                     Stream& stream) {
  if (count == 0 || !operations || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const CUresult result = copy_one(operations[i], stream);
    if (result == CUDA_SUCCESS) continue;
    if (failed) *failed = i;
    return result;
  }
  return CUDA_SUCCESS;
}

/// Managed memory only.
CUresult check_ranges(const CUdeviceptr* pointers, const size_t* sizes, size_t count) {
  if (!pointers || !sizes || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    const auto allocation = runtime::find_allocation(pointers[i]);
    if (!allocation || allocation->kind != runtime::Allocation::Kind::Managed || sizes[i] == 0 ||
        !runtime::is_device_range(pointers[i], sizes[i]))
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult prefetch(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* locations, size_t* indices,
                  size_t location_count, CUstream stream) {
  if (!locations || !indices || !are_ascending(indices, location_count, count)) return CUDA_ERROR_INVALID_VALUE;
  size_t location = 0;
  for (size_t i = 0; i < count; ++i) {
    if (location + 1 < location_count && indices[location + 1] == i) ++location;
    const CUresult result = cuMemPrefetchAsync_v2(dptrs[i], sizes[i], locations[location], 0, stream);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult cuMemcpyBatchAsync(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, size_t* failIdx,
                            CUstream hStream) {
  return on_batch_stream(hStream, [&](Context&, Stream& stream) {
    return copy_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, failIdx, stream);
  });
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, CUstream hStream) {
  return on_batch_stream(hStream, [&](Context&, Stream& stream) {
    return copy_batch(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, nullptr, stream);
  });
}

CUresult cuMemcpy3DBatchAsync(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, size_t* failIdx, unsigned long long flags,
                              CUstream hStream) {
  return on_batch_stream(hStream,
                         [&](Context&, Stream& stream) { return copy_shapes(numOps, opList, failIdx, flags, stream); });
}

CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, unsigned long long flags,
                                 CUstream hStream) {
  return on_batch_stream(hStream,
                         [&](Context&, Stream& stream) { return copy_shapes(numOps, opList, nullptr, flags, stream); });
}

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes* attr,
                                     CUstream hStream) {
  return in_stream_order(hStream, [&](Context&, Stream& stream) {
    if (!attr || !is_known(attr->srcAccessOrder)) return CUDA_ERROR_INVALID_VALUE;
    const bool now = attr->srcAccessOrder == CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
    if (stream.is_capturing())
      return now ? driver_result(runtime::refuse_capture(stream)) : cuMemcpyAsync(dst, src, size, hStream);
    return driver_result(
        runtime::copy_ordered(stream, anywhere(dst), anywhere(src), {size, 1, 1}, attr->srcAccessOrder));
  });
}

CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* op, unsigned long long flags, CUstream hStream) {
  return on_stream(hStream, [&](Context&, Stream& stream) {
    return op && flags == 0 ? copy_one(*op, stream) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                 size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) {
  return on_batch_stream(hStream, [&](Context&, Stream&) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_ranges(dptrs, sizes, count); result != CUDA_SUCCESS) return result;
    return prefetch(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, hStream);
  });
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                CUstream hStream) {
  return on_batch_stream(hStream, [&](Context&, Stream&) {  // the contents may be lost; here they are kept
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : check_ranges(dptrs, sizes, count);
  });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                           size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream) {
  return cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream);
}
