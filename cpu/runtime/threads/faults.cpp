// Faults in generated code: see faults.hpp. The handler only changes the interrupted registers: the thread goes on in
// Fiber::finish_with_fault on the fiber's stack, which switches back to the block's scheduler.
#include "cpu/runtime/threads/faults.hpp"

#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <mutex>

#include "cpu/runtime/threads/fiber.hpp"
#include "cpu/runtime/threads/interrupted.hpp"
#include "cpu/runtime/threads/moving_pages.hpp"
#include "cpu/runtime/threads/threads.hpp"

namespace cucore::cpu::runtime {

namespace {

constexpr std::size_t signal_stack = 64 * 1024;
constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
struct sigaction earlier[NSIG];

constinit char mark_of_interrupts = 0;  // its address tells our signals from the program's
thread_local const InterruptibleCode* interruptible = nullptr;

void hand_on(int signal, siginfo_t* info, void* registers) {
  const struct sigaction& before = earlier[signal];
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction) {
    before.sa_sigaction(signal, info, registers);
  } else if (before.sa_handler == SIG_IGN) {
    return;
  } else if (before.sa_handler != SIG_DFL && before.sa_handler) {
    before.sa_handler(signal);
  } else {
    // The default action, at the same instruction.
    ::signal(signal, SIG_DFL);
  }
}

/// Makes the interrupted thread go on after the end of its fiber, which has failed.
void leave_fiber(Fiber* fiber, const Fault& fault, Interrupted& thread) {
  fiber->note_fault(fault);
  // The abandoned frames are not needed, so the landing starts at the top of the stack: right after an overflow too.
  const auto top = reinterpret_cast<std::uintptr_t>(fiber->stack().low + fiber->stack().size) & ~std::uintptr_t{15};
  thread.go_on_in(&Fiber::finish_with_fault, fiber, top - 64);
}

void on_interrupt(int signal, siginfo_t* info, void* registers) {
  if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &mark_of_interrupts) {
    const struct sigaction& before = earlier[signal];
    const bool has_taker = (before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL;
    if (has_taker) hand_on(signal, info, registers);
    return;
  }
  Fiber* const fiber = Fiber::current();
  const InterruptibleCode* const code = interruptible;
  if (!fiber || !code || !code->is_wanted->load(std::memory_order_relaxed)) return;
  Interrupted thread(registers);
  Fault fault;
  fault.signal = signal;
  fault.instruction = thread.instruction();
  if (fault.instruction >= code->begin && fault.instruction < code->end) leave_fiber(fiber, fault, thread);
}

void on_fault(int signal, siginfo_t* info, void* registers) {
  if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && was_moving(reinterpret_cast<std::uintptr_t>(info->si_addr)))
    return;  // to the same instruction
  Fiber* const fiber = Fiber::current();
  // Signals sent by kill() are not faults of generated code.
  if (!fiber || info->si_code <= 0) {
    hand_on(signal, info, registers);
    return;
  }
  Fault fault;
  fault.signal = signal;
  fault.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  fault.names_address = info->si_code != SI_KERNEL;  // which comes without one
  fault.is_stack_overflow = signal == SIGSEGV && fiber->stack().is_in_guard(fault.address);
  Interrupted thread(registers);
  fault.instruction = thread.instruction();
  fault.access = thread.access();
  leave_fiber(fiber, fault, thread);
}

void install_interrupt_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = on_interrupt;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(interrupt_signal, &action, &earlier[interrupt_signal]);
  });
}

}  // namespace

void install_fault_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action{};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (const int signal : signals) sigaction(signal, &action, &earlier[signal]);
  });
}

InterruptScope::InterruptScope(const InterruptibleCode& code) : code_(code), outer_(interruptible) {
  interruptible = &code_;
}

InterruptScope::~InterruptScope() { interruptible = outer_; }

namespace {

void change_mask(int how) {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, interrupt_signal);
  pthread_sigmask(how, &interrupts, nullptr);
}

}  // namespace

TakesInterrupts::TakesInterrupts() { change_mask(SIG_UNBLOCK); }

TakesInterrupts::~TakesInterrupts() { change_mask(SIG_BLOCK); }

void interrupt(pthread_t thread) {
  install_interrupt_handler();
  sigval mark{};
  mark.sival_ptr = &mark_of_interrupts;
  (void)pthread_sigqueue(thread, interrupt_signal, mark);  // if the queue is full, there is such a signal in it
}

FaultGuardedThread::FaultGuardedThread()
    : stack_(mmap(nullptr, signal_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (stack_ == MAP_FAILED) return;
  stack_t alternate{};
  alternate.ss_sp = stack_;
  alternate.ss_size = signal_stack;
  sigaltstack(&alternate, nullptr);
}

FaultGuardedThread::~FaultGuardedThread() {
  if (stack_ == MAP_FAILED) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(stack_, signal_stack);
}

bool can_run_device_code() {
  enum class Answer : std::uint8_t { Unknown, Yes, No };
  thread_local Answer answer = Answer::Unknown;
  if (answer != Answer::Unknown) return answer == Answer::Yes;
  sigset_t blocked;
  stack_t alternate{};
  const bool is_known = pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigaltstack(nullptr, &alternate) == 0;
  // A fault whose signal is blocked ends the process.
  const bool takes_faults = is_known && sigismember(&blocked, interrupt_signal) == 0 &&
                            std::none_of(std::begin(signals), std::end(signals),
                                         [&](int signal) { return sigismember(&blocked, signal) != 0; });
  if (takes_faults && (alternate.ss_flags & SS_DISABLE) != 0) of_this_thread<FaultGuardedThread>();
  answer = takes_faults ? Answer::Yes : Answer::No;
  return takes_faults;
}

DeviceFloatingPoint::DeviceFloatingPoint() : before_(float_control()) { set_float_control(default_float_control); }

DeviceFloatingPoint::~DeviceFloatingPoint() { set_float_control(before_); }

}  // namespace cucore::cpu::runtime
