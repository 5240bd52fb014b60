// Initialisation, devices, and what the host's kernel tells about memory and load: see session.hpp.
#include "cpu/nvml/session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

namespace cucore::cpu::nvml {

namespace {

struct Ticks {
  unsigned long long busy = 0, all = 0;
};

std::atomic<int> users{0};
std::mutex mutex;
Ticks last_ticks;
unsigned int last_share = 0;

/// Made at the first call, never destroyed: threads may call while the process exits.
std::vector<nvmlDevice_st>& all_devices() {
  static auto* const made = [] {
    auto* devices = new std::vector<nvmlDevice_st>;
    const int count = runtime::device_count_from_environment();
    for (int index = 0; index < count; ++index) {
      nvmlDevice_st device;
      device.index = static_cast<unsigned int>(index);
      device.capability = runtime::compute_capability_from_environment();
      device.name = runtime::device_name();
      device.uuid_bytes = runtime::device_uuid(index);
      device.uuid = runtime::text_of(device.uuid_bytes);
      device.bus = runtime::pci_bus(index);
      devices->push_back(std::move(device));
    }
    return devices;
  }();
  return *made;
}

/// The first line of /proc/stat: user nice system idle iowait irq softirq steal, in ticks of all cores.
Ticks read_ticks() {
  std::ifstream file("/proc/stat");
  std::string label;
  std::array<unsigned long long, 8> columns{};
  file >> label;
  for (unsigned long long& column : columns) file >> column;
  Ticks ticks;
  for (const unsigned long long column : columns) ticks.all += column;
  ticks.busy = ticks.all - columns[3] - columns[4];
  return ticks;
}

}  // namespace

void begin() {
  all_devices();
  const std::lock_guard lock(mutex);
  if (users.fetch_add(1) == 0) last_ticks = read_ticks();
}

nvmlReturn_t end() {
  const std::lock_guard lock(mutex);
  if (users.load() == 0) return NVML_ERROR_UNINITIALIZED;
  users.fetch_sub(1);
  return NVML_SUCCESS;
}

bool is_initialised() { return users.load() > 0; }

unsigned int device_count() { return static_cast<unsigned int>(all_devices().size()); }

nvmlDevice_t device_at(unsigned int index) { return index < device_count() ? &all_devices()[index] : nullptr; }

bool is_device(nvmlDevice_t device) {
  return std::ranges::any_of(all_devices(), [&](const nvmlDevice_st& each) { return &each == device; });
}

unsigned long long available_memory(unsigned long long total) {
  unsigned long long available = total;
  std::ifstream file("/proc/meminfo");
  std::string label;
  unsigned long long kibibytes = 0;
  while (file >> label >> kibibytes) {
    if (label == "MemAvailable:") available = std::min(available, kibibytes * 1024);
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  unsigned long long limit = 0, current = 0;  // of the container, if there is one with a limit
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && std::ifstream("/sys/fs/cgroup/memory.current") >> current)
    available = std::min(available, limit - std::min(limit, current));
  return available;
}

unsigned int busy_share() {
  const Ticks now = read_ticks();
  const std::lock_guard lock(mutex);
  if (now.all > last_ticks.all && now.busy >= last_ticks.busy) {
    last_share = static_cast<unsigned int>(100 * (now.busy - last_ticks.busy) / (now.all - last_ticks.all));
    last_ticks = now;
  }
  return std::min(last_share, 100u);
}

}  // namespace cucore::cpu::nvml
