// Result codes in words: names, what they mean, and what to do about the frequent ones.
#include <array>
#include <string>

#include "src/driver/table.hpp"

namespace cucore::driver {
namespace {

struct Result {
  CUresult code;
  const char* name;
  const char* explanation;
};

constexpr Result results[] = {
#define RESULT(name, number, explanation) {number, #name, explanation},
#include "src/driver/results.def"
};

const Result* find(CUresult code) {
  for (const Result& result : results) {
    if (result.code == code) return &result;
  }
  return nullptr;
}

// For an error whose log says what happened.
constexpr const char* hint_with_fault =
    "a kernel launched earlier caused this; the log below says where (with the source line if it was compiled with "
    "lineinfo). The context is unusable until the process ends";

// Advice that holds wherever the code comes up. Call sites that know more pass their own.
std::string_view usual_hint(CUresult code) {
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "close buffers that are no longer needed and synchronize their streams, so that their memory is returned; "
             "or "
             "allocate less";
    case CUDA_ERROR_NO_DEVICE:
      return "set CUCORE_DEVICE=cpu to run on the CPU device; check CUDA_VISIBLE_DEVICES";
    case CUDA_ERROR_INVALID_CONTEXT:
      return "call set_current() of the device in this thread first";
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return "the context was reset or destroyed; objects created in it can no longer be used";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
      return "compile for this device's architecture (Device::arch), or keep the PTX in the code so that it can be "
             "compiled at load time";
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return "use an older NVRTC, compile to a cubin for this device, or update the driver";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
      return "a kernel launched earlier caused this; compute-sanitizer shows where. The context is unusable until the "
             "process ends";
    case CUDA_ERROR_NOT_SUPPORTED:
      return "driver_info() tells which driver is in use; missing_driver_functions() what it lacks";
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      return "a graph is being captured; do this before the capture begins or after it ends, or capture in relaxed "
             "mode";
    default:
      return {};
  }
}

}  // namespace

std::string result_name(CUresult code) {
  if (const Result* result = find(code)) return result->name;
  if (const Table* table = table_for_release()) {
    const char* name = nullptr;
    if (table->cuGetErrorName(code, &name) == CUDA_SUCCESS && name != nullptr) return name;
  }
  return "UNEXPECTED ERROR CODE " + std::to_string(code);
}

std::string result_explanation(CUresult code) {
  if (const Result* result = find(code)) return result->explanation;
  if (const Table* table = table_for_release()) {
    const char* text = nullptr;
    if (table->cuGetErrorString(code, &text) == CUDA_SUCCESS && text != nullptr) return text;
  }
  return {};
}

namespace {

ErrorInfo info_for(CUresult code, const char* call, std::string_view on, std::string_view hint, std::string log) {
  ErrorInfo info;
  info.call = call;
  info.code = code;
  info.code_name = result_name(code);
  info.message = result_explanation(code);
  if (!info.message.empty()) info.message += ' ';
  info.message += "(" + info.call + " on ";
  info.message += on;
  info.message += ", code " + std::to_string(code) + ")";
  info.hint = hint.empty() ? usual_hint(code) : hint;
  info.log = std::move(log);
  return info;
}

}  // namespace

DriverError error_for(CUresult code, const char* call, std::string_view on, std::string_view hint, std::string log) {
  return DriverError(info_for(code, call, on, hint, std::move(log)));
}

void fail(CUresult code, const char* call, std::string_view on, std::string_view hint, std::string log) {
  ErrorInfo info = info_for(code, call, on, hint, std::move(log));
  switch (code) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      throw OutOfMemoryError(std::move(info));
    case CUDA_ERROR_NOT_READY:
      throw NotReadyError(std::move(info));
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      throw InvalidContextError(std::move(info));
    default:
      break;
  }
  DriverError error(std::move(info));
  if (!error.is_sticky()) throw error;
  const std::string fault = error.log().empty() ? last_fault() : error.log();
  throw StickyError({.call = error.call(),
                     .code = error.code(),
                     .code_name = error.code_name(),
                     .message = error.message(),
                     .log = fault,
                     .hint = fault.empty() || !hint.empty() ? error.hint() : hint_with_fault});
}

}  // namespace cucore::driver
