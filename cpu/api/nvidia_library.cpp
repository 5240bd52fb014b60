// Tells users why libraries of machine code fail here: see nvidia_library.hpp.
#include "cpu/api/nvidia_library.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace cucore::cpu::api {

namespace {

/// Beginnings of the names of files that NVIDIA ships compiled kernels in.
constexpr std::string_view families[] = {"libcublas",   "libcudnn",    "libcufft", "libcurand", "libcusolver",
                                         "libcusparse", "libcutensor", "libnccl",  "libnpp",    "libnvjpeg"};

struct Place {
  std::string_view library;  ///< the file's name; empty if it is none of NVIDIA's
  std::string_view call;     ///< the exported function; empty if none is near
};

Place place_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::string_view name = info.dli_fname;
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  if (std::none_of(std::begin(families), std::end(families), [&](auto family) { return name.starts_with(family); }))
    return {};
  return {name, info.dli_sname == nullptr ? std::string_view() : std::string_view(info.dli_sname)};
}

/// The outermost call into NVIDIA's libraries on this thread's stack: what the program called.
std::string_view outermost_call() {
  void* frames[64];
  const int count = backtrace(frames, static_cast<int>(std::size(frames)));
  std::string_view call;
  for (int i = 0; i < count; ++i) {
    const Place place = place_of(frames[i]);
    if (!place.library.empty() && !place.call.empty()) call = place.call;
  }
  return call;
}

/// Whether it is the first time for this library.
bool is_first(std::string_view library) {
  static std::mutex mutex;
  static auto* const known = new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  return known->emplace(library).second;
}

}  // namespace

void report_nvidia_library(const void* caller) noexcept {
  try {
    const Place place = place_of(caller);
    if (place.library.empty() || !is_first(place.library)) return;
    const std::string_view call = outermost_call();
    const std::string text =
        "cucore CPU device: " + std::string(place.library) + (call.empty() ? "" : ", in " + std::string(call) + ",") +
        " asks for what only a GPU has: it holds machine code, which the CPU device cannot run, so "
        "expect its calls to fail or to change nothing. Use a library for processors or kernels of "
        "source or PTX in its place; docs/clients.md says what runs.\n";
    std::fputs(text.c_str(), stderr);
  } catch (...) {  // no memory to say it with
  }
}

}  // namespace cucore::cpu::api
