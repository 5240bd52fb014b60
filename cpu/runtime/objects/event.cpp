// Events: see event.hpp.
#include "cpu/runtime/objects/event.hpp"

#include <chrono>

#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/shared_event.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

using EventTable = HandleTable<Event, HandleKind::Event>;
EventTable& event_table() {
  static auto* table = new EventTable;
  return *table;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

CUresult Event::create(Context& context, unsigned int flags, CUevent* handle) {
  constexpr unsigned int kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if ((flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0) return CUDA_ERROR_INVALID_VALUE;
  auto event = std::make_shared<Event>(context, flags);
  if ((flags & CU_EVENT_INTERPROCESS) != 0) {
    event->shared_ = SharedEvent::create();
    if (!event->shared_) return CUDA_ERROR_OPERATING_SYSTEM;
  }
  event->handle_ = reinterpret_cast<CUevent>(event_table().insert(event));
  *handle = event->handle_;
  return CUDA_SUCCESS;
}

CUresult Event::open(Context& context, const CUipcEventHandle& shared, CUevent* handle) {
  if (SharedEvent::is_own(shared)) return CUDA_ERROR_INVALID_CONTEXT;  // what NVIDIA's driver says
  auto state = SharedEvent::open(shared);
  if (!state) return CUDA_ERROR_INVALID_VALUE;
  auto event = std::make_shared<Event>(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  event->shared_ = std::move(state);
  event->handle_ = reinterpret_cast<CUevent>(event_table().insert(event));
  *handle = event->handle_;
  return CUDA_SUCCESS;
}

Event::~Event() = default;

CUresult Event::share(CUipcEventHandle* shared) const {
  if (!shared_) return CUDA_ERROR_INVALID_HANDLE;
  shared_->write(shared);
  return CUDA_SUCCESS;
}

std::shared_ptr<RecordPoint> Event::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void Event::record(Stream& stream) {
  if (shared_) {
    const std::uint64_t number = shared_->begin();
    const auto reach = [state = shared_, number] { state->reach(number); };
    if (!stream.run_if_ready(reach)) stream.enqueue(make_work([reach](CUresult) { reach(); }, Work::Runner::Briefly));
    return;
  }
  auto point = std::make_shared<RecordPoint>();
  point->stream = stream.shared_from_this();
  point->is_work = true;
  if (!stream.run_if_ready([&] {
        point->number = stream.last();
        point->reached.store(now(), std::memory_order_release);
      })) {
    auto item =
        make_work([point](CUresult) { point->reached.store(now(), std::memory_order_release); }, Work::Runner::Briefly);
    point->number = stream.enqueue(std::move(item));
  }
  publish(std::move(point));
}

void Event::publish(std::shared_ptr<RecordPoint> point) {
  const std::lock_guard lock(mutex_);
  latest_ = std::move(point);
  captured_.reset();
}

void Event::record_reached(Stream& stream) {
  auto point = std::make_shared<RecordPoint>();
  point->stream = stream.shared_from_this();
  point->reached.store(now(), std::memory_order_release);
  publish(std::move(point));
}

void Event::record_captured(const std::shared_ptr<Capture>& capture, std::vector<std::shared_ptr<GraphNode>> nodes) {
  const std::lock_guard lock(mutex_);
  captured_ = Captured{capture, std::move(nodes)};
}

std::optional<Event::Captured> Event::captured() const {
  const std::lock_guard lock(mutex_);
  return captured_;
}

bool RecordPoint::is_done() const {
  if (reached.load(std::memory_order_acquire) == 0) return false;
  return !is_work || stream->is_done(number);
}

void RecordPoint::reach() { reached.store(now(), std::memory_order_release); }

CUresult Event::query() const {
  if (captured()) return CUDA_ERROR_CAPTURED_EVENT;
  if (const CUresult error = context_.error(); error != CUDA_SUCCESS) return error;
  if (shared_) return shared_->is_reached(shared_->latest()) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  const auto point = latest();
  if (!point || point->is_done()) return CUDA_SUCCESS;
  point->stream->flush();
  return CUDA_ERROR_NOT_READY;
}

CUresult Event::synchronize() const {
  if (captured()) return CUDA_ERROR_CAPTURED_EVENT;
  if (shared_) sleep_until([state = shared_, number = shared_->latest()] { return state->is_reached(number); });
  if (const auto point = latest(); point && !point->is_done()) point->stream->wait_for(point->number);
  context_.home().printf_buffer.flush();
  return context_.error();
}

void Event::make_wait(Stream& stream) const {
  if (shared_) {
    const std::uint64_t number = shared_->latest();
    if (!shared_->is_reached(number))
      stream.enqueue(
          make_work([state = shared_, number](CUresult) { sleep_until([&] { return state->is_reached(number); }); }));
    return;
  }
  const auto point = latest();
  if (!point || point->is_done() || point->stream.get() == &stream) return;
  stream.enqueue(make_work([point](CUresult) { point->stream->wait_for(point->number); }));
}

CUresult Event::elapsed(const Event& start, const Event& end, float* milliseconds) {
  if (&start.context().device() != &end.context().device()) return CUDA_ERROR_INVALID_HANDLE;
  if (!start.has_timing() || !end.has_timing()) return CUDA_ERROR_INVALID_HANDLE;
  if (start.captured() || end.captured()) return CUDA_ERROR_CAPTURED_EVENT;
  const auto first = start.latest();
  const auto second = end.latest();
  if (!first || !second) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult error = end.context().error(); error != CUDA_SUCCESS) return error;
  if (!first->is_done() || !second->is_done()) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(second->reached - first->reached) / 1e6);
  return CUDA_SUCCESS;
}

std::shared_ptr<Event> find_event(CUevent handle) { return event_table().find(handle); }

CUresult destroy_event(CUevent handle) {
  return event_table().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void remove_events_of(const Context& context) {
  for (const auto& event : event_table().all())
    if (&event->context() == &context) event_table().remove(event->handle());
}

}  // namespace cucore::cpu::runtime
