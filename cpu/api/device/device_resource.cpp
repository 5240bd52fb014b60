// Device resources: see device_resource.hpp.
#include "cpu/api/device/device_resource.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <string_view>
#include <vector>

#include "cpu/api/entry.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/process/settings.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;

namespace {

constexpr unsigned int largest_coscheduled = 32;

/// How many multiprocessors the smallest group has, and what the size of a group is a multiple of.
struct Granularity {
  unsigned int smallest, alignment;
};

/// As GPUs of the device's compute capability have it, as far as there are multiprocessors for two such groups.
Granularity granularity_of(CUdevice device) {
  const runtime::Device* const found = runtime::find_device(device);
  const int capability = found ? found->capability() : 0;
  const auto some = [](unsigned int wanted) {
    while (wanted > 1 && 2 * wanted > runtime::multiprocessor_count()) wanted /= 2;
    return wanted;
  };
  if (capability >= 90) return {some(8), some(8)};
  if (capability >= 80) return {some(4), some(2)};
  return capability >= 70 ? Granularity{some(2), some(2)} : Granularity{1, 1};
}

/// What a resource carries in its padding: a mark that this driver made it, and its device.
constexpr std::uint64_t magic_number = 0x6563727565726f63;
struct Padding {
  std::uint64_t magic;
  CUdevice device;
};

Resource as_resource(const CUdevResource& resource) {
  Resource copy{};
  std::memcpy(&copy, &resource, sizeof copy);
  return copy;
}

CUdevResource as_driver_resource(const Resource& resource) {
  CUdevResource copy{};
  std::memcpy(&copy, &resource, sizeof copy);
  return copy;
}

Resource marked(CUdevice device, int type) {
  Resource resource{};
  resource.type = type;
  const Padding padding{magic_number, device};
  std::memcpy(resource.padding, &padding, sizeof padding);
  return resource;
}

CUdevResource multiprocessors(CUdevice device, unsigned int count, unsigned int alignment = 0, unsigned int flags = 0) {
  Resource resource = marked(device, count == 0 ? CU_DEV_RESOURCE_TYPE_INVALID : CU_DEV_RESOURCE_TYPE_SM);
  const Granularity granularity = granularity_of(device);
  resource.sm = {count, granularity.smallest, alignment != 0 ? alignment : granularity.alignment, flags};
  return as_driver_resource(resource);
}

/// How many streams of a context can have work in flight at once: what CUDA_DEVICE_MAX_CONNECTIONS says, as on a GPU.
unsigned int most_connections() {
  constexpr long usual = 8;
  constexpr long most_of_them = 32;
  const auto text = runtime::setting(runtime::Setting::max_connections);
  const long number = text ? std::strtol(text->c_str(), nullptr, 10) : usual;
  return static_cast<unsigned int>(number < 1 ? usual : std::min(number, most_of_them));
}

CUdevResource workqueues(CUdevice device) {
  Resource resource = marked(device, resource_workqueue_config);
  resource.workqueue = {device, most_connections(), scope_device_context};
  return as_driver_resource(resource);
}

/// False if this driver did not make it.
bool device_of(const Resource& resource, CUdevice* device) {
  Padding padding{};
  std::memcpy(&padding, resource.padding, sizeof padding);
  *device = padding.device;
  return padding.magic == magic_number && runtime::find_device(padding.device);
}

bool read_multiprocessors(const CUdevResource& given, CUdevice* device, unsigned int* count) {
  const Resource resource = as_resource(given);
  *count = resource.sm.count;
  return resource.type == CU_DEV_RESOURCE_TYPE_SM && device_of(resource, device) && *count > 0;
}

struct Descriptor {
  CUdevice device;
  Provision provision;
};

/// Resources are made from zeroed memory, so that equal ones have equal bytes.
std::string_view bytes_of(const Provision& provision) {
  return {reinterpret_cast<const char*>(&provision), sizeof provision};
}

/// All descriptors. They live for ever, since the driver API has no call that destroys one; equal ones are the same
/// object.
class Descriptors {
 public:
  static Descriptors& instance() {
    static auto* const all = new Descriptors;
    return *all;
  }
  const Descriptor* of(CUdevice device, const Provision& provision) {
    const std::lock_guard lock(mutex_);
    const auto same = std::find_if(all_.begin(), all_.end(), [&](const Descriptor& one) {
      return one.device == device && bytes_of(one.provision) == bytes_of(provision);
    });
    return same != all_.end() ? &*same : &all_.emplace_back(Descriptor{device, provision});
  }
  /// Null: this driver did not make it.
  const Descriptor* find(CUdevResourceDesc handle) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const Descriptor& one) {
      return &one == reinterpret_cast<const Descriptor*>(handle);
    });
    return found == all_.end() ? nullptr : &*found;
  }

 private:
  std::mutex mutex_;
  std::list<Descriptor> all_;
};

/// Adds one resource to a descriptor's; SMs add up, work queues are configured at most once. All work queues serve
/// every context, so a second one changes nothing.
CUresult add(const CUdevResource& given, Provision& provision, unsigned int& count, CUdevice& device, bool is_first) {
  const Resource resource = as_resource(given);
  CUdevice own = 0;
  if (resource.type != CU_DEV_RESOURCE_TYPE_SM && resource.type != resource_workqueue_config &&
      resource.type != resource_workqueue)
    return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (!device_of(resource, &own)) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  if (!is_first && own != device) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  device = own;
  if (resource.type == CU_DEV_RESOURCE_TYPE_SM) {
    if (resource.sm.count == 0) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    count += resource.sm.count;
    return CUDA_SUCCESS;
  }
  if (resource.type == resource_workqueue) return CUDA_SUCCESS;
  const auto& queues = resource.workqueue;
  const bool is_second = as_resource(provision.workqueues).type == resource_workqueue_config;
  if (is_second || queues.device != own || queues.concurrency_limit == 0 ||
      (queues.sharing_scope != scope_device_context && queues.sharing_scope != scope_green_balanced))
    return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  provision.workqueues = given;
  return CUDA_SUCCESS;
}

/// One group of a structured split, from `left` multiprocessors.
CUresult assign(CU_DEV_SM_RESOURCE_GROUP_PARAMS& group, unsigned int left, unsigned int alignment) {
  if ((group.flags & ~group_backfill) != 0 || group.coscheduledSmCount > largest_coscheduled)
    return CUDA_ERROR_INVALID_VALUE;
  const unsigned int together = group.coscheduledSmCount != 0 ? group.coscheduledSmCount : alignment;
  const bool is_exact = (group.flags & group_backfill) == 0;
  if (group.preferredCoscheduledSmCount % together != 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  if (group.smCount == 0)
    group.smCount = is_exact ? left / together * together : left;  // discovery
  else if (is_exact && group.smCount % together != 0)
    return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  return group.smCount > left ? CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION : CUDA_SUCCESS;
}

}  // namespace

namespace cucore::cpu::api {

Provision whole_device(CUdevice device) {
  return {multiprocessors(device, runtime::multiprocessor_count()), workqueues(device)};
}

CUresult answer_query(const Provision& provision, CUdevResourceType type, CUdevResource* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  const int asked = static_cast<int>(type);
  if (asked == resource_workqueue) {
    *out = as_driver_resource(marked(as_resource(provision.workqueues).workqueue.device, resource_workqueue));
    return CUDA_SUCCESS;
  }
  if (asked != CU_DEV_RESOURCE_TYPE_SM && asked != resource_workqueue_config) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  *out = asked == CU_DEV_RESOURCE_TYPE_SM ? provision.multiprocessors : provision.workqueues;
  return CUDA_SUCCESS;
}

std::optional<Provision> provision_of(CUdevResourceDesc descriptor, CUdevice device) {
  const Descriptor* const described = Descriptors::instance().find(descriptor);
  if (!described || described->device != device) return std::nullopt;
  return described->provision;
}

}  // namespace cucore::cpu::api

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  return initialized([&] {
    return runtime::find_device(device) ? answer_query(whole_device(device), type, resource)
                                        : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups, const CUdevResource* input,
                                     CUdevResource* remaining, unsigned int useFlags, unsigned int minCount) {
  constexpr unsigned int known_bits =
      CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING | CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  return initialized([&] {
    CUdevice device = 0;
    unsigned int all = 0;
    if (!nbGroups || !input || (useFlags & ~known_bits) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!read_multiprocessors(*input, &device, &all)) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const bool is_fine = (useFlags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0;
    const auto [smallest, alignment] = is_fine ? Granularity{1, 1} : granularity_of(device);
    const unsigned int wanted = std::max(minCount, smallest);
    if (wanted > all) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const unsigned int each = (wanted + alignment - 1) / alignment * alignment;
    if (each > all) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const unsigned int most = all / each;
    if (!result) {  // only asks how many there would be
      *nbGroups = most;
      return CUDA_SUCCESS;
    }
    if (*nbGroups == 0) return CUDA_ERROR_INVALID_VALUE;
    *nbGroups = std::min(*nbGroups, most);
    for (unsigned int i = 0; i < *nbGroups; ++i) result[i] = multiprocessors(device, each);
    if (remaining) *remaining = multiprocessors(device, all - *nbGroups * each);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevSmResourceSplit(CUdevResource* result, unsigned int nbGroups, const CUdevResource* input,
                              CUdevResource* remainder, unsigned int flags,
                              CU_DEV_SM_RESOURCE_GROUP_PARAMS* groupParams) {
  return initialized([&] {
    CUdevice device = 0;
    unsigned int left = 0;
    if (!input || !groupParams || nbGroups == 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (!read_multiprocessors(*input, &device, &left)) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    const unsigned int alignment = granularity_of(device).alignment;
    std::vector<CU_DEV_SM_RESOURCE_GROUP_PARAMS> groups(groupParams, groupParams + nbGroups);
    for (auto& group : groups) {
      if (const CUresult refused = assign(group, left, alignment); refused != CUDA_SUCCESS) return refused;
      if (result && group.smCount == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
      left -= group.smCount;
    }
    for (unsigned int i = 0; i < nbGroups; ++i) {
      groupParams[i].smCount = groups[i].smCount;
      if (result) result[i] = multiprocessors(device, groups[i].smCount, groups[i].coscheduledSmCount, groups[i].flags);
    }
    if (remainder) *remainder = multiprocessors(device, left);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources, unsigned int nbResources) {
  return initialized([&] {
    if (!phDesc || !resources || nbResources == 0) return CUDA_ERROR_INVALID_VALUE;
    CUdevice device = 0;
    unsigned int count = 0;
    Provision provision;
    for (unsigned int i = 0; i < nbResources; ++i)
      if (const CUresult refused = add(resources[i], provision, count, device, i == 0); refused != CUDA_SUCCESS)
        return refused;
    if (count > runtime::multiprocessor_count()) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const Provision all = whole_device(device);
    provision.multiprocessors = count == 0 ? all.multiprocessors : multiprocessors(device, count);
    if (as_resource(provision.workqueues).type != resource_workqueue_config) provision.workqueues = all.workqueues;
    *phDesc =
        reinterpret_cast<CUdevResourceDesc>(const_cast<Descriptor*>(Descriptors::instance().of(device, provision)));
    return CUDA_SUCCESS;
  });
}
