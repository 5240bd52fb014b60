// Loading an ObjectCode: a look at what is in it, the choice of an image for the device, the PTX where no binary fits,
// and nvJitLink where the PTX is newer than the driver.
#include "src/code/object_code_load.hpp"

#include <span>
#include <utility>

#include "cucore/device.hpp"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/cubin.hpp"
#include "src/formats/loadable_code.hpp"
#include "src/formats/ptx_syntax.hpp"
#include "src/link/link_session.hpp"
#include "src/toolkit/library.hpp"

namespace cucore::detail {
namespace {

constexpr int invalid_image = 200;
constexpr int no_binary_for_gpu = 209;
constexpr int unsupported_ptx_version = 222;
constexpr const char* architecture_hint =
    "compile for this device's architecture (Device::arch) or an older one, or keep the PTX in the code";

// `fault` is that of the code, nullptr if there is none.
void refuse_fault(const char* fault, const std::string& description) {
  if (fault == nullptr) return;
  throw DriverError({.call = "cuLibraryLoadData",
                     .code = invalid_image,
                     .code_name = "CUDA_ERROR_INVALID_IMAGE",
                     .message = "cannot load " + description + ": " + fault + " (the driver was not asked)",
                     .hint = "the bytes were cut off or altered since they were compiled; compile again"});
}

// 90 for 9.0: the current device's, or that of device 0.
int device_capability() {
  const ComputeCapability capability = Device::current().compute_capability();
  return capability.major * 10 + capability.minor;
}

LoadRequest request_for(const std::string& description, const FatbinImage& image) {
  LoadRequest request;
  request.description = description;
  request.image = image.bytes;
  request.used = CodeImage{.type = image.type, .arch = image.arch};
  return request;
}

std::string version_of(std::string_view ptx) {
  const std::string_view version = ptx_directive(ptx, ".version");
  return version.empty() ? "unknown" : std::string(version);
}

// PTX that is newer than what the driver can compile, compiled by nvJitLink instead. The cubin carries the PTX.
std::shared_ptr<LibraryState> load_newer_ptx(const std::string& description, std::string_view ptx,
                                             const std::string& hint) {
  const std::string arch = "sm_" + std::to_string(device_capability());
  const auto refuse = [&](const std::string& why, std::string log) {
    const int version = driver_info().version;
    throw DriverError({.call = "cuLibraryLoadData",
                       .code = unsupported_ptx_version,
                       .code_name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                       .message = "cannot load " + description + ": its PTX is of version " + version_of(ptx) +
                                  ", newer than the driver (CUDA " + std::to_string(version / 1000) + "." +
                                  std::to_string(version % 1000 / 10) + ") can compile, and " + why,
                       .log = std::move(log),
                       .hint = "compile with an older NVRTC or to a cubin for " + arch +
                               ", update the driver, or install the nvJitLink of the toolkit that made the PTX"});
  };
  if (!links_with_nvjitlink()) {
    refuse("nvJitLink, which could compile it, is not available: " + toolkit::nvjitlink_library().why_not, {});
  }
  std::string cubin;
  try {
    cubin = with_ptx_modules(link_ptx_modules({ptx}, arch), {ptx});
  } catch (const NvJitLinkError& error) {
    refuse("nvJitLink cannot either: " + error.message(), error.log());
  }
  LoadRequest request = request_for(
      description + ", compiled for " + arch + " by nvJitLink since its PTX is newer than the driver can compile",
      {.type = CodeType::cubin, .arch = arch, .bytes = cubin});
  request.ptx = std::make_shared<const std::string>(ptx);
  request.hint = hint;
  return LibraryState::open(request);
}

std::shared_ptr<LibraryState> load_ptx(const std::string& description, const FatbinImage& ptx,
                                       const std::string& hint = {}) {
  LoadRequest request = request_for(description, ptx);
  request.ptx = std::make_shared<const std::string>(ptx.bytes);
  request.hint = hint;
  try {
    return LibraryState::open(request);
  } catch (const DriverError& error) {
    if (error.code() != unsupported_ptx_version) throw;
  }
  return load_newer_ptx(description, ptx.bytes, hint);
}

std::vector<std::string_view> texts_of(std::span<const FatbinImage> modules) {
  std::vector<std::string_view> texts;
  for (const FatbinImage& module : modules) texts.push_back(module.bytes);
  return texts;
}

// A cubin for another architecture: loads the PTX that it was made from, compiled for this one. The driver's JIT
// compiler takes one module; several have to be linked.
std::shared_ptr<LibraryState> load_carried_ptx(const std::string& description, std::span<const FatbinImage> modules) {
  const std::string what = description + ", from the PTX it carries since its binary is for another architecture";
  if (modules.size() == 1) return load_ptx(what, modules.front(), architecture_hint);
  const std::vector<std::string_view> texts = texts_of(modules);
  const std::string linked = link_ptx_modules(texts, "sm_" + std::to_string(device_capability()));
  LoadRequest request = request_for(what, {.type = CodeType::ptx, .arch = modules.front().arch, .bytes = linked});
  request.ptx = std::make_shared<const std::string>(joined_ptx(texts));
  request.hint = architecture_hint;
  return LibraryState::open(request);
}

// `images`: the cubin, and the PTX modules it carries.
std::shared_ptr<LibraryState> load_cubin(const std::string& description, std::span<const FatbinImage> images) {
  const std::span<const FatbinImage> modules = images.subspan(1);
  LoadRequest request = request_for(description, images.front());
  if (!modules.empty()) request.ptx = std::make_shared<const std::string>(joined_ptx(texts_of(modules)));
  // The CPU device runs the PTX, never the binary.
  if (!modules.empty() && driver_info().kind == DriverKind::cpu)
    request.used = CodeImage{.type = CodeType::ptx, .arch = modules.front().arch};
  try {
    return LibraryState::open(request);
  } catch (const DriverError& error) {
    if (error.code() != no_binary_for_gpu || modules.empty()) throw;
  }
  return load_carried_ptx(description, modules);
}

std::string list_of(const std::vector<FatbinImage>& images) {
  std::string text;
  for (const FatbinImage& image : images) text += (text.empty() ? "" : ", ") + image.arch;
  return text.empty() ? "nothing" : text;
}

// Code that only the driver can read in full.
std::shared_ptr<LibraryState> load_unread(const std::string& description, std::string_view bytes) {
  LoadRequest request;
  request.description = description;
  request.image = bytes;
  return LibraryState::open(request);
}

std::shared_ptr<LibraryState> load_fatbin(const std::string& description, const std::vector<FatbinImage>& images) {
  const int capability = device_capability();
  std::string tried;
  for (const std::size_t i : usable_images(images, capability)) {
    const FatbinImage& image = images[i];
    const std::string what = description + ", image " + std::string(image.type.name()) + " for " + image.arch;
    refuse_fault(fault_of_code(image.bytes), what);
    try {
      if (image.type == CodeType(CodeType::ptx)) return load_ptx(what, image);
      LoadRequest request = request_for(what, image);
      // Parameter tables come from the PTX for the same architecture, if that is there.
      for (const FatbinImage& other : images) {
        if (other.type == CodeType(CodeType::ptx) &&
            parse_architecture(other.arch).number == parse_architecture(image.arch).number) {
          request.ptx = std::make_shared<const std::string>(other.bytes);
        }
      }
      return LibraryState::open(request);
    } catch (const DriverError& error) {
      if (error.code() != no_binary_for_gpu) throw;
      tried += (tried.empty() ? "; refused: " : ", ") + image.arch;
    }
  }
  throw DriverError({.call = "cuLibraryLoadData",
                     .code = no_binary_for_gpu,
                     .code_name = "CUDA_ERROR_NO_BINARY_FOR_GPU",
                     .message = "cannot load " + description + ": none of its images is for this device (sm_" +
                                std::to_string(capability) + "); it holds " + list_of(images) + tried,
                     .hint = architecture_hint});
}

}  // namespace

std::shared_ptr<LibraryState> load_code(CodeType type, const std::string& description, std::string_view bytes) {
  const LoadableCode code = read_loadable_code(type, bytes);
  refuse_fault(code.fault, description);
  switch (code.type.value()) {
    case CodeType::ptx:
      return load_ptx(description, code.images.front());
    case CodeType::fatbin:
      return code.driver_chooses ? load_unread(description, bytes) : load_fatbin(description, code.images);
    default:
      return load_cubin(description, code.images);
  }
}

}  // namespace cucore::detail
