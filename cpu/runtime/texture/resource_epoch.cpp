// Epochs of texture and surface objects: see resource_epoch.hpp.
#include "cpu/runtime/texture/resource_epoch.hpp"

#include <mutex>
#include <utility>

#include "cpu/runtime/texture/texture.hpp"

namespace cucore::cpu::runtime {

namespace {

struct Epochs {
  std::mutex mutex;  ///< also for what is written when an epoch ends
  std::shared_ptr<ResourceEpoch> current = std::make_shared<ResourceEpoch>();
};

Epochs& epochs() {
  static auto* const instance = new Epochs;
  return *instance;
}

}  // namespace

/// One after another: each without other owners would end the next inside its own end.
ResourceEpoch::~ResourceEpoch() {
  for (std::shared_ptr<ResourceEpoch> next = std::move(next_); next && next.use_count() == 1;) {
    std::shared_ptr<ResourceEpoch> after = std::move(next->next_);
    next = std::move(after);
  }
}

void ResourceEpoch::count_object() { objects_.fetch_add(1, std::memory_order_relaxed); }

std::shared_ptr<const ResourceEpoch> ResourceEpoch::current_of_objects() {
  Epochs& self = epochs();
  const std::lock_guard lock(self.mutex);
  return self.current;
}

void ResourceEpoch::end(unsigned long long handle, std::shared_ptr<const ResourceObject> destroyed) {
  Epochs& self = epochs();
  auto next = std::make_shared<ResourceEpoch>();
  std::shared_ptr<ResourceEpoch> ended;  // destroyed after the lock, if it has no other owners
  const std::lock_guard lock(self.mutex);
  objects_.fetch_sub(1, std::memory_order_relaxed);
  ended = std::exchange(self.current, next);
  ended->handle_ = handle;
  ended->destroyed_ = std::move(destroyed);
  ended->next_ = std::move(next);
}

std::shared_ptr<const ResourceObject> ResourceEpoch::find(unsigned long long handle) const {
  const std::lock_guard lock(epochs().mutex);
  for (const ResourceEpoch* epoch = this; epoch; epoch = epoch->next_.get())
    if (epoch->destroyed_ && epoch->handle_ == handle) return epoch->destroyed_;
  return nullptr;
}

}  // namespace cucore::cpu::runtime
