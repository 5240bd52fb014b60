// A count of the calls under way, and the exit function that waits until it is zero.
#include "src/toolkit/running_call.hpp"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "cucore/error.hpp"
#include "cucore/toolkit.hpp"
#include "src/toolkit/late_destructors.hpp"

namespace cucore::toolkit {
namespace {

// Trivially destroyed: threads end calls while the process exits.
std::atomic<unsigned long> running{0};
std::atomic<bool> exiting{false};
std::atomic<unsigned long> openings{0};
std::atomic<bool> openings_end{false};
std::atomic<bool> forking{false};
std::atomic<bool> driver_compiled{false};
thread_local bool exits_here = false;
thread_local unsigned long running_here = 0;

void end_call() noexcept {
  running.fetch_sub(1);
  if (exiting.load() || forking.load()) running.notify_all();
}

bool begin_call(bool may_begin_where_the_process_exits = false) noexcept {
  running.fetch_add(1);
  while (forking.load() && running_here == 0) {
    end_call();
    forking.wait(true);
    running.fetch_add(1);
  }
  if (exiting.load() && running_here == 0 && !(may_begin_where_the_process_exits && exits_here)) {
    end_call();
    return false;
  }
  ++running_here;
  return true;
}

// A call in this very thread (exit() or fork() in the middle of a call) cannot end while this thread waits for it.
void wait_for_other_threads() {
  for (unsigned long calls = running.load(); calls != running_here; calls = running.load()) running.wait(calls);
}

// Runs at exit, or when a shared library that cucore is linked into is closed.
void finish() {
  exits_here = true;
  exiting.store(true);
  wait_for_other_threads();
  release_late_destructors();
}

[[noreturn]] void refuse(const char* call) {
  throw StateError({.call = call,
                    .message = "the process is exiting; nothing can be compiled, linked or loaded any more",
                    .hint = "join the threads that compile or load before main() returns or exit() is called"});
}

void wait_for_openings() {
  for (unsigned long count = openings.load(); count != 0; count = openings.load()) openings.wait(count);
}

// The first function of exit, where there was a BeforeExit. What comes after it in this thread may still compile.
void end_openings() {
  exits_here = true;
  openings_end.store(true);
  wait_for_openings();
}

// A child has the locks of its parent but not the threads that hold them: what the toolkit's libraries destroy when it
// exits would wait for ever. So a fork waits until no call is under way, as it does for the C library's allocator.
std::mutex& fork_turn() {
  static std::mutex& turn = *new std::mutex;  // never destroyed: threads fork while the process exits
  return turn;
}

void before_fork() {
  fork_turn().lock();
  forking.store(true);
  wait_for_other_threads();
}

void after_fork() {
  forking.store(false);
  forking.notify_all();
  fork_turn().unlock();
}

void after_fork_in_child() {
  running.store(running_here);  // without the threads that were about to begin a call
  after_fork();
}

void end_opening() {
  openings.fetch_sub(1);
  openings.notify_all();
}

// Exit destroys the thread-local objects of its thread before it runs any function. This one was made first, so it is
// the last of them, and what it registers is the first function to run. A main thread that ends by pthread_exit loses
// nothing.
struct BeforeExit {
  BeforeExit() = default;
  BeforeExit(const BeforeExit&) = delete;
  BeforeExit& operator=(const BeforeExit&) = delete;
  ~BeforeExit() {
    wait_for_openings();
    std::atexit(&end_openings);
  }
};

// Not in a shared library that may be closed: it could not be unloaded while a thread has such an object.
bool make_before_exit() noexcept {
  const auto in_executable = [](dl_phdr_info* info, std::size_t, void*) {
    Dl_info here{};
    const bool known = dladdr(reinterpret_cast<void*>(&finish), &here) != 0;
    const auto* const base = static_cast<const char*>(here.dli_fbase);
    for (int i = 0; known && i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = info->dlpi_phdr[i];
      const auto* const start = reinterpret_cast<const char*>(info->dlpi_addr + part.p_vaddr);
      if (part.p_type == PT_LOAD && base == start - part.p_offset) return 1;
    }
    return -1;  // the executable is the first of all, and only it is asked for
  };
  if (dl_iterate_phdr(in_executable, nullptr) != 1) return false;
  static thread_local const BeforeExit before_exit;
  return true;
}
const bool made_before_exit = make_before_exit();

}  // namespace

RunningCall::RunningCall(const char* call) : counted_(begin_call()) {
  if (!counted_) refuse(call);
}

RunningCall::RunningCall(const char* call, bool may_begin_where_the_process_exits)
    : counted_(begin_call(may_begin_where_the_process_exits)) {
  if (!counted_) refuse(call);
}

RunningCall::RunningCall() noexcept : counted_(begin_call()) {}

RunningCall::~RunningCall() {
  if (!counted_) return;
  --running_here;
  end_call();
}

void require_no_exit(const char* call) {
  if (exiting.load()) refuse(call);
}

int cancels(void*, void*) { return exiting.load() ? 1 : 0; }

Opening::Opening(const char* call) : call_(call) {
  static const int registered = pthread_atfork(&before_fork, &after_fork, &after_fork_in_child);
  static_cast<void>(registered);
  openings.fetch_add(1);
  if (openings_end.load() && !exits_here) {
    end_opening();
    refuse(call);
  }
  std::atexit(&finish);
}

Opening::~Opening() {
  std::atexit(&finish);
  end_opening();
}

RunningLoad::RunningLoad(const char* call, bool is_ptx) : call_(call, true) {
  if (is_ptx && !driver_compiled.load()) opening_.emplace(call);
}

RunningLoad::~RunningLoad() {
  if (opening_) driver_compiled.store(true);
}

}  // namespace cucore::toolkit

namespace cucore {

void finish_compiling() noexcept { toolkit::finish(); }

}  // namespace cucore
