// What can be read of the kernels in an image: their PTX, what became of it, and how far it agrees with a GPU.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cucore::cpu::runtime {

/// `what`: `ptx`, `ir` (LLVM's, optimised), `assembly`, or `fidelity`. `kernel` empty: all of them. `block`: the shape
/// that the vector form is made for, unless CUCORE_CPU_FORM asks for the scalar one. `text` is the answer or, unless
/// the result is CUDA_SUCCESS, what went wrong: NOT_FOUND for a kernel that is not there, INVALID_VALUE for another
/// `what`, and the errors of images and PTX. Nothing is loaded or run.
CUresult dump(const void* image, std::size_t size, std::string_view kernel, std::string_view what,
              const std::uint32_t (&block)[3], std::string* text);

}  // namespace cucore::cpu::runtime
