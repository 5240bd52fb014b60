// From an image to its PTX: see image_source.hpp.
#include "cpu/runtime/loading/image_source.hpp"

#include <string_view>
#include <utility>

#include "cpu/image/image.hpp"
#include "cpu/runtime/loading/device_runtime_ptx.hpp"
#include "cpu/runtime/loading/ptx_link.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Links the PTX that an image linked ahead of time was made from. NoBinaryForGpu if there is none.
Result<ImageSource> link_parts(const void* image, std::uint32_t architecture) {
  PtxLinker linker;
  ImageSource source;
  std::size_t linked = 0;
  for (const std::string_view part : image::locate_parts(image)) {
    Result<image::ImageContents> contents = image::read_image(part, architecture);
    if (!contents) {
      if (contents.failure().code() == ErrorCode::NoBinaryForGpu) continue;  // the linker then names what is missing
      return std::move(contents).failure();
    }
    if (is_device_runtime(contents->ptx)) continue;
    source.is_for_this_device = source.is_for_this_device || contents->is_for_this_device;
    linker.add(std::move(contents->ptx), "part " + std::to_string(++linked));
  }
  if (linked == 0) return ErrorCode::NoBinaryForGpu;
  Result<std::string> ptx = linker.complete();
  if (!ptx) return std::move(ptx).failure();
  source.ptx = *std::move(ptx);
  return source;
}

}  // namespace

Result<ImageSource> ptx_of_image(const void* image, std::size_t size, int capability) {
  const std::string_view bytes =
      size != 0 ? std::string_view(static_cast<const char*>(image), size) : image::locate_image(image);
  const auto architecture = static_cast<std::uint32_t>(capability);
  Result<image::ImageContents> contents = image::read_image(bytes, architecture);
  if (!contents) {
    const auto has_no_ptx = [](const auto& result) {
      return !result && result.failure().code() == ErrorCode::NoBinaryForGpu;
    };
    if (size == 0 && has_no_ptx(contents))
      if (Result<ImageSource> linked = link_parts(image, architecture); !has_no_ptx(linked)) return linked;
    return std::move(contents).failure();
  }
  ImageSource source{.ptx = std::move(contents->ptx),
                     .is_cubin = contents->format == image::ImageFormat::Cubin,
                     .is_text = contents->format == image::ImageFormat::Ptx,
                     .is_for_this_device = contents->is_for_this_device,
                     .max_registers = contents->max_registers,
                     .registers = std::move(contents->registers)};
  if (contents->further_ptx.empty() && !may_call_grid_barrier(source.ptx)) return source;
  PtxLinker linker;
  linker.add(std::move(source.ptx), "first part");
  for (std::string& part : contents->further_ptx) linker.add(std::move(part), "further part");
  Result<std::string> ptx = linker.complete();
  if (!ptx) return std::move(ptx).failure();
  source.ptx = *std::move(ptx);
  return source;
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

Result<void> check_target(const ImageSource& source, const ptx::Module& module, int capability) {
  bool specific = false;
  const int target = target_number(module, &specific);
  if (source.is_for_this_device || (specific ? target == capability : target <= capability)) return {};
  return Failure(source.is_cubin ? ErrorCode::NoBinaryForGpu : ErrorCode::InvalidPtx,
                 "ptx: error: SM version specified by .target (" + std::string(module.target) +
                     ") is higher than the version of this device (sm_" + std::to_string(capability) +
                     "); compile for it, or set CUCORE_CPU_COMPUTE_CAPABILITY");
}

}  // namespace cucore::cpu::runtime
