// Starts this driver's own threads: detached (they run until the process ends) and deaf to the program's signals.
#pragma once

namespace cucore::cpu::runtime {

void start_thread(void (*body)());

}  // namespace cucore::cpu::runtime
