// Driver entry point access chapter: cuGetProcAddress over the generated table.
#include <algorithm>
#include <cstring>
#include <string_view>

#include "cpu/api/entry.hpp"
#include "cpu/api/entry_table.hpp"
#include "cpu/runtime/process/device_identity.hpp"

using namespace cucore::cpu::api;

namespace {

struct Found {
  const Entry* best = nullptr;  ///< newest not newer than asked for; a per-thread variant if asked for
  bool exists = false;          ///< in some version
};

Found find(std::string_view name, int version, bool per_thread) {
  Found found;
  for (std::size_t i = 0; i < entry_count; ++i) {
    const Entry& entry = entries[i];
    // The base name with a version, or one exact exported name.
    const bool exact = name == entry.symbol && name != entry.base;
    if (!exact && name != entry.base) continue;
    found.exists = true;
    if (entry.version > version && !exact) continue;
    if (!exact && entry.variant != Variant::None && !per_thread) continue;
    const auto rank = [](const Entry& e) { return std::pair(e.variant != Variant::None, e.version); };
    if (!found.best || rank(*found.best) < rank(entry)) found.best = &entry;
  }
  return found;
}

CUresult look_up(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t known_bits = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !*symbol || !pfn || (flags & ~known_bits) != 0 || flags == known_bits ||
      cudaVersion > cucore::cpu::runtime::cuda_version)
    return CUDA_ERROR_INVALID_VALUE;
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const Found found = find(symbol, cudaVersion, per_thread);
  *pfn = found.best ? found.best->address : nullptr;
  if (status) {
    *status = found.best     ? CU_GET_PROC_ADDRESS_SUCCESS
              : found.exists ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                             : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return CUDA_SUCCESS;
}

}  // namespace

// Both answer before cuInit too.
CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
  const CUresult result = look_up(symbol, pfn, cudaVersion, flags, nullptr);
  return result == CUDA_SUCCESS && !*pfn ? CUDA_ERROR_NOT_FOUND : result;
}

#undef cuGetProcAddress_v2
CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus) {
  return look_up(symbol, pfn, cudaVersion, flags, symbolStatus);
}
