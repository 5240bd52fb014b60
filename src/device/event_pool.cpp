// EventPool.
#include "cucore/event_pool.hpp"

#include <algorithm>
#include <new>

#include "cucore/error.hpp"
#include "src/device/event_state.hpp"
#include "src/error/closed.hpp"

namespace cucore {

std::shared_ptr<EventPool> EventPool::create(const Context& context, std::size_t capacity) {
  if (!context) detail::refuse_closed("Context", "EventPool::create");
  return {new EventPool(context.share(), capacity), &EventPool::drop};
}

void EventPool::drop(EventPool* pool) noexcept {
  std::array<Idle, 4> idle;  // destroyed without the lock
  {
    const detail::SpinGuard lock(pool->taken_);
    pool->is_ownerless_ = true;
    idle.swap(pool->idle_);
    if (pool->loans_ != 0) return;
  }
  delete pool;
}

Event EventPool::take(const EventOptions& options, unsigned loans) {
  if (options.ipc_enabled) {
    throw TypeError({.call = "EventPool::get",
                     .message = "an IPC-enabled event belongs to one record and cannot be used again",
                     .hint = "make it with Stream::record"});
  }
  Idle& idle = idle_[kind_of(options)];
  const detail::SpinGuard lock(taken_);
  if (idle.count == 0) return {};
  loans_ += loans;
  return take_last(idle);
}

// With the lock held.
[[gnu::cold, gnu::noinline]] bool EventPool::make_room(Idle& idle) noexcept {
  if (is_ownerless_ || idle.places.size() >= capacity_) return false;
  try {
    idle.places.resize(std::min(idle.places.size() * 2 + 8, capacity_));
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// With the lock not held: a new event, unless another thread has given one back meanwhile.
PooledEvent EventPool::get_otherwise(const EventOptions& options) {
  Event event = take(options, 1);
  if (!event) {
    event = context_.create_event(options);
    count_loan();
  }
  return {std::move(event), *this, kind_of(options)};
}

Event EventPool::lend(const EventOptions& options) { return take(options, 1); }

Event EventPool::try_take(const EventOptions& options) { return take(options, 0); }

void EventPool::count_loan() noexcept {
  const detail::SpinGuard lock(taken_);
  ++loans_;
}

// The rare cases: events that stay with the caller, the first ones of a kind, and the end of a pool without an owner.
bool EventPool::take_back_otherwise(Event& event, unsigned kind) noexcept {
  const bool free = event && event.state().use_count() == 1;
  {
    const detail::SpinGuard lock(taken_);
    --loans_;
    Idle& idle = idle_[kind];
    if (free && (idle.has_room() || make_room(idle))) {
      keep(event, idle);
      return true;
    }
    if (!is_ownerless_ || loans_ != 0) return false;
  }
  delete this;
  return false;
}

bool EventPool::try_put(Event& event) noexcept {
  // An event that others refer to cannot be reused.
  if (!event || event.state().use_count() != 1) return false;
  const detail::EventState& state = *event.state();
  if (state.options.ipc_enabled || state.context != context_.state() || state.owned.get() == nullptr) return false;
  Idle& idle = idle_[kind_of(state.options)];
  const detail::SpinGuard lock(taken_);
  if (!idle.has_room() && !make_room(idle)) return false;
  keep(event, idle);
  return true;
}

// With the lock held.
std::array<std::vector<Event>, 4> EventPool::take_excess(std::size_t keep) noexcept {
  std::array<std::vector<Event>, 4> excess;
  for (std::size_t kind = 0; kind < idle_.size(); ++kind) {
    Idle& idle = idle_[kind];
    while (idle.count > keep) {
      Event& last = idle.places[--idle.count];
      try {
        excess[kind].push_back(std::move(last));
      } catch (const std::bad_alloc&) {  // then it is destroyed with the lock held
        last = Event();
      }
    }
  }
  return excess;
}

void EventPool::trim(std::size_t keep) noexcept {
  std::array<std::vector<Event>, 4> excess;  // destroyed without the lock
  const detail::SpinGuard lock(taken_);
  excess = take_excess(keep);
}

std::size_t EventPool::capacity() const noexcept {
  const detail::SpinGuard lock(taken_);
  return capacity_;
}

void EventPool::set_capacity(std::size_t capacity) noexcept {
  std::array<std::vector<Event>, 4> excess;  // destroyed without the lock
  const detail::SpinGuard lock(taken_);
  capacity_ = capacity;
  excess = take_excess(capacity);
  for (Idle& idle : idle_) idle.places.resize(std::min(idle.places.size(), capacity));
}

std::size_t EventPool::idle() const noexcept {
  const detail::SpinGuard lock(taken_);
  std::size_t count = 0;
  for (const Idle& idle : idle_) count += idle.count;
  return count;
}

}  // namespace cucore
