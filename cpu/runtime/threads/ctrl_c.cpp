// Ctrl-C for the watchdog: see ctrl_c.hpp.
#include "cpu/runtime/threads/ctrl_c.hpp"

#include <dlfcn.h>
#include <signal.h>

#include <atomic>

namespace cucore::cpu::runtime {

namespace {

std::atomic<std::uint64_t> count{0};
/// The program's handler: never freed, since ours may run at any time, and be called by one that came later.
std::atomic<const struct sigaction*> programs{nullptr};

/// Async-signal-safe.
void on_ctrl_c(int signal, siginfo_t* info, void* registers) {
  count.fetch_add(1, std::memory_order_relaxed);
  const struct sigaction* const action = programs.load(std::memory_order_acquire);
  if ((action->sa_flags & SA_SIGINFO) != 0)
    action->sa_sigaction(signal, info, registers);
  else
    action->sa_handler(signal);
}

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_ctrl_c;
}

void* address_of(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ? reinterpret_cast<void*>(action.sa_sigaction)
                                             : reinterpret_cast<void*>(action.sa_handler);
}

/// Whether it lies in the same file as Python's interpreter.
bool is_pythons(const struct sigaction& action) {
  const void* const interpreter = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
  Dl_info of_interpreter{}, of_handler{};
  return interpreter && dladdr(interpreter, &of_interpreter) != 0 && dladdr(address_of(action), &of_handler) != 0 &&
         of_interpreter.dli_fbase == of_handler.dli_fbase;
}

CtrlCTaker taker_of(const struct sigaction& action) {
  return is_pythons(action) ? CtrlCTaker::Interpreter : CtrlCTaker::Program;
}

void remember(const struct sigaction& action) {
  const struct sigaction* const known = programs.load(std::memory_order_relaxed);
  if (known && address_of(*known) == address_of(action) && known->sa_flags == action.sa_flags) return;
  programs.store(new struct sigaction(action), std::memory_order_release);
}

}  // namespace

CtrlCTaker listen_for_ctrl_c() {
  struct sigaction current{};
  if (sigaction(SIGINT, nullptr, &current) != 0) return CtrlCTaker::None;
  if (is_ours(current)) return taker_of(*programs.load(std::memory_order_relaxed));
  const bool has_siginfo = (current.sa_flags & SA_SIGINFO) != 0;
  if (!has_siginfo && (current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN)) return CtrlCTaker::None;
  if ((current.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) return CtrlCTaker::None;  // it is to be called once
  remember(current);
  struct sigaction ours = current;  // with the same mask and flags: calls are interrupted or restarted as before
  ours.sa_sigaction = on_ctrl_c;
  ours.sa_flags |= SA_SIGINFO;
  return sigaction(SIGINT, &ours, nullptr) == 0 ? taker_of(current) : CtrlCTaker::None;
}

void stop_listening_for_ctrl_c() {
  struct sigaction current{};
  if (sigaction(SIGINT, nullptr, &current) != 0 || !is_ours(current)) return;
  sigaction(SIGINT, programs.load(std::memory_order_relaxed), nullptr);
}

std::uint64_t ctrl_c_count() { return count.load(std::memory_order_relaxed); }

bool interpreter_is_leaving() {
  using Question = int (*)();
  for (const char* const name : {"Py_IsFinalizing", "_Py_IsFinalizing"})  // since 3.13, and before
    if (const auto ask = reinterpret_cast<Question>(dlsym(RTLD_DEFAULT, name))) return ask() != 0;
  return false;
}

}  // namespace cucore::cpu::runtime
