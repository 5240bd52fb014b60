// Ctrl-C (SIGINT) for the watchdog: a handler in front of the program's own, to which each signal is passed on. It is
// installed only while the watchdog wants it, that is, while a thread of the program has waited for a grid for some
// time, and never where the program has no handler: the default action and SIG_IGN stay as they are.
#pragma once

#include <cstdint>

namespace cucore::cpu::runtime {

/// What a handler of the program's does with the signal.
enum class CtrlCTaker : std::uint8_t {
  None,         ///< there is no handler
  Interpreter,  ///< Python's, which only notes it until the call that waits returns
  Program       ///< any other: it may have its own ways of ending the wait
};

/// Puts our handler in front of the program's, unless it is there already; returns whose that is. One thread at a time.
CtrlCTaker listen_for_ctrl_c();
/// Removes it again, unless another has been put in front of it. By the same thread.
void stop_listening_for_ctrl_c();
/// How often it has come while our handler was installed.
std::uint64_t ctrl_c_count();

/// Whether a Python interpreter in the process is finalizing.
bool interpreter_is_leaving();

}  // namespace cucore::cpu::runtime
