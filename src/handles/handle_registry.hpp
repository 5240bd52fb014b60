// HandleRegistry: from the driver's handle of an object that cucore owns back to the object, so that a raw handle that
// comes back (from_handle, the stream protocol) shares the ownership instead of borrowing.
//
// Used only while the driver may be called: in a forked child or after exit began its locks may be held for ever.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "cucore/detail/spin_guard.hpp"

namespace cucore::detail {

/// What an object in a registry carries: its neighbours in the bucket. Guarded by the bucket's lock.
template <class State>
struct RegistryLinks {
  std::weak_ptr<const State> self;
  const State* next = nullptr;
  const State* previous = nullptr;
  bool linked = false;
};

/// `State` has a `handle`, not changed while it is in the registry, and mutable `registry_links`. Adding and removing,
/// which every object needs, allocate nothing and take constant time; only find() walks through a bucket. Thread-safe.
template <class State>
class HandleRegistry {
 public:
  /// Never destroyed: objects in static storage take themselves out at the end of the process.
  static HandleRegistry& instance() {
    static HandleRegistry* const registry = new HandleRegistry;
    return *registry;
  }

  /// Hides an earlier object of the same handle, which the driver has given to a new one. Twice is once.
  void add(const std::shared_ptr<const State>& state) noexcept {
    Bucket& bucket = bucket_of(state->handle);
    RegistryLinks<State>& links = state->registry_links;
    const SpinGuard lock(bucket.taken);
    if (links.linked) return;
    links = {.self = state, .next = bucket.first, .previous = nullptr, .linked = true};
    if (bucket.first != nullptr) bucket.first->registry_links.previous = state.get();
    bucket.first = state.get();
  }

  /// Before the handle is given back: from then on the driver may give it to the next object.
  void remove(const State* state) noexcept {
    Bucket& bucket = bucket_of(state->handle);
    RegistryLinks<State>& links = state->registry_links;
    const SpinGuard lock(bucket.taken);
    if (!links.linked) return;
    if (links.next != nullptr) links.next->registry_links.previous = links.previous;
    (links.previous != nullptr ? links.previous->registry_links.next : bucket.first) = links.next;
    links = {};
  }

  /// Null: not cucore's, or about to be destroyed.
  std::shared_ptr<const State> find(const void* handle) noexcept {
    Bucket& bucket = bucket_of(handle);
    const SpinGuard lock(bucket.taken);
    for (const State* state = bucket.first; state != nullptr; state = state->registry_links.next) {
      if (state->handle == handle) return state->registry_links.self.lock();
    }
    return nullptr;
  }

 private:
  struct Bucket {
    std::atomic<bool> taken{false};
    const State* first = nullptr;
  };

  // Handles are addresses, or numbers that count in the bits above the fourth.
  Bucket& bucket_of(const void* handle) noexcept {
    const std::uint64_t spread = (reinterpret_cast<std::uintptr_t>(handle) >> 4) * 0x9E3779B97F4A7C15;
    return buckets_[spread >> 56];
  }

  std::array<Bucket, 256> buckets_;
};

}  // namespace cucore::detail
