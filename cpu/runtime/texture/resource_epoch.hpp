// Destroyed texture and surface objects that queued work may still read through. As on a GPU, their destruction does
// not wait for work in flight; they are kept until the work that was queued before it is done (epoch-based
// reclamation): each destruction ends an epoch, work holds the epoch in which it was queued, and an epoch holds the
// object whose destruction ended it, and the epoch that follows. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace cucore::cpu::runtime {

struct ResourceObject;

class ResourceEpoch {
 public:
  ResourceEpoch() = default;
  ~ResourceEpoch();
  ResourceEpoch(const ResourceEpoch&) = delete;
  ResourceEpoch& operator=(const ResourceEpoch&) = delete;

  /// An object was made.
  static void count_object();
  /// For work that is queued now; null, without a lock, while there are no objects that could be destroyed.
  static std::shared_ptr<const ResourceEpoch> current() {
    return objects_.load(std::memory_order_relaxed) == 0 ? nullptr : current_of_objects();
  }
  /// Ends the current epoch with the destruction of this object.
  static void end(unsigned long long handle, std::shared_ptr<const ResourceObject> destroyed);

  /// An object that was destroyed since this epoch began; null if none has this handle.
  std::shared_ptr<const ResourceObject> find(unsigned long long handle) const;

 private:
  static std::shared_ptr<const ResourceEpoch> current_of_objects();

  static inline std::atomic<std::uint64_t> objects_{0};
  // Written once, when the epoch ends.
  unsigned long long handle_ = 0;
  std::shared_ptr<const ResourceObject> destroyed_;
  std::shared_ptr<ResourceEpoch> next_;
};

}  // namespace cucore::cpu::runtime
