// Error log management chapter. Works before cuInit, whose failure may be what is asked about.
#include "cpu/runtime/process/logs.hpp"

#include <cstdio>
#include <cstring>
#include <limits>
#include <string>

#include "cpu/api/entry.hpp"

using namespace cucore::cpu::api;
namespace logs = cucore::cpu::runtime::logs;

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void* userData, CUlogsCallbackHandle* callback_out) {
  return guarded([&] {
    if (!callbackFunc) return CUDA_ERROR_INVALID_VALUE;
    const CUlogsCallbackHandle handle = logs::register_callback(callbackFunc, userData);
    if (callback_out) *callback_out = handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
  return guarded([&] { return logs::unregister_callback(callback) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}

CUresult cuLogsCurrent(CUlogIterator* iterator_out, unsigned int flags) {
  return guarded([&] {
    if (!iterator_out || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    *iterator_out = logs::current();
    return CUDA_SUCCESS;
  });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* pathToFile, unsigned int flags) {
  return guarded([&] {
    if (!pathToFile || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::FILE* const file = std::fopen(pathToFile, "a");  // dumps from one place to the next make one log
    if (!file) return CUDA_ERROR_INVALID_VALUE;
    std::string text;
    const bool taken = logs::take(iterator, std::numeric_limits<std::size_t>::max(), &text);
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool closed = std::fclose(file) == 0;
    if (!taken) return CUDA_ERROR_INVALID_VALUE;
    return written && closed ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned int flags) {
  return guarded([&] {
    if (!buffer || !size || *size == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::string text;
    const bool taken = logs::take(iterator, *size - 1, &text);
    std::memcpy(buffer, text.c_str(), text.size() + 1);
    *size = text.size();
    return taken ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
