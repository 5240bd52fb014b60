// Handles that cannot dangle: a driver handle of this library is a number (kind, generation, slot), never an address.
// Looking up a stale, foreign or garbage handle gives null. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu/runtime/process/live_objects.hpp"

namespace cucore::cpu::runtime {

/// Sits in bits 40 to 47 of a handle. The values avoid those of addresses (0x55, 0x56, 0x7e, 0x7f).
enum class HandleKind : std::uint8_t {
  Context = 0x11,
  Module = 0x12,
  Function = 0x13,
  Library = 0x14,
  Kernel = 0x15,
  Stream = 0x16,
  Event = 0x17,
  MemoryPool = 0x18,
  LinkState = 0x19,
  UserObject = 0x1a,
  Graph = 0x1b,
  GraphNode = 0x1c,
  GraphExec = 0x1d,
  Array = 0x1e,
  MipmappedArray = 0x1f,
  GreenContext = 0x21,
  PhysicalMemory = 0x22,
  ResourceDescription = 0x23,
  ExternalMemory = 0x24,
  TextureReference = 0x25,
};

/// For live_objects; null: belongs to an object that is counted.
constexpr const char* name_of(HandleKind kind) {
  switch (kind) {
    case HandleKind::Context:
      return "Context";
    case HandleKind::Module:
      return "Module";
    case HandleKind::Library:
      return "Library";
    case HandleKind::Stream:
      return "Stream";
    case HandleKind::Event:
      return "Event";
    case HandleKind::MemoryPool:
      return "memory pool";
    case HandleKind::LinkState:
      return "link state";
    case HandleKind::UserObject:
      return "user object";
    case HandleKind::Graph:
      return "Graph";
    case HandleKind::GraphExec:
      return "executable Graph";
    case HandleKind::Array:
      return "array";
    case HandleKind::MipmappedArray:
      return "mipmapped array";
    case HandleKind::GreenContext:
      return "green Context";
    case HandleKind::PhysicalMemory:
      return "physical memory";
    case HandleKind::ExternalMemory:
      return "external memory";
    default:
      return nullptr;
  }
}

/// Bits 0-3 zero, 4-25 slot, 26-39 generation, 40-47 kind.
template <class T, HandleKind kind>
class HandleTable {
 public:
  std::uintptr_t insert(std::shared_ptr<T> object) {
    const std::uintptr_t handle = insert_uncounted(std::move(object));
    if constexpr (name_of(kind) != nullptr) live_objects::made(name_of(kind), handle);
    return handle;
  }

  /// An object that belongs to the driver itself.
  std::uintptr_t insert_uncounted(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    std::uint32_t index;
    // Reusing the oldest free slot, and only from a long queue, keeps a stale handle stale for millions of creations.
    if (free_.size() > minimum_free) {
      index = free_.front();
      free_.pop_front();
    } else {
      index = static_cast<std::uint32_t>(slots_.size());
      if (index > index_mask) throw std::bad_alloc();
      slots_.emplace_back();
    }
    slots_[index].object = std::move(object);
    return encode(index, slots_[index].generation);
  }

  std::shared_ptr<T> find(const void* handle) const {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    const std::lock_guard lock(mutex_);
    const Slot* slot = slot_of(value);
    return slot ? slot->object : nullptr;
  }

  /// Ends the handle; the object lives on as long as others hold it. Null if the handle was not live.
  std::shared_ptr<T> remove(const void* handle) {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    const std::lock_guard lock(mutex_);
    auto* slot = const_cast<Slot*>(slot_of(value));
    if (!slot) return nullptr;
    std::shared_ptr<T> object = std::move(slot->object);
    slot->object.reset();
    slot->generation = (slot->generation + 1) & generation_mask;
    free_.push_back(static_cast<std::uint32_t>((value >> 4) & index_mask));
    if constexpr (name_of(kind) != nullptr) live_objects::gone(name_of(kind), value);
    return object;
  }

  std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> live;
    for (const Slot& slot : slots_)
      if (slot.object) live.push_back(slot.object);
    return live;
  }

  static bool is_of_this_kind(const void* handle) {
    return reinterpret_cast<std::uintptr_t>(handle) >> 40 == static_cast<std::uintptr_t>(kind);
  }

 private:
  struct Slot {
    std::uint32_t generation = 1;
    std::shared_ptr<T> object;
  };
  static constexpr std::uint64_t index_mask = (1u << 22) - 1;
  static constexpr std::uint32_t generation_mask = (1u << 14) - 1;
  static constexpr std::size_t minimum_free = 1024;

  static std::uintptr_t encode(std::uint32_t index, std::uint32_t generation) {
    return (static_cast<std::uintptr_t>(kind) << 40) | (static_cast<std::uintptr_t>(generation) << 26) |
           (static_cast<std::uintptr_t>(index) << 4);
  }

  const Slot* slot_of(std::uintptr_t value) const {
    if (value >> 40 != static_cast<std::uintptr_t>(kind) || (value & 15) != 0) return nullptr;
    const std::uint64_t index = (value >> 4) & index_mask;
    if (index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    return slot.object && slot.generation == ((value >> 26) & generation_mask) ? &slot : nullptr;
  }

  mutable std::mutex mutex_;
  std::deque<Slot> slots_;
  std::deque<std::uint32_t> free_;
};

}  // namespace cucore::cpu::runtime
