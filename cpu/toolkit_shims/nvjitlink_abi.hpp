// What the shim uses of nvJitLink.h, whose enumerators have these values in every version of CUDA 13.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cucore::cpu::toolkit_shims {

enum InputType : int {
  input_cubin = 1,
  input_ptx = 2,
  input_lto_ir = 3,
  input_fat_binary = 4,
  input_object = 5,
  input_library = 6,
  input_any = 10
};

constexpr int internal_error = 6;  // NVJITLINK_ERROR_INTERNAL

using Create = int(void**, std::uint32_t, const char* const*);
using AddData = int(void*, int, const void*, std::size_t, const char*);
using OfHandle = int(void*);
using GetSize = int(void*, std::size_t*);
using GetBytes = int(void*, void*);

}  // namespace cucore::cpu::toolkit_shims
