// Identity, primary context and pools of a device: see device.hpp. The attribute table is in device_attributes.cpp.
#include "cpu/runtime/device.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include "cpu/runtime/context.hpp"
#include "cpu/runtime/memory_pool.hpp"
#include "cpu/runtime/process.hpp"

namespace cucore::cpu::runtime {

namespace {

std::size_t host_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  std::size_t bytes =
      pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : std::size_t{4} << 30;
  // A container's limit is what can really be had.
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::size_t bounded = 0;
  if (limit >> bounded && bounded > 0) bytes = std::min(bytes, bounded);
  return bytes;
}

/// The same on every start on this host, different between hosts: FNV-1a over the machine id and the ordinal.
CUuuid make_uuid(int ordinal) {
  std::string seed;
  std::ifstream("/etc/machine-id") >> seed;
  seed += "cucore cpu device " + std::to_string(ordinal);
  CUuuid uuid{};
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (int half = 0; half < 2; ++half) {
    for (const char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    for (int byte = 0; byte < 8; ++byte) uuid.bytes[half * 8 + byte] = static_cast<char>(hash >> (8 * byte));
  }
  uuid.bytes[6] = static_cast<char>((uuid.bytes[6] & 0x0f) | 0x40);  // version 4, variant 1
  uuid.bytes[8] = static_cast<char>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

}  // namespace

unsigned int worker_count() {
  static const unsigned int count = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned int>(std::max(1, CPU_COUNT(&set)));
    return static_cast<unsigned int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  }();
  return count;
}

Device::Device(int ordinal, int capability)
    : ordinal_(ordinal),
      capability_(capability),
      name_("cucore CPU device (" + std::to_string(worker_count()) + (worker_count() == 1 ? " core)" : " cores)")),
      uuid_(make_uuid(ordinal)),
      total_memory_(host_memory()),
      primary_(Context::make_primary(*this)) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
  default_pool_ = MemoryPool::create(properties, true);
  current_pool_ = default_pool_;
}

Device::~Device() = default;

std::string Device::pci_bus_id() const {
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", static_cast<unsigned int>(ordinal_ + 1) & 0xffu);
  return text;
}

CUresult Device::retain_primary(CUcontext* context) {
  const std::lock_guard lock(mutex_);
  if (retain_count_++ == 0) primary_->activate();
  *context = primary_->handle();
  return CUDA_SUCCESS;
}

CUresult Device::release_primary() {
  const std::lock_guard lock(mutex_);
  if (retain_count_ == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--retain_count_ == 0) primary_->tear_down();
  return CUDA_SUCCESS;
}

CUresult Device::reset_primary() {
  // Resets the context's contents and its error; the references to it stay.
  const std::lock_guard lock(mutex_);
  primary_->tear_down();
  if (retain_count_ > 0) primary_->activate();
  return CUDA_SUCCESS;
}

CUresult Device::set_primary_flags(unsigned int flags) { return primary_->set_flags(flags); }

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

Device* find_device(CUdevice device) {
  const auto& all = devices();
  return device >= 0 && static_cast<std::size_t>(device) < all.size() ? all[static_cast<std::size_t>(device)].get()
                                                                      : nullptr;
}

}  // namespace cucore::cpu::runtime
