// The table of every driver function this library exports: written at build time by generate_entries.py, read by
// cuGetProcAddress and by the status report.
#pragma once

#include <cstddef>

namespace cucore::cpu::api {

/// Which default stream a variant means by a null stream: `_ptds` and `_ptsz` mean the calling thread's own.
enum class Variant { None, Ptds, Ptsz };

struct Entry {
  const char* base;    ///< name without version and variant, as cuGetProcAddress takes it
  const char* symbol;  ///< exported name
  int version;         ///< CUDA version that introduced it, 1000 * major + 10 * minor
  Variant variant;
  void* address;         ///< what the exported name resolves to
  void* implementation;  ///< the plain function behind a variant, else the same as `address`
  void* stub;            ///< what `implementation` is if the function is not implemented

  bool is_stub() const { return implementation == stub; }
};

extern const Entry entries[];  ///< sorted by base, then variant, then version ascending
extern const std::size_t entry_count;

}  // namespace cucore::cpu::api
