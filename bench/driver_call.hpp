// Calls of a driver that was opened by its path, by name: for benchmark programs that are a process of their own.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

inline void* driver = nullptr;

/// What call() calls from then on. Exits if it cannot be opened.
inline void open_driver(const char* path) {
  driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (driver != nullptr) return;
  std::fprintf(stderr, "%s\n", dlerror());
  std::exit(1);
}

/// Exits if the driver has no such function, or it fails.
template <typename... Arguments>
void call(const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, name));
  const int result = function != nullptr ? function(arguments...) : -1;
  if (result == 0) return;
  std::fprintf(stderr, "%s: %d\n", name, result);
  std::exit(1);
}
