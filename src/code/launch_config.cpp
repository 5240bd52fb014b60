// LaunchConfig into the driver's form. What the device has to say about it is in launch_limits.cpp.
#include <cstddef>
#include <limits>
#include <memory>
#include <string>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/error.hpp"
#include "src/code/launch_config.hpp"
#include "src/device/event_state.hpp"

namespace cucore {
namespace detail {
namespace {

[[noreturn]] void refuse_value(std::string message, const char* hint = "") {
  throw ValueError({.call = "launch", .message = std::move(message), .hint = hint});
}

[[noreturn]] void refuse_extent(const char* what, const Dim3& extent) {
  const char* axis = extent.x < 1 ? "x" : extent.y < 1 ? "y" : "z";
  refuse_value(std::string(what) + "." + axis + " is 0; every extent of the " + what + " must be >= 1",
               "a launch of nothing is not possible: skip it");
}

bool has_zero(const Dim3& extent) { return extent.x < 1 || extent.y < 1 || extent.z < 1; }

// With a cluster the grid counts clusters; the driver wants blocks.
unsigned blocks(unsigned clusters, unsigned per_cluster, const char* axis) {
  const std::uint64_t product = std::uint64_t{clusters} * per_cluster;
  if (product > std::numeric_limits<unsigned>::max()) {
    refuse_value(std::string("grid.") + axis + " x cluster." + axis + " is " + std::to_string(product) +
                 " blocks, more than any device has");
  }
  return static_cast<unsigned>(product);
}

template <class Value>
void assign(Value& to, const Dim3& from) {
  to.x = from.x;
  to.y = from.y;
  to.z = from.z;
}

driver::CUlaunchAttributeValue& add(DriverLaunchConfig& to, int id) {
  driver::CUlaunchAttribute& attribute = to.attributes[to.native.numAttrs++];
  attribute = {};
  attribute.id = id;
  to.native.attrs = to.attributes.data();
  return attribute.value;
}

void set_clusters(DriverLaunchConfig& to, const LaunchConfig& config) {
  if (config.cluster) {
    if (has_zero(*config.cluster)) refuse_extent("cluster", *config.cluster);
    to.native.gridDimX = blocks(config.grid.x, config.cluster->x, "x");
    to.native.gridDimY = blocks(config.grid.y, config.cluster->y, "y");
    to.native.gridDimZ = blocks(config.grid.z, config.cluster->z, "z");
    assign(add(to, driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim, *config.cluster);
    to.needs_device = true;
  }
  if (config.preferred_cluster) {
    if (has_zero(*config.preferred_cluster)) refuse_extent("preferred_cluster", *config.preferred_cluster);
    const Dim3 least = config.cluster.value_or(Dim3{});
    const Dim3& preferred = *config.preferred_cluster;
    if (preferred.x % least.x != 0 || preferred.y % least.y != 0 || preferred.z != least.z) {
      refuse_value("preferred_cluster must be a multiple of cluster in x and y, and equal to it in z");
    }
    assign(add(to, driver::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION).preferredClusterDim, preferred);
  }
  if (config.cluster_scheduling_policy) {
    add(to, driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE).clusterSchedulingPolicyPreference =
        static_cast<int>(*config.cluster_scheduling_policy);
  }
}

void set_events(DriverLaunchConfig& to, const LaunchConfig& config) {
  if (config.programmatic_event) {
    to.programmatic_event = config.programmatic_event->event.state();
    auto& value = add(to, driver::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT).programmaticEvent;
    value.event = open_event(to.programmatic_event, "launch").handle;
    value.triggerAtBlockStart = config.programmatic_event->trigger_at_block_start ? 1 : 0;
  }
  if (config.launch_completion_event) {
    to.completion_event = config.launch_completion_event->state();
    add(to, driver::CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT).launchCompletionEvent.event =
        open_event(to.completion_event, "launch").handle;
  }
}

void set_memory(DriverLaunchConfig& to, const LaunchConfig& config) {
  if (config.memory_sync_domain) {
    add(to, driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain = static_cast<int>(*config.memory_sync_domain);
  }
  if (config.memory_sync_domain_map) {
    add(to, driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap = {config.memory_sync_domain_map->normal,
                                                                                 config.memory_sync_domain_map->remote};
  }
  if (config.preferred_shared_memory_carveout) {
    const int percent = *config.preferred_shared_memory_carveout;
    if (percent < -1 || percent > 100) {
      refuse_value("preferred_shared_memory_carveout is " + std::to_string(percent) +
                   ", but it is a percentage: 0 to 100, or -1 for the driver's choice");
    }
    add(to, driver::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout =
        static_cast<unsigned>(percent);
  }
  if (config.access_policy_window) {
    const AccessPolicyWindow& window = *config.access_policy_window;
    if (!(window.hit_ratio >= 0 && window.hit_ratio <= 1)) {
      refuse_value("access_policy_window.hit_ratio is " + std::to_string(window.hit_ratio) + ", but must be 0 to 1");
    }
    if (window.miss == AccessProperty::persisting) {
      refuse_value("access_policy_window.miss cannot be persisting: it is normal or streaming");
    }
    add(to, driver::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow = {
        reinterpret_cast<void*>(window.base), window.num_bytes, window.hit_ratio, static_cast<int>(window.hit),
        static_cast<int>(window.miss)};
  }
}

// The fields that most launches leave alone.
void set_attributes(DriverLaunchConfig& to, const LaunchConfig& config) {
  set_clusters(to, config);
  if (config.is_cooperative) {
    add(to, driver::CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
    to.needs_device = true;
  }
  if (config.programmatic_stream_serialization) {
    add(to, driver::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmaticStreamSerializationAllowed = 1;
    to.needs_device = true;
  }
  if (config.priority) {
    add(to, driver::CU_LAUNCH_ATTRIBUTE_PRIORITY).priority = *config.priority;
    to.needs_device = true;
  }
  set_events(to, config);
  set_memory(to, config);
}

}  // namespace

DriverLaunchConfig::DriverLaunchConfig(const LaunchConfig& config) {
  if (has_zero(config.grid)) [[unlikely]] {
    refuse_extent("grid", config.grid);
  }
  if (has_zero(config.block)) [[unlikely]] {
    refuse_extent("block", config.block);
  }
  if (config.shmem_size > std::numeric_limits<unsigned>::max()) [[unlikely]] {
    refuse_value("shmem_size is " + std::to_string(config.shmem_size) + " bytes, more than any device has");
  }
  native.gridDimX = config.grid.x;
  native.gridDimY = config.grid.y;
  native.gridDimZ = config.grid.z;
  native.blockDimX = config.block.x;
  native.blockDimY = config.block.y;
  native.blockDimZ = config.block.z;
  native.sharedMemBytes = static_cast<unsigned>(config.shmem_size);
  native.hStream = nullptr;
  native.attrs = nullptr;
  native.numAttrs = 0;
  // Added up rather than tested one by one: most launches have none.
  const int attributes_set =
      config.is_cooperative + config.programmatic_stream_serialization + config.cluster.has_value() +
      config.preferred_cluster.has_value() + config.cluster_scheduling_policy.has_value() +
      config.priority.has_value() + config.programmatic_event.has_value() + config.launch_completion_event.has_value() +
      config.memory_sync_domain.has_value() + config.memory_sync_domain_map.has_value() +
      config.preferred_shared_memory_carveout.has_value() + config.access_policy_window.has_value();
  if (attributes_set != 0) [[unlikely]] {
    set_attributes(*this, config);
  }
}

const driver::CUlaunchAttributeValue* find_attribute(const driver::CUlaunchConfig& config, int attribute) noexcept {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == attribute) return &config.attrs[i].value;
  }
  return nullptr;
}

}  // namespace detail

ResolvedConfig::ResolvedConfig(const LaunchConfig& config) {
  static_assert(sizeof(detail::DriverLaunchConfig) <= storage_size && alignof(detail::DriverLaunchConfig) <= 8);
  std::construct_at(reinterpret_cast<detail::DriverLaunchConfig*>(storage_.data()), config);
}

std::optional<detail::NativeConfig> detail::plain_config(const ResolvedConfig& config) noexcept {
  using Native = NativeConfig;
  using Driver = driver::CUlaunchConfig;
  static_assert(sizeof(Native) == sizeof(Driver) && offsetof(Native, block) == offsetof(Driver, blockDimX) &&
                offsetof(Native, shared_bytes) == offsetof(Driver, sharedMemBytes) &&
                offsetof(Native, stream) == offsetof(Driver, hStream) &&
                offsetof(Native, attributes) == offsetof(Driver, attrs) &&
                offsetof(Native, attribute_count) == offsetof(Driver, numAttrs));
  const Driver& all = config.native().native;
  if (all.numAttrs != 0 || all.sharedMemBytes != 0 || config.native().needs_device) return std::nullopt;
  return Native{.grid = {all.gridDimX, all.gridDimY, all.gridDimZ},
                .block = {all.blockDimX, all.blockDimY, all.blockDimZ}};
}

ResolvedConfig::~ResolvedConfig() { std::destroy_at(reinterpret_cast<detail::DriverLaunchConfig*>(storage_.data())); }

}  // namespace cucore
