// Timer.
#include "cucore/timer.hpp"

#include "cucore/device.hpp"
#include "cucore/error.hpp"

namespace cucore {
namespace {

[[noreturn]] void refuse_running(const char* call) {
  throw StateError({.call = std::string("Timer::") + call,
                    .message = "the timer has not been stopped, so there is no time to read",
                    .hint = "call stop() after the work that is to be timed"});
}

}  // namespace

Timer::Timer(const Stream& stream) : stream_(stream.share()) {
  // Of the stream's own context: an event can be recorded only there.
  const Context context = stream.context();
  const auto pool = context.is_primary() ? context.device().event_pool() : EventPool::create(context, 0);
  start_ = pool->get({.timing_enabled = true});
  end_ = pool->get({.timing_enabled = true});
  start_->record(stream_);
}

void Timer::stop() { stop(stream_); }

void Timer::stop(const Stream& stream) {
  if (milliseconds_.has_value()) {
    throw StateError({.call = "Timer::stop",
                      .message = "the timer's time has been read; it cannot be stopped again",
                      .hint = "make a new Timer"});
  }
  end_->record(stream);
  stopped_ = true;
}

bool Timer::is_done() const {
  if (!stopped_) refuse_running("is_done");
  return milliseconds_.has_value() || end_->is_done();
}

float Timer::milliseconds() {
  if (!stopped_) refuse_running("milliseconds");
  if (!milliseconds_.has_value()) {
    end_->sync();
    milliseconds_ = end_->elapsed_time(*start_);
    start_.give_back();
    end_.give_back();
  }
  return *milliseconds_;
}

}  // namespace cucore
