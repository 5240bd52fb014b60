// Objects that a grid reads through: see resources_in_use.hpp.
#include "cpu/runtime/texture/resources_in_use.hpp"

#include "cpu/runtime/texture/resource_epoch.hpp"
#include "cpu/runtime/texture/texture.hpp"

namespace cucore::cpu::runtime {

const ResourceObject* ResourcesInUse::find(std::uint64_t handle, bool is_surface) {
  const std::lock_guard lock(mutex_);
  for (const InUse& known : objects_) {
    if (known.handle == handle) return known.object->is_surface == is_surface ? known.object.get() : nullptr;
  }
  std::shared_ptr<const ResourceObject> object = find_resource_object(handle, is_surface);
  if (!object && epoch) object = epoch->find(handle);
  if (!object || object->is_surface != is_surface) return nullptr;
  std::shared_ptr<const void> array = object->array.lock();
  return objects_.emplace_back(handle, std::move(object), std::move(array)).object.get();
}

}  // namespace cucore::cpu::runtime
