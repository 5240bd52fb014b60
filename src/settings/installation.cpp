// Looks around the file of this module: see installation.hpp.
#include "src/settings/installation.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <system_error>

#include "src/settings/settings.hpp"

namespace cucore {
namespace {

namespace fs = std::filesystem;

// Debian's own Pythons name the folder so.
constexpr const char* package_folder_names[] = {"site-packages", "dist-packages"};

// PREFIX/lib/python3*/site-packages, of the newest Python first. What is looked for there works with any version.
void add_those_of_prefix(std::vector<fs::path>& folders, const fs::path& prefix) {
  std::error_code error;
  std::vector<fs::path> pythons;
  for (fs::directory_iterator entry(prefix / "lib", error), end; !error && entry != end; entry.increment(error))
    if (entry->path().filename().string().starts_with("python3")) pythons.push_back(entry->path());
  std::sort(pythons.begin(), pythons.end(), [](const fs::path& left, const fs::path& right) {
    const std::string a = left.filename().string(), b = right.filename().string();
    return a.size() != b.size() ? a.size() > b.size() : a > b;  // python3.9 is older than python3.10
  });
  for (const fs::path& python : pythons)
    for (const char* name : package_folder_names)
      if (fs::is_directory(python / name, error)) folders.push_back(python / name);
}

}  // namespace

fs::path module_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&module_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const fs::path path = fs::canonical(info.dli_fname, error);
  if (!error) return path.parent_path();
  // A program's name may be relative to a folder that is no longer the working directory.
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : program.parent_path();
}

std::vector<fs::path> python_package_folders() {
  std::vector<fs::path> folders;
  if (const fs::path folder = module_folder(); !folder.empty()) {
    const fs::path up = folder.parent_path();
    for (const char* name : package_folder_names)
      if (up.filename() == name) folders.push_back(up);
    if (folder.filename() == "bin") add_those_of_prefix(folders, up);
  }
  if (const std::string environment = setting(Setting::virtual_env); !environment.empty())
    add_those_of_prefix(folders, environment);
  return folders;
}

}  // namespace cucore
