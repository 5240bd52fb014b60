// The library that a shim stands in front of: see real_library.hpp.
#include "cpu/toolkit_shims/real_library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace {

std::string& path() {
  static auto* text = new std::string;  // used until the process ends
  return *text;
}

/// The addresses of the real library's symbols before the driver redirected them here.
std::map<std::string, void*, std::less<>>& originals() {
  static auto* functions = new std::map<std::string, void*, std::less<>>;
  return *functions;
}

// NVRTC opens its built-ins by name alone, which finds them only where the linker looks; once they are loaded from
// beside it, the name is enough.
void load_builtins_beside(const std::filesystem::path& library) {
  std::error_code ignored;  // nothing to list: then NVRTC itself reports what it misses
  for (const auto& entry : std::filesystem::directory_iterator(library.parent_path(), ignored)) {
    if (entry.path().filename().string().starts_with("libnvrtc-builtins.so"))
      dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

void* open_library(const std::string& library) {
  if (library.find("libnvrtc") != std::string::npos) load_builtins_beside(library);
  return dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

#pragma GCC visibility push(default)
void cucore_shim_forward_to(const char* library) { path() = library; }
void cucore_shim_keep(const char* name, void* function) { originals()[name] = function; }
#pragma GCC visibility pop

namespace cucore::cpu::toolkit_shims {

void* real_symbol(const char* name) {
  if (const auto kept = originals().find(std::string_view(name)); kept != originals().end()) return kept->second;
  static void* const library = open_library(path());
  return library ? dlsym(library, name) : nullptr;
}

int bytes_of(void* object, GetSize* get_size, GetBytes* get, std::string* bytes) {
  bytes->clear();
  std::size_t size = 0;
  if (const int result = get_size(object, &size); result != 0 || size == 0) return result;
  bytes->resize(size);
  const int result = get(object, bytes->data());
  if (result != 0) bytes->clear();
  return result;
}

}  // namespace cucore::cpu::toolkit_shims
