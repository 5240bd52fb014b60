// Events. Each record makes a RecordPoint; waits and queries look at the latest one when they are called.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace cucore::cpu::runtime {

class Context;
class Stream;

/// One recording: where in which stream, and when it was reached.
struct RecordPoint {
  std::shared_ptr<Stream> stream;
  std::uint64_t number = 0;
  std::atomic<std::int64_t> reached{0};  ///< nanoseconds of the steady clock; 0: not yet

  bool is_done() const { return reached.load(std::memory_order_acquire) != 0; }
};

class Event {
 public:
  static CUresult create(Context& context, unsigned int flags, CUevent* handle);
  Event(Context& context, unsigned int flags) : context_(context), flags_(flags) {}

  Context& context() const { return context_; }
  CUevent handle() const { return handle_; }
  bool has_timing() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }

  void record(Stream& stream);
  CUresult query() const;        ///< SUCCESS if never recorded
  CUresult synchronize() const;  ///< SUCCESS if never recorded
  /// Later work of `stream` waits for the latest record; nothing if there is none.
  void make_wait(Stream& stream) const;
  /// Milliseconds from `start` to `end`.
  static CUresult elapsed(const Event& start, const Event& end, float* milliseconds);

 private:
  std::shared_ptr<RecordPoint> latest() const;

  Context& context_;
  const unsigned int flags_;
  CUevent handle_ = nullptr;
  mutable std::mutex mutex_;
  std::shared_ptr<RecordPoint> latest_;
};

std::shared_ptr<Event> find_event(CUevent handle);
CUresult destroy_event(CUevent handle);
void remove_events_of(const Context& context);

}  // namespace cucore::cpu::runtime
