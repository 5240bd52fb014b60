// Values kept with a context: see context_storage.hpp.
#include "cpu/runtime/objects/context_storage.hpp"

#include <mutex>
#include <utility>

namespace cucore::cpu::runtime {

void ContextStorage::put(void* key, void* value, End at_end) {
  const std::lock_guard lock(mutex_);
  kept_.insert_or_assign(key, Kept{value, at_end});
}

bool ContextStorage::find(void* key, void** value) const {
  const std::shared_lock lock(mutex_);
  const auto found = kept_.find(key);
  if (found == kept_.end()) return false;
  *value = found->second.value;
  return true;
}

bool ContextStorage::remove(void* key) {
  const std::lock_guard lock(mutex_);
  return kept_.erase(key) != 0;
}

void ContextStorage::end(CUcontext context) {
  std::map<void*, Kept> ended;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(kept_);
  }
  for (const auto& [key, kept] : ended)
    if (kept.at_end) kept.at_end(context, key, kept.value);
}

}  // namespace cucore::cpu::runtime
