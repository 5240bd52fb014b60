// Error: the sentence made of its parts.
#include "cucore/error.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

#include "cucore/result.hpp"

namespace cucore {
namespace {

// Kernel faults (addresses, instructions, the stack, an assertion, a trap), and a launch that ran too long.
bool is_sticky_code(int code) {
  constexpr int sticky[] = {700, 702, 710, 714, 715, 716, 717, 718, 719, 721};
  return std::find(std::begin(sticky), std::end(sticky), code) != std::end(sticky);
}

// Users of the Python package look for the words "compilation log" after a failed compile.
std::string_view log_title(const std::string& call, int code) {
  if (is_sticky_code(code)) return "fault:\n";
  if (call.starts_with("nvrtc") || call.starts_with("nvvm")) return "compilation log:\n";
  if (call.starts_with("nvJitLink") || call.starts_with("cuLink")) return "linker log:\n";
  return "JIT log:\n";
}

std::string sentence(const ErrorInfo& info) {
  std::string text;
  if (!info.code_name.empty()) text += info.code_name;
  if (!info.message.empty()) {
    if (!text.empty()) text += ": ";
    text += info.message;
  }
  if (!info.hint.empty()) {
    if (!text.empty()) text += "\nhint: ";
    text += info.hint;
  }
  if (!info.log.empty()) {
    text += '\n';
    text += log_title(info.call, info.code);
    text += info.log;
  }
  return text;
}

// A log handed over by a C API may end in the terminator or in line ends.
ErrorInfo trimmed(ErrorInfo info) {
  const auto end = info.log.find_last_not_of(std::string_view("\0\n\r ", 4));
  info.log.erase(end == std::string::npos ? 0 : end + 1);
  return info;
}

}  // namespace

Error::Error(ErrorInfo info) : Error(std::make_shared<const ErrorInfo>(trimmed(std::move(info)))) {}

bool DriverError::is_sticky() const noexcept { return is_sticky_code(code()); }

Error::Error(std::shared_ptr<const ErrorInfo> info) : std::runtime_error(sentence(*info)), info_(std::move(info)) {}

namespace detail {
namespace {

// Made while there is memory, when the library is loaded. Never destroyed: calls may be attempted at the process's end.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
const Error* const exhausted = new Error({.message = "there is no memory left on the host"});

}  // namespace

const Error& host_memory_exhausted() noexcept { return *exhausted; }

Error error_in_flight() noexcept {
  try {
    try {
      throw;
    } catch (const Error& error) {
      return error;
    } catch (const std::bad_alloc&) {
      return *exhausted;
    } catch (const std::exception& error) {
      return Error({.message = error.what()});
    } catch (...) {
      return Error({.message = "something that is not a std::exception was thrown"});
    }
  } catch (...) {
    return *exhausted;
  }
}

}  // namespace detail
}  // namespace cucore
