// Ctrl-C (SIGINT) as the watchdog hears of it: a handler in front of the program's own, to which each signal is passed
// on. It is there only while the watchdog wants it, which is while a thread of the program has waited for a grid for
// some time, and it leaves alone who has no handler: the default action and SIG_IGN do what they always do.
#pragma once

#include <cstdint>

namespace cucore::cpu::runtime {

/// What a handler of the program's does with the signal.
enum class CtrlCTaker : std::uint8_t {
  None,         ///< there is no handler
  Interpreter,  ///< Python's, which only notes it until the call that waits returns
  Program       ///< any other: it may have its own ways of ending the wait
};

/// Puts our handler in front of the program's, unless it is there; says whose that is. By one thread at a time.
CtrlCTaker listen_for_ctrl_c();
/// Takes it away again, if nobody has put another in front of it. By the same thread.
void stop_listening_for_ctrl_c();
/// How often it has come while we listened.
std::uint64_t ctrl_c_count();

/// Whether there is a Python interpreter in the process that is on its way out.
bool interpreter_is_leaving();

}  // namespace cucore::cpu::runtime
