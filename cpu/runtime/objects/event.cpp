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

Result<CUevent> Event::create(Context& context, unsigned int flags) {
  constexpr unsigned int known_bits = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if ((flags & ~known_bits) != 0) return ErrorCode::InvalidValue;
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0) return ErrorCode::InvalidValue;
  auto event = std::make_shared<Event>(context, flags);
  if ((flags & CU_EVENT_INTERPROCESS) != 0) {
    event->shared_ = SharedEvent::create();
    if (!event->shared_) return ErrorCode::OperatingSystem;
  }
  event->handle_ = reinterpret_cast<CUevent>(event_table().insert(event));
  return event->handle_;
}

Result<CUevent> Event::open(Context& context, const CUipcEventHandle& shared) {
  if (SharedEvent::is_own(shared)) return ErrorCode::InvalidContext;  // what NVIDIA's driver says
  auto state = SharedEvent::open(shared);
  if (!state) return ErrorCode::InvalidValue;
  auto event = std::make_shared<Event>(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  event->shared_ = std::move(state);
  event->is_opened_ = true;
  event->handle_ = reinterpret_cast<CUevent>(event_table().insert(event));
  return event->handle_;
}

Event::~Event() = default;

Result<CUipcEventHandle> Event::share() const {
  if (!shared_ || is_opened_) return ErrorCode::InvalidHandle;  // what NVIDIA's driver says of opened ones too
  CUipcEventHandle shared;
  shared_->write(&shared);
  return shared;
}

std::shared_ptr<RecordPoint> Event::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void Event::record(Stream& stream) {
  if (shared_) {
    const std::uint64_t number = shared_->begin();
    const auto reach = [state = shared_, number] { state->reach(number); };
    if (!stream.run_if_ready(reach))
      stream.enqueue(make_work([reach](const Result<void>&) { reach(); }, Work::Runner::Briefly));
    return;
  }
  auto point = std::make_shared<RecordPoint>();
  point->stream = stream.shared_from_this();
  point->is_work = true;
  if (!stream.run_if_ready([&] {
        point->number = stream.last();
        point->reached.store(now(), std::memory_order_release);
      })) {
    auto item = make_work([point](const Result<void>&) { point->reached.store(now(), std::memory_order_release); },
                          Work::Runner::Briefly);
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

void Event::record_captured(Captured captured) {
  const std::lock_guard lock(mutex_);
  captured_ = std::move(captured);
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

Result<void> Event::query() const {
  if (captured()) return ErrorCode::CapturedEvent;
  if (Result<void> error = context_.error(); !error) return error;
  if (shared_) return shared_->is_reached(shared_->latest()) ? Result<void>() : ErrorCode::NotReady;
  const auto point = latest();
  if (!point || point->is_done()) return {};
  point->stream->flush();
  return ErrorCode::NotReady;
}

Result<void> Event::synchronize() const {
  if (captured()) return ErrorCode::CapturedEvent;
  if (shared_) sleep_until([state = shared_, number = shared_->latest()] { return state->is_reached(number); });
  if (const auto point = latest(); point && !point->is_done()) point->stream->wait_for(point->number);
  context_.home().printf_buffer.flush();
  return context_.error();
}

void Event::make_wait(Stream& stream) const {
  if (shared_) {
    const std::uint64_t number = shared_->latest();
    if (!shared_->is_reached(number))
      stream.enqueue(make_work(
          [state = shared_, number](const Result<void>&) { sleep_until([&] { return state->is_reached(number); }); }));
    return;
  }
  const auto point = latest();
  if (!point || point->is_done() || point->stream.get() == &stream) return;
  stream.enqueue(make_work([point](const Result<void>&) { point->stream->wait_for(point->number); }));
}

Result<float> Event::elapsed(const Event& start, const Event& end) {
  if (&start.context().device() != &end.context().device()) return ErrorCode::InvalidHandle;
  if (!start.has_timing() || !end.has_timing()) return ErrorCode::InvalidHandle;
  if (start.captured() || end.captured()) return ErrorCode::CapturedEvent;
  const auto first = start.latest();
  const auto second = end.latest();
  if (!first || !second) return ErrorCode::InvalidHandle;
  if (Result<void> error = end.context().error(); !error) return std::move(error).failure();
  if (!first->is_done() || !second->is_done()) return ErrorCode::NotReady;
  return static_cast<float>(static_cast<double>(second->reached - first->reached) / 1e6);
}

std::shared_ptr<Event> find_event(CUevent handle) { return event_table().find(handle); }

Result<void> destroy_event(CUevent handle) {
  return event_table().remove(handle) ? Result<void>() : ErrorCode::InvalidHandle;
}

void remove_events_of(const Context& context) {
  for (const auto& event : event_table().all())
    if (&event->context() == &context) event_table().remove(event->handle());
}

}  // namespace cucore::cpu::runtime
