// User objects: a destructor of the client's, called when the last reference to the object goes. Graphs, executable
// graphs and running launches hold references. Thread-safe.
#pragma once

#include <cuda.h>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class UserObject {
 public:
  static Result<CUuserObject> create(void* data, CUhostFn destroy, unsigned int references, unsigned int flags);
  UserObject(void* data, CUhostFn destroy, unsigned int references);

  CUuserObject handle() const { return handle_; }
  Result<void> retain(unsigned int count);
  /// InvalidValue if there are fewer references. The last one calls the destructor, which may not call the driver.
  Result<void> release(unsigned int count);

 private:
  void* const data_;
  const CUhostFn destroy_;
  CUuserObject handle_ = nullptr;
  std::mutex mutex_;
  std::uint64_t references_;
};

std::shared_ptr<UserObject> find_user_object(CUuserObject handle);

/// References that a graph, an executable one or a launch holds. Copying takes as many again.
class UserObjects {
 public:
  UserObjects() = default;
  UserObjects(const UserObjects& other);
  UserObjects(UserObjects&& other) noexcept : held_(std::exchange(other.held_, {})) {}
  UserObjects& operator=(UserObjects other) noexcept;
  ~UserObjects();

  /// Takes over `count` references that the caller has.
  void adopt(const std::shared_ptr<UserObject>& object, unsigned int count);
  Result<void> release(const UserObject& object, unsigned int count);
  void add(const UserObjects& other);

 private:
  std::vector<std::pair<std::shared_ptr<UserObject>, unsigned int>> held_;
};

}  // namespace cucore::cpu::runtime
