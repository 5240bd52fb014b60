// The library that a companion stands in front of: see real_library.hpp.
#include "cpu/companions/real_library.hpp"

#include <dlfcn.h>

#include <string>

namespace {

std::string& path() {
  static auto* text = new std::string;  // used until the process ends
  return *text;
}

}  // namespace

#pragma GCC visibility push(default)
void cucore_companion_forward_to(const char* library) { path() = library; }
#pragma GCC visibility pop

namespace cucore::cpu::companions {

void* real_symbol(const char* name) {
  static void* const library = dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL);
  return library ? dlsym(library, name) : nullptr;
}

}  // namespace cucore::cpu::companions
