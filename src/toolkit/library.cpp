// Opening NVRTC, nvJitLink and libNVVM: try the places in order, fill the tables, remember what was found or why not.
#include "src/toolkit/library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "cucore/error.hpp"
#include "src/toolkit/late_destructors.hpp"
#include "src/toolkit/locate.hpp"
#include "src/toolkit/running_call.hpp"

namespace cucore::toolkit {
namespace {

namespace fs = std::filesystem;

// A library: the names its file may have, newest first, and where below or beside a place's folder it lies.
struct Wanted {
  std::string stem;
  std::vector<std::string> names;
  const char* a_function;
  std::vector<fs::path> (*folders)(const fs::path& place) = [](const fs::path& place) { return std::vector{place}; };
};

// With a major version given only that one: libraries of different majors do not fit together.
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

std::vector<fs::path> files_of(const Place& place, const Wanted& wanted) {
  if (!place.file.empty()) return {place.file};
  std::vector<fs::path> files;
  const std::vector<fs::path> folders = place.folder.empty() ? std::vector{fs::path()} : wanted.folders(place.folder);
  for (const fs::path& folder : folders) {
    for (const std::string& name : wanted.names) files.push_back(folder / name);
  }
  return files;
}

Opened not_found(Opened opened, const Wanted& wanted, const std::string& tried) {
  opened.library.why_not = "no usable " + wanted.stem + "; tried:" + tried;
  return opened;
}

// A file that the user named and that is not there or cannot be loaded ends the search: another library is not what was
// asked for.
Opened open_first(const std::vector<Place>& candidates, const Wanted& wanted) {
  Opened opened;
  std::string tried;
  std::error_code ignored;
  for (const Place& place : candidates) {
    for (const fs::path& file : files_of(place, wanted)) {
      const bool loader_search = place.folder.empty() && place.file.empty();
      if (!loader_search && !fs::exists(file, ignored)) {
        tried += "\n  " + file.string() + " (" + place.rule + "): no such file";
        if (place.file.empty()) continue;
        opened.library.is_broken = true;
        return not_found(std::move(opened), wanted, tried);
      }
      void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      void* symbol = handle != nullptr ? ::dlsym(handle, wanted.a_function) : nullptr;
      if (symbol == nullptr) {
        const char* reason = ::dlerror();
        opened.library.is_broken = opened.library.is_broken || (handle == nullptr && !loader_search);
        tried += "\n  " + file.string() + " (" + place.rule + "): " + (reason != nullptr ? reason : "unknown reason");
        if (handle != nullptr) ::dlclose(handle);
        if (opened.library.is_broken && !place.file.empty()) return not_found(std::move(opened), wanted, tried);
        continue;
      }
      keep_late_destructors(handle);
      Dl_info where{};
      opened.handle = handle;
      opened.library.is_broken = false;
      opened.library.path = ::dladdr(symbol, &where) != 0 ? fs::path(where.dli_fname) : file;
      opened.library.found_by = place.rule;
      return opened;
    }
  }
  return not_found(std::move(opened), wanted, tried);
}

#define NVRTC_FUNCTION(name, version, parameters) \
  NvrtcResult missing_##name parameters { return NvrtcResult::missing_function; }
#define NVJITLINK_FUNCTION(name, version, parameters) \
  NvJitLinkResult missing_##name parameters { return NvJitLinkResult::missing_function; }
#define NVVM_FUNCTION(name, version, parameters) \
  NvvmResult missing_##name parameters { return NvvmResult::missing_function; }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "src/toolkit/functions.def"
#pragma GCC diagnostic pop
#undef NVRTC_FUNCTION
#undef NVJITLINK_FUNCTION
#undef NVVM_FUNCTION

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

struct Nvvm {
  ToolkitLibrary library;
  fs::path libdevice;
  NvvmTable table;
};

const Nvrtc* open_nvrtc(const std::vector<fs::path>& search_paths) {
  auto* nvrtc = new Nvrtc;
  const std::vector<Place> candidates = places(Setting::nvrtc, search_paths);
  Opened opened =
      open_first(candidates, {.stem = "libnvrtc", .names = sonames("libnvrtc", 0), .a_function = "nvrtcVersion"});
#define NVRTC_FUNCTION(name, version, parameters) resolve(opened.handle, #name, nvrtc->table.name, &missing_##name);
#include "src/toolkit/functions.def"
#undef NVRTC_FUNCTION
  ToolkitLibrary& library = nvrtc->library = std::move(opened.library);
  if (opened.handle == nullptr) return nvrtc;
  library.available = nvrtc->table.nvrtcVersion(&library.major, &library.minor) == NvrtcResult::success;
  if (!library.available) library.why_not = library.path.string() + ": nvrtcVersion failed";
  library.build = build_identity(library.path);
  if (library.available) load_builtins_beside(library);
  nvrtc->include_paths = find_headers(library.path.parent_path(), candidates, library.major, library.minor);
  return nvrtc;
}

// The places for a library that should come from where NVRTC came from.
std::vector<Place> places_beside(const ToolkitLibrary& nvrtc, Setting library,
                                 const std::vector<fs::path>& search_paths) {
  std::vector<Place> candidates = places(library, search_paths);
  if (!nvrtc.path.empty()) {
    const auto first = candidates.begin() + (candidates.front().file.empty() ? 0 : 1);
    candidates.insert(first, {.rule = "beside NVRTC", .folder = nvrtc.path.parent_path()});
  }
  return candidates;
}

const NvJitLink* open_nvjitlink(const std::vector<fs::path>& search_paths, const ToolkitLibrary& nvrtc) {
  auto* link = new NvJitLink;
  Opened opened = open_first(
      places_beside(nvrtc, Setting::nvjitlink, search_paths),
      {.stem = "libnvJitLink", .names = sonames("libnvJitLink", nvrtc.major), .a_function = "nvJitLinkCreate"});
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

// CUDA 12 and 13 have the same libnvvm.so.4, with the same version number: the place is what pairs it with NVRTC. The
// wheel of CUDA 12 has it without the number.
const Nvvm* open_nvvm(const std::vector<fs::path>& search_paths, const ToolkitLibrary& nvrtc) {
  auto* found = new Nvvm;
  Opened opened =
      open_first(places_beside(nvrtc, Setting::nvvm, search_paths), {.stem = "libnvvm",
                                                                     .names = {"libnvvm.so.4", "libnvvm.so"},
                                                                     .a_function = "nvvmVersion",
                                                                     .folders = nvvm_folders});
#define NVVM_FUNCTION(name, version, parameters) resolve(opened.handle, #name, found->table.name, &missing_##name);
#include "src/toolkit/functions.def"
#undef NVVM_FUNCTION
  ToolkitLibrary& library = found->library = std::move(opened.library);
  if (opened.handle == nullptr) return found;
  library.available = found->table.nvvmVersion(&library.major, &library.minor) == NvvmResult::success;
  if (!library.available) library.why_not = library.path.string() + ": nvvmVersion failed";
  library.build = build_identity(library.path);
  found->libdevice = libdevice_of(library.path);
  return found;
}

// Never destroyed: code in other static objects may compile until the very end. Each library is opened when it is first
// needed; both are large.
struct Choice {
  std::mutex mutex;
  std::vector<fs::path> search_paths;
  const Nvrtc* nvrtc = nullptr;
  const NvJitLink* nvjitlink = nullptr;
  const Nvvm* nvvm = nullptr;
};

Choice& choice() {
  static auto* the_choice = new Choice;
  return *the_choice;
}

const Nvrtc& opened_nvrtc() {
  Choice& c = choice();
  const std::lock_guard lock(c.mutex);
  if (c.nvrtc == nullptr) {
    const Opening opening;
    c.nvrtc = open_nvrtc(c.search_paths);
  }
  return *c.nvrtc;
}

const NvJitLink& opened_nvjitlink() {
  const ToolkitLibrary& nvrtc = opened_nvrtc().library;
  Choice& c = choice();
  const std::lock_guard lock(c.mutex);
  if (c.nvjitlink == nullptr) {
    const Opening opening;
    c.nvjitlink = open_nvjitlink(c.search_paths, nvrtc);
  }
  return *c.nvjitlink;
}

const Nvvm& opened_nvvm() {
  const ToolkitLibrary& nvrtc = opened_nvrtc().library;
  Choice& c = choice();
  const std::lock_guard lock(c.mutex);
  if (c.nvvm == nullptr) {
    const Opening opening;
    c.nvvm = open_nvvm(c.search_paths, nvrtc);
  }
  return *c.nvvm;
}

}  // namespace

const ToolkitLibrary& nvrtc_library() { return opened_nvrtc().library; }
const ToolkitLibrary& nvjitlink_library() { return opened_nvjitlink().library; }
const ToolkitLibrary& nvvm_library() { return opened_nvvm().library; }
const fs::path& libdevice() { return opened_nvvm().libdevice; }
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

const NvvmTable& nvvm() {
  const Nvvm& found = opened_nvvm();
  if (!found.library.available) {
    throw UnavailableError({.call = "nvvmVersion",
                            .message = "libnvvm is not available: " + found.library.why_not,
                            .hint = "install the package nvidia-nvvm, or set CUDA_HOME or CUCORE_NVVM"});
  }
  return found.table;
}

}  // namespace cucore::toolkit

namespace cucore {

ToolkitInfo toolkit_info() {
  return {.nvrtc = toolkit::nvrtc_library(),
          .nvjitlink = toolkit::nvjitlink_library(),
          .nvvm = toolkit::nvvm_library(),
          .libdevice = toolkit::libdevice(),
          .include_paths = toolkit::include_paths()};
}

ToolkitLibrary nvrtc_info() { return toolkit::nvrtc_library(); }

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
