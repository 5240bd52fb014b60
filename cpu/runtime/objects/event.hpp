// Events. Each record makes a RecordPoint; waits and queries look at the latest one when they are called.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class Capture;
class Context;
class Stream;
struct GraphNode;
class SharedEvent;

/// One recording: where in which stream, and when it was reached.
struct RecordPoint {
  std::shared_ptr<Stream> stream;
  std::uint64_t number = 0;              ///< of the stream's work that reaches it
  bool is_work = false;                  ///< it is all that work, not a node of a graph
  std::atomic<std::int64_t> reached{0};  ///< nanoseconds of the steady clock; 0: not yet

  /// Never before its stream counts that work as done: a thread that sees the event complete finds the stream ready.
  bool is_done() const;
  void reach();  ///< now
};

class Event {
 public:
  static Result<CUevent> create(Context& context, unsigned int flags);
  /// An event of another process, from the handle that share() returned there.
  static Result<CUevent> open(Context& context, const CUipcEventHandle& shared);
  Event(Context& context, unsigned int flags) : context_(context), flags_(flags) {}
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  Context& context() const { return context_; }
  CUevent handle() const { return handle_; }
  bool has_timing() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
  bool is_interprocess() const { return (flags_ & CU_EVENT_INTERPROCESS) != 0; }

  /// InvalidHandle unless the event was made for other processes.
  Result<CUipcEventHandle> share() const;

  void record(Stream& stream);
  /// Makes a recording the latest one (of a graph's launch), or records as reached now.
  void publish(std::shared_ptr<RecordPoint> point);
  void record_reached(Stream& stream);
  std::shared_ptr<RecordPoint> latest() const;
  // An event that was never recorded is done.
  Result<void> query() const;
  Result<void> synchronize() const;
  /// Later work of `stream` waits for the latest record; nothing if there is none.
  void make_wait(Stream& stream) const;
  /// Milliseconds from `start` to `end`.
  static Result<float> elapsed(const Event& start, const Event& end);

  /// Recorded on a capturing stream: the nodes that a wait for the event depends on. Ends with any other record.
  struct Captured {
    std::weak_ptr<Capture> capture;
    std::shared_ptr<const bool> is_of_valid;  ///< capture, which is not over; under graph_mutex()
    std::vector<std::shared_ptr<GraphNode>> nodes;
  };
  void record_captured(Captured captured);
  /// What record_captured was given, though that capture may be over.
  std::optional<Captured> captured() const;

 private:
  Context& context_;
  const unsigned int flags_;
  CUevent handle_ = nullptr;
  std::shared_ptr<SharedEvent> shared_;  ///< null unless for several processes
  bool is_opened_ = false;               ///< another process made it
  mutable std::mutex mutex_;
  std::shared_ptr<RecordPoint> latest_;
  std::optional<Captured> captured_;
};

std::shared_ptr<Event> find_event(CUevent handle);
Result<void> destroy_event(CUevent handle);
void remove_events_of(const Context& context);

}  // namespace cucore::cpu::runtime
