// From an image to its PTX: see image_source.hpp.
#include "cpu/runtime/image_source.hpp"

#include <string_view>
#include <utility>

#include "cpu/image/image.hpp"
#include "cpu/runtime/ptx_link.hpp"

namespace cucore::cpu::runtime {

CUresult ptx_of_image(const void* image, std::size_t size, int capability, std::string* ptx, std::string* log) {
  const std::string_view bytes =
      size != 0 ? std::string_view(static_cast<const char*>(image), size) : image::locate_image(image);
  image::ImageContents contents = image::read_image(bytes, static_cast<std::uint32_t>(capability));
  switch (contents.status) {
    case image::ImageStatus::Ok:
      break;
    case image::ImageStatus::NoPtx:
      *log = std::move(contents.error);
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case image::ImageStatus::Invalid:
      *log = std::move(contents.error);
      return CUDA_ERROR_INVALID_IMAGE;
  }
  if (contents.further_ptx.empty()) {
    *ptx = std::move(contents.ptx);
    return CUDA_SUCCESS;
  }
  PtxLinker linker;
  linker.add(std::move(contents.ptx), "first part");
  for (std::string& part : contents.further_ptx) linker.add(std::move(part), "further part");
  return linker.complete(ptx, log);
}

}  // namespace cucore::cpu::runtime
