// libnvrtc.so.13 as a shim: forwards every call; cubins come out with their PTX.
#include <string>

#include "cpu/toolkit_shims/cubin_ptx.hpp"
#include "cpu/toolkit_shims/real_library.hpp"

using namespace cucore::cpu::toolkit_shims;

namespace {

constexpr int internal_error = 11;  // NVRTC_ERROR_INTERNAL_ERROR

/// The cubin of a compiled program and the PTX it was made of: NVRTC keeps both for a real architecture.
int cubin_of(void* program, std::string* out) {
  auto* const get_size = real<GetSize>("nvrtcGetCUBINSize");
  auto* const get = real<GetBytes>("nvrtcGetCUBIN");
  if (!get_size || !get) return internal_error;
  std::string cubin;
  if (const int result = bytes_of(program, get_size, get, &cubin); result != 0) return result;
  auto* const ptx_size = real<GetSize>("nvrtcGetPTXSize");
  auto* const get_ptx = real<GetBytes>("nvrtcGetPTX");
  std::string ptx;
  const bool has_ptx = !cubin.empty() && ptx_size && get_ptx && bytes_of(program, ptx_size, get_ptx, &ptx) == 0;
  if (has_ptx && ptx.size() > 1) cubin = with_ptx(cubin, {ptx});
  *out = std::move(cubin);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int nvrtcGetCUBINSize(void* program, std::size_t* size) {
  if (!size) return real<GetSize>("nvrtcGetCUBINSize")(program, size);
  std::string cubin;
  const int result = cubin_of(program, &cubin);
  if (result == 0) *size = cubin.size();
  return result;
}

int nvrtcGetCUBIN(void* program, char* out) {
  if (!out) return real<GetBytes>("nvrtcGetCUBIN")(program, out);
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
