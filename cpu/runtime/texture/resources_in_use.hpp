// Texture and surface objects that a grid has used: they and their arrays live until it ends, whatever the program
// destroys meanwhile; what it destroys before the grid's turn comes, the grid's epoch holds. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cucore::cpu::runtime {

class ResourceEpoch;
struct ResourceObject;

class ResourcesInUse {
 public:
  /// The epoch in which the grid was queued, so that objects destroyed since are found too.
  std::shared_ptr<const ResourceEpoch> epoch;

  /// Null: the handle is of no object of that kind. The object is good until the grid ends.
  const ResourceObject* find(std::uint64_t handle, bool is_surface);

 private:
  struct InUse {
    std::uint64_t handle;
    std::shared_ptr<const ResourceObject> object;
    std::shared_ptr<const void> array;  ///< null too if it was destroyed before
  };

  std::mutex mutex_;
  std::vector<InUse> objects_;
};

}  // namespace cucore::cpu::runtime
