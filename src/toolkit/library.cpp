// Opening NVRTC and nvJitLink: try the places in order, fill the tables, remember what was found or why not.
#include "src/toolkit/library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "cucore/error.hpp"
#include "src/toolkit/locate.hpp"

namespace cucore::toolkit {
namespace {

namespace fs = std::filesystem;

// Sonames, newest first. With a major version given only that one: a pair of different majors is not a pair.
std::vector<std::string> sonames(const std::string& stem, int only_major) {
  std::vector<std::string> names;
  for (int major : {13, 12}) {
    if (only_major == 0 || only_major == major) names.push_back(stem + ".so." + std::to_string(major));
  }
  return names;
}

struct Opened {
  void* handle = nullptr;
  ToolkitLibrary library;
};

Opened open_first(const std::vector<Place>& candidates, const std::string& stem, const char* a_function,
                  int only_major) {
  Opened opened;
  std::string tried;
  std::error_code ignored;
  for (const Place& place : candidates) {
    std::vector<fs::path> files;
    if (!place.file.empty()) {
      files.push_back(place.file);
    } else {
      for (const std::string& name : sonames(stem, only_major)) files.push_back(place.folder / name);
    }
    for (const fs::path& file : files) {
      const bool loader_search = place.folder.empty() && place.file.empty();
      if (!loader_search && !fs::exists(file, ignored)) {
        tried += "\n  " + file.string() + " (" + place.rule + "): no such file";
        continue;
      }
      void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      void* symbol = handle != nullptr ? ::dlsym(handle, a_function) : nullptr;
      if (symbol == nullptr) {
        const char* reason = ::dlerror();
        tried += "\n  " + file.string() + " (" + place.rule + "): " + (reason != nullptr ? reason : "unknown reason");
        if (handle != nullptr) ::dlclose(handle);
        continue;
      }
      Dl_info where{};
      opened.handle = handle;
      opened.library.path = ::dladdr(symbol, &where) != 0 ? fs::path(where.dli_fname) : file;
      opened.library.found_by = place.rule;
      return opened;
    }
  }
  opened.library.why_not = "no usable " + stem + "; tried:" + tried;
  return opened;
}

#define NVRTC_FUNCTION(name, version, parameters) \
  NvrtcResult missing_##name parameters { return NvrtcResult::missing_function; }
#define NVJITLINK_FUNCTION(name, version, parameters) \
  NvJitLinkResult missing_##name parameters { return NvJitLinkResult::missing_function; }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "src/toolkit/functions.def"
#pragma GCC diagnostic pop
#undef NVRTC_FUNCTION
#undef NVJITLINK_FUNCTION

template <class Function>
void resolve(void* handle, const char* name, Function& function, Function stub) {
  void* symbol = handle != nullptr ? ::dlsym(handle, name) : nullptr;
  function = symbol != nullptr ? reinterpret_cast<Function>(symbol) : stub;
}

// NVRTC opens its built-ins by name when it first compiles, and that name is searched for in the system's folders only.
// Once the file beside NVRTC is loaded, the loader takes it for that name. Where it is missing, NVRTC's own error says
// so.
void load_builtins_beside(const ToolkitLibrary& nvrtc) {
  const std::string name = "libnvrtc-builtins.so." + std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor);
  ::dlopen((nvrtc.path.parent_path() / name).c_str(), RTLD_NOW | RTLD_LOCAL);
  ::dlerror();
}

struct Toolkit {
  ToolkitInfo info;
  NvrtcTable nvrtc;
  NvJitLinkTable nvjitlink;
};

Toolkit* open_toolkit(const std::vector<fs::path>& search_paths) {
  auto* toolkit = new Toolkit;
  const std::vector<Place> nvrtc_places = places("CUCORE_NVRTC", search_paths);
  Opened nvrtc = open_first(nvrtc_places, "libnvrtc", "nvrtcVersion", 0);
#define NVRTC_FUNCTION(name, version, parameters) resolve(nvrtc.handle, #name, toolkit->nvrtc.name, &missing_##name);
#include "src/toolkit/functions.def"
#undef NVRTC_FUNCTION
  if (nvrtc.handle != nullptr) {
    nvrtc.library.available =
        toolkit->nvrtc.nvrtcVersion(&nvrtc.library.major, &nvrtc.library.minor) == NvrtcResult::success;
    if (!nvrtc.library.available) nvrtc.library.why_not = nvrtc.library.path.string() + ": nvrtcVersion failed";
    nvrtc.library.build = build_identity(nvrtc.library.path);
    if (nvrtc.library.available) load_builtins_beside(nvrtc.library);
    toolkit->info.include_paths = headers_beside(nvrtc.library.path.parent_path());
  }

  std::vector<Place> link_places = places("CUCORE_NVJITLINK", search_paths);
  if (nvrtc.handle != nullptr) {
    const auto first = link_places.begin() + (link_places.front().file.empty() ? 0 : 1);
    link_places.insert(first, {.rule = "beside NVRTC", .folder = nvrtc.library.path.parent_path()});
  }
  Opened link = open_first(link_places, "libnvJitLink", "nvJitLinkCreate", nvrtc.library.major);
#define NVJITLINK_FUNCTION(name, version, parameters) \
  resolve(link.handle, #name, toolkit->nvjitlink.name, &missing_##name);
#include "src/toolkit/functions.def"
#undef NVJITLINK_FUNCTION
  if (link.handle != nullptr) {
    // 12.0 to 12.2 have no function that tells their version, and their other names carry a version suffix.
    unsigned major = 0;
    unsigned minor = 0;
    link.library.available = toolkit->nvjitlink.nvJitLinkVersion(&major, &minor) == NvJitLinkResult::success;
    link.library.major = static_cast<int>(major);
    link.library.minor = static_cast<int>(minor);
    if (!link.library.available) link.library.why_not = link.library.path.string() + ": older than 12.3";
    link.library.build = build_identity(link.library.path);
  }
  toolkit->info.nvrtc = std::move(nvrtc.library);
  toolkit->info.nvjitlink = std::move(link.library);
  return toolkit;
}

// Never destroyed: code in other static objects may compile until the very end.
struct Choice {
  std::mutex mutex;
  std::vector<fs::path> search_paths;
  const Toolkit* toolkit = nullptr;
};

Choice& choice() {
  static auto* the_choice = new Choice;
  return *the_choice;
}

const Toolkit& toolkit() {
  Choice& c = choice();
  const std::lock_guard lock(c.mutex);
  if (c.toolkit == nullptr) c.toolkit = open_toolkit(c.search_paths);
  return *c.toolkit;
}

int first_version(std::string_view call) {
#define NVRTC_FUNCTION(name, version, parameters) \
  if (call == #name) return version;
#define NVJITLINK_FUNCTION(name, version, parameters) \
  if (call == #name) return version;
#include "src/toolkit/functions.def"
#undef NVRTC_FUNCTION
#undef NVJITLINK_FUNCTION
  return 0;
}

[[noreturn]] void throw_missing(std::string_view call, const char* library, const ToolkitLibrary& found) {
  const int version = first_version(call);
  throw UnavailableError({.call = std::string(call),
                          .message = std::string(library) + " " + std::to_string(found.major) + "." +
                                     std::to_string(found.minor) + " at " + found.path.string() +
                                     " does not have this function",
                          .hint = "use a toolkit of version " + std::to_string(version / 1000) + "." +
                                  std::to_string(version % 1000 / 10) + " or newer"});
}

}  // namespace

const ToolkitInfo& info() { return toolkit().info; }

const NvrtcTable& nvrtc() {
  const Toolkit& found = toolkit();
  if (!found.info.nvrtc.available) {
    throw UnavailableError({.call = "nvrtcVersion",
                            .message = "NVRTC is not available: " + found.info.nvrtc.why_not,
                            .hint = "install the package nvidia-cuda-nvrtc, or set CUDA_HOME or CUCORE_NVRTC"});
  }
  return found.nvrtc;
}

const NvJitLinkTable& nvjitlink() {
  const Toolkit& found = toolkit();
  if (!found.info.nvjitlink.available) {
    throw UnavailableError({.call = "nvJitLinkVersion",
                            .message = "nvJitLink is not available: " + found.info.nvjitlink.why_not,
                            .hint = "install the package nvidia-nvjitlink, or set CUDA_HOME or CUCORE_NVJITLINK"});
  }
  return found.nvjitlink;
}

std::string_view name_of(NvrtcResult result) noexcept {
  static constexpr std::string_view kNames[] = {
      "NVRTC_SUCCESS",
      "NVRTC_ERROR_OUT_OF_MEMORY",
      "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
      "NVRTC_ERROR_INVALID_INPUT",
      "NVRTC_ERROR_INVALID_PROGRAM",
      "NVRTC_ERROR_INVALID_OPTION",
      "NVRTC_ERROR_COMPILATION",
      "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
      "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
      "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
      "NVRTC_ERROR_INTERNAL_ERROR",
      "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
      "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
      "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
      "NVRTC_ERROR_PCH_CREATE",
      "NVRTC_ERROR_CANCELLED",
      "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
  };
  const auto index = static_cast<std::size_t>(static_cast<int>(result));
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

std::string_view name_of(NvJitLinkResult result) noexcept {
  static constexpr std::string_view kNames[] = {
      "NVJITLINK_SUCCESS",
      "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
      "NVJITLINK_ERROR_MISSING_ARCH",
      "NVJITLINK_ERROR_INVALID_INPUT",
      "NVJITLINK_ERROR_PTX_COMPILE",
      "NVJITLINK_ERROR_NVVM_COMPILE",
      "NVJITLINK_ERROR_INTERNAL",
      "NVJITLINK_ERROR_THREADPOOL",
      "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
      "NVJITLINK_ERROR_FINALIZE",
      "NVJITLINK_ERROR_NULL_INPUT",
      "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
      "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
      "NVJITLINK_ERROR_ARCH_MISMATCH",
      "NVJITLINK_ERROR_OUTDATED_LIBRARY",
      "NVJITLINK_ERROR_MISSING_FATBIN",
      "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
      "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
      "NVJITLINK_ERROR_LTO_NOT_ENABLED",
  };
  const auto index = static_cast<std::size_t>(static_cast<int>(result));
  return index < std::size(kNames) ? kNames[index] : "unknown";
}

void check(NvrtcResult result, std::string_view call, std::string_view what, std::string log, std::string hint) {
  if (result == NvrtcResult::success) return;
  if (result == NvrtcResult::missing_function) throw_missing(call, "NVRTC", info().nvrtc);
  throw NvrtcError({.call = std::string(call),
                    .code = static_cast<int>(result),
                    .code_name = std::string(name_of(result)),
                    .message = std::string(what),
                    .log = std::move(log),
                    .hint = std::move(hint)});
}

void check(NvJitLinkResult result, std::string_view call, std::string_view what, std::string log, std::string hint) {
  if (result == NvJitLinkResult::success) return;
  if (result == NvJitLinkResult::missing_function) throw_missing(call, "nvJitLink", info().nvjitlink);
  throw NvJitLinkError({.call = std::string(call),
                        .code = static_cast<int>(result),
                        .code_name = std::string(name_of(result)),
                        .message = std::string(what),
                        .log = std::move(log),
                        .hint = std::move(hint)});
}

}  // namespace cucore::toolkit

namespace cucore {

ToolkitInfo toolkit_info() { return toolkit::info(); }

void set_toolkit_search_paths(std::vector<std::filesystem::path> folders) {
  toolkit::Choice& c = toolkit::choice();
  const std::lock_guard lock(c.mutex);
  if (c.toolkit != nullptr && folders != c.search_paths) {
    throw StateError({.call = "set_toolkit_search_paths",
                      .message = "the toolkit has been opened already",
                      .hint = "call it before the first compile and before toolkit_info()"});
  }
  c.search_paths = std::move(folders);
}

}  // namespace cucore
