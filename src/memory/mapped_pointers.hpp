// MappedPointers: the addresses at which the memory of an imported pool is mapped here, each with how often it is open.
//
// Drivers answer a second import of the same memory with the same address, and unmap it at the first free; so a
// descriptor is imported once, and its address freed after its last use.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "cucore/driver_types.hpp"

namespace cucore::detail {

class MappedPointers {
 public:
  using Payload = std::array<std::byte, 64>;

  /// The address of what the payload names; `import()` gives it if it is not open yet.
  template <class Import>
  DevicePointer open(const Payload& payload, Import&& import) {
    const std::lock_guard lock(mutex_);
    if (const auto known = addresses_.find(payload); known != addresses_.end()) {
      ++uses_.at(known->second).count;
      return known->second;
    }
    const auto named = addresses_.emplace(payload, 0).first;
    try {
      named->second = import();
      ++uses_.try_emplace(named->second, Use{payload}).first->second.count;  // it may be open by another name
    } catch (...) {
      addresses_.erase(named);
      throw;
    }
    return named->second;
  }

  /// Ends one use of an address; the last is followed by `free()`, before it can be opened again.
  template <class Free>
  void close(DevicePointer address, Free&& free) {
    const std::lock_guard lock(mutex_);
    if (const auto found = uses_.find(address); found != uses_.end()) {
      if (--found->second.count > 0) return;
      std::erase_if(addresses_, [&](const auto& named) { return named.second == address; });
      uses_.erase(found);
    }
    free();
  }

  /// What an address was opened with.
  std::optional<Payload> payload(DevicePointer address) const {
    const std::lock_guard lock(mutex_);
    const auto found = uses_.find(address);
    return found == uses_.end() ? std::nullopt : std::optional(found->second.payload);
  }

 private:
  struct Use {
    Payload payload;
    std::size_t count = 0;
  };

  mutable std::mutex mutex_;
  std::map<Payload, DevicePointer> addresses_;
  std::map<DevicePointer, Use> uses_;
};

}  // namespace cucore::detail
