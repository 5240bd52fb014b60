// From an image to its PTX: see image_source.hpp.
#include "cpu/runtime/loading/image_source.hpp"

#include <string_view>
#include <utility>

#include "cpu/error/result.hpp"
#include "cpu/image/image.hpp"
#include "cpu/runtime/loading/ptx_link.hpp"
#include "cpu/runtime/process/driver_result.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Links the PTX that an image linked ahead of time was made from. NO_BINARY_FOR_GPU if there is none; `log` then
/// stays.
CUresult link_parts(const void* image, std::uint32_t architecture, ImageSource* source, std::string* log) {
  PtxLinker linker;
  std::size_t linked = 0;
  for (const std::string_view part : image::locate_parts(image)) {
    Result<image::ImageContents> contents = image::read_image(part, architecture);
    if (!contents) {
      const ErrorCode code = contents.failure().code();
      if (code == ErrorCode::NoBinaryForGpu) continue;  // what is missing then, the linker names
      *log = std::move(contents).failure().sentence();
      return driver_result(code);
    }
    source->is_for_this_device = source->is_for_this_device || contents->is_for_this_device;
    linker.add(std::move(contents->ptx), "part " + std::to_string(++linked));
  }
  if (linked == 0) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  log->clear();
  return linker.complete(&source->ptx, log);
}

}  // namespace

CUresult ptx_of_image(const void* image, std::size_t size, int capability, ImageSource* source, std::string* log) {
  const std::string_view bytes =
      size != 0 ? std::string_view(static_cast<const char*>(image), size) : image::locate_image(image);
  const auto architecture = static_cast<std::uint32_t>(capability);
  Result<image::ImageContents> read = image::read_image(bytes, architecture);
  if (!read) {
    const ErrorCode code = read.failure().code();
    *log = std::move(read).failure().sentence();
    const bool may_have_parts = code == ErrorCode::NoBinaryForGpu && size == 0;
    return may_have_parts ? link_parts(image, architecture, source, log) : driver_result(code);
  }
  image::ImageContents& contents = *read;
  source->is_cubin = contents.format == image::ImageFormat::Cubin;
  source->is_for_this_device = contents.is_for_this_device;
  if (contents.further_ptx.empty()) {
    source->ptx = std::move(contents.ptx);
    return CUDA_SUCCESS;
  }
  PtxLinker linker;
  linker.add(std::move(contents.ptx), "first part");
  for (std::string& part : contents.further_ptx) linker.add(std::move(part), "further part");
  return linker.complete(&source->ptx, log);
}

int target_number(const ptx::Module& module, bool* specific) {
  *specific = false;
  if (!module.target.starts_with("sm_")) return 0;
  int number = 0;
  for (const char c : module.target.substr(3)) {
    if (c >= '0' && c <= '9')
      number = number * 10 + (c - '0');
    else
      *specific = true;
  }
  return number;
}

CUresult check_target(const ImageSource& source, const ptx::Module& module, int capability, std::string* log) {
  bool specific = false;
  const int target = target_number(module, &specific);
  if (source.is_for_this_device || (specific ? target == capability : target <= capability)) return CUDA_SUCCESS;
  *log = "ptx: error: SM version specified by .target (" + std::string(module.target) +
         ") is higher than the version of this device (sm_" + std::to_string(capability) +
         "); compile for it, or set CUCORE_CPU_COMPUTE_CAPABILITY";
  return source.is_cubin ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_PTX;
}

}  // namespace cucore::cpu::runtime
