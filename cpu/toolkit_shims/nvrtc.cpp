// libnvrtc.so.13 as a shim: forwards every call; cubins come out with their PTX.
#include <string>

#include "cpu/toolkit_shims/cubin_ptx.hpp"
#include "cpu/toolkit_shims/real_library.hpp"

using cucore::cpu::toolkit_shims::real;

namespace {

constexpr int internal_error = 11;  // NVRTC_ERROR_INTERNAL_ERROR

/// The cubin of a compiled program and the PTX it was made of: NVRTC keeps both for a real architecture.
int cubin_of(void* program, std::string* out) {
  std::size_t size = 0;
  auto* const get_size = real<int(void*, std::size_t*)>("nvrtcGetCUBINSize");
  auto* const get = real<int(void*, char*)>("nvrtcGetCUBIN");
  if (!get_size || !get) return internal_error;
  if (const int result = get_size(program, &size); result != 0) return result;
  std::string cubin(size, '\0');
  if (size == 0) {
    out->clear();
    return 0;
  }
  if (const int result = get(program, cubin.data()); result != 0) return result;
  auto* const ptx_size = real<int(void*, std::size_t*)>("nvrtcGetPTXSize");
  auto* const get_ptx = real<int(void*, char*)>("nvrtcGetPTX");
  std::size_t length = 0;
  if (ptx_size && get_ptx && ptx_size(program, &length) == 0 && length > 1) {
    std::string ptx(length, '\0');
    if (get_ptx(program, ptx.data()) == 0) cubin = cucore::cpu::toolkit_shims::with_ptx(cubin, {ptx});
  }
  *out = std::move(cubin);
  return 0;
}

}  // namespace

#define FORWARD(name, parameters, arguments)                   \
  int name parameters {                                        \
    static auto* const function = real<int parameters>(#name); \
    return function ? function arguments : internal_error;     \
  }

#pragma GCC visibility push(default)
extern "C" {

int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  if (!size) return real<int(void*, std::size_t*)>("nvrtcGetCUBINSize")(program, size);
  std::string cubin;
  const int result = cubin_of(program, &cubin);
  if (result == 0) *size = cubin.size();
  return result;
}

int nvrtcGetCUBIN(void* program, char* out) {
  if (!out) return real<int(void*, char*)>("nvrtcGetCUBIN")(program, out);
  std::string cubin;
  const int result = cubin_of(program, &cubin);
  if (result == 0) cubin.copy(out, cubin.size());
  return result;
}

const char* nvrtcGetErrorString(int code) {
  static auto* const function = real<const char*(int)>("nvrtcGetErrorString");
  return function ? function(code) : "NVRTC was not found";
}

FORWARD(nvrtcVersion, (int* major, int* minor), (major, minor))
FORWARD(nvrtcGetNumSupportedArchs, (int* count), (count))
FORWARD(nvrtcGetSupportedArchs, (int* architectures), (architectures))
FORWARD(nvrtcCreateProgram,
        (void** program, const char* source, const char* name, int headers, const char* const* texts,
         const char* const* names),
        (program, source, name, headers, texts, names))
FORWARD(nvrtcDestroyProgram, (void** program), (program))
FORWARD(nvrtcCompileProgram, (void* program, int count, const char* const* options), (program, count, options))
FORWARD(nvrtcGetPTXSize, (void* program, std::size_t* size), (program, size))
FORWARD(nvrtcGetPTX, (void* program, char* out), (program, out))
FORWARD(nvrtcGetLTOIRSize, (void* program, std::size_t* size), (program, size))
FORWARD(nvrtcGetLTOIR, (void* program, char* out), (program, out))
FORWARD(nvrtcGetOptiXIRSize, (void* program, std::size_t* size), (program, size))
FORWARD(nvrtcGetOptiXIR, (void* program, char* out), (program, out))
FORWARD(nvrtcGetTileIRSize, (void* program, std::size_t* size), (program, size))
FORWARD(nvrtcGetTileIR, (void* program, char* out), (program, out))
FORWARD(nvrtcGetProgramLogSize, (void* program, std::size_t* size), (program, size))
FORWARD(nvrtcGetProgramLog, (void* program, char* out), (program, out))
FORWARD(nvrtcAddNameExpression, (void* program, const char* name), (program, name))
FORWARD(nvrtcGetLoweredName, (void* program, const char* name, const char** lowered), (program, name, lowered))
FORWARD(nvrtcInstallBundledHeaders, (const char* path, unsigned int flags, const char** log), (path, flags, log))
FORWARD(nvrtcGetBundledHeadersInfo, (void* info, const char** log), (info, log))
FORWARD(nvrtcRemoveBundledHeaders, (const char* path, const char** log), (path, log))
FORWARD(nvrtcGetPCHHeapSize, (std::size_t* size), (size))
FORWARD(nvrtcSetPCHHeapSize, (std::size_t size), (size))
FORWARD(nvrtcGetPCHCreateStatus, (void* program), (program))
FORWARD(nvrtcGetPCHHeapSizeRequired, (void* program, std::size_t* size), (program, size))
FORWARD(nvrtcSetFlowCallback, (void* program, int (*callback)(void*, void*), void* payload),
        (program, callback, payload))

}  // extern "C"
