// EventPool.
#include "cucore/event_pool.hpp"

#include "cucore/error.hpp"
#include "src/detail/closed.hpp"
#include "src/detail/event_state.hpp"
#include "src/detail/spin_guard.hpp"

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

inline Event EventPool::take(const EventOptions& options, unsigned loans) {
  if (options.ipc_enabled) [[unlikely]] {
    throw TypeError({.call = "EventPool::get",
                     .message = "an IPC-enabled event belongs to one record and cannot be used again",
                     .hint = "make it with Stream::record"});
  }
  Idle& idle = idle_[kind_of(options)];
  const detail::SpinGuard lock(taken_);
  if (idle.count == 0) [[unlikely]] {
    return {};
  }
  loans_ += loans;
  return std::move(idle.places[--idle.count]);
}

[[gnu::cold, gnu::noinline]] bool EventPool::make_room(Idle& idle) noexcept {
  try {
    idle.places.resize(idle.places.size() * 2 + 8);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// With the lock held.
inline bool EventPool::keep(Event& event) noexcept {
  Idle& idle = idle_[kind_of(event.state()->options)];
  if (is_ownerless_ || idle.count >= capacity_) return false;
  if (idle.count == idle.places.size() && !make_room(idle)) return false;
  idle.places[idle.count++] = std::move(event);
  return true;
}

PooledEvent EventPool::get(const EventOptions& options) {
  Event event = take(options, 1);
  if (!event) [[unlikely]] {
    event = context_.create_event(options);
    count_loan();
  }
  return {std::move(event), *this};
}

Event EventPool::lend(const EventOptions& options) { return take(options, 1); }

Event EventPool::try_take(const EventOptions& options) { return take(options, 0); }

void EventPool::count_loan() noexcept {
  const detail::SpinGuard lock(taken_);
  ++loans_;
}

bool EventPool::take_back(Event& event) noexcept {
  const bool free = event && event.state().use_count() == 1;
  bool kept = false;
  {
    const detail::SpinGuard lock(taken_);
    --loans_;
    kept = free && keep(event);
    if (!is_ownerless_ || loans_ != 0) [[likely]] {
      return kept;
    }
  }
  delete this;
  return false;
}

bool EventPool::try_put(Event& event) noexcept {
  // An event that others refer to is not free to be used again.
  if (!event || event.state().use_count() != 1) return false;
  const detail::EventState& state = *event.state();
  if (state.options.ipc_enabled || state.context != context_.state() || state.owned.get() == nullptr) return false;
  const detail::SpinGuard lock(taken_);
  return keep(event);
}

void EventPool::trim(std::size_t keep) noexcept {
  std::array<std::vector<Event>, 4> excess;  // destroyed without the lock
  const detail::SpinGuard lock(taken_);
  for (std::size_t kind = 0; kind < idle_.size(); ++kind) {
    Idle& idle = idle_[kind];
    while (idle.count > keep) {
      Event& last = idle.places[--idle.count];
      try {
        excess[kind].push_back(std::move(last));
      } catch (const std::bad_alloc&) {  // then it goes with the lock held
        last = Event();
      }
    }
  }
}

std::size_t EventPool::capacity() const noexcept {
  const detail::SpinGuard lock(taken_);
  return capacity_;
}

void EventPool::set_capacity(std::size_t capacity) noexcept {
  {
    const detail::SpinGuard lock(taken_);
    capacity_ = capacity;
  }
  trim(capacity);
}

std::size_t EventPool::idle() const noexcept {
  const detail::SpinGuard lock(taken_);
  std::size_t count = 0;
  for (const Idle& idle : idle_) count += idle.count;
  return count;
}

}  // namespace cucore
