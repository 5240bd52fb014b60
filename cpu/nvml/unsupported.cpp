// A weak definition of every call, for those that no entry implements. The arguments do not matter: in the C calling
// convention the caller cleans them up.
#include "cpu/nvml/session.hpp"

using cucore::cpu::nvml::is_initialised;

extern "C" {
#define ENTRY(name)                                                 \
  __attribute__((weak, visibility("default"))) nvmlReturn_t name(); \
  nvmlReturn_t name() { return is_initialised() ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_UNINITIALIZED; }
#include "cpu/nvml/entries.def"
#undef ENTRY
}
