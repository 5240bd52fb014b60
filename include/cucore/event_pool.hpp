// EventPool: events to use again, so that code which needs one for a moment does not make and destroy one each time.
//
//   auto pool = device.event_pool();
//   {
//     cucore::PooledEvent mark = pool->get({.timing_enabled = true});
//     mark->record(stream);
//     ...
//   }                                  // back in the pool
//
// An event from the pool may have been recorded by an earlier user: until it is recorded anew, is_done() and sync()
// answer for that record.
//
// Ownership: a PooledEvent shares the pool, and gives its event back when it goes; release() keeps the event instead.
// The pool's events keep its context alive. A device's own pool (Device::event_pool) gives up its idle events when the
// process exits. Thread-safety: every member of EventPool may be called from any thread at any time.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cucore/context.hpp"
#include "cucore/event.hpp"
#include "cucore/export.hpp"

namespace cucore {

class PooledEvent;

class CUCORE_API EventPool : public std::enable_shared_from_this<EventPool> {
 public:
  static constexpr std::size_t default_capacity = 256;

  /// A pool of events of `context` that keeps at most `capacity` idle ones of each kind (with timing or not, with
  /// blocking sync or not); what comes back beyond that is destroyed. @throws StateError the context is closed
  static std::shared_ptr<EventPool> create(const Context& context, std::size_t capacity = default_capacity);

  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  /// An idle event of that kind, or a new one (cuEventCreate). @throws TypeError IPC-enabled: such an event belongs to
  /// one record and is never used again
  PooledEvent get(const EventOptions& options = {});
  /// An idle event, without the lease; the closed event if none is idle. Calls no driver.
  Event try_take(const EventOptions& options = {});
  /// Gives an event back. Not kept, and left to the caller, are events that others refer to, that are of another
  /// context or not owned, and whatever exceeds the capacity; the answer says which it was. Calls no driver.
  bool try_put(Event& event) noexcept;
  /// Destroys idle events until at most `keep` of each kind are left.
  void trim(std::size_t keep = 0) noexcept;

  /// How many idle events there are now.
  std::size_t idle() const noexcept;
  /// How many idle events of each kind there may be; 0: every event that comes back is destroyed.
  std::size_t capacity() const noexcept;
  void set_capacity(std::size_t capacity) noexcept;
  const Context& context() const noexcept { return context_; }

 private:
  EventPool(Context context, std::size_t capacity) : context_(std::move(context)), capacity_(capacity) {}

  static std::size_t kind_of(const EventOptions& options) noexcept {
    return (options.timing_enabled ? 1u : 0u) | (options.blocking_sync ? 2u : 0u);
  }

  const Context context_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::array<std::vector<Event>, 4> idle_;
};

/// An event on loan; move-only. Empty when moved from, and after release().
class PooledEvent {
 public:
  PooledEvent() noexcept = default;
  PooledEvent(Event event, std::shared_ptr<EventPool> pool) noexcept
      : event_(std::move(event)), pool_(std::move(pool)) {}
  PooledEvent(PooledEvent&&) noexcept = default;
  PooledEvent& operator=(PooledEvent&& other) noexcept {
    if (this != &other) {
      give_back();
      event_ = std::move(other.event_);
      pool_ = std::move(other.pool_);
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
    pool_->try_put(event_);
    event_ = Event();  // destroyed if it was not kept
    pool_ = nullptr;
  }
  /// Keeps the event: it will not go back.
  Event release() noexcept {
    pool_ = nullptr;
    return std::move(event_);
  }

 private:
  Event event_;
  std::shared_ptr<EventPool> pool_;
};

}  // namespace cucore
