// Library management chapter.
#include "cpu/runtime/loading/library.hpp"

#include <algorithm>

#include "cpu/api/code/variable_memory.hpp"
#include "cpu/api/cuda_13_5.hpp"
#include "cpu/api/entry.hpp"
#include "cpu/api/nvidia_library.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using cucore::cpu::ErrorCode;
using cucore::cpu::Result;
using runtime::ImageStays;
using runtime::JitOptions;
using runtime::Kernel;
using runtime::Library;
using runtime::Program;

namespace {

template <class F>
CUresult of_library(CUlibrary handle, F&& call) {
  return initialized([&] {
    const auto library = runtime::find_library(handle);
    return library ? call(*library) : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// Looking something up in a library whose image is bad says what is wrong with that.
template <class F>
CUresult look_up(CUlibrary handle, F&& call) {
  return of_library(
      handle, [&](Library& library) { return library.is_good() ? call(library) : driver_result(library.is_good()); });
}

/// As look_up, plus the current context's module of it.
template <class F>
CUresult of_library_module(CUlibrary handle, F&& call) {
  return in_context([&](Context& context) {
    const auto library = runtime::find_library(handle);
    if (!library) return CUDA_ERROR_INVALID_HANDLE;
    if (!library->is_good()) return driver_result(library->is_good());
    const auto module = library->module_in(context);
    return module ? call(**module) : driver_result(module.failure());
  });
}

template <class F>
CUresult of_kernel(CUkernel handle, F&& call) {
  return initialized([&] {
    const auto kernel = runtime::find_kernel(handle);
    return kernel ? call(*kernel) : CUDA_ERROR_INVALID_HANDLE;
  });
}

/// For what its PTX says.
template <class F>
CUresult of_complete_kernel(CUkernel handle, F&& call) {
  return of_kernel(handle, [&](Kernel& kernel) {
    const Result<void> known = kernel.complete();
    return known ? call(kernel) : driver_result(known);
  });
}

/// Libraries belong to no device; all devices of this driver have the same capability.
int capability() { return runtime::devices().front()->capability(); }

CUresult check(CUlibraryOption* options, unsigned int count) {
  if (count != 0 && !options) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < count; ++i)
    if (options[i] < 0 || options[i] >= CU_LIBRARY_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// CU_LIBRARY_BINARY_IS_PRESERVED: until the library is unloaded.
ImageStays what_stays(const CUlibraryOption* options, void* const* values, unsigned int count) {
  for (unsigned int i = 0; i < count; ++i)
    if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED && values && values[i]) return ImageStays::UntilForgotten;
  return ImageStays::No;
}

/// A bad image is a library all the same, one without kernels, as in the driver; the logs say why at once.
template <class F>
CUresult load(CUlibrary* library, CUjit_option* jitOptions, void** jitOptionsValues, unsigned int numJitOptions,
              CUlibraryOption* libraryOptions, unsigned int numLibraryOptions, const void* caller, F&& read_program) {
  return initialized([&] {
    if (!library) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check(libraryOptions, numLibraryOptions); result != CUDA_SUCCESS) return result;
    const Result<JitOptions> jit = JitOptions::read(numJitOptions, jitOptions, jitOptionsValues);
    if (!jit) return driver_result(jit.failure());
    Result<std::shared_ptr<const Program>> program = read_program(*jit);
    if (!program && program.failure().code() == ErrorCode::FileNotFound) return CUDA_ERROR_FILE_NOT_FOUND;
    if (!program && program.failure().code() == ErrorCode::NoBinaryForGpu) report_nvidia_library(caller);
    *library = program ? Library::create(*std::move(program)) : Library::create_bad(std::move(program).failure());
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions, void** jitOptionsValues,
                           unsigned int numJitOptions, CUlibraryOption* libraryOptions, void** libraryOptionValues,
                           unsigned int numLibraryOptions) {
  if (!code) return initialized([] { return CUDA_ERROR_INVALID_VALUE; });
  return load(library, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, numLibraryOptions,
              __builtin_return_address(0), [&](const JitOptions& jit) {
                const ImageStays stays = what_stays(libraryOptions, libraryOptionValues, numLibraryOptions);
                return runtime::load_program(code, 0, capability(), jit, stays);
              });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                               void** jitOptionsValues, unsigned int numJitOptions, CUlibraryOption* libraryOptions,
                               void**, unsigned int numLibraryOptions) {
  if (!fileName || *fileName == 0) return initialized([] { return CUDA_ERROR_INVALID_VALUE; });
  return load(library, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, numLibraryOptions,
              __builtin_return_address(0),
              [&](const JitOptions& jit) { return runtime::load_program_file(fileName, capability(), jit); });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return of_library(library, [](Library& found) {
    found.unload();
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
  return look_up(library, [&](Library& found) {
    if (!pKernel || !name) return CUDA_ERROR_INVALID_VALUE;
    const int index = found.program().find_kernel(name);
    if (index < 0) return CUDA_ERROR_NOT_FOUND;
    const runtime::KernelDescription& kernel = found.program().kernels[static_cast<std::size_t>(index)];
    if (const Result<void> known = found.program().complete(static_cast<std::size_t>(index)); !known)
      return driver_result(known);
    if (const Result<void> supported = check_supported(kernel); !supported) return driver_result(supported);
    *pKernel = found.kernels()[static_cast<std::size_t>(index)]->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) {
  return of_library(lib, [&](Library& found) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned int>(found.kernels().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary lib) {
  return of_library(lib, [&](Library& found) {
    if (!kernels || numKernels == 0) return CUDA_ERROR_INVALID_VALUE;
    const std::size_t count = std::min<std::size_t>(numKernels, found.kernels().size());
    for (std::size_t i = 0; i < count; ++i) kernels[i] = found.kernels()[i]->handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
  return of_library_module(library, [&](runtime::Module& module) {
    if (!pMod) return CUDA_ERROR_INVALID_VALUE;
    *pMod = module.handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return of_library_module(library, [&](runtime::Module& module) {
    if (!name || (!dptr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    return hand_out(module.find_variable(name), dptr, bytes);
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return look_up(library, [&](Library& found) {
    if (!name || (!dptr && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    return hand_out(found.find_managed_variable(name), dptr, bytes);
  });
}

/// No device here has unified function pointers, so no library has such a function.
CUresult cuLibraryGetUnifiedFunction(void** fptr, CUlibrary library, const char* symbol) {
  return of_library_module(
      library, [&](runtime::Module&) { return fptr && symbol ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
  return in_context([&](Context& context) {
    const auto found = runtime::find_kernel(kernel);
    if (!found) return CUDA_ERROR_INVALID_HANDLE;
    if (!pFunc) return CUDA_ERROR_INVALID_VALUE;
    return driver_result(found->function_in(context), [&](const auto& function) { *pFunc = function->handle(); });
  });
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
  return of_kernel(kernel, [&](Kernel& found) {
    if (!pLib) return CUDA_ERROR_INVALID_VALUE;
    *pLib = found.library().handle();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) {
  if (!hfunc) return initialized([] { return CUDA_ERROR_INVALID_VALUE; });
  return of_kernel(hfunc, [&](Kernel& found) {
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = found.description().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t* paramCount) {
  return of_complete_kernel(kernel, [&](Kernel& found) {
    if (!paramCount) return CUDA_ERROR_INVALID_VALUE;
    *paramCount = found.description().parameters.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  if (!kernel) return initialized([] { return CUDA_ERROR_INVALID_VALUE; });
  return of_complete_kernel(kernel, [&](Kernel& found) {
    const auto& parameters = found.description().parameters;
    if (!paramOffset || paramIndex >= parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    *paramOffset = parameters[paramIndex].offset;
    if (paramSize) *paramSize = parameters[paramIndex].size;
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetAttribute(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
  return of_kernel(kernel, [&](Kernel& found) {
    return pi ? driver_result(found.attribute(attrib, dev), [&](int value) { *pi = value; }) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
  return of_kernel(kernel, [&](Kernel& found) { return driver_result(found.set_attribute(attrib, val, dev)); });
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
  return of_kernel(kernel, [&](Kernel&) {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) return CUDA_ERROR_INVALID_VALUE;
    return runtime::find_device(dev) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;  // a hint
  });
}
