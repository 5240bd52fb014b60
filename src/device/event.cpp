// Event.
#include "cucore/event.hpp"

#include <cstring>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/context.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/stream.hpp"
#include "src/device/create.hpp"
#include "src/device/event_state.hpp"
#include "src/device/stream_state.hpp"
#include "src/device/wait.hpp"
#include "src/error/closed.hpp"
#include "src/error/hexadecimal.hpp"
#include "src/handles/deferred_release.hpp"
#include "src/handles/last_reference.hpp"
#include "src/handles/pools_set_aside.hpp"

namespace cucore {
namespace detail {

void EventState::own(std::shared_ptr<const ContextState> in) {
  context = std::move(in);
  owned = OwningHandle<EventTraits>(handle, context == nullptr ? nullptr : context->handle);
}

void EventState::make_known(const std::shared_ptr<const EventState>& state) noexcept {
  if (state->is_known.load(std::memory_order_acquire) || state->owned.get() == nullptr || !driver::is_open()) return;
  HandleRegistry<EventState>::instance().add(state);
  state->is_known.store(true, std::memory_order_release);
}

OwningHandle<EventTraits> EventState::disown() noexcept {
  if (is_known.load(std::memory_order_acquire) && owned.get() != nullptr && driver::table_for_release() != nullptr) {
    HandleRegistry<EventState>::instance().remove(this);
  }
  return std::move(owned);
}

std::string describe(const EventState& event) {
  std::string text = "Event " + hexadecimal(event.handle);
  if (event.context != nullptr) text += " of " + describe_device(event.context->device);
  return text;
}

const EventState& open_event(const std::shared_ptr<const EventState>& state, const char* call) {
  if (state == nullptr) refuse_closed("Event", call);
  return *state;
}

int record_native(EventHandle event, StreamHandle stream) noexcept {
  const driver::Table* const table = driver::table_for_release();
  return table == nullptr ? driver::CUDA_ERROR_DEINITIALIZED : table->cuEventRecord(event, stream);
}

void record_event(const EventState& event, const StreamState& stream, unsigned flags) {
  ContextScope scope(context_handle(stream));
  const driver::Table& table = driver::table();
  const char* const call = flags == 0 ? "cuEventRecord" : "cuEventRecordWithFlags";
  const driver::CUresult code = flags == 0 ? table.cuEventRecord(event.handle, stream.handle)
                                           : table.cuEventRecordWithFlags(event.handle, stream.handle, flags);
  if (code == driver::CUDA_ERROR_INVALID_HANDLE && event.context != nullptr && stream.context != nullptr &&
      event.context->handle != stream.context->handle) {
    driver::fail(code, call, describe(event) + " in " + describe(stream),
                 "an event can be recorded only on streams of the context it was made in; make it with the stream's "
                 "Device");
  }
  driver::check(code, call, [&] { return describe(event) + " in " + describe(stream); });
  scope.restore();
}

Event create_event(const std::shared_ptr<const ContextState>& context, const EventOptions& options) {
  if (options.ipc_enabled && options.timing_enabled) {
    throw TypeError({.call = "record",
                     .message = "an IPC-enabled event cannot have timing enabled",
                     .hint = "leave out timing_enabled, or use another event for the time"});
  }
  unsigned flags = driver::CU_EVENT_DEFAULT;
  if (!options.timing_enabled) flags |= driver::CU_EVENT_DISABLE_TIMING;
  if (options.blocking_sync) flags |= driver::CU_EVENT_BLOCKING_SYNC;
  if (options.ipc_enabled) flags |= driver::CU_EVENT_INTERPROCESS;
  auto state = std::make_shared<EventState>();
  ContextScope scope(context->handle);
  driver::check(driver::table().cuEventCreate(&state->handle, flags), "cuEventCreate",
                [&] { return describe_device(context->device); });
  state->options = options;
  state->own(context);
  scope.restore();
  return Event(std::move(state));
}

namespace {

std::shared_ptr<EventState> foreign_event(EventHandle handle, const EventOptions& options, const char* call) {
  if (handle == nullptr) throw ValueError({.call = call, .message = "a null handle is not an event"});
  auto state = std::make_shared<EventState>();
  state->handle = handle;
  state->options = options;
  return state;
}

ContextHandle event_context(const EventState& event) {
  return event.context == nullptr ? nullptr : event.context->handle;
}

// Says why the driver refused to subtract, in the order of its own checks; the reason comes first, where callers look.
[[noreturn]] void refuse_elapsed(driver::CUresult code, const EventState& start, const EventState& end) {
  const auto refuse = [](std::string message, std::string hint) {
    throw StateError({.call = "Event::elapsed_time", .message = std::move(message), .hint = std::move(hint)});
  };
  const std::string both = describe(start) + " and " + describe(end);
  if (code == driver::CUDA_ERROR_INVALID_HANDLE) {
    if (!start.options.timing_enabled || !end.options.timing_enabled) {
      refuse(std::string("both events must have timing enabled, but ") +
                 (start.options.timing_enabled ? "the end does not"
                  : end.options.timing_enabled ? "the start does not"
                                               : "neither does") +
                 ": " + both,
             "make both events with timing_enabled");
    }
    if (start.context != nullptr && end.context != nullptr && start.context->handle != end.context->handle) {
      refuse("the events are of different devices: " + both, "record both on streams of one device");
    }
    refuse("both events must be recorded before there is a time between them, and one was not: " + both,
           "call record(stream) on both, before and after the work");
  }
  if (code == driver::CUDA_ERROR_NOT_READY) {
    refuse("one or both events have not completed: " + both, "call sync() on the later event first");
  }
  driver::fail(code, "cuEventElapsedTime", both);
}

}  // namespace
}  // namespace detail

using detail::ContextScope;
using detail::describe;
using detail::EventState;
using detail::open_event;

Event Event::from_handle(EventHandle handle, const EventOptions& options) {
  if (handle != nullptr && driver::is_open()) {
    if (auto known = detail::HandleRegistry<EventState>::instance().find(handle)) return Event(std::move(known));
  }
  return Event(detail::foreign_event(handle, options, "Event::from_handle"));
}

Event Event::adopt(EventHandle handle, const EventOptions& options) {
  auto state = detail::foreign_event(handle, options, "Event::adopt");
  state->own(nullptr);
  detail::EventState::make_known(state);
  return Event(std::move(state));
}

Event Event::from_ipc_descriptor(std::span<const std::byte> descriptor, bool blocking_sync) {
  driver::CUipcEventHandle handle{};
  if (descriptor.size() < sizeof handle.reserved) {
    throw ValueError({.call = "Event::from_ipc_descriptor",
                      .message = "the descriptor has " + std::to_string(descriptor.size()) +
                                 " bytes; an event's descriptor has " + std::to_string(sizeof handle.reserved),
                      .hint = "pass on exactly what Event::ipc_descriptor() gave"});
  }
  std::memcpy(handle.reserved, descriptor.data(), sizeof handle.reserved);
  auto state = std::make_shared<EventState>();
  state->options = {.timing_enabled = false, .blocking_sync = blocking_sync, .ipc_enabled = true};
  const driver::CUresult code = driver::table().cuIpcOpenEventHandle(&state->handle, handle);
  if (code == driver::CUDA_ERROR_INVALID_CONTEXT) {
    driver::fail(code, "cuIpcOpenEventHandle", "an event of another process",
                 "make a Device current in this thread first; an event cannot be opened in the process that made it");
  }
  driver::check(code, "cuIpcOpenEventHandle", "an event of another process");
  std::array<std::byte, 64> bytes{};
  std::memcpy(bytes.data(), handle.reserved, bytes.size());
  state->imported_from = std::make_unique<const std::array<std::byte, 64>>(bytes);
  state->own(nullptr);
  return Event(std::move(state));
}

EventHandle Event::handle() const noexcept {
  if (state_ == nullptr) return nullptr;
  EventState::make_known(state_);
  return state_->handle;
}

EventHandle detail::native_handle(const Event& event) noexcept {
  return event.state() == nullptr ? nullptr : event.state()->handle;
}

bool Event::is_timing_enabled() const { return open_event(state_, "is_timing_enabled").options.timing_enabled; }
bool Event::is_blocking_sync() const { return open_event(state_, "is_blocking_sync").options.blocking_sync; }
bool Event::is_ipc_enabled() const { return open_event(state_, "is_ipc_enabled").options.ipc_enabled; }

std::optional<Device> Event::device() const {
  const EventState& state = open_event(state_, "device");
  if (state.context == nullptr) return std::nullopt;
  return Device(state.context->device, Device::Known());
}

Context Event::context() const { return Context(open_event(state_, "context").context); }

void Event::record(const Stream& stream) const {
  open_event(state_, "record");
  stream.record(*this);
}

bool Event::is_done() const {
  const EventState& state = open_event(state_, "is_done");
  const driver::Table& table = driver::table();
  const driver::CUresult code = detail::ask_in_any_context([&] { return detail::event_context(state); },
                                                           [&] { return table.cuEventQuery(state.handle); });
  if (code != driver::CUDA_ERROR_NOT_READY) {
    driver::check(code, "cuEventQuery", [&] { return describe(state); });
  }
  return code == driver::CUDA_SUCCESS;
}

void Event::sync() const {
  const EventState& state = open_event(state_, "sync");
  const driver::Table& table = driver::table();
  const driver::CUresult code = detail::ask_in_any_context([&] { return detail::event_context(state); },
                                                           [&] { return table.cuEventSynchronize(state.handle); });
  driver::check(code, "cuEventSynchronize", [&] { return describe(state); });
  detail::trim_pools_set_aside();
  detail::safe_point();
}

bool Event::sync_for(std::chrono::nanoseconds timeout) const {
  open_event(state_, "sync_for");
  return detail::wait_for(timeout, [this] { return is_done(); });
}

void Event::wait_on(const Stream& stream) const {
  open_event(state_, "wait_on");
  stream.wait(*this);
}

float Event::elapsed_time(const Event& start) const {
  const EventState& end_state = open_event(state_, "elapsed_time");
  const EventState& start_state = open_event(start.state(), "elapsed_time");
  ContextScope scope(detail::event_context(end_state));
  float milliseconds = 0;
  const driver::CUresult code = driver::table().cuEventElapsedTime(&milliseconds, start_state.handle, end_state.handle);
  if (code != driver::CUDA_SUCCESS) detail::refuse_elapsed(code, start_state, end_state);
  scope.restore();
  return milliseconds;
}

std::array<std::byte, 64> Event::ipc_descriptor() const {
  const EventState& state = open_event(state_, "ipc_descriptor");
  if (!state.options.ipc_enabled) {
    throw StateError({.call = "Event::ipc_descriptor",
                      .message = describe(state) + " is not IPC-enabled",
                      .hint = "record it with {.ipc_enabled = true}"});
  }
  if (state.imported_from != nullptr) return *state.imported_from;  // of which the driver gives no handle
  driver::CUipcEventHandle handle{};
  ContextScope scope(detail::event_context(state));
  driver::check(driver::table().cuIpcGetEventHandle(&handle, state.handle), "cuIpcGetEventHandle",
                [&] { return describe(state); });
  scope.restore();
  std::array<std::byte, 64> bytes{};
  static_assert(sizeof handle.reserved == bytes.size());
  std::memcpy(bytes.data(), handle.reserved, bytes.size());
  return bytes;
}

Event Event::share() const { return Event(state_); }

void Event::close() {
  if (const auto last = detail::take_if_last(state_))
    driver::check(last->disown().close(), detail::EventTraits::call, [&] { return describe(*last); });
}

EventHandle Event::release() {
  open_event(state_, "release");
  if (state_.use_count() > 1) {
    throw StateError({.call = "Event::release",
                      .message = describe(*state_) + " cannot be released: it is referred to elsewhere",
                      .hint = "close what was made with share() first"});
  }
  const auto state = std::move(state_);
  state_ = nullptr;
  const_cast<EventState&>(*state).disown().release();
  return state->handle;
}

}  // namespace cucore
