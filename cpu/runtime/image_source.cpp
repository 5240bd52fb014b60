// From an image to its PTX: see image_source.hpp.
#include "cpu/runtime/image_source.hpp"

#include <cstring>

namespace cucore::cpu::runtime {

CUresult ptx_of_image(const void* image, std::size_t size, int capability, std::string* ptx, std::string* log) {
  (void)capability;
  if (std::memcmp(image, "\177ELF", 4) == 0 || std::memcmp(image, "\x50\xed\x55\xba", 4) == 0 ||
      std::memcmp(image, "\xb1\x43\x62\x46", 4) == 0) {
    *log = "the image is not PTX";
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  const char* const text = static_cast<const char*>(image);
  *ptx = size ? std::string(text, size) : std::string(text);
  return CUDA_SUCCESS;
}

}  // namespace cucore::cpu::runtime
