// Stream.
#include "cucore/stream.hpp"

#include "cucore/bindings/fast_path.hpp"
#include "cucore/context.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
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

void StreamState::own(const std::shared_ptr<StreamState>& state, std::shared_ptr<const ContextState> in) {
  state->context = std::move(in);
  state->owned =
      OwningHandle<StreamTraits>(state->handle, state->context == nullptr ? nullptr : state->context->handle);
  HandleRegistry<StreamState>::instance().add(state);
}

OwningHandle<StreamTraits> StreamState::disown() noexcept {
  if (owned.get() != nullptr && driver::table_for_release() != nullptr) {
    HandleRegistry<StreamState>::instance().remove(this);
  }
  return std::move(owned);
}

const StreamState& open_stream(const std::shared_ptr<const StreamState>& state, const char* call) {
  if (state == nullptr) refuse_closed("Stream", call);
  return *state;
}

namespace {

// A borrowed stream's context, asked of the driver each time: the stream is not cucore's.
std::shared_ptr<const ContextState> ask_context(const StreamState& stream) {
  if (stream.follows_current_context()) {
    auto current = current_context();
    if (current == nullptr) {
      throw InvalidContextError({.call = "Stream::context",
                                 .code = driver::CUDA_ERROR_INVALID_CONTEXT,
                                 .code_name = "CUDA_ERROR_INVALID_CONTEXT",
                                 .message = "the default stream has no context: none is current in the calling thread",
                                 .hint = "call set_current() of a Device in this thread first"});
    }
    return current;
  }
  driver::CUcontext handle = nullptr;
  driver::check(driver::table().cuStreamGetCtx(stream.handle, &handle), "cuStreamGetCtx",
                [&] { return "Stream " + hexadecimal(stream.handle); });
  return context_of(handle);
}

std::shared_ptr<const ContextState> context_of_stream(const StreamState& stream) {
  return stream.context != nullptr ? stream.context : ask_context(stream);
}

std::shared_ptr<const StreamState> default_stream(driver::CUstream handle) {
  auto state = std::make_shared<StreamState>();
  state->handle = handle;
  return state;
}

}  // namespace

ContextHandle context_handle(const StreamState& stream) {
  if (stream.context != nullptr) return stream.context->handle;
  if (stream.follows_current_context()) return nullptr;
  driver::CUcontext handle = nullptr;
  driver::check(driver::table().cuStreamGetCtx(stream.handle, &handle), "cuStreamGetCtx",
                [&] { return "Stream " + hexadecimal(stream.handle); });
  return handle;
}

int stream_device(const StreamState& stream) { return context_of_stream(stream)->device; }

std::string describe(const StreamState& stream) {
  if (stream.handle == nullptr) return "the NULL Stream";
  if (stream.handle == driver::CU_STREAM_LEGACY) return "the legacy default Stream";
  if (stream.handle == driver::CU_STREAM_PER_THREAD) return "the per-thread default Stream";
  std::string text = "Stream " + hexadecimal(stream.handle);
  if (stream.context != nullptr) text += " of " + describe_device(stream.context->device);
  return text;
}

namespace {

void create_green_stream(const ContextState& context, int priority, driver::CUstream& stream) {
  const driver::CUresult code =
      driver::table().cuGreenCtxStreamCreate(&stream, context.green, driver::CU_STREAM_NON_BLOCKING, priority);
  if (code == driver::CUDA_ERROR_NOT_SUPPORTED) {
    throw UnavailableError(
        {.call = "cuGreenCtxStreamCreate",
         .message = "this driver cannot create streams in green contexts; one of CUDA 12.5 or newer can",
         .hint = "update the driver"});
  }
  driver::check(code, "cuGreenCtxStreamCreate", [&] { return describe(context); });
}

}  // namespace

Stream create_stream(const std::shared_ptr<const ContextState>& context, const StreamOptions& options) {
  const driver::Table& table = driver::table();
  if (context->green != nullptr && !options.nonblocking) {
    throw ValueError({.call = "create_stream",
                      .message = "a stream of a green context must be non-blocking",
                      .hint = "leave nonblocking at true"});
  }
  ContextScope scope(context->handle);
  const auto on = [&] { return describe_device(context->device); };
  const int priority = options.priority.value_or(0);  // the lowest on every device
  int least = 0;
  int greatest = 0;
  if (priority != 0) {
    driver::check(table.cuCtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange", on);
  }
  if (priority > least || priority < greatest) {
    throw ValueError({.call = "create_stream",
                      .message = "the stream priority " + std::to_string(priority) + " is out of range: " + on() +
                                 " has priorities from " + std::to_string(greatest) + " (highest) to " +
                                 std::to_string(least) + " (lowest)"});
  }
  auto state = std::make_shared<StreamState>();
  const unsigned flags = options.nonblocking ? driver::CU_STREAM_NON_BLOCKING : driver::CU_STREAM_DEFAULT;
  if (context->green != nullptr) {
    create_green_stream(*context, priority, state->handle);
  } else {
    driver::check(table.cuStreamCreateWithPriority(&state->handle, flags, priority), "cuStreamCreateWithPriority", on);
  }
  StreamState::own(state, context);
  state->flags = static_cast<int>(flags);
  state->priority = priority;
  // Asked now, since NVIDIA's driver invalidates a capture when its stream is asked for the id. A driver without ids
  // reports that when one is asked for.
  unsigned long long id = 0;
  if (table.cuStreamGetId(state->handle, &id) == driver::CUDA_SUCCESS) state->id = id;
  scope.restore();
  return Stream(std::move(state));
}

}  // namespace detail

using detail::context_handle;
using detail::ContextScope;
using detail::describe;
using detail::open_stream;
using detail::StreamState;

Stream Stream::from_handle(StreamHandle handle, std::shared_ptr<const void> owner) {
  if (driver::is_open()) {
    if (auto known = detail::HandleRegistry<StreamState>::instance().find(handle)) return Stream(std::move(known));
  }
  auto state = std::make_shared<StreamState>();
  state->handle = handle;
  state->owner = std::move(owner);
  return Stream(std::move(state));
}

Stream Stream::adopt(StreamHandle handle) {
  auto state = std::make_shared<StreamState>();
  state->handle = handle;
  if (state->follows_current_context()) {
    throw ValueError({.call = "Stream::adopt",
                      .message = describe(*state) + " cannot be owned: the driver owns it",
                      .hint = "use Stream::from_handle, or Stream::legacy_default"});
  }
  StreamState::own(state, Context::from_handle(context_handle(*state)).state());
  return Stream(std::move(state));
}

// Both live for ever, so that they can be used from anything that runs late in the process.
const Stream& Stream::legacy_default() noexcept {
  static const Stream* const stream = new Stream(detail::default_stream(driver::CU_STREAM_LEGACY));
  return *stream;
}

const Stream& Stream::per_thread_default() noexcept {
  static const Stream* const stream = new Stream(detail::default_stream(driver::CU_STREAM_PER_THREAD));
  return *stream;
}

StreamHandle Stream::handle() const noexcept { return state_ == nullptr ? nullptr : state_->handle; }

bool Stream::is_nonblocking() const {
  const StreamState& state = open_stream(state_, "is_nonblocking");
  int flags = state.flags.load(std::memory_order_relaxed);
  if (flags == StreamState::unknown) {
    unsigned answer = 0;
    ContextScope scope(context_handle(state));
    driver::check(driver::table().cuStreamGetFlags(state.handle, &answer), "cuStreamGetFlags",
                  [&] { return describe(state); });
    scope.restore();
    flags = static_cast<int>(answer);
    state.flags.store(flags, std::memory_order_relaxed);
  }
  return (static_cast<unsigned>(flags) & driver::CU_STREAM_NON_BLOCKING) != 0;
}

int Stream::priority() const {
  const StreamState& state = open_stream(state_, "priority");
  int priority = state.priority.load(std::memory_order_relaxed);
  if (priority == StreamState::unknown) {
    ContextScope scope(context_handle(state));
    driver::check(driver::table().cuStreamGetPriority(state.handle, &priority), "cuStreamGetPriority",
                  [&] { return describe(state); });
    scope.restore();
    state.priority.store(priority, std::memory_order_relaxed);
  }
  return priority;
}

std::optional<bool> detail::known_nonblocking(const Stream& stream) noexcept {
  if (!stream) return std::nullopt;
  const int flags = stream.state()->flags.load(std::memory_order_relaxed);
  if (flags == StreamState::unknown) return std::nullopt;
  return (static_cast<unsigned>(flags) & driver::CU_STREAM_NON_BLOCKING) != 0;
}

std::optional<int> detail::known_priority(const Stream& stream) noexcept {
  if (!stream) return std::nullopt;
  const int priority = stream.state()->priority.load(std::memory_order_relaxed);
  return priority == StreamState::unknown ? std::nullopt : std::optional(priority);
}

Context detail::known_context(const Stream& stream) noexcept {
  return stream && stream.state()->context != nullptr ? Context(stream.state()->context) : Context();
}

Device Stream::device() const { return Device(detail::stream_device(open_stream(state_, "device")), Device::Known()); }

Context Stream::context() const { return Context(detail::context_of_stream(open_stream(state_, "context"))); }

DeviceResources Stream::resources() const { return context().resources(); }

namespace {

// Refuses an event that must not be recorded: one that other processes know.
const detail::EventState& recordable(const Event& event, const char* call) {
  const detail::EventState& recorded = detail::open_event(event.state(), call);
  if (recorded.options.ipc_enabled) {
    throw TypeError({.call = "Stream::record",
                     .message = "an IPC-enabled event is bound to its first record and cannot be re-recorded",
                     .hint = "make a new one with record({.ipc_enabled = true})"});
  }
  return recorded;
}

void wait_for_event(const StreamState& state, const Event& event, unsigned flags) {
  const detail::EventState& waited = detail::open_event(event.state(), "wait");
  const driver::Table& table = driver::table();
  const driver::CUresult code =
      detail::ask_in_any_context([&] { return context_handle(state); },
                                 [&] { return table.cuStreamWaitEvent(state.handle, waited.handle, flags); });
  driver::check(code, "cuStreamWaitEvent",
                [&] { return describe(state) + " waiting for " + detail::describe(waited); });
}

}  // namespace

void Stream::record(const Event& event) const {
  const StreamState& state = open_stream(state_, "record");
  detail::record_event(recordable(event, "record"), state);
}

void Stream::record_external(const Event& event) const {
  const StreamState& state = open_stream(state_, "record_external");
  detail::record_event(recordable(event, "record_external"), state, driver::CU_EVENT_RECORD_EXTERNAL);
}

Event Stream::record(const EventOptions& options) const {
  const StreamState& state = open_stream(state_, "record");
  Event event = detail::create_event(detail::context_of_stream(state), options);
  detail::record_event(*event.state(), state);
  return event;
}

void Stream::wait(const Event& event) const { wait_for_event(open_stream(state_, "wait"), event, 0); }

void Stream::wait_external(const Event& event) const {
  wait_for_event(open_stream(state_, "wait_external"), event, driver::CU_EVENT_WAIT_EXTERNAL);
}

void Stream::wait(const Stream& other) const {
  open_stream(state_, "wait");
  open_stream(other.state(), "wait");
  // Made in the other stream's context: it is recorded there.
  wait(other.record(EventOptions{}));
}

void Stream::sync() const {
  const StreamState& state = open_stream(state_, "sync");
  const driver::Table& table = driver::table();
  const driver::CUresult code = detail::ask_in_any_context([&] { return context_handle(state); },
                                                           [&] { return table.cuStreamSynchronize(state.handle); });
  driver::check(code, "cuStreamSynchronize", [&] { return describe(state); });
  detail::trim_pools_set_aside();
  detail::safe_point();
}

bool Stream::is_done() const {
  const StreamState& state = open_stream(state_, "is_done");
  const driver::Table& table = driver::table();
  const driver::CUresult code = detail::ask_in_any_context([&] { return context_handle(state); },
                                                           [&] { return table.cuStreamQuery(state.handle); });
  if (code != driver::CUDA_ERROR_NOT_READY) {
    driver::check(code, "cuStreamQuery", [&] { return describe(state); });
  }
  return code == driver::CUDA_SUCCESS;
}

bool Stream::sync_for(std::chrono::nanoseconds timeout) const {
  open_stream(state_, "sync_for");
  return detail::wait_for(timeout, [this] { return is_done(); });
}

std::uint64_t Stream::id() const {
  const StreamState& state = open_stream(state_, "id");
  if (const std::uint64_t known = state.id; known != StreamState::unknown_id) return known;
  if (!state.follows_current_context() && capture_status() != CaptureStatus::none) {
    throw StateError({.call = "Stream::id",
                      .message = describe(state) + " was not created by cucore and is capturing into a graph; asking " +
                                 "the driver for its id would invalidate the capture",
                      .hint = "ask for the id before the capture begins"});
  }
  unsigned long long id = 0;
  ContextScope scope(context_handle(state));
  driver::check(driver::table().cuStreamGetId(state.handle, &id), "cuStreamGetId", [&] { return describe(state); });
  scope.restore();
  if (!state.follows_current_context()) state.id = id;
  return id;
}

CaptureStatus Stream::capture_status() const {
  const StreamState& state = open_stream(state_, "capture_status");
  int status = 0;
  ContextScope scope(state.context != nullptr ? state.context->handle : nullptr);
  driver::check(driver::table().cuStreamIsCapturing(state.handle, &status), "cuStreamIsCapturing",
                [&] { return describe(state); });
  scope.restore();
  return static_cast<CaptureStatus>(status);
}

std::shared_ptr<const void> Stream::owner() const noexcept { return state_ == nullptr ? nullptr : state_->owner; }

Stream Stream::share() const { return Stream(state_); }

void Stream::close() {
  if (const auto last = detail::take_if_last(state_))
    driver::check(last->disown().close(), detail::StreamTraits::call, [&] { return describe(*last); });
}

StreamHandle Stream::release() {
  open_stream(state_, "release");
  if (state_.use_count() > 1) {
    throw StateError({.call = "Stream::release",
                      .message = describe(*state_) + " cannot be released: it is referred to elsewhere",
                      .hint = "close what was made with share(), and the buffers to be freed on this stream, first"});
  }
  const auto state = std::move(state_);
  state_ = nullptr;
  const_cast<StreamState&>(*state).disown().release();
  return state->handle;
}

}  // namespace cucore
