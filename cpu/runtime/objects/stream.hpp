// Streams: FIFO queues of work, each run by one thread at a time while it has any. A work item may block (wait for
// another stream, a host function, a kernel that waits for a flag) without holding up other streams.
//
// Who runs it: a thread that waits for the work, if no other has begun and it may; else a stream worker, a thread that
// is called when work is queued. For brief work a call would take longer than the work, and a program mostly waits for
// it at once: it is deferred work, for which a worker is called only if a thread polls (flush), or if it has not been
// begun when the timer (threads/timer.hpp) comes round. So while anything is queued, a thread runs the stream, a worker
// is called, or the stream is timed.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "cpu/error/result.hpp"
#include "cpu/runtime/objects/stream_workers.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/trace.hpp"
#include "cpu/runtime/threads/timer.hpp"

namespace cucore::cpu::runtime {

class Capture;
class Context;

/// One item of a stream. `context` is what the context answers when its turn comes: if that is an error, work other
/// than host callbacks, waits and event records does nothing.
class Work {
 public:
  enum class Runner {
    StreamWorker,  ///< a thread of ours alone
    Anyone,        ///< also a thread of the program that waits for it
    Briefly        ///< the same, and it takes no longer than to wake a thread
  };

  explicit Work(Runner runner_ = Runner::StreamWorker) : runner(runner_) {}
  virtual ~Work() = default;
  virtual void run(const Result<void>& context) = 0;

  Runner runner;
  std::unique_ptr<const trace::Note> note;  ///< null if no trace is written
};

template <class F>
std::unique_ptr<Work> make_work(F function, Work::Runner runner = Work::Runner::StreamWorker) {
  struct Item final : Work {
    Item(F f, Runner who) : Work(who), call(std::move(f)) {}
    void run(const Result<void>& context) override { call(context); }
    F call;
  };
  return std::make_unique<Item>(std::move(function), runner);
}

class Stream final : public Drained, public Timed, public std::enable_shared_from_this<Stream> {
 public:
  enum class Kind { Created, Legacy, PerThread };

  static std::shared_ptr<Stream> make_default(Context& context);
  static std::shared_ptr<Stream> make_per_thread(Context& context);
  static Result<CUstream> create(Context& context, unsigned int flags, int priority);
  Stream(Context& context, Kind kind, unsigned int flags, int priority);

  Context& context() const { return context_; }
  Kind kind() const { return kind_; }
  unsigned int flags() const { return flags_; }
  int priority() const { return priority_.load(); }
  void set_priority(int priority) { priority_.store(priority); }
  std::uint64_t id() const { return id_; }
  CUstream handle() const { return handle_; }

  /// Appends work behind everything it must follow (the legacy stream's rules included). Returns its number.
  std::uint64_t enqueue(std::unique_ptr<Work> work);

  /// Runs `function` on the calling thread if nothing it must follow is pending, else returns false.
  template <class F>
  bool run_if_ready(F&& function) {
    if (!is_ready()) return false;
    const auto note = trace_note();
    const trace::Running here(note.get());
    std::forward<F>(function)();
    return true;
  }

  std::uint64_t last() const { return enqueued_.load(std::memory_order_acquire); }
  bool is_done(std::uint64_t number) const { return completed_.load() >= number; }
  bool is_idle() const { return is_done(last()); }
  /// True if this stream and every stream it synchronises with are idle.
  bool is_ready() const;
  /// Returns when work `number` is done; runs it and what is before it here, where that is possible.
  void wait_for(std::uint64_t number);
  /// Waits for all that the stream stands for: the legacy stream for every blocking stream too.
  void wait_until_done();

  /// The capture this stream takes part in; null if none. Changed under graph_mutex().
  bool is_capturing() const { return is_capturing_.load(std::memory_order_acquire); }
  std::shared_ptr<Capture> capture() const { return capture_; }
  void set_capture(std::shared_ptr<Capture> capture);
  bool synchronises_with_legacy() const { return kind_ != Kind::Legacy && (flags_ & CU_STREAM_NON_BLOCKING) == 0; }

  /// The attributes that have no effect here: kept, so that a query answers what was set.
  /// A CUsynchronizationPolicy; -1, as in NVIDIA's driver, while none was set.
  std::atomic<int> sync_policy{-1};
  std::atomic<CUlaunchMemSyncDomain> mem_sync_domain{CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT};
  CUaccessPolicyWindow access_window() const;
  void set_access_window(const CUaccessPolicyWindow& window);

  /// For who polls instead of waiting: work of the stream, and of those it synchronises with, is deferred no longer.
  void flush();

  /// Called by a stream worker: runs items until none is left.
  void drain() override;
  /// For deferred work: calls a worker if no item was done since the last time.
  std::optional<Clock::time_point> on_time() override;

 private:
  std::unique_ptr<const trace::Note> trace_note() const { return trace::is_on() ? make_trace_note() : nullptr; }
  std::unique_ptr<const trace::Note> make_trace_note() const;
  void enqueue_dependencies();
  std::uint64_t append(std::unique_ptr<Work> work);
  void call_worker();
  void flush_this();
  void help(std::uint64_t number);
  /// A worker lingers before it leaves, since a program that queued work without waiting mostly does so again: returns
  /// when there is work that no waiting thread has begun, or when there was none for a while.
  void spin_for_work() const;
  /// Runs items as long as `may_run(item)`. No other thread does meanwhile; `lock` is held except while one runs.
  template <class F>
  void run_items(std::unique_lock<std::mutex>& lock, F&& may_run);

  Context& context_;
  const Kind kind_;
  const unsigned int flags_;
  std::atomic<int> priority_;
  const std::uint64_t id_;
  CUstream handle_ = nullptr;
  mutable std::mutex mutex_;
  CUaccessPolicyWindow access_window_{};
  std::condition_variable done_;
  std::deque<std::unique_ptr<Work>> queue_;
  bool is_running_ = false;               ///< a thread runs items
  bool is_called_ = false;                ///< a worker is on its way, or has not gone yet
  bool is_timed_ = false;                 ///< the timer has it
  std::atomic<bool> is_deferred_{false};  ///< brief work was queued since any was run: changed under the lock
  int waiters_ = 0;                       ///< threads that sleep until work is done
  std::atomic<std::uint64_t> enqueued_{0};
  std::atomic<std::uint64_t> completed_{0};
  std::uint64_t checked_at_ = 0;  ///< completed_ at the timer's last check; the timer's own while is_timed_
  std::atomic<bool> is_capturing_{false};
  std::shared_ptr<Capture> capture_;
};

/// The stream a handle means in `context`: null and CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, or a created one.
/// Null pointer for a stale or garbage handle.
std::shared_ptr<Stream> find_stream(Context& context, CUstream handle);

/// Ends a created stream's handle; its pending work still completes. InvalidHandle for the default streams.
Result<void> destroy_stream(CUstream handle);
void remove_streams_of(const Context& context);
/// `end` is called for each capturing stream that is destroyed. Before there are streams.
void at_end_of_capturing_streams(void (*end)(Stream&));

/// Spins a little, then lets others have the processor in between: for short waits of threads that expect to go on
/// soon.
class Backoff {
 public:
  /// False once waiting should become blocking.
  bool pause();
  /// The same, but it only spins.
  bool spin();

 private:
  static constexpr int round_count = 60;
  int rounds_ = 0;
};

/// Blocks the calling thread of ours until `condition` holds or the process ends, for memory that anyone may write.
template <class F>
void sleep_until(F&& condition) {
  for (Backoff backoff; !condition() && !is_shutting_down();)
    if (!backoff.pause()) std::this_thread::sleep_for(std::chrono::microseconds(20));
}

}  // namespace cucore::cpu::runtime
