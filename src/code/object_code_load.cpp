// Loading an ObjectCode: its bytes from memory or a file, a look whether they can be what they are called, the choice
// of an image for the device, the PTX where no binary fits, and nvJitLink where the PTX is newer than the driver.
#include <sys/stat.h>

#include <utility>

#include "cucore/device.hpp"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "src/code/object_code_state.hpp"
#include "src/formats/architecture.hpp"
#include "src/formats/elf.hpp"
#include "src/formats/fatbin.hpp"
#include "src/formats/files.hpp"
#include "src/formats/ptx_syntax.hpp"
#include "src/link/link_session.hpp"
#include "src/toolkit/library.hpp"

namespace cucore::detail {
namespace {

constexpr int kInvalidImage = 200;
constexpr int kNoBinaryForGpu = 209;
constexpr int kUnsupportedPtxVersion = 222;
constexpr const char* kArchitectureHint =
    "compile for this device's architecture (Device::arch) or an older one, or keep the PTX in the code";

// The driver trusts the offsets in an image, so an image is checked against its own size before the driver sees it.
void refuse_bad_image(std::string_view image, const std::string& description) {
  const char* fault = nullptr;
  if (image.empty()) {
    fault = "it is empty";
  } else if (image.starts_with("\x7f"
                               "ELF")) {
    fault = elf_fault(image);
  } else if (is_fatbin(image)) {
    fault = fatbin_fault(image);
  } else if (image.find('\0') != std::string_view::npos) {
    fault = "it is neither a cubin nor a fat binary, and as PTX it has a NUL character inside";
  }
  if (fault == nullptr) return;
  throw DriverError({.call = "cuLibraryLoadData",
                     .code = kInvalidImage,
                     .code_name = "CUDA_ERROR_INVALID_IMAGE",
                     .message = "cannot load " + description + ": " + fault + " (the driver was not asked)",
                     .hint = "the bytes were cut off or altered since they were compiled; compile again"});
}

// 90 for 9.0: the current device's, or that of device 0.
int device_capability() {
  const ComputeCapability capability = Device::current().compute_capability();
  return capability.major * 10 + capability.minor;
}

LoadRequest request_for(const std::string& description, std::string_view image, CodeImage used) {
  LoadRequest request;
  request.description = description;
  request.image = std::as_bytes(std::span(image));
  request.used = std::move(used);
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
                       .code = kUnsupportedPtxVersion,
                       .code_name = "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
                       .message = "cannot load " + description + ": its PTX is of version " + version_of(ptx) +
                                  ", newer than the driver (CUDA " + std::to_string(version / 1000) + "." +
                                  std::to_string(version % 1000 / 10) + ") can compile, and " + why,
                       .log = std::move(log),
                       .hint = "compile with an older NVRTC or to a cubin for " + arch +
                               ", update the driver, or install the nvJitLink of the toolkit that made the PTX"});
  };
  if (!links_with_nvjitlink()) {
    refuse("nvJitLink, which could, is not at hand: " + toolkit::nvjitlink_library().why_not, {});
  }
  std::string cubin;
  try {
    cubin = with_ptx_modules(link_ptx_modules({ptx}, arch), {ptx});
  } catch (const NvJitLinkError& error) {
    refuse("nvJitLink cannot either: " + error.message(), error.log());
  }
  LoadRequest request = request_for(
      description + ", compiled for " + arch + " by nvJitLink since its PTX is newer " + "than the driver can compile",
      cubin, {.type = CodeType::cubin, .arch = arch});
  request.ptx = std::make_shared<const std::string>(ptx);
  request.hint = hint;
  return LibraryState::open(request);
}

std::shared_ptr<LibraryState> load_ptx(const std::string& description, std::string_view ptx,
                                       const std::string& hint = {}) {
  LoadRequest request = request_for(description, ptx, {.type = CodeType::ptx, .arch = architecture_of_ptx(ptx)});
  request.ptx = std::make_shared<const std::string>(ptx);
  request.hint = hint;
  try {
    return LibraryState::open(request);
  } catch (const DriverError& error) {
    if (error.code() != kUnsupportedPtxVersion) throw;
  }
  return load_newer_ptx(description, ptx, hint);
}

// A cubin for another architecture: what it was made from, compiled for this one. One module is the driver's JIT
// compiler's business, several have to be linked.
std::shared_ptr<LibraryState> load_carried_ptx(const std::string& description,
                                               const std::vector<std::string_view>& modules) {
  const std::string what = description + ", from the PTX it carries since its binary is for another architecture";
  if (modules.size() == 1) return load_ptx(what, modules.front(), kArchitectureHint);
  const std::string linked = link_ptx_modules(modules, "sm_" + std::to_string(device_capability()));
  LoadRequest request =
      request_for(what, linked, {.type = CodeType::ptx, .arch = architecture_of_ptx(modules.front())});
  request.ptx = std::make_shared<const std::string>(joined_ptx(modules));
  request.hint = kArchitectureHint;
  return LibraryState::open(request);
}

std::shared_ptr<LibraryState> load_cubin(const std::string& description, std::string_view cubin) {
  const std::vector<std::string_view> modules = embedded_ptx_modules(cubin);
  // The CPU device runs the PTX, never the binary.
  const bool runs_ptx = !modules.empty() && driver_info().kind == DriverKind::cpu;
  CodeImage used{.type = CodeType::cubin, .arch = architecture_of_cubin(cubin)};
  if (runs_ptx) used = {.type = CodeType::ptx, .arch = architecture_of_ptx(modules.front())};
  LoadRequest request = request_for(description, cubin, std::move(used));
  if (!modules.empty()) request.ptx = std::make_shared<const std::string>(joined_ptx(modules));
  try {
    return LibraryState::open(request);
  } catch (const DriverError& error) {
    if (error.code() != kNoBinaryForGpu || modules.empty()) throw;
  }
  return load_carried_ptx(description, modules);
}

std::string list_of(const std::vector<FatbinImage>& images) {
  std::string text;
  for (const FatbinImage& image : images) text += (text.empty() ? "" : ", ") + image.arch;
  return text.empty() ? "nothing" : text;
}

std::shared_ptr<LibraryState> load_fatbin(const std::string& description, std::string_view fatbin) {
  const auto images = read_fatbin(fatbin);
  bool readable = images.has_value();
  for (std::size_t i = 0; readable && i < images->size(); ++i) readable = !(*images)[i].is_compressed;
  if (!readable) {  // the driver can decompress, and chooses by itself
    LoadRequest request;
    request.description = description;
    request.image = std::as_bytes(std::span(fatbin));
    return LibraryState::open(request);
  }
  const int capability = device_capability();
  std::string tried;
  for (const std::size_t i : usable_images(*images, capability)) {
    const FatbinImage& image = (*images)[i];
    const std::string what = description + ", image " + std::string(image.type.name()) + " for " + image.arch;
    refuse_bad_image(image.bytes, what);
    try {
      if (image.type == CodeType(CodeType::ptx)) return load_ptx(what, image.bytes);
      LoadRequest request = request_for(what, image.bytes, {.type = image.type, .arch = image.arch});
      // Parameter tables come from the PTX for the same architecture, if that is there.
      for (const FatbinImage& other : *images) {
        if (other.type == CodeType(CodeType::ptx) &&
            parse_architecture(other.arch).number == parse_architecture(image.arch).number) {
          request.ptx = std::make_shared<const std::string>(other.bytes);
        }
      }
      return LibraryState::open(request);
    } catch (const DriverError& error) {
      if (error.code() != kNoBinaryForGpu) throw;
      tried += (tried.empty() ? "; refused: " : ", ") + image.arch;
    }
  }
  throw DriverError({.call = "cuLibraryLoadData",
                     .code = kNoBinaryForGpu,
                     .code_name = "CUDA_ERROR_NO_BINARY_FOR_GPU",
                     .message = "cannot load " + description + ": none of its images is for this device (sm_" +
                                std::to_string(capability) + "); it holds " + list_of(*images) + tried,
                     .hint = kArchitectureHint});
}

}  // namespace

FileStamp stamp_of(const std::filesystem::path& path) noexcept {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {.exists = true,
          .size = static_cast<std::uint64_t>(status.st_size),
          .inode = status.st_ino,
          .seconds = status.st_mtim.tv_sec,
          .nanoseconds = status.st_mtim.tv_nsec};
}

std::string read_code_file(CodeType type, const std::filesystem::path& path, const FileStamp& made,
                           const std::string& description) {
  const FileStamp now = stamp_of(path);
  if (made.exists && now.exists && now != made) {
    throw ValueError({.call = "open",
                      .message = "the file of " + description + " has changed since the ObjectCode was made (" +
                                 std::to_string(made.size) + " bytes then, " + std::to_string(now.size) + " now)",
                      .hint = "make a new ObjectCode from the file as it is now, or make it from the bytes"});
  }
  std::string bytes = read_file_or_throw(path, description);
  while (type == CodeType(CodeType::ptx) && bytes.ends_with('\0')) bytes.pop_back();
  return bytes;
}

std::shared_ptr<LibraryState> load_code(CodeType type, const std::string& description, std::string_view bytes) {
  refuse_bad_image(bytes, description);
  if (type == CodeType(CodeType::ptx)) return load_ptx(description, bytes);
  if (is_fatbin(bytes)) return load_fatbin(description, bytes);
  return load_cubin(description, bytes);
}

}  // namespace cucore::detail
