// The process-wide release failure handler and its counter.
#include "src/handles/release_report.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

#include "src/driver/table.hpp"

namespace cucore {
namespace {

struct Handler {
  ReleaseFailureHandler function = nullptr;
  void* user = nullptr;
};

// Never destroyed: static objects of the program may be released after this file's statics are gone.
struct Registry {
  std::mutex mutex;
  Handler handler;
};
Registry& registry() noexcept {
  static Registry* const instance = new Registry;
  return *instance;
}

std::atomic<unsigned long> failures{0};

}  // namespace

ReleaseFailureHandler set_release_failure_handler(ReleaseFailureHandler handler, void* user) noexcept {
  const std::scoped_lock lock(registry().mutex);
  const ReleaseFailureHandler before = registry().handler.function;
  registry().handler = {handler, user};
  return before;
}

unsigned long release_failures() noexcept { return failures.load(std::memory_order_relaxed); }

namespace detail {

void report_release_failure(const Error& error) noexcept {
  failures.fetch_add(1, std::memory_order_relaxed);
  Handler handler;
  {
    const std::scoped_lock lock(registry().mutex);
    handler = registry().handler;
  }
  // Called without the lock: the handler may release objects itself.
  if (handler.function != nullptr) handler.function(error, handler.user);
}

void report_release_failure(driver::CUresult code, const char* call, const void* handle) noexcept {
  report_release_failure(code, call, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle)));
}

void report_release_failure(driver::CUresult code, const char* call, std::uint64_t handle) noexcept {
  try {
    char on[48];
    std::snprintf(on, sizeof on, "handle 0x%llx", static_cast<unsigned long long>(handle));
    report_release_failure(driver::error_for(code, call, on));
  } catch (...) {
    failures.fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace detail
}  // namespace cucore
