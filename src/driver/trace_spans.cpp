// Device-time lanes of a trace: see trace_spans.hpp.
#include "src/driver/trace_spans.hpp"
#include "src/error/hexadecimal.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace cucore::driver::trace {
namespace {

constexpr std::size_t most_pending = 8192;
constexpr std::size_t lanes_at_once = 8;
constexpr double rebase_after_ms = 1000.0;  // cuEventElapsedTime answers a float: near the base it is exact

/// Our calls may come while some thread captures, which forbids them in the thread's own mode.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Table& driver) : driver_(driver) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() { static_cast<void>(driver_.cuThreadExchangeStreamCaptureMode(&mode_)); }

  const Table& driver_;
  int mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// Makes a context current for a while.
class CurrentContext {
 public:
  CurrentContext(const Table& driver, CUcontext context) : driver_(driver) {
    changed_ = driver.cuCtxGetCurrent(&before_) == CUDA_SUCCESS && before_ != context &&
               driver.cuCtxSetCurrent(context) == CUDA_SUCCESS;
  }
  ~CurrentContext() {
    if (changed_) static_cast<void>(driver_.cuCtxSetCurrent(before_));
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Table& driver_;
  CUcontext before_ = nullptr;
  bool changed_ = false;
};

}  // namespace

int thread_number() noexcept {
  thread_local const int number = static_cast<int>(syscall(SYS_gettid));
  return number;
}

Spans::Clock* Spans::clock_of_current_context() {
  CUcontext context = nullptr;
  if (driver_.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return nullptr;
  const std::scoped_lock lock(mutex_);
  if (const auto known = clocks_.find(context); known != clocks_.end()) {
    return known->second->base == nullptr ? nullptr : known->second.get();
  }
  Clock& clock = *clocks_.emplace(context, std::make_unique<Clock>()).first->second;
  clock.context = context;

  // On a stream of its own, so that it waits for none of the program's work.
  CUstream stream = nullptr;
  if (driver_.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0) != CUDA_SUCCESS) return nullptr;
  Nanoseconds narrowest = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    CUevent event = nullptr;
    if (driver_.cuEventCreate(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) break;
    const Nanoseconds before = now();
    if (driver_.cuEventRecord(event, stream) == CUDA_SUCCESS && driver_.cuEventSynchronize(event) == CUDA_SUCCESS) {
      const Nanoseconds width = now() - before;
      if (clock.base == nullptr || width < narrowest) {
        narrowest = width;
        std::swap(clock.base, event);
        clock.base_at = before + width / 2;
      }
    }
    if (event != nullptr) clock.spare.push_back(event);
  }
  static_cast<void>(driver_.cuStreamDestroy(stream));
  if (clock.base == nullptr) return nullptr;

  CUdevice device = 0;
  static_cast<void>(driver_.cuCtxGetDevice(&device));
  std::array<char, 256> name{};
  static_cast<void>(driver_.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device));
  clock.process = (device + 1) * 10'000'000 + static_cast<int>(getpid());
  Arguments arguments;
  arguments.add("name", "device " + std::to_string(device) + ": " + name.data());
  Event event('M', "process_name", "__metadata", {clock.process, 0}, 0);
  file_.write(std::move(event.arguments(arguments)));
  return &clock;
}

CUevent Spans::take_event(Clock& clock) {
  {
    const std::scoped_lock lock(mutex_);
    if (!clock.spare.empty()) {
      const CUevent event = clock.spare.back();
      clock.spare.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  return driver_.cuEventCreate(&event, CU_EVENT_DEFAULT) == CUDA_SUCCESS ? event : nullptr;
}

CUevent Spans::record(Clock& clock, CUstream stream) {
  const CUevent event = take_event(clock);
  if (event == nullptr || driver_.cuEventRecord(event, stream) == CUDA_SUCCESS) return event;
  const std::scoped_lock lock(mutex_);
  clock.spare.push_back(event);
  return nullptr;
}

Spans::Open Spans::begin(CUstream stream) {
  const RelaxedCapture relaxed(driver_);
  int status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (driver_.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE)
    return {};
  Clock* const clock = clock_of_current_context();
  if (clock == nullptr) return {};
  {
    const std::scoped_lock lock(mutex_);
    if (pending_ >= most_pending) {
      ++not_measured_;
      return {};
    }
  }
  const CUevent first = record(*clock, stream);
  return first == nullptr ? Open{} : Open{clock, first};
}

void Spans::end(const Open& open, CUstream stream, std::string name, Arrow arrow, const Arguments& arguments,
                bool succeeded) {
  if (open.clock == nullptr) return;
  const RelaxedCapture relaxed(driver_);
  const CUevent last = succeeded ? record(*open.clock, stream) : nullptr;
  if (last == nullptr) {
    const std::scoped_lock lock(mutex_);
    open.clock->spare.push_back(open.first);
    return;
  }
  enqueue(*open.clock, stream, {open.first, last, std::move(name), arrow, arguments});
}

void Spans::mark(CUstream stream, std::string name, const Arguments& arguments) {
  const Open open = begin(stream);
  if (open.clock != nullptr) enqueue(*open.clock, stream, {open.first, nullptr, std::move(name), {}, arguments});
}

void Spans::enqueue(Clock& clock, CUstream stream, Span span) {
  const std::scoped_lock lock(mutex_);
  lane_of(clock, stream).pending.push_back(std::move(span));
  ++pending_;
}

Spans::Lane& Spans::lane_of(Clock& clock, CUstream stream) {
  const bool per_thread = stream == CU_STREAM_PER_THREAD;
  if (stream == CU_STREAM_LEGACY) stream = nullptr;
  Lane& lane = lanes_[{clock.context, stream, per_thread ? thread_number() : 0}];
  if (lane.clock != nullptr) return lane;
  order_.push_back(&lane);
  lane.clock = &clock;
  lane.place = {clock.process, static_cast<int>(order_.size())};
  Arguments arguments;
  arguments.add("name", stream == nullptr ? std::string("default stream")
                        : per_thread      ? "default stream of thread " + std::to_string(thread_number())
                                          : "stream " + hexadecimal(stream));
  Event event('M', "thread_name", "__metadata", lane.place, 0);
  file_.write(std::move(event.arguments(arguments)));
  return lane;
}

// ---- reading the events --------------------------------------------------------------------------------------------

void Spans::discard_first(Lane& lane) {
  Span& span = lane.pending.front();
  lane.clock->spare.push_back(span.first);
  if (span.last != nullptr) lane.clock->spare.push_back(span.last);
  lane.pending.pop_front();
  --pending_;
}

/// False: the first span of the lane has not ended.
bool Spans::write_first(Lane& lane) {
  Span& span = lane.pending.front();
  Clock& clock = *lane.clock;
  const CUevent last = span.last != nullptr ? span.last : span.first;
  const CUresult state = driver_.cuEventQuery(last);
  if (state == CUDA_ERROR_NOT_READY) return false;
  float from = 0, length = 0;
  if (state != CUDA_SUCCESS || driver_.cuEventElapsedTime(&from, clock.base, span.first) != CUDA_SUCCESS ||
      (span.last != nullptr && driver_.cuEventElapsedTime(&length, span.first, span.last) != CUDA_SUCCESS)) {
    ++not_measured_;
    discard_first(lane);
    return true;
  }
  const auto nanoseconds = [](double milliseconds) { return static_cast<Nanoseconds>(milliseconds * 1e6); };
  const Nanoseconds at = clock.base_at + nanoseconds(from);
  // The first event may complete before the call begins, but the work cannot, and an arrow must lead forward in time.
  const Nanoseconds end = at + nanoseconds(length);
  const Nanoseconds begin = span.arrow.from < end ? std::max(at, span.arrow.from + 1) : at;
  Event event(span.last != nullptr ? 'X' : 'i', span.name, "device", lane.place, begin);
  if (span.last != nullptr) event.duration(end - begin);
  file_.write(std::move(event.arguments(span.arguments)));
  if (span.arrow.id != 0) {
    Event arrow('f', "launch", "flow", lane.place, begin);
    file_.write(std::move(arrow.flow(span.arrow.id)));
  }
  if (from > rebase_after_ms) {
    clock.base_at = at;
    std::swap(clock.base, span.first);
  }
  discard_first(lane);
  return true;
}

void Spans::collect() noexcept {
  try {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || pending_ == 0) return;
    const RelaxedCapture relaxed(driver_);
    for (std::size_t n = 0; n < std::min(lanes_at_once, order_.size()); ++n) {
      Lane& lane = *order_[next_lane_++ % order_.size()];
      if (lane.pending.empty()) continue;
      const CurrentContext current(driver_, lane.clock->context);
      for (int spans = 0; spans < 4 && !lane.pending.empty() && write_first(lane); ++spans) {
      }
    }
  } catch (...) {  // no memory: what is pending stays so
  }
}

std::uint64_t Spans::finish(Nanoseconds deadline) noexcept {
  try {
    while (true) {
      {
        const std::scoped_lock lock(mutex_);
        for (Lane* lane : order_) {
          const CurrentContext current(driver_, lane->clock->context);
          while (!lane->pending.empty() && write_first(*lane)) {
          }
        }
        if (pending_ == 0 || now() >= deadline) {
          for (const auto& [context, clock] : clocks_) {
            const CurrentContext current(driver_, context);
            for (const CUevent event : clock->spare) static_cast<void>(driver_.cuEventDestroy(event));
            if (clock->base != nullptr) static_cast<void>(driver_.cuEventDestroy(clock->base));
            clock->spare.clear();
            clock->base = nullptr;
          }
          return not_measured_ + pending_;
        }
      }
      usleep(500);
    }
  } catch (...) {
    return not_measured_ + pending_;
  }
}

}  // namespace cucore::driver::trace
