// Threads of ours that compile what nobody waits for, as many as there are cores, each started when all others are
// busy.
#pragma once

#include <memory>

namespace cucore::cpu::runtime {

class LaterForm;

/// Has it made by one of them, soon, unless nobody else keeps it until then. What is being compiled when the process
/// ends is lost; nothing waits for it. False: no thread could be started.
bool compile_later(std::shared_ptr<LaterForm> form);

}  // namespace cucore::cpu::runtime
