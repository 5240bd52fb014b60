// Says in words that a library of NVIDIA's cannot work here: cuBLAS, cuFFT and their like hold machine code for GPUs,
// and answer their callers with codes (NOT_INITIALIZED, INTERNAL_ERROR) that lead astray.
#pragma once

namespace cucore::cpu::api {

/// For an entry that refuses what such a library needs; `caller` is the entry's return address. If it lies in one of
/// NVIDIA's libraries, a message on standard error, once for each library, names the library and its call, and says
/// what to do. Nothing happens for other callers. Thread-safe; never fails.
void report_nvidia_library(const void* caller) noexcept;

}  // namespace cucore::cpu::api
