// The driver's handle types, declared as cuda.h declares them, so that handles pass between cucore and any other code
// that includes cuda.h, and so that users of cucore need no CUDA headers.
#pragma once

#include <cstdint>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUlib_st;
struct CUkern_st;
struct CUevent_st;
struct CUstream_st;
struct CUmemPoolHandle_st;
struct CUgreenCtx_st;
struct CUarray_st;
struct CUmipmappedArray_st;
struct CUgraphicsResource_st;
struct CUgraph_st;
struct CUgraphNode_st;
struct CUgraphExec_st;

namespace cucore {

using DeviceHandle = int;                                 ///< CUdevice
using DevicePointer = std::uint64_t;                      ///< CUdeviceptr
using ContextHandle = ::CUctx_st*;                        ///< CUcontext
using LibraryHandle = ::CUlib_st*;                        ///< CUlibrary
using KernelHandle = ::CUkern_st*;                        ///< CUkernel
using FunctionHandle = ::CUfunc_st*;                      ///< CUfunction
using ModuleHandle = ::CUmod_st*;                         ///< CUmodule
using EventHandle = ::CUevent_st*;                        ///< CUevent
using StreamHandle = ::CUstream_st*;                      ///< CUstream
using MemoryPoolHandle = ::CUmemPoolHandle_st*;           ///< CUmemoryPool
using GreenContextHandle = ::CUgreenCtx_st*;              ///< CUgreenCtx
using ArrayHandle = ::CUarray_st*;                        ///< CUarray
using MipmappedArrayHandle = ::CUmipmappedArray_st*;      ///< CUmipmappedArray
using GraphicsResourceHandle = ::CUgraphicsResource_st*;  ///< CUgraphicsResource
using TextureHandle = std::uint64_t;                      ///< CUtexObject
using SurfaceHandle = std::uint64_t;                      ///< CUsurfObject
using GraphHandle = ::CUgraph_st*;                        ///< CUgraph
using GraphNodeHandle = ::CUgraphNode_st*;                ///< CUgraphNode
using GraphExecHandle = ::CUgraphExec_st*;                ///< CUgraphExec

}  // namespace cucore
