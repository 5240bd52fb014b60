// Loads the toolkit shims (cpu/toolkit_shims): when this library was found through LD_LIBRARY_PATH, by a program
// that may well compile its own kernels. The next look-up of libnvrtc.so.13 by its name then gets the shim, which
// forwards to the real one found here. If the program has loaded NVIDIA's compilers already, the function pointers in
// its modules are redirected to the shims, and so are the symbols by which it looks them up later.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu/runtime/process/settings.hpp"

namespace {

namespace fs = std::filesystem;
using cucore::cpu::runtime::is_set_to, cucore::cpu::runtime::Setting, cucore::cpu::runtime::setting;

/// The folder of this library.
fs::path own_folder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&own_folder), &info) || !info.dli_fname) return {};
  std::error_code error;
  return fs::weakly_canonical(info.dli_fname, error).parent_path();
}

std::vector<fs::path> search_path() {
  std::vector<fs::path> folders;
  const std::string listed = setting(Setting::library_path).value_or("");
  std::string_view rest = listed;
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(":;");
    if (end != 0) folders.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return folders;
}

/// Where Python packages of this process come from: the toolkit's own packages are their neighbours.
std::vector<fs::path> package_folders() {
  constexpr std::string_view packages_folder = "/site-packages/";
  std::vector<fs::path> folders;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    const std::size_t end = line.find(packages_folder);
    if (path == std::string::npos || end == std::string::npos || end < path) continue;
    fs::path folder = line.substr(path, end - path + packages_folder.size() - 1);
    if (folders.empty() || folders.back() != folder) folders.push_back(std::move(folder));
  }
  return folders;
}

/// The real library: where a Python package, the variable CUDA_HOME or the loader's path has it. Empty if nowhere.
fs::path find_real(const std::string& name, const fs::path& shims) {
  std::vector<fs::path> folders;
  for (const fs::path& packages : package_folders()) folders.push_back(packages / "nvidia/cu13/lib");
  for (const Setting toolkit : {Setting::cuda_home, Setting::cuda_path})
    if (const auto home = setting(toolkit)) {
      folders.emplace_back(fs::path(*home) / "lib64");
      folders.emplace_back(fs::path(*home) / "lib");
    }
  for (fs::path& folder : search_path()) folders.push_back(std::move(folder));
  folders.emplace_back("/usr/local/cuda/lib64");
  std::error_code error;
  for (const fs::path& folder : folders)
    if (const fs::path file = folder / name; fs::exists(file, error) && !fs::equivalent(file, shims / name, error))
      return file;
  return {};
}

/// The functions for which a shim does more than forward the call.
constexpr std::array replaced_entries{"nvrtcGetCUBINSize",       "nvrtcGetCUBIN",
                                      "nvJitLinkCreate",         "nvJitLinkDestroy",
                                      "nvJitLinkAddData",        "nvJitLinkAddFile",
                                      "nvJitLinkComplete",       "nvJitLinkGetLinkedCubinSize",
                                      "nvJitLinkGetLinkedCubin", "nvJitLinkGetErrorLogSize",
                                      "nvJitLinkGetErrorLog"};

/// These, and the names that nvJitLink's header gives them in each minor version.
std::vector<std::string> replaced_names() {
  constexpr int most_minor_versions = 10;
  std::vector<std::string> names;
  for (const std::string_view name : replaced_entries) {
    names.emplace_back(name);
    if (!name.starts_with("nvJitLink")) continue;
    for (int minor = 0; minor < most_minor_versions; ++minor)
      names.push_back("__" + std::string(name) + "_13_" + std::to_string(minor));
  }
  return names;
}

struct Redirection {
  std::string real, shim;  ///< paths, whose own pointers stay as they are
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> functions;
};

std::string path_of(void* library) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map ? map->l_name : "";
}

/// Redirects pointers to a replaced function in a module's variables to the shim's. Any word with such a function's
/// address is taken for one. Memory that is read-only by now (bindings made at the start) stays unchanged.
int redirect_module(dl_phdr_info* module, std::size_t /*size*/, void* argument) {
  const auto& wanted = *static_cast<const Redirection*>(argument);
  if (wanted.real == module->dlpi_name || wanted.shim == module->dlpi_name) return 0;
  const std::span headers(module->dlpi_phdr, module->dlpi_phnum);
  std::uintptr_t fixed = 0;
  std::uintptr_t fixed_end = 0;
  for (const auto& header : headers)
    if (header.p_type == PT_GNU_RELRO) {
      fixed = module->dlpi_addr + header.p_vaddr;
      fixed_end = fixed + header.p_memsz;
    }
  for (const auto& header : headers) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    constexpr std::uintptr_t word_bytes = sizeof(std::uintptr_t);
    const std::uintptr_t begin = (module->dlpi_addr + header.p_vaddr + word_bytes - 1) / word_bytes * word_bytes;
    const std::uintptr_t end = module->dlpi_addr + header.p_vaddr + header.p_memsz;
    for (std::uintptr_t at = begin; at + word_bytes <= end; at += word_bytes) {
      if (at >= fixed && at < fixed_end) continue;
      const std::atomic_ref word(*reinterpret_cast<std::uintptr_t*>(at));
      const std::uintptr_t value = word.load(std::memory_order_relaxed);
      for (const auto& [from, to] : wanted.functions)
        if (value == from) word.store(to, std::memory_order_relaxed);
    }
  }
  return 0;
}

/// Redirects the library's symbol of this function, and every other symbol of the same address, to `to`: look-ups find
/// that from now on. The table of symbols is mapped to read only.
void redirect_symbol(void* library, const char* name, std::uintptr_t from, std::uintptr_t to) {
  Dl_info info{};
  ElfW(Sym)* symbol = nullptr;
  void* const function = dlsym(library, name);
  if (reinterpret_cast<std::uintptr_t>(function) != from ||
      dladdr1(function, &info, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0 || !symbol)
    return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(symbol) / page * page;
  const std::uintptr_t size = reinterpret_cast<std::uintptr_t>(symbol + 1) - begin;
  if (mprotect(reinterpret_cast<void*>(begin), size, PROT_READ | PROT_WRITE) != 0) return;
  symbol->st_value = to - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  mprotect(reinterpret_cast<void*>(begin), size, PROT_READ);
}

/// For a real library that the program has loaded; both stay until the process ends.
void redirect(void* real, void* shim) {
  auto* const keep = reinterpret_cast<void (*)(const char*, void*)>(dlsym(shim, "cucore_shim_keep"));
  if (!keep) return;
  Redirection wanted{path_of(real), path_of(shim), {}};
  const std::vector<std::string> names = replaced_names();
  for (const std::string& name : names) {
    void* const from = dlsym(real, name.c_str());
    void* const to = dlsym(shim, name.c_str());
    if (!from || !to) continue;
    keep(name.c_str(), from);
    wanted.functions.emplace_back(reinterpret_cast<std::uintptr_t>(from), reinterpret_cast<std::uintptr_t>(to));
    redirect_symbol(real, name.c_str(), wanted.functions.back().first, wanted.functions.back().second);
  }
  dl_iterate_phdr(redirect_module, &wanted);
}

void load(const std::string& name, const fs::path& shims) {
  void* const loaded = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  const std::string real = loaded ? path_of(loaded) : find_real(name, shims).string();
  std::error_code error;
  if (real.empty() || !fs::exists(shims / name, error) || fs::equivalent(real, shims / name, error)) return;
  void* const shim = dlopen((shims / name).c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!shim) return;
  if (void* const symbol = dlsym(shim, "cucore_shim_forward_to"))
    reinterpret_cast<void (*)(const char*)>(symbol)(real.c_str());
  if (loaded) redirect(loaded, shim);
}

__attribute__((constructor)) void load_shims() {
  try {
    if (is_set_to(Setting::toolkit_shims, "0")) return;
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
