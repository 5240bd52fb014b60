// Looks for NVRTC: see toolkit_places.hpp.
#include "cpu/toolkit_shims/toolkit_places.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/runtime/process/settings.hpp"

namespace fs = std::filesystem;
using cucore::cpu::runtime::Setting, cucore::cpu::runtime::setting;

namespace cucore::cpu::toolkit_shims {

namespace {

constexpr std::string_view packages_folder = "/site-packages/";

/// ".../site-packages/anything" → ".../site-packages/nvidia/cu13/lib"; empty if the path leads through no packages.
fs::path library_folder_of(std::string_view path) {
  const std::size_t at = path.find(packages_folder);
  if (at == std::string_view::npos) return {};
  return fs::path(path.substr(0, at + packages_folder.size())) / "nvidia/cu13/lib";
}

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  for (const Setting toolkit : {Setting::cuda_home, Setting::cuda_path})
    if (const auto home = setting(toolkit); home && !home->empty())
      for (const char* const name : {"lib64", "lib"}) folders.push_back(fs::path(*home) / name);
  const std::string listed = setting(Setting::library_path).value_or("");
  for (std::string_view rest = listed; !rest.empty();) {
    const std::size_t end = rest.find_first_of(":;");
    if (end != 0) folders.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  std::error_code error;
  const fs::path installation = fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
  folders.push_back(library_folder_of(fs::canonical(installation / "libcuda.so.1", error).string()));
  std::ifstream maps("/proc/" + std::to_string(getppid()) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    if (fs::path folder = library_folder_of(std::string_view(line).substr(path));
        !folder.empty() && folder != folders.back())
      folders.push_back(std::move(folder));
  }
  folders.emplace_back("/usr/local/cuda/lib64");
  return folders;
}

}  // namespace

fs::path find_nvrtc() {
  std::error_code error;
  for (const fs::path& folder : library_folders()) {
    if (folder.empty()) continue;
    if (fs::path file = folder / "libnvrtc.so.13"; fs::exists(file, error)) return file;
  }
  return {};
}

fs::path headers_beside(const fs::path& library) {
  std::error_code error;
  const fs::path folder = fs::canonical(library, error).parent_path();
  // lib or lib64, or targets/x86_64-linux/lib
  for (const fs::path& headers : {folder.parent_path() / "include", library.parent_path().parent_path() / "include"})
    if (fs::exists(headers / "cuda_runtime.h", error)) return headers;
  return {};
}

}  // namespace cucore::cpu::toolkit_shims
