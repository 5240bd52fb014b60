// Loads the compiler companions (cpu/companions): when this library was found through LD_LIBRARY_PATH, by a program
// that may well compile its own kernels, and that has not loaded NVIDIA's compilers yet. The next one that asks for
// libnvrtc.so.13 by its name then gets the companion, which forwards to the real one found here.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The folder of this library.
fs::path own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return {};
  std::error_code error;
  return fs::weakly_canonical(info.dli_fname, error).parent_path();
}

std::vector<fs::path> search_path() {
  std::vector<fs::path> folders;
  const char* const variable = std::getenv("LD_LIBRARY_PATH");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(":;");
    if (end != 0) folders.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return folders;
}

/// Where Python packages of this process come from: the toolkit's own packages are their neighbours.
std::vector<fs::path> package_folders() {
  constexpr std::string_view kPackages = "/site-packages/";
  std::vector<fs::path> folders;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    const std::size_t end = line.find(kPackages);
    if (path == std::string::npos || end == std::string::npos || end < path) continue;
    fs::path folder = line.substr(path, end - path + kPackages.size() - 1);
    if (folders.empty() || folders.back() != folder) folders.push_back(std::move(folder));
  }
  return folders;
}

/// The real library: where a Python package, the variable CUDA_HOME or the loader's path has it. Empty if nowhere.
fs::path find_real(const std::string& name, const fs::path& companions) {
  std::vector<fs::path> folders;
  for (const fs::path& packages : package_folders()) folders.push_back(packages / "nvidia/cu13/lib");
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(variable)) {
      folders.emplace_back(fs::path(home) / "lib64");
      folders.emplace_back(fs::path(home) / "lib");
    }
  for (fs::path& folder : search_path()) folders.push_back(std::move(folder));
  folders.emplace_back("/usr/local/cuda/lib64");
  std::error_code error;
  for (const fs::path& folder : folders)
    if (const fs::path file = folder / name; fs::exists(file, error) && !fs::equivalent(file, companions / name, error))
      return file;
  return {};
}

void load(const std::string& name, const fs::path& companions) {
  if (void* const loaded = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    dlclose(loaded);  // too late: what the program has of it stays as it is
    return;
  }
  const fs::path real = find_real(name, companions);
  std::error_code error;
  if (real.empty() || !fs::exists(companions / name, error)) return;
  void* const companion = dlopen((companions / name).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!companion) return;
  if (void* const symbol = dlsym(companion, "cucore_companion_forward_to"))
    reinterpret_cast<void (*)(const char*)>(symbol)(real.c_str());
}

__attribute__((constructor)) void load_companions() {
  try {
    const char* const wanted = std::getenv("CUCORE_CPU_COMPANIONS");
    if (wanted && !std::strcmp(wanted, "0")) return;
    const fs::path folder = own_folder();
    bool is_on_path = false;
    std::error_code error;
    for (const fs::path& each : search_path()) is_on_path = is_on_path || fs::weakly_canonical(each, error) == folder;
    if (!is_on_path) return;
    load("libnvrtc.so.13", folder / "companions");
    load("libnvJitLink.so.13", folder / "companions");
  } catch (...) {
    // Without them the driver works as well; the program's cubins are then machine code alone.
  }
}

}  // namespace
