// Texture object, surface object and tensor map chapters.
#include "cpu/runtime/texture/texture.hpp"

#include "cpu/api/entry.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/texture/tensor_map.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::ResourceObject;

namespace {

template <class F>
CUresult of_object(unsigned long long handle, bool is_surface, F&& call) {
  return with_context([&](Context&) {
    const auto object = runtime::find_resource_object(handle, is_surface);
    return object ? call(*object) : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// What is no object is destroyed already: an H100's driver says so of any number.
CUresult destroy_object(unsigned long long handle, bool is_surface, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return with_context(entry, [&](Context&) {
    (void)runtime::destroy_resource_object(handle, is_surface);
    return CUDA_SUCCESS;
  });
}

/// Tensor maps are for devices that have bulk copies.
template <class F>
CUresult for_tensor_map(F&& call) {
  return initialized([&] {
    return runtime::devices().front()->capability() < 90 ? CUDA_ERROR_NOT_SUPPORTED
                                                         : driver_result(std::forward<F>(call)());
  });
}

}  // namespace

CUresult cuTexObjectCreate(CUtexObject* pTexObject, const CUDA_RESOURCE_DESC* pResDesc,
                           const CUDA_TEXTURE_DESC* pTexDesc, const CUDA_RESOURCE_VIEW_DESC* pResViewDesc) {
  return in_context([&](Context&) {
    if (!pTexObject || !pResDesc || !pTexDesc) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::create_texture_object(*pResDesc, *pTexDesc, pResViewDesc),
                         [&](CUtexObject handle) { *pTexObject = handle; });
  });
}

CUresult cuTexObjectDestroy(CUtexObject texObject) { return destroy_object(texObject, false); }

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUtexObject texObject) {
  return of_object(texObject, false, [&](ResourceObject& object) {
    if (!pResDesc) return CUDA_ERROR_INVALID_VALUE;
    *pResDesc = object.resource;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* pTexDesc, CUtexObject texObject) {
  return of_object(texObject, false, [&](ResourceObject& object) {
    if (!pTexDesc) return CUDA_ERROR_INVALID_VALUE;
    *pTexDesc = object.texture;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* pResViewDesc, CUtexObject texObject) {
  return of_object(texObject, false, [&](ResourceObject& object) {
    if (!pResViewDesc) return CUDA_ERROR_INVALID_VALUE;
    *pResViewDesc = object.view.value_or(CUDA_RESOURCE_VIEW_DESC{});
    return CUDA_SUCCESS;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* pSurfObject, const CUDA_RESOURCE_DESC* pResDesc) {
  return in_context([&](Context&) {
    if (!pSurfObject || !pResDesc) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(runtime::create_surface_object(*pResDesc),
                         [&](CUsurfObject handle) { *pSurfObject = handle; });
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) { return destroy_object(surfObject, true); }

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* pResDesc, CUsurfObject surfObject) {
  return of_object(surfObject, true, [&](ResourceObject& object) {
    if (!pResDesc) return CUDA_ERROR_INVALID_VALUE;
    *pResDesc = object.resource;
    return CUDA_SUCCESS;
  });
}

CUresult cuTensorMapEncodeTiled(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                void* globalAddress, const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                const cuuint32_t* boxDim, const cuuint32_t* elementStrides,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
  return for_tensor_map([&] {
    return runtime::encode_tiled(tensorMap,
                                 {tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                                  interleave, swizzle, l2Promotion, oobFill},
                                 boxDim);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                 void* globalAddress, const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                 const int* pixelBoxLowerCorner, const int* pixelBoxUpperCorner,
                                 cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                 const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                 CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
                                 CUtensorMapFloatOOBfill oobFill) {
  return for_tensor_map([&] {
    return runtime::encode_im2col(tensorMap,
                                  {tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides,
                                   interleave, swizzle, l2Promotion, oobFill},
                                  {pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel, pixelsPerColumn});
  });
}

CUresult cuTensorMapEncodeIm2colWide(CUtensorMap* tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
                                     void* globalAddress, const cuuint64_t* globalDim, const cuuint64_t* globalStrides,
                                     int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth,
                                     cuuint32_t channelsPerPixel, cuuint32_t pixelsPerColumn,
                                     const cuuint32_t* elementStrides, CUtensorMapInterleave interleave,
                                     CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle,
                                     CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill) {
  return for_tensor_map([&] {
    return runtime::encode_im2col_wide(
        tensorMap,
        {tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, elementStrides, interleave, swizzle,
         l2Promotion, oobFill},
        {pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, channelsPerPixel, pixelsPerColumn, mode});
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* tensorMap, void* globalAddress) {
  return for_tensor_map([&] { return runtime::replace_address(tensorMap, globalAddress); });
}
