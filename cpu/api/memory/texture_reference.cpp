// Texture and surface reference chapters, deprecated: what a module's .texref and .surfref variables are bound to.
#include "cpu/runtime/texture/texture_reference.hpp"

#include <algorithm>
#include <cstdint>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/memory/texel_format.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::ReferenceState;

namespace {

constexpr std::size_t base_alignment = 512;

/// `look(const ReferenceState&)` of a reference.
template <class Reference, class F>
CUresult look_at(Reference reference, const void* out, F&& look, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return with_context(entry, [&](Context&) {
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    const Result<ReferenceState> state = runtime::state_of(reference);
    return state ? look(*state) : driver_result(state.failure());
  });
}

/// Hands out one value of a reference's state.
template <class T, class F>
CUresult get(CUtexref reference, T* out, F&& value, EntryName entry = EntryName(__builtin_FUNCTION())) {
  const auto look = [&](const ReferenceState& state) {
    *out = static_cast<T>(value(state));
    return CUDA_SUCCESS;
  };
  return look_at(reference, out, look, entry);
}

/// `edit(ReferenceState&)` returns false for what may not be. Work in flight keeps the binding it was queued with, so
/// it is waited for.
template <class Reference, class F>
CUresult set(Reference reference, F&& edit, EntryName entry = EntryName(__builtin_FUNCTION())) {
  return in_context_outside_capture(entry, [&](Context& context) {
    Result<ReferenceState> state = runtime::state_of(reference);
    if (!state) return driver_result(state.failure());
    if (!edit(*state)) return CUDA_ERROR_INVALID_VALUE;
    context.wait();
    return driver_result(runtime::change(reference, *state));
  });
}

void bind(ReferenceState& state, CUresourcetype type) {
  state.resource = {};
  state.resource.resType = type;
  state.is_bound = true;
}

}  // namespace

CUresult cuTexRefCreate(CUtexref* pTexRef) {
  return in_context([&](Context&) {
    if (!pTexRef) return CUDA_ERROR_INVALID_VALUE;
    *pTexRef = runtime::create_texture_reference();
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefDestroy(CUtexref hTexRef) {
  return with_context([&](Context&) { return driver_result(runtime::destroy_texture_reference(hTexRef)); });
}

// ---- bindings -------------------------------------------------------------------------------------------------------

CUresult cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  if (const CUresult result = cuArray3DGetDescriptor_v2(&descriptor, hArray); result != CUDA_SUCCESS) return result;
  return set(hTexRef, [&](ReferenceState& state) {
    if ((Flags & ~unsigned{CU_TRSA_OVERRIDE_FORMAT}) != 0) return false;
    bind(state, CU_RESOURCE_TYPE_ARRAY);
    state.resource.res.array.hArray = hArray;
    state.format = descriptor.Format;
    state.channels = descriptor.NumChannels;
    return true;
  });
}

CUresult cuTexRefSetMipmappedArray(CUtexref hTexRef, CUmipmappedArray hMipmappedArray, unsigned int Flags) {
  return set(hTexRef, [&](ReferenceState& state) {
    if ((Flags & ~unsigned{CU_TRSA_OVERRIDE_FORMAT}) != 0 || !hMipmappedArray) return false;
    bind(state, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    state.resource.res.mipmap.hMipmappedArray = hMipmappedArray;
    return true;
  });
}

CUresult cuTexRefSetAddress_v2(size_t* ByteOffset, CUtexref hTexRef, CUdeviceptr dptr, size_t bytes) {
  const std::size_t offset = dptr % base_alignment;
  const CUresult result = set(hTexRef, [&](ReferenceState& state) {
    if (offset != 0 && !ByteOffset) return false;  // which the kernel has to add
    if (dptr == 0) {
      state.is_bound = false;
      return true;
    }
    bind(state, CU_RESOURCE_TYPE_LINEAR);
    state.resource.res.linear = {dptr - offset, state.format, state.channels, bytes + offset};
    return true;
  });
  if (result == CUDA_SUCCESS && ByteOffset) *ByteOffset = offset;
  return result;
}

CUresult cuTexRefSetAddress2D_v3(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr, size_t Pitch) {
  return set(hTexRef, [&](ReferenceState& state) {
    if (!desc) return false;
    bind(state, CU_RESOURCE_TYPE_PITCH2D);
    state.format = desc->Format;
    state.channels = desc->NumChannels;
    state.resource.res.pitch2D = {dptr, desc->Format, desc->NumChannels, desc->Width, desc->Height, Pitch};
    return true;
  });
}

CUresult cuTexRefSetAddress2D_v2(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR* desc, CUdeviceptr dptr, size_t Pitch) {
  return cuTexRefSetAddress2D_v3(hTexRef, desc, dptr, Pitch);
}

CUresult cuTexRefGetArray(CUarray* phArray, CUtexref hTexRef) {
  return look_at(hTexRef, phArray, [&](const ReferenceState& state) {
    if (!state.is_bound || state.resource.resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    *phArray = state.resource.res.array.hArray;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* phMipmappedArray, CUtexref hTexRef) {
  return look_at(hTexRef, phMipmappedArray, [&](const ReferenceState& state) {
    if (!state.is_bound || state.resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    *phMipmappedArray = state.resource.res.mipmap.hMipmappedArray;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr* pdptr, CUtexref hTexRef) {
  return look_at(hTexRef, pdptr, [&](const ReferenceState& state) {
    const CUresourcetype type = state.resource.resType;
    if (!state.is_bound || (type != CU_RESOURCE_TYPE_LINEAR && type != CU_RESOURCE_TYPE_PITCH2D))
      return CUDA_ERROR_INVALID_VALUE;
    *pdptr = type == CU_RESOURCE_TYPE_LINEAR ? state.resource.res.linear.devPtr : state.resource.res.pitch2D.devPtr;
    return CUDA_SUCCESS;
  });
}

// ---- how texels are read --------------------------------------------------------------------------------------------

CUresult cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
  return set(hTexRef, [&](ReferenceState& state) {
    if (NumPackedComponents < 1 || !runtime::texel_format(fmt, static_cast<unsigned int>(NumPackedComponents)))
      return false;
    state.format = fmt;
    state.channels = static_cast<unsigned int>(NumPackedComponents);
    if (state.is_bound && state.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
      state.resource.res.linear.format = state.format;
      state.resource.res.linear.numChannels = state.channels;
    }
    return true;
  });
}

CUresult cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am) {
  return set(hTexRef, [&](ReferenceState& state) {
    if (dim < 0 || dim > 2 || am < CU_TR_ADDRESS_MODE_WRAP || am > CU_TR_ADDRESS_MODE_BORDER) return false;
    state.texture.addressMode[dim] = am;
    return true;
  });
}

CUresult cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  return set(hTexRef, [&](ReferenceState& state) {
    state.texture.filterMode = fm;
    return fm == CU_TR_FILTER_MODE_POINT || fm == CU_TR_FILTER_MODE_LINEAR;
  });
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
  return set(hTexRef, [&](ReferenceState& state) {
    state.texture.mipmapFilterMode = fm;
    return fm == CU_TR_FILTER_MODE_POINT || fm == CU_TR_FILTER_MODE_LINEAR;
  });
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref hTexRef, float bias) {
  return set(hTexRef, [&](ReferenceState& state) {
    state.texture.mipmapLevelBias = bias;
    return true;
  });
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref hTexRef, float minMipmapLevelClamp, float maxMipmapLevelClamp) {
  return set(hTexRef, [&](ReferenceState& state) {
    state.texture.minMipmapLevelClamp = minMipmapLevelClamp;
    state.texture.maxMipmapLevelClamp = maxMipmapLevelClamp;
    return true;
  });
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso) {
  return set(hTexRef, [&](ReferenceState& state) {
    state.texture.maxAnisotropy = maxAniso;
    return true;
  });
}

CUresult cuTexRefSetBorderColor(CUtexref hTexRef, float* pBorderColor) {
  return set(hTexRef, [&](ReferenceState& state) {
    if (pBorderColor) std::copy_n(pBorderColor, 4, state.texture.borderColor);
    return pBorderColor != nullptr;
  });
}

CUresult cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags) {
  return set(hTexRef, [&](ReferenceState& state) {
    state.texture.flags = Flags;
    constexpr unsigned int known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                                   CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
    return (Flags & ~known) == 0;
  });
}

CUresult cuTexRefGetFormat(CUarray_format* pFormat, int* pNumChannels, CUtexref hTexRef) {
  return look_at(hTexRef, pFormat, [&](const ReferenceState& state) {
    *pFormat = state.format;
    if (pNumChannels) *pNumChannels = static_cast<int>(state.channels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetAddressMode(CUaddress_mode* pam, CUtexref hTexRef, int dim) {
  return look_at(hTexRef, pam, [&](const ReferenceState& state) {
    if (dim < 0 || dim > 2) return CUDA_ERROR_INVALID_VALUE;
    *pam = state.texture.addressMode[dim];
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
  return get(hTexRef, pfm, [](const ReferenceState& state) { return state.texture.filterMode; });
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* pfm, CUtexref hTexRef) {
  return get(hTexRef, pfm, [](const ReferenceState& state) { return state.texture.mipmapFilterMode; });
}

CUresult cuTexRefGetMipmapLevelBias(float* pbias, CUtexref hTexRef) {
  return get(hTexRef, pbias, [](const ReferenceState& state) { return state.texture.mipmapLevelBias; });
}

CUresult cuTexRefGetMipmapLevelClamp(float* pminMipmapLevelClamp, float* pmaxMipmapLevelClamp, CUtexref hTexRef) {
  return look_at(hTexRef, pminMipmapLevelClamp, [&](const ReferenceState& state) {
    if (!pmaxMipmapLevelClamp) return CUDA_ERROR_INVALID_VALUE;
    *pminMipmapLevelClamp = state.texture.minMipmapLevelClamp;
    *pmaxMipmapLevelClamp = state.texture.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMaxAnisotropy(int* pmaxAniso, CUtexref hTexRef) {
  return get(hTexRef, pmaxAniso, [](const ReferenceState& state) { return state.texture.maxAnisotropy; });
}

CUresult cuTexRefGetBorderColor(float* pBorderColor, CUtexref hTexRef) {
  return look_at(hTexRef, pBorderColor, [&](const ReferenceState& state) {
    std::copy_n(state.texture.borderColor, 4, pBorderColor);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetFlags(unsigned int* pFlags, CUtexref hTexRef) {
  return get(hTexRef, pFlags, [](const ReferenceState& state) { return state.texture.flags; });
}

// ---- surfaces -------------------------------------------------------------------------------------------------------

CUresult cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
  return set(hSurfRef, [&](ReferenceState& state) {
    if (Flags != 0) return false;
    bind(state, CU_RESOURCE_TYPE_ARRAY);
    state.resource.res.array.hArray = hArray;
    return true;
  });
}

CUresult cuSurfRefGetArray(CUarray* phArray, CUsurfref hSurfRef) {
  return look_at(hSurfRef, phArray, [&](const ReferenceState& state) {
    if (!state.is_bound) return CUDA_ERROR_INVALID_VALUE;
    *phArray = state.resource.res.array.hArray;
    return CUDA_SUCCESS;
  });
}
