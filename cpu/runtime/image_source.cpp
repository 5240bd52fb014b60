// From an image to its PTX: see image_source.hpp.
#include "cpu/runtime/image_source.hpp"

#include <string_view>
#include <utility>

#include "cpu/image/image.hpp"
#include "cpu/runtime/ptx_link.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Links the PTX that an image linked ahead of time was made from. NO_BINARY_FOR_GPU if there is none; `log` then
/// stays.
CUresult link_parts(const void* image, std::uint32_t architecture, std::string* ptx, std::string* log) {
  PtxLinker linker;
  std::size_t linked = 0;
  for (const std::string_view part : image::locate_parts(image)) {
    image::ImageContents contents = image::read_image(part, architecture);
    if (contents.status == image::ImageStatus::NoPtx) continue;  // what is missing then, the linker names
    if (contents.status != image::ImageStatus::Ok) {
      *log = std::move(contents.error);
      return CUDA_ERROR_INVALID_IMAGE;
    }
    linker.add(std::move(contents.ptx), "part " + std::to_string(++linked));
  }
  if (linked == 0) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  log->clear();
  return linker.complete(ptx, log);
}

}  // namespace

CUresult ptx_of_image(const void* image, std::size_t size, int capability, std::string* ptx, std::string* log) {
  const std::string_view bytes =
      size != 0 ? std::string_view(static_cast<const char*>(image), size) : image::locate_image(image);
  const auto architecture = static_cast<std::uint32_t>(capability);
  image::ImageContents contents = image::read_image(bytes, architecture);
  switch (contents.status) {
    case image::ImageStatus::Ok:
      break;
    case image::ImageStatus::NoPtx:
      *log = std::move(contents.error);
      return size == 0 ? link_parts(image, architecture, ptx, log) : CUDA_ERROR_NO_BINARY_FOR_GPU;
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
