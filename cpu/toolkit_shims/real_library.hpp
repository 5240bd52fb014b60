// The library that a shim stands in front of: opened at the first call, from the path the driver gave.
#pragma once

#include <cstddef>
#include <string>

namespace cucore::cpu::toolkit_shims {

/// Null if the library or the symbol is not there.
void* real_symbol(const char* name);

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(real_symbol(name));
}

/// NVRTC and nvJitLink hand out texts and images alike: a call says how large, another copies.
using GetSize = int(void* object, std::size_t* size);
using GetBytes = int(void* object, void* bytes);

/// What such a pair of calls hands out, and the result of the call that failed; `bytes` is empty then.
int bytes_of(void* object, GetSize* get_size, GetBytes* get, std::string* bytes);

}  // namespace cucore::cpu::toolkit_shims

/// Defines an entry that is the real library's; without it, it returns the shim's `internal_error`.
#define FORWARD(name, parameters, arguments)                                               \
  int name parameters {                                                                    \
    static auto* const function = cucore::cpu::toolkit_shims::real<int parameters>(#name); \
    return function ? function arguments : internal_error;                                 \
  }

extern "C" {
/// Where the real library is: called once by the driver, before any other call.
void cucore_shim_forward_to(const char* path);
/// A function of the real library whose symbol will lead to the shim: called before it does.
void cucore_shim_keep(const char* name, void* function);
}
