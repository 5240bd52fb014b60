// Streams: see stream.hpp.
#include "cpu/runtime/objects/stream.hpp"

#include <sched.h>

#include <algorithm>
#include <system_error>

#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/created_stream.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/stream_workers.hpp"
#include "cpu/runtime/process/default_stream.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/threads/faults.hpp"
#include "cpu/runtime/threads/waits.hpp"

namespace cucore::cpu::runtime {

namespace {

/// Brief items that may be queued before a stream worker is called.
constexpr std::size_t most_deferred = 32;

/// How long they may wait for the timer: long compared to a launch and its wait, since each time wakes its thread.
constexpr std::chrono::microseconds timed_after{100};

std::atomic<std::uint64_t> next_stream_id{1};

using StreamTable = HandleTable<Stream, HandleKind::Stream>;
StreamTable& stream_table() {
  static auto* table = new StreamTable;
  return *table;
}

using EndOfStream = void (*)(Stream&);
constinit EndOfStream end_of_capturing_stream = nullptr;

}  // namespace

bool Backoff::pause() {
  constexpr int spins = 10;
  if (rounds_ < spins) return spin();
  if (rounds_ >= round_count) return false;
  ++rounds_;
  sched_yield();  // the awaited thread may need this very processor
  return true;
}

bool Backoff::spin() {
  if (rounds_ >= round_count) return false;
  ++rounds_;
#if defined(__x86_64__)
  for (int i = 0; i < 8; ++i) __builtin_ia32_pause();  // which takes some 50 ns on new processors
#elif defined(__aarch64__)
  for (int i = 0; i < 8; ++i) asm volatile("isb" ::: "memory");  // some 50 ns too, of which `yield` takes none
#endif
  return true;
}

Stream::Stream(Context& context, Kind kind, unsigned int flags, int priority)
    : context_(context), kind_(kind), flags_(flags), priority_(priority), id_(next_stream_id.fetch_add(1)) {}

std::shared_ptr<Stream> Stream::make_default(Context& context) {
  auto stream = std::make_shared<Stream>(context, Kind::Legacy, CU_STREAM_DEFAULT, 0);
  stream->handle_ = CU_STREAM_LEGACY;
  return stream;
}

std::shared_ptr<Stream> Stream::make_per_thread(Context& context) {
  auto stream = std::make_shared<Stream>(context, Kind::PerThread, CU_STREAM_DEFAULT, 0);
  stream->handle_ = CU_STREAM_PER_THREAD;
  return stream;
}

Result<CUstream> Stream::create(Context& context, unsigned int flags, int priority) {
  if ((flags & ~static_cast<unsigned int>(CU_STREAM_NON_BLOCKING)) != 0) return ErrorCode::InvalidValue;
  auto stream = std::make_shared<Stream>(context, Kind::Created, flags, priority);
  context.add_stream(stream);
  stream->handle_ = reinterpret_cast<CUstream>(stream_table().insert(stream));
  return stream->handle_;
}

std::uint64_t Stream::append(std::unique_ptr<Work> work) {
  const bool is_brief = work->runner == Work::Runner::Briefly;
  std::uint64_t number;
  bool call = false;
  bool time_it = false;
  {
    const std::lock_guard lock(mutex_);
    number = enqueued_.load(std::memory_order_relaxed) + 1;
    enqueued_.store(number, std::memory_order_release);
    queue_.push_back(std::move(work));
    if (is_running_ || is_called_) return number;
    if (!is_brief || queue_.size() > most_deferred) {
      call = is_called_ = true;
    } else {
      is_deferred_.store(true, std::memory_order_relaxed);
      time_it = !std::exchange(is_timed_, true);
      if (time_it) checked_at_ = completed_.load();
    }
  }
  if (time_it && !call_at(Clock::now() + timed_after, shared_from_this())) {
    while (on_time()) {  // done here
    }
  }
  if (call) call_worker();
  return number;
}

void Stream::call_worker() {
  try {
    run_on_stream_worker(shared_from_this());
  } catch (const std::system_error&) {
    drain();  // no thread could be started: done late, but done
  }
}

std::optional<Timed::Clock::time_point> Stream::on_time() {
  const std::uint64_t completed = completed_.load();
  // Whoever waits for it runs it.
  if (std::exchange(checked_at_, completed) != completed) return Clock::now() + timed_after;
  {
    const std::lock_guard lock(mutex_);
    is_timed_ = false;
    if (queue_.empty() || is_running_ || is_called_) return std::nullopt;
    is_called_ = true;
  }
  call_worker();
  return std::nullopt;
}

void Stream::flush_this() {
  if (!is_deferred_.load(std::memory_order_relaxed)) return;  // polling must not contend for the worker's lock
  {
    const std::lock_guard lock(mutex_);
    if (queue_.empty() || is_running_ || is_called_) return;
    is_called_ = true;
  }
  call_worker();
}

void Stream::flush() {
  flush_this();
  if (synchronises_with_legacy()) context_.legacy_stream().flush_this();
  if (kind_ != Kind::Legacy) return;
  for (const auto& stream : context_.streams())
    if (stream->synchronises_with_legacy()) stream->flush_this();
}

void Stream::enqueue_dependencies() {
  // The legacy stream waits for all blocking streams, and they wait for it. Waits only ever name work enqueued before
  // them, so they cannot form a cycle.
  const auto follow = [this](std::shared_ptr<Stream> other) {
    const std::uint64_t number = other->last();
    if (!other->is_done(number))
      append(make_work([other = std::move(other), number](const Result<void>&) { other->wait_for(number); }));
  };
  if (synchronises_with_legacy()) {
    Stream& legacy = context_.legacy_stream();
    if (!legacy.is_idle()) follow(context_.legacy_stream_shared());
  } else if (kind_ == Kind::Legacy) {
    for (auto& stream : context_.streams())
      if (stream.get() != this && stream->synchronises_with_legacy()) follow(std::move(stream));
  }
}

std::unique_ptr<const trace::Note> Stream::make_trace_note() const {
  std::string name = "default stream";
  if (kind_ == Kind::PerThread) name += " of a thread";
  if (kind_ == Kind::Created) name = "stream " + hexadecimal(reinterpret_cast<std::uintptr_t>(handle_));
  const Device& device = context_.device();
  return trace::note_for({id_, device.ordinal(), device.name(), name});
}

std::uint64_t Stream::enqueue(std::unique_ptr<Work> work) {
  enqueue_dependencies();
  work->note = trace_note();
  return append(std::move(work));
}

bool Stream::is_ready() const {
  if (!is_idle()) return false;
  if (synchronises_with_legacy()) return context_.legacy_stream().is_idle();
  if (kind_ != Kind::Legacy) return true;
  const auto streams = context_.streams();
  return std::all_of(streams.begin(), streams.end(),
                     [](const auto& stream) { return !stream->synchronises_with_legacy() || stream->is_idle(); });
}

void Stream::wait_for(std::uint64_t number) {
  if (is_done(number)) return;
  const WaitOfProgram here(&context_.home());
  help(number);
  for (Backoff backoff; !is_done(number);) {
    if (backoff.pause()) continue;
    std::unique_lock lock(mutex_);
    ++waiters_;
    done_.wait(lock, [&] { return is_done(number); });
    --waiters_;
    return;
  }
}

void Stream::help(std::uint64_t number) {
  {
    std::unique_lock lock(mutex_);
    const auto is_wanted = [&](const Work& work) {
      return !is_done(number) && work.runner != Work::Runner::StreamWorker;
    };
    if (is_running_ || queue_.empty() || !is_wanted(*queue_.front()) || !can_run_device_code()) return;
    const DeviceFloatingPoint here;
    run_items(lock, is_wanted);
    if (queue_.empty() || is_called_) return;
    is_called_ = true;
  }
  call_worker();
}

void Stream::wait_until_done() {
  wait_for(last());
  if (kind_ != Kind::Legacy) return;
  for (const auto& stream : context_.streams())
    if (stream->synchronises_with_legacy()) stream->wait_for(stream->last());
}

template <class F>
void Stream::run_items(std::unique_lock<std::mutex>& lock, F&& may_run) {
  is_running_ = true;
  is_deferred_.store(false, std::memory_order_relaxed);
  while (!queue_.empty() && may_run(*queue_.front())) {
    std::unique_ptr<Work> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (!is_shutting_down()) {
      const trace::Running here(work->note.get());
      work->run(context_.error());
    }
    work.reset();
    lock.lock();
    completed_.fetch_add(1);
    if (waiters_ > 0) done_.notify_all();
  }
  is_running_ = false;
}

void Stream::drain() {
  std::unique_lock lock(mutex_);
  while (!is_running_ && !queue_.empty()) {
    run_items(lock, [](const Work&) { return true; });
    lock.unlock();
    spin_for_work();
    lock.lock();
  }
  is_called_ = false;
}

void Stream::spin_for_work() const {
  constexpr int round_count = 3;
  std::uint64_t before = completed_.load();
  int rounds = 0;
  // Once there is work this thread keeps the processor: yielding it to a polling thread takes longer than the work.
  for (Backoff backoff; rounds < round_count && (is_idle() ? backoff.pause() : backoff.spin());) {
    const std::uint64_t completed = completed_.load();
    rounds = completed == before && !is_idle() ? rounds + 1 : 0;
    before = completed;
  }
}

CUaccessPolicyWindow Stream::access_window() const {
  const std::lock_guard lock(mutex_);
  return access_window_;
}

void Stream::set_access_window(const CUaccessPolicyWindow& window) {
  const std::lock_guard lock(mutex_);
  access_window_ = window;
}

void Stream::set_capture(std::shared_ptr<Capture> capture) {
  capture_ = std::move(capture);
  is_capturing_.store(capture_ != nullptr, std::memory_order_release);
}

std::shared_ptr<Stream> find_stream(Context& context, CUstream handle) {
  if (handle == nullptr)
    return PerThreadDefaultStream::requested() ? context.per_thread_stream() : context.legacy_stream_shared();
  if (handle == CU_STREAM_LEGACY) return context.legacy_stream_shared();
  if (handle == CU_STREAM_PER_THREAD) return context.per_thread_stream();
  return find_created_stream(handle);
}

std::shared_ptr<Stream> find_created_stream(CUstream handle) { return stream_table().find(handle); }

Result<void> destroy_stream(CUstream handle) {
  const auto stream = stream_table().remove(handle);
  if (!stream) return ErrorCode::InvalidHandle;
  if (stream->is_capturing()) end_of_capturing_stream(*stream);
  return {};
}

void at_end_of_capturing_streams(EndOfStream end) { end_of_capturing_stream = end; }

void remove_streams_of(const Context& context) {
  for (const auto& stream : stream_table().all())
    if (&stream->context() == &context) (void)destroy_stream(stream->handle());
}

}  // namespace cucore::cpu::runtime
