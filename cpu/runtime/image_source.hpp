// From an image as the driver API passes it to the PTX in it.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

namespace cucore::cpu::runtime {

/// `size` 0: the image says itself where it ends. On failure `log` says what was found and what to do.
CUresult ptx_of_image(const void* image, std::size_t size, int capability, std::string* ptx, std::string* log);

}  // namespace cucore::cpu::runtime
