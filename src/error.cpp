// Error: the sentence made of its parts.
#include "cucore/error.hpp"

#include <utility>

namespace cucore {
namespace {

// Users of the Python package look for the words "compilation log" after a failed compile.
std::string_view log_title(const std::string& call) {
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
    text += log_title(info.call);
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

Error::Error(std::shared_ptr<const ErrorInfo> info) : std::runtime_error(sentence(*info)), info_(std::move(info)) {}

}  // namespace cucore
