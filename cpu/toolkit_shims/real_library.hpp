// The library that a shim stands in front of: opened at the first call, from the path the driver gave.
#pragma once

namespace cucore::cpu::toolkit_shims {

/// Null if the library or the symbol is not there.
void* real_symbol(const char* name);

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(real_symbol(name));
}

}  // namespace cucore::cpu::toolkit_shims

extern "C" {
/// Where the real library is: called once by the driver, before anybody else can call.
void cucore_shim_forward_to(const char* path);
/// A function of the real library whose symbol will lead to the shim: called before it does.
void cucore_shim_keep(const char* name, void* function);
}
