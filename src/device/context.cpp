// Context.
#include "cucore/context.hpp"

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/device/context_state.hpp"
#include "src/device/create.hpp"
#include "src/error/closed.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/deferred_release.hpp"
#include "src/handles/pools_set_aside.hpp"
#include "src/handles/release_report.hpp"

namespace cucore {
namespace {

using detail::describe;

const detail::ContextState& open_state(const Context& context, const char* call) {
  if (!context) detail::refuse_closed("Context", call);
  return *context.state();
}

}  // namespace

Context Context::current() { return Context(detail::current_context()); }

void Context::set_none_current() {
  driver::check(driver::table().cuCtxSetCurrent(nullptr), "cuCtxSetCurrent", "no context");
}

Context Context::from_handle(ContextHandle handle) {
  if (handle == nullptr) {
    throw ValueError({.call = "Context::from_handle", .message = "a null handle is not a context"});
  }
  return Context(detail::context_of(handle));
}

ContextHandle Context::handle() const noexcept { return state_ == nullptr ? nullptr : state_->handle; }

bool Context::is_primary() const { return open_state(*this, "is_primary").is_primary; }

bool Context::is_green() const noexcept { return state_ != nullptr && state_->green != nullptr; }

GreenContextHandle Context::green_handle() const noexcept { return state_ == nullptr ? nullptr : state_->green; }

DeviceResources Context::resources() const {
  open_state(*this, "resources");
  return DeviceResources(state_->device, state_);
}

Device Context::device() const { return Device(open_state(*this, "device").device); }

void Context::set_current() const {
  const detail::ContextState& state = open_state(*this, "set_current");
  driver::check(driver::table().cuCtxSetCurrent(state.handle), "cuCtxSetCurrent", [&] { return describe(state); });
}

bool Context::is_current() const {
  if (state_ == nullptr) return false;
  ContextHandle current = nullptr;
  driver::check(driver::table().cuCtxGetCurrent(&current), "cuCtxGetCurrent", "the calling thread");
  return current == state_->handle;
}

Stream Context::create_stream(const StreamOptions& options) const {
  open_state(*this, "create_stream");
  return detail::create_stream(state_, options);
}
Stream Context::create_stream() const { return create_stream(StreamOptions{}); }

Event Context::create_event(const EventOptions& options) const {
  open_state(*this, "create_event");
  if (options.ipc_enabled) {
    throw TypeError({.call = "create_event",
                     .message = "an IPC-enabled event must be made and recorded in one step",
                     .hint = "use Stream::record with {.ipc_enabled = true}"});
  }
  return detail::create_event(state_, options);
}
Event Context::create_event() const { return create_event(EventOptions{}); }

void Context::sync() const {
  const detail::ContextState& state = open_state(*this, "sync");
  detail::ContextScope scope(state.handle);
  const detail::DestroyPoolsAfterWait pools;
  driver::check(driver::table().cuCtxSynchronize(), "cuCtxSynchronize", [&] { return describe(state); });
  pools.waited_for(state.handle);
  scope.restore();
  detail::safe_point();
}

std::size_t Context::limit(Limit limit) const {
  const detail::ContextState& state = open_state(*this, "limit");
  std::size_t value = 0;
  detail::ContextScope scope(state.handle);
  driver::check(driver::table().cuCtxGetLimit(&value, static_cast<int>(limit)), "cuCtxGetLimit",
                [&] { return describe(state); });
  scope.restore();
  return value;
}

void Context::set_limit(Limit limit, std::size_t value) const {
  const detail::ContextState& state = open_state(*this, "set_limit");
  detail::ContextScope scope(state.handle);
  driver::check(driver::table().cuCtxSetLimit(static_cast<int>(limit), value), "cuCtxSetLimit",
                [&] { return describe(state); });
  scope.restore();
}

void Context::enable_peer_access(const Context& peer) const {
  const detail::ContextState& state = open_state(*this, "enable_peer_access");
  const detail::ContextState& other = open_state(peer, "enable_peer_access");
  detail::ContextScope scope(state.handle);
  const driver::CUresult code = driver::table().cuCtxEnablePeerAccess(other.handle, 0);
  if (code != driver::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
    driver::check(code, "cuCtxEnablePeerAccess", [&] { return describe(state) + " and " + describe(other); });
  }
  scope.restore();
}

void Context::disable_peer_access(const Context& peer) const {
  const detail::ContextState& state = open_state(*this, "disable_peer_access");
  const detail::ContextState& other = open_state(peer, "disable_peer_access");
  detail::ContextScope scope(state.handle);
  const driver::CUresult code = driver::table().cuCtxDisablePeerAccess(other.handle);
  if (code != driver::CUDA_ERROR_PEER_ACCESS_NOT_ENABLED) {
    driver::check(code, "cuCtxDisablePeerAccess", [&] { return describe(state) + " and " + describe(other); });
  }
  scope.restore();
}

ScopedCurrent::ScopedCurrent(const Context& context) : context_(context.share()) {
  driver::check(driver::table().cuCtxGetCurrent(&previous_), "cuCtxGetCurrent", "the calling thread");
  context_.set_current();
}

ScopedCurrent::~ScopedCurrent() {
  const driver::Table* table = driver::table_for_release();
  if (table == nullptr) return;
  const driver::CUresult code = table->cuCtxSetCurrent(previous_);
  if (code != driver::CUDA_SUCCESS && code != driver::CUDA_ERROR_DEINITIALIZED) {
    detail::report_release_failure(code, "cuCtxSetCurrent", previous_);
  }
}

Context Context::share() const { return Context(state_); }

}  // namespace cucore
