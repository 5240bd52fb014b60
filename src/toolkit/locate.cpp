// The search rules of cucore/toolkit.hpp, and what can be learned from a library's file without running it.
#include "src/toolkit/locate.hpp"

#include <elf.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/formats/sha256.hpp"
#include "src/settings/installation.hpp"

namespace cucore::toolkit {
namespace {

namespace fs = std::filesystem;

// The folders of a toolkit's targets that are this machine's: servers of Arm's, and boards.
#if defined(__aarch64__)
constexpr std::array toolkit_targets{"sbsa-linux", "aarch64-linux"};
#else
constexpr std::array toolkit_targets{"x86_64-linux"};
#endif

void add_root(std::vector<Place>& list, const std::string& rule, const fs::path& root) {
  list.push_back({.rule = rule, .folder = root / "lib64"});
  list.push_back({.rule = rule, .folder = root / "lib"});
}

// NVIDIA's among a Python environment's packages: those of CUDA 13 share a folder, of CUDA 12 each has its own. What
// else belongs to a library is found beside it.
void add_packages(std::vector<Place>& list, const std::string& rule, const fs::path& packages) {
  for (const char* component : {"cu13", "cuda_nvrtc", "nvjitlink"})
    list.push_back({.rule = rule, .folder = packages / "nvidia" / component / "lib"});
}

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& value) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

// The GNU build id note through the program headers, as hex; empty if there is none.
std::string gnu_build_id(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(file, header.e_phoff + i * sizeof segment, segment)) return {};
    if (segment.p_type != PT_NOTE) continue;
    const std::uint64_t end = segment.p_offset + segment.p_filesz;
    for (std::uint64_t at = segment.p_offset; at + sizeof(Elf64_Nhdr) <= end;) {
      Elf64_Nhdr note;
      if (!read_at(file, at, note) || note.n_namesz > 64 || note.n_descsz > 64) break;
      const std::uint64_t description = at + sizeof note + ((note.n_namesz + 3U) & ~3U);
      if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz != 0) {
        std::vector<std::uint8_t> id(note.n_descsz);
        for (std::size_t byte = 0; byte < id.size(); ++byte)
          if (!read_at(file, description + byte, id[byte])) return {};
        return detail::to_hex(id);
      }
      at = description + ((note.n_descsz + 3U) & ~3U);
    }
  }
  return {};
}

// The headers' version as 1000 * major + 10 * minor; 0 if they do not say.
int toolkit_version(const std::vector<fs::path>& headers) {
  constexpr std::string_view macro = "#define CUDART_VERSION";
  for (const fs::path& folder : headers) {
    std::ifstream file(folder / "cuda_runtime_api.h");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(macro)) return std::atoi(line.c_str() + macro.size());
    }
  }
  return 0;
}

}  // namespace

std::vector<Place> places(Setting library, const std::vector<fs::path>& search_paths) {
  std::vector<Place> list;
  if (const std::string file = setting(library); !file.empty()) {
    list.push_back({.rule = variable_of(library), .file = file});
  }
  if (const std::string root = setting(Setting::cuda_home); !root.empty()) add_root(list, "CUDA_HOME", root);
  for (const fs::path& path : search_paths) {
    if (std::error_code error; fs::is_directory(path / "nvidia", error)) {
      add_packages(list, "search path", path);
      continue;
    }
    list.push_back({.rule = "search path", .folder = path});
    add_root(list, "search path", path);
  }
  if (const std::string root = setting(Setting::toolkit_dir); !root.empty()) {
    list.push_back({.rule = "CUCORE_TOOLKIT_DIR", .folder = root});
    add_root(list, "CUCORE_TOOLKIT_DIR", root);
  }
#ifdef CUCORE_BUILT_IN_TOOLKIT_DIR
  add_root(list, "toolkit of the build", CUCORE_BUILT_IN_TOOLKIT_DIR);
#endif
  for (const fs::path& packages : python_package_folders()) add_packages(list, "Python packages", packages);
  list.push_back({.rule = "dynamic loader"});
  return list;
}

std::vector<fs::path> headers_beside(const fs::path& library_folder) {
  // A toolkit or the CUDA 13 wheels: lib and include are neighbours. The CUDA 12 wheels: one folder per component.
  // Conda: the headers of a target lie apart.
  const fs::path up = library_folder.parent_path();
  std::vector<fs::path> candidates = {up / "include", up / "include" / "cccl",
                                      up.parent_path() / "cuda_runtime" / "include",
                                      up.parent_path() / "cuda_cccl" / "include"};
  for (const char* const target : toolkit_targets) {
    const fs::path conda = up / "targets" / target / "include";
    candidates.insert(candidates.end(), {conda, conda / "cccl"});
  }
  // /usr/include is the host's; NVRTC must not see it.
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const fs::path& folder : candidates) {
    const bool toolkit = fs::exists(folder / "cuda_fp16.h", ignored) || fs::exists(folder / "cuda" / "std", ignored);
    if (toolkit && !fs::exists(folder / "stdio.h", ignored)) found.push_back(folder);
  }
  return found;
}

std::vector<fs::path> find_headers(const fs::path& library_folder, const std::vector<Place>& places, int major,
                                   int minor) {
  std::vector<fs::path> found = headers_beside(library_folder);
  if (!found.empty()) return found;
  std::vector<fs::path> folders;
  for (const Place& place : places) {
    if (!place.folder.empty()) folders.push_back(place.folder);
  }
  const std::string version = std::to_string(major) + "." + std::to_string(minor);
  for (const fs::path root : {"/usr/local/cuda-" + version, "/usr/local/cuda-" + std::to_string(major),
                              std::string("/usr/local/cuda"), std::string("/opt/cuda")}) {
    folders.push_back(root / "lib64");
  }
  for (const fs::path& folder : folders) {
    std::vector<fs::path> headers = headers_beside(folder);
    const int of_headers = toolkit_version(headers);
    if (of_headers == 1000 * major + 10 * minor) return headers;
    if (found.empty() && of_headers / 1000 == major) found = std::move(headers);
  }
  return found;
}

std::vector<fs::path> nvvm_folders(const fs::path& folder) {
  const fs::path up = folder.parent_path();
  return {folder, up / "nvvm" / "lib64", up / "nvvm" / "lib", up.parent_path() / "cuda_nvcc" / "nvvm" / "lib64",
          up.parent_path().parent_path() / "nvvm" / "lib64"};  // of targets/x86_64-linux/lib
}

fs::path libdevice_of(const fs::path& nvvm_library) {
  const fs::path up = nvvm_library.parent_path().parent_path();
  std::error_code ignored;
  for (const fs::path& folder : {up / "libdevice", up / "nvvm" / "libdevice", up / "cuda_nvcc" / "nvvm" / "libdevice",
                                 fs::path("/usr/lib/nvidia-cuda-toolkit/libdevice")}) {
    if (fs::path file = folder / "libdevice.10.bc"; fs::exists(file, ignored)) return file;
  }
  return {};
}

std::string build_identity(const fs::path& library) {
  if (std::string id = gnu_build_id(library); !id.empty()) return "build-id:" + id;
  std::error_code error;
  const auto size = fs::file_size(library, error);
  const auto time = fs::last_write_time(library, error);
  if (error) return "unknown";
  return "file:" + std::to_string(size) + ":" + std::to_string(time.time_since_epoch().count());
}

}  // namespace cucore::toolkit
