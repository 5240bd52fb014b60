// Identity, primary context and pools of a device: see device.hpp. The attribute table is in device_attributes.cpp.
#include "cpu/runtime/objects/device.hpp"

#include <cstdio>
#include <utility>

#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/process/device_identity.hpp"

namespace cucore::cpu::runtime {

namespace {

std::vector<std::unique_ptr<Device>>& all_devices() {
  static auto* all = new std::vector<std::unique_ptr<Device>>;
  return *all;
}

}  // namespace

Device::Device(int ordinal, int index, int capability, std::shared_ptr<MemoryPool> default_pool)
    : ordinal_(ordinal),
      index_(index),
      capability_(capability),
      name_(device_name()),
      uuid_(device_uuid(index)),
      memory_(host_memory()),
      primary_(Context::make_primary(*this)),
      default_pool_(std::move(default_pool)),
      current_pool_(default_pool_) {}

Device::~Device() = default;

std::string Device::pci_bus_id() const {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", pci_bus());
  return text;
}

CUcontext Device::retain_primary() {
  const std::lock_guard lock(mutex_);
  if (retain_count_++ == 0) primary_->activate();
  return primary_->handle();
}

Result<void> Device::release_primary() {
  const std::lock_guard lock(mutex_);
  if (retain_count_ == 0) return ErrorCode::InvalidContext;
  if (--retain_count_ == 0) primary_->tear_down();
  return {};
}

void Device::reset_primary() {
  // Resets the context's contents and its error; the references to it stay.
  const std::lock_guard lock(mutex_);
  primary_->tear_down();
  if (retain_count_ > 0) primary_->activate();
}

Result<void> Device::set_primary_flags(unsigned int flags) { return primary_->set_flags(flags); }

void Device::primary_state(unsigned int* flags, bool* active) const {
  const std::lock_guard lock(mutex_);
  *flags = primary_->flags();
  *active = retain_count_ > 0;
}

std::shared_ptr<MemoryPool> Device::current_pool() const {
  const std::lock_guard lock(mutex_);
  return current_pool_;
}

void Device::set_current_pool(std::shared_ptr<MemoryPool> pool) {
  const std::lock_guard lock(mutex_);
  current_pool_ = std::move(pool);
}

const std::vector<std::unique_ptr<Device>>& devices() { return all_devices(); }

void add_device(std::unique_ptr<Device> device) { all_devices().push_back(std::move(device)); }

Device* find_device(CUdevice device) {
  const auto& all = devices();
  return device >= 0 && static_cast<std::size_t>(device) < all.size() ? all[static_cast<std::size_t>(device)].get()
                                                                      : nullptr;
}

}  // namespace cucore::cpu::runtime
