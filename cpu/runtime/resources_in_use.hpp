// Texture and surface objects that a grid has used: they and their arrays live until it ends, whatever the program
// destroys meanwhile. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace cucore::cpu::runtime {

struct ResourceObject;

class ResourcesInUse {
 public:
  /// Null: the handle is of no live object of that kind. The object is good until the grid ends.
  const ResourceObject* find(std::uint64_t handle, bool is_surface);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const ResourceObject>>> objects_;
};

}  // namespace cucore::cpu::runtime
