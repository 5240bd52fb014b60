// HandleRegistry: from the driver's handle of an object that cucore owns back to the object, so that a raw handle that
// comes back (from_handle, the stream protocol) shares the ownership instead of borrowing.
//
// Used only while the driver may be called: in a forked child or after exit began its locks may be held for ever.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace cucore::detail {

/// `State` derives from std::enable_shared_from_this. Thread-safe.
template <class State>
class HandleRegistry {
 public:
  /// Never destroyed: objects in static storage take themselves out at the end of the process.
  static HandleRegistry& instance() {
    static HandleRegistry* const registry = new HandleRegistry;
    return *registry;
  }

  void add(const void* handle, const State* state) {
    Shard& shard = shard_of(handle);
    const std::scoped_lock lock(shard.mutex);
    shard.states[handle] = state;
  }

  /// Before the handle is given back: from then on the driver may give it to the next object.
  void remove(const void* handle, const State* state) noexcept {
    Shard& shard = shard_of(handle);
    const std::scoped_lock lock(shard.mutex);
    if (const auto found = shard.states.find(handle); found != shard.states.end() && found->second == state) {
      shard.states.erase(found);
    }
  }

  /// Null: not ours, or on its way out.
  std::shared_ptr<const State> find(const void* handle) const {
    const Shard& shard = shard_of(handle);
    const std::scoped_lock lock(shard.mutex);
    const auto found = shard.states.find(handle);
    return found == shard.states.end() ? nullptr : found->second->weak_from_this().lock();
  }

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<const void*, const State*> states;
  };

  // Handles are addresses, or numbers that count in the bits above the fourth.
  static std::size_t index(const void* handle) noexcept { return reinterpret_cast<std::uintptr_t>(handle) >> 4 & 15; }
  Shard& shard_of(const void* handle) noexcept { return shards_[index(handle)]; }
  const Shard& shard_of(const void* handle) const noexcept { return shards_[index(handle)]; }

  std::array<Shard, 16> shards_;
};

}  // namespace cucore::detail
