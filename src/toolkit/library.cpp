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

struct Nvrtc {
  ToolkitLibrary library;
  std::vector<fs::path> include_paths;
  NvrtcTable table;
};

struct NvJitLink {
  ToolkitLibrary library;
  NvJitLinkTable table;
};

const Nvrtc* open_nvrtc(const std::vector<fs::path>& search_paths) {
  auto* nvrtc = new Nvrtc;
  Opened opened = open_first(places("CUCORE_NVRTC", search_paths), "libnvrtc", "nvrtcVersion", 0);
#define NVRTC_FUNCTION(name, version, parameters) resolve(opened.handle, #name, nvrtc->table.name, &missing_##name);
#include "src/toolkit/functions.def"
#undef NVRTC_FUNCTION
  ToolkitLibrary& library = nvrtc->library = std::move(opened.library);
  if (opened.handle == nullptr) return nvrtc;
  library.available = nvrtc->table.nvrtcVersion(&library.major, &library.minor) == NvrtcResult::success;
  if (!library.available) library.why_not = library.path.string() + ": nvrtcVersion failed";
  library.build = build_identity(library.path);
  if (library.available) load_builtins_beside(library);
  nvrtc->include_paths = headers_beside(library.path.parent_path());
  return nvrtc;
}

const NvJitLink* open_nvjitlink(const std::vector<fs::path>& search_paths, const ToolkitLibrary& nvrtc) {
  auto* link = new NvJitLink;
  std::vector<Place> candidates = places("CUCORE_NVJITLINK", search_paths);
  if (!nvrtc.path.empty()) {
    const auto first = candidates.begin() + (candidates.front().file.empty() ? 0 : 1);
    candidates.insert(first, {.rule = "beside NVRTC", .folder = nvrtc.path.parent_path()});
  }
  Opened opened = open_first(candidates, "libnvJitLink", "nvJitLinkCreate", nvrtc.major);
#define NVJITLINK_FUNCTION(name, version, parameters) resolve(opened.handle, #name, link->table.name, &missing_##name);
#include "src/toolkit/functions.def"
#undef NVJITLINK_FUNCTION
  ToolkitLibrary& library = link->library = std::move(opened.library);
  if (opened.handle == nullptr) return link;
  // 12.0 to 12.2 have no function that tells their version, and their other names carry a version suffix.
  unsigned major = 0;
  unsigned minor = 0;
  library.available = link->table.nvJitLinkVersion(&major, &minor) == NvJitLinkResult::success;
  library.major = static_cast<int>(major);
  library.minor = static_cast<int>(minor);
  if (!library.available) library.why_not = library.path.string() + ": older than 12.3";
  library.build = build_identity(library.path);
  return link;
}

// Never destroyed: code in other static objects may compile until the very end. Each library is opened when it is first
// needed; both are large.
struct Choice {
  std::mutex mutex;
  std::vector<fs::path> search_paths;
  const Nvrtc* nvrtc = nullptr;
  const NvJitLink* nvjitlink = nullptr;
};

Choice& choice() {
  static auto* the_choice = new Choice;
  return *the_choice;
}

const Nvrtc& opened_nvrtc() {
  Choice& c = choice();
  const std::lock_guard lock(c.mutex);
  if (c.nvrtc == nullptr) c.nvrtc = open_nvrtc(c.search_paths);
  return *c.nvrtc;
}

const NvJitLink& opened_nvjitlink() {
  const ToolkitLibrary& nvrtc = opened_nvrtc().library;
  Choice& c = choice();
  const std::lock_guard lock(c.mutex);
  if (c.nvjitlink == nullptr) c.nvjitlink = open_nvjitlink(c.search_paths, nvrtc);
  return *c.nvjitlink;
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

const ToolkitLibrary& nvrtc_library() { return opened_nvrtc().library; }
const ToolkitLibrary& nvjitlink_library() { return opened_nvjitlink().library; }
const std::vector<fs::path>& include_paths() { return opened_nvrtc().include_paths; }

const NvrtcTable& nvrtc() {
  const Nvrtc& found = opened_nvrtc();
  if (!found.library.available) {
    throw UnavailableError({.call = "nvrtcVersion",
                            .message = "NVRTC is not available: " + found.library.why_not,
                            .hint = "install the package nvidia-cuda-nvrtc, or set CUDA_HOME or CUCORE_NVRTC"});
  }
  return found.table;
}

const NvJitLinkTable& nvjitlink() {
  const NvJitLink& found = opened_nvjitlink();
  if (!found.library.available) {
    throw UnavailableError({.call = "nvJitLinkVersion",
                            .message = "nvJitLink is not available: " + found.library.why_not,
                            .hint = "install the package nvidia-nvjitlink, or set CUDA_HOME or CUCORE_NVJITLINK"});
  }
  return found.table;
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
  if (result == NvrtcResult::missing_function) throw_missing(call, "NVRTC", nvrtc_library());
  throw NvrtcError({.call = std::string(call),
                    .code = static_cast<int>(result),
                    .code_name = std::string(name_of(result)),
                    .message = std::string(what),
                    .log = std::move(log),
                    .hint = std::move(hint)});
}

void check(NvJitLinkResult result, std::string_view call, std::string_view what, std::string log, std::string hint) {
  if (result == NvJitLinkResult::success) return;
  if (result == NvJitLinkResult::missing_function) throw_missing(call, "nvJitLink", nvjitlink_library());
  throw NvJitLinkError({.call = std::string(call),
                        .code = static_cast<int>(result),
                        .code_name = std::string(name_of(result)),
                        .message = std::string(what),
                        .log = std::move(log),
                        .hint = std::move(hint)});
}

}  // namespace cucore::toolkit

namespace cucore {

ToolkitInfo toolkit_info() {
  return {.nvrtc = toolkit::nvrtc_library(),
          .nvjitlink = toolkit::nvjitlink_library(),
          .include_paths = toolkit::include_paths()};
}

void set_toolkit_search_paths(std::vector<std::filesystem::path> folders) {
  toolkit::Choice& c = toolkit::choice();
  const std::lock_guard lock(c.mutex);
  if (c.nvrtc != nullptr && folders != c.search_paths) {
    throw StateError({.call = "set_toolkit_search_paths",
                      .message = "the toolkit has been opened already",
                      .hint = "call it before the first compile and before toolkit_info()"});
  }
  c.search_paths = std::move(folders);
}

}  // namespace cucore
