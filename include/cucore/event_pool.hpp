// EventPool: events to be reused, so that code which needs one for a moment does not create and destroy one each time.
//
//   auto pool = device.event_pool();
//   {
//     cucore::PooledEvent mark = pool->get({.timing_enabled = true});
//     mark->record(stream);
//     ...
//   }                                  // back in the pool
//
// An event from the pool may have been recorded by an earlier user: until it is recorded again, is_done() and sync()
// answer for that record.
//
// Ownership: a PooledEvent gives its event back when it is destroyed; release() keeps the event instead. It may outlive
// the pool: the idle events are destroyed with the pool's last owner, and an event that comes back later is destroyed
// then. The pool's events keep its context alive. A device's own pool (Device::event_pool) gives up its idle events at
// process exit. Thread-safety: every member of EventPool may be called from any thread at any time.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "cucore/context.hpp"
#include "cucore/detail/spin_guard.hpp"
#include "cucore/event.hpp"
#include "cucore/export.hpp"

namespace cucore {

class PooledEvent;

class CUCORE_API EventPool {
 public:
  static constexpr std::size_t default_capacity = 256;

  /// A pool of events of `context` that keeps at most `capacity` idle ones of each kind (with or without timing, with
  /// or without blocking sync); what comes back beyond that is destroyed. @throws StateError the context is closed
  static std::shared_ptr<EventPool> create(const Context& context, std::size_t capacity = default_capacity);

  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  /// An idle event of that kind, or a new one (cuEventCreate). @throws TypeError IPC-enabled: such an event belongs to
  /// one record and is never used again
  PooledEvent get(const EventOptions& options = {});
  /// An idle event that the pool need not get back; the closed event if none is idle. Makes no driver call.
  Event try_take(const EventOptions& options = {});
  /// Gives an event back and returns true; or returns false and leaves it to the caller: one that others refer to, of
  /// another context, not owned, or beyond the capacity. Makes no driver call.
  bool try_put(Event& event) noexcept;
  /// Destroys idle events until at most `keep` of each kind are left.
  void trim(std::size_t keep = 0) noexcept;

  /// How many idle events there are now.
  std::size_t idle() const noexcept;
  /// How many idle events of each kind there may be; 0: every event that comes back is destroyed.
  std::size_t capacity() const noexcept;
  void set_capacity(std::size_t capacity) noexcept;
  const Context& context() const noexcept { return context_; }

  // Internal: an event on loan, which keeps this object, though not the idle events, until take_back(). If none is
  // idle, lend() returns the closed event and counts no loan.
  Event lend(const EventOptions& options);
  void count_loan() noexcept;
  /// Ends a loan and returns true; or returns false and leaves the event to the caller: one that others refer to, or
  /// beyond the capacity. The closed event only ends the loan. The pool may be gone afterwards.
  bool take_back(Event& event, unsigned kind) noexcept;
  /// Which of the four kinds of idle events these options ask for: 0 to 3.
  static unsigned kind_of(const EventOptions& options) noexcept {
    return (options.timing_enabled ? 1u : 0u) | (options.blocking_sync ? 2u : 0u);
  }

 private:
  EventPool(Context context, std::size_t capacity) : context_(std::move(context)), capacity_(capacity) {}
  ~EventPool() = default;
  /// Called for the last owner.
  static void drop(EventPool* pool) noexcept;
  Event take(const EventOptions& options, unsigned loans);
  PooledEvent get_otherwise(const EventOptions& options);
  bool take_back_otherwise(Event& event, unsigned kind) noexcept;
  struct Idle {
    std::vector<Event> places;  // at most as many as the capacity; the first `count` have events, the others are closed
    std::size_t count = 0;
    bool has_room() const noexcept { return count < places.size(); }
  };
  bool make_room(Idle& idle) noexcept;
  // With the lock held.
  static Event take_last(Idle& idle) noexcept { return std::move(idle.places[--idle.count]); }
  static void keep(Event& event, Idle& idle) noexcept {
    std::construct_at(&idle.places[idle.count++], std::move(event));  // the event that was there is closed
  }
  std::array<std::vector<Event>, 4> take_excess(std::size_t keep) noexcept;

  const Context context_;
  mutable std::atomic<bool> taken_{false};  // a SpinGuard's lock, for all below
  bool is_ownerless_ = false;
  std::size_t loans_ = 0;
  std::size_t capacity_;
  std::array<Idle, 4> idle_;
};

/// An event on loan; move-only. Empty when moved from, and after release().
class PooledEvent {
 public:
  PooledEvent() noexcept = default;
  /// Internal: for a loan that `pool` has counted.
  PooledEvent(Event event, EventPool& pool, unsigned kind) noexcept
      : event_(std::move(event)), pool_(&pool), kind_(kind) {}
  PooledEvent(PooledEvent&& other) noexcept
      : event_(std::move(other.event_)), pool_(std::exchange(other.pool_, nullptr)), kind_(other.kind_) {}
  PooledEvent& operator=(PooledEvent&& other) noexcept {
    if (this != &other) {
      give_back();
      event_ = std::move(other.event_);
      pool_ = std::exchange(other.pool_, nullptr);
      kind_ = other.kind_;
    }
    return *this;
  }
  ~PooledEvent() { give_back(); }

  const Event& operator*() const noexcept { return event_; }
  const Event* operator->() const noexcept { return &event_; }
  explicit operator bool() const noexcept { return static_cast<bool>(event_); }
  /// Gives the event back now.
  void give_back() noexcept {
    if (pool_ == nullptr) return;
    // An event that the pool does not keep is destroyed, if nobody else refers to it.
    if (!std::exchange(pool_, nullptr)->take_back(event_, kind_)) event_ = Event();
  }
  /// Keeps the event: it will not go back.
  Event release() noexcept {
    Event kept = std::move(event_);
    give_back();
    return kept;
  }

 private:
  Event event_;
  EventPool* pool_ = nullptr;
  unsigned kind_ = 0;
};

// Inline, since lending an event and taking it back cost little more than two calls would.

inline PooledEvent EventPool::get(const EventOptions& options) {
  if (!options.ipc_enabled) [[likely]] {
    const unsigned kind = kind_of(options);
    Idle& idle = idle_[kind];
    const detail::SpinGuard lock(taken_);
    if (idle.count != 0) [[likely]] {
      ++loans_;
      return {take_last(idle), *this, kind};
    }
  }
  return get_otherwise(options);
}

inline bool EventPool::take_back(Event& event, unsigned kind) noexcept {
  if (event && event.state().use_count() == 1) [[likely]] {
    Idle& idle = idle_[kind];
    const detail::SpinGuard lock(taken_);
    if (idle.has_room()) [[likely]] {
      --loans_;
      keep(event, idle);
      return true;
    }
  }
  return take_back_otherwise(event, kind);
}

}  // namespace cucore
