// EventPool.
#include "cucore/event_pool.hpp"

#include "cucore/error.hpp"
#include "src/detail/closed.hpp"
#include "src/detail/event_state.hpp"

namespace cucore {

std::shared_ptr<EventPool> EventPool::create(const Context& context, std::size_t capacity) {
  if (!context) detail::refuse_closed("Context", "EventPool::create");
  return std::shared_ptr<EventPool>(new EventPool(context.share(), capacity));
}

PooledEvent EventPool::get(const EventOptions& options) {
  Event event = try_take(options);
  if (!event) event = context_.create_event(options);
  return {std::move(event), shared_from_this()};
}

Event EventPool::try_take(const EventOptions& options) {
  if (options.ipc_enabled) {
    throw TypeError({.call = "EventPool::get",
                     .message = "an IPC-enabled event belongs to one record and cannot be used again",
                     .hint = "make it with Stream::record"});
  }
  const std::scoped_lock lock(mutex_);
  std::vector<Event>& idle = idle_[kind_of(options)];
  if (idle.empty()) return {};
  Event event = std::move(idle.back());
  idle.pop_back();
  return event;
}

bool EventPool::try_put(Event& event) noexcept {
  // An event that others refer to is not free to be used again.
  if (!event || event.state().use_count() != 1) return false;
  const detail::EventState& state = *event.state();
  if (state.options.ipc_enabled || state.context != context_.state() || state.owned.get() == nullptr) return false;
  const std::scoped_lock lock(mutex_);
  std::vector<Event>& idle = idle_[kind_of(state.options)];
  if (idle.size() >= capacity_) return false;
  try {
    idle.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void EventPool::trim(std::size_t keep) noexcept {
  std::array<std::vector<Event>, 4> excess;  // destroyed without the lock
  const std::scoped_lock lock(mutex_);
  for (std::size_t kind = 0; kind < idle_.size(); ++kind) {
    while (idle_[kind].size() > keep) {
      try {
        excess[kind].push_back(std::move(idle_[kind].back()));
      } catch (const std::bad_alloc&) {  // then it goes with the lock held
      }
      idle_[kind].pop_back();
    }
  }
}

std::size_t EventPool::capacity() const noexcept {
  const std::scoped_lock lock(mutex_);
  return capacity_;
}

void EventPool::set_capacity(std::size_t capacity) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    capacity_ = capacity;
  }
  trim(capacity);
}

std::size_t EventPool::idle() const noexcept {
  const std::scoped_lock lock(mutex_);
  std::size_t count = 0;
  for (const std::vector<Event>& events : idle_) count += events.size();
  return count;
}

}  // namespace cucore
