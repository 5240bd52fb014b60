// Results of the toolkit's calls: their names, and the errors they become.
#include <string>

#include "cucore/error.hpp"
#include "src/toolkit/library.hpp"

namespace cucore::toolkit {
namespace {

int first_version(std::string_view call) {
#define NVRTC_FUNCTION(name, version, parameters) \
  if (call == #name) return version;
#define NVJITLINK_FUNCTION(name, version, parameters) \
  if (call == #name) return version;
#define NVVM_FUNCTION(name, version, parameters) \
  if (call == #name) return version;
#include "src/toolkit/functions.def"
#undef NVRTC_FUNCTION
#undef NVJITLINK_FUNCTION
#undef NVVM_FUNCTION
  return 0;
}

[[noreturn]] void throw_missing(std::string_view call, const char* library, const ToolkitLibrary& found) {
  const int version = first_version(call);
  throw UnavailableError({.call = std::string(call),
                          .message = std::string(library) + " " + std::to_string(found.major) + "." +
                                     std::to_string(found.minor) + " at " + found.path.string() +
                                     " does not have this function",
                          .hint = "use a toolkit of version " + std::to_string(version / 1000) + "." +
                                  std::to_string(version % 1000 / 10) + " or newer"});
}

}  // namespace

std::string_view name_of(NvrtcResult result) noexcept {
  static constexpr std::string_view known_names[] = {
      "NVRTC_SUCCESS",
      "NVRTC_ERROR_OUT_OF_MEMORY",
      "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
      "NVRTC_ERROR_INVALID_INPUT",
      "NVRTC_ERROR_INVALID_PROGRAM",
      "NVRTC_ERROR_INVALID_OPTION",
      "NVRTC_ERROR_COMPILATION",
      "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
      "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
      "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
      "NVRTC_ERROR_INTERNAL_ERROR",
      "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
      "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
      "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
      "NVRTC_ERROR_PCH_CREATE",
      "NVRTC_ERROR_CANCELLED",
      "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
  };
  const auto index = static_cast<std::size_t>(static_cast<int>(result));
  return index < std::size(known_names) ? known_names[index] : "unknown";
}

std::string_view name_of(NvJitLinkResult result) noexcept {
  static constexpr std::string_view known_names[] = {
      "NVJITLINK_SUCCESS",
      "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
      "NVJITLINK_ERROR_MISSING_ARCH",
      "NVJITLINK_ERROR_INVALID_INPUT",
      "NVJITLINK_ERROR_PTX_COMPILE",
      "NVJITLINK_ERROR_NVVM_COMPILE",
      "NVJITLINK_ERROR_INTERNAL",
      "NVJITLINK_ERROR_THREADPOOL",
      "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
      "NVJITLINK_ERROR_FINALIZE",
      "NVJITLINK_ERROR_NULL_INPUT",
      "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
      "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
      "NVJITLINK_ERROR_ARCH_MISMATCH",
      "NVJITLINK_ERROR_OUTDATED_LIBRARY",
      "NVJITLINK_ERROR_MISSING_FATBIN",
      "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
      "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
      "NVJITLINK_ERROR_LTO_NOT_ENABLED",
  };
  const auto index = static_cast<std::size_t>(static_cast<int>(result));
  return index < std::size(known_names) ? known_names[index] : "unknown";
}

std::string_view name_of(NvvmResult result) noexcept {
  static constexpr std::string_view known_names[] = {
      "NVVM_SUCCESS",
      "NVVM_ERROR_OUT_OF_MEMORY",
      "NVVM_ERROR_PROGRAM_CREATION_FAILURE",
      "NVVM_ERROR_IR_VERSION_MISMATCH",
      "NVVM_ERROR_INVALID_INPUT",
      "NVVM_ERROR_INVALID_PROGRAM",
      "NVVM_ERROR_INVALID_IR",
      "NVVM_ERROR_INVALID_OPTION",
      "NVVM_ERROR_NO_MODULE_IN_PROGRAM",
      "NVVM_ERROR_COMPILATION",
      "NVVM_ERROR_CANCELLED",
  };
  const auto index = static_cast<std::size_t>(static_cast<int>(result));
  return index < std::size(known_names) ? known_names[index] : "unknown";
}

void check(NvrtcResult result, std::string_view call, std::string_view what, std::string log, std::string hint) {
  if (result == NvrtcResult::success) return;
  if (result == NvrtcResult::missing_function) throw_missing(call, "NVRTC", nvrtc_library());
  throw NvrtcError({.call = std::string(call),
                    .code = static_cast<int>(result),
                    .code_name = std::string(name_of(result)),
                    .message = std::string(what),
                    .log = std::move(log),
                    .hint = std::move(hint)});
}

void check(NvJitLinkResult result, std::string_view call, std::string_view what, std::string log, std::string hint) {
  if (result == NvJitLinkResult::success) return;
  if (result == NvJitLinkResult::missing_function) throw_missing(call, "nvJitLink", nvjitlink_library());
  throw NvJitLinkError({.call = std::string(call),
                        .code = static_cast<int>(result),
                        .code_name = std::string(name_of(result)),
                        .message = std::string(what),
                        .log = std::move(log),
                        .hint = std::move(hint)});
}

void check(NvvmResult result, std::string_view call, std::string_view what, std::string log, std::string hint) {
  if (result == NvvmResult::success) return;
  if (result == NvvmResult::missing_function) throw_missing(call, "libNVVM", nvvm_library());
  throw NvvmError({.call = std::string(call),
                   .code = static_cast<int>(result),
                   .code_name = std::string(name_of(result)),
                   .message = std::string(what),
                   .log = std::move(log),
                   .hint = std::move(hint)});
}

}  // namespace cucore::toolkit
