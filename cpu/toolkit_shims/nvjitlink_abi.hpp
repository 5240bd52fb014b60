// What the shim uses of nvJitLink.h, whose enumerators have these values in every version of CUDA 13.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::toolkit_shims {

enum InputType : int {
  InputCubin = 1,
  InputPtx = 2,
  InputLtoIr = 3,
  InputFatBinary = 4,
  InputObject = 5,
  InputLibrary = 6,
  InputAny = 10
};

constexpr int internal_error = 6;  // NVJITLINK_ERROR_INTERNAL

using Create = int(void**, std::uint32_t, const char* const*);
using AddData = int(void*, int, const void*, std::size_t, const char*);
using OfHandle = int(void*);

}  // namespace cucore::cpu::toolkit_shims
