// The threads that drain streams: as many as there are streams with work, kept for reuse; and the watch, one thread
// that looks after streams whose brief work was put off.
#pragma once

#include <memory>

namespace cucore::cpu::runtime {

class Stream;

/// Hands `stream` to an idle thread (or a new one), which calls its drain(). Throws
/// std::system_error if there is neither.
void drain_on_a_thread(std::shared_ptr<Stream> stream);

/// From now on has the watch call the stream's look_after() now and then, until that says false.
void watch_over(std::shared_ptr<Stream> stream);

}  // namespace cucore::cpu::runtime
