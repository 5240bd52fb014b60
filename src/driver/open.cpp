// Where drivers are looked for.
#include "src/driver/open.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "cucore/error.hpp"
#include "src/settings/installation.hpp"
#include "src/settings/settings.hpp"

namespace cucore::driver {
namespace {

namespace fs = std::filesystem;

constexpr const char* library_name = "libcuda.so.1";

std::string last_loader_error() {
  const char* text = dlerror();  // per thread
  return text == nullptr ? "unknown error of the dynamic linker" : text;
}

// The file that the library opened as `name` came from, by a function in it.
std::string path_of(void* handle, const std::string& name) {
  Dl_info info{};
  void* const entry = dlsym(handle, "cuInit");
  if (entry != nullptr && dladdr(entry, &info) != 0 && info.dli_fname != nullptr) return info.dli_fname;
  return name;
}

OpenLibrary open_library(const std::string& name, int mode = 0) {
  OpenLibrary library;
  library.path = name;
  library.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | mode);
  if (library.handle == nullptr) {
    library.refusal = last_loader_error();
    return library;
  }
  library.path = path_of(library.handle, name);
  if (dlsym(library.handle, "cucore_cpu_device_version") != nullptr) library.kind = DriverKind::cpu;
  return library;
}

// The CPU device that this process has loaded already, from whatever file and by whatever library. A second copy would
// know nothing of the first one's objects, so all share this one; who asks for libcuda.so.1 by that name later gets
// cucore's in the same way, by its soname. cpu/api/initialization.cpp looks for other copies of itself in the same way:
// library and driver share no code.
OpenLibrary loaded_cpu_device() {
  std::vector<std::string> files;
  const auto add_driver = [](dl_phdr_info* module, std::size_t, void* list) {
    const std::string_view file = module->dlpi_name;
    if (file.substr(file.rfind('/') + 1).starts_with("libcuda.so"))
      static_cast<std::vector<std::string>*>(list)->emplace_back(file);
    return 0;
  };
  dl_iterate_phdr(add_driver, &files);
  for (const std::string& file : files)
    if (OpenLibrary library = open_library(file, RTLD_NOLOAD); library.kind == DriverKind::cpu) return library;
  return {};
}

}  // namespace

DeviceChoice device_choice() {
  const std::string choice = setting(Setting::device);
  if (choice.empty() || choice == "auto") return DeviceChoice::automatic;
  if (choice == "gpu") return DeviceChoice::gpu;
  if (choice == "cpu") return DeviceChoice::cpu;
  throw ValueError({.call = "driver_info",
                    .message = "the environment variable CUCORE_DEVICE is '" + choice + "'",
                    .hint = "set it to auto, gpu or cpu"});
}

OpenLibrary open_system_driver() { return open_library(library_name); }

std::vector<std::string> cpu_device_places() {
  std::vector<std::string> places;
  const auto add_under = [&](const fs::path& folder) { places.push_back(folder / "cucore" / "driver" / library_name); };
  // The package cucore-cpu-device; python/cucore/_driver_files.py says why it knows that place, too.
  for (const fs::path& packages : python_package_folders())
    places.push_back(packages / "cucore_cpu_device" / library_name);
  if (const fs::path folder = module_folder(); !folder.empty()) {
    add_under(folder);
    add_under(folder / ".." / "lib");
#ifdef CUCORE_LIBRARY_ARCHITECTURE
    add_under(folder / ".." / "lib" / CUCORE_LIBRARY_ARCHITECTURE);
#endif
    add_under(folder / "lib");
  }
#ifdef CUCORE_CPU_DEVICE_BUILD_DIR
  places.push_back(fs::path(CUCORE_CPU_DEVICE_BUILD_DIR) / library_name);
#endif
#ifdef CUCORE_INSTALL_LIBRARY_DIR
  add_under(CUCORE_INSTALL_LIBRARY_DIR);
#endif
  return places;
}

OpenLibrary open_cpu_device() {
  OpenLibrary loaded = loaded_cpu_device();
  if (const std::string file = setting(Setting::cpu_driver); !file.empty()) {
    std::error_code error;
    if (loaded.handle != nullptr && !fs::equivalent(file, loaded.path, error)) {
      loaded.handle = nullptr;
      loaded.refusal = "CUCORE_CPU_DRIVER names " + file + ", and this process has loaded the CPU device from " +
                       loaded.path + " already; two of them would not know each other's objects";
      return loaded;
    }
    OpenLibrary library = open_library(file);
    if (library.handle != nullptr && library.kind != DriverKind::cpu) {
      library.handle = nullptr;
      library.refusal = "the file that CUCORE_CPU_DRIVER names is not the CPU device";
    }
    return library;
  }
  if (loaded.handle != nullptr) return loaded;
  OpenLibrary none;
  for (const std::string& place : cpu_device_places()) {
    std::error_code error;
    if (fs::exists(place, error)) return open_library(place);
    none.refusal += none.refusal.empty() ? "not found at " : ", ";
    none.refusal += place;
  }
  none.path = "the CPU device";
  none.refusal += " (pip install cucore-cpu-device)";
  return none;
}

}  // namespace cucore::driver

namespace cucore {

std::string cpu_driver_path() {
  const std::string named = setting(Setting::cpu_driver);
  if (const driver::OpenLibrary loaded = driver::loaded_cpu_device(); named.empty() && loaded.handle != nullptr)
    return std::filesystem::canonical(loaded.path).string();
  const auto places = named.empty() ? driver::cpu_device_places() : std::vector<std::string>{named};
  std::string searched;
  for (const std::string& place : places) {
    std::error_code error;
    if (std::filesystem::exists(place, error)) return std::filesystem::canonical(place, error).string();
    searched += (searched.empty() ? "" : ", ") + place;
  }
  throw UnavailableError({.call = "cpu_driver_path",
                          .message = "the CPU device is not installed; searched: " + searched,
                          .hint =
                              "pip install cucore-cpu-device, or set CUCORE_CPU_DRIVER to the file of a libcuda.so.1 "
                              "built from cucore's sources with CUCORE_BUILD_CPU_DEVICE"});
}

}  // namespace cucore
