// User objects: see user_object.hpp.
#include "cpu/runtime/graph/user_object.hpp"

#include <algorithm>

#include "cpu/runtime/process/handle_table.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

using UserObjectTable = HandleTable<UserObject, HandleKind::UserObject>;
UserObjectTable& user_object_table() {
  static auto* table = new UserObjectTable;
  return *table;
}

}  // namespace

UserObject::UserObject(void* data, CUhostFn destroy, unsigned int references)
    : data_(data), destroy_(destroy), references_(references) {}

Result<CUuserObject> UserObject::create(void* data, CUhostFn destroy, unsigned int references, unsigned int flags) {
  if (!destroy || references == 0 || references > INT_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
    return ErrorCode::InvalidValue;
  const auto object = std::make_shared<UserObject>(data, destroy, references);
  object->handle_ = reinterpret_cast<CUuserObject>(user_object_table().insert(object));
  return object->handle_;
}

Result<void> UserObject::retain(unsigned int count) {
  if (count == 0) return ErrorCode::InvalidValue;
  const std::lock_guard lock(mutex_);
  if (references_ == 0) return ErrorCode::InvalidValue;
  references_ += count;
  return {};
}

Result<void> UserObject::release(unsigned int count) {
  if (count == 0) return ErrorCode::InvalidValue;
  {
    const std::lock_guard lock(mutex_);
    if (count > references_) return ErrorCode::InvalidValue;
    references_ -= count;
    if (references_ > 0) return {};
  }
  user_object_table().remove(handle_);
  const HostFunctionScope scope;
  destroy_(data_);
  return {};
}

std::shared_ptr<UserObject> find_user_object(CUuserObject handle) { return user_object_table().find(handle); }

UserObjects::UserObjects(const UserObjects& other) { add(other); }

UserObjects& UserObjects::operator=(UserObjects other) noexcept {
  std::swap(held_, other.held_);
  return *this;
}

UserObjects::~UserObjects() {
  if (is_shutting_down()) return;  // the program that would be told is ending
  for (const auto& [object, count] : held_) (void)object->release(count);
}

void UserObjects::adopt(const std::shared_ptr<UserObject>& object, unsigned int count) {
  held_.emplace_back(object, count);
}

Result<void> UserObjects::release(const UserObject& object, unsigned int count) {
  std::uint64_t all = 0;
  for (const auto& [each, references] : held_)
    if (each.get() == &object) all += references;
  if (count == 0 || count > all) return ErrorCode::InvalidValue;
  for (auto& [each, references] : held_) {
    if (each.get() != &object) continue;
    const unsigned int taken = std::min(references, count);
    references -= taken;
    count -= taken;
    if (taken > 0) (void)each->release(taken);
  }
  std::erase_if(held_, [](const auto& entry) { return entry.second == 0; });
  return {};
}

void UserObjects::add(const UserObjects& other) {
  for (const auto& [object, count] : other.held_)
    if (object->retain(count)) held_.emplace_back(object, count);
}

}  // namespace cucore::cpu::runtime
