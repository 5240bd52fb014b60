// What the device has to say about a LaunchConfig: features asked for before a launch, limits named after a refusal.
#include <limits>
#include <string>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/kernel.hpp"
#include "src/code/kernel_state.hpp"
#include "src/code/launch_config.hpp"
#include "src/device/context_state.hpp"
#include "src/handles/context_scope.hpp"

namespace cucore::detail {
namespace {

std::string text(const Dim3& extent) {
  return "(" + std::to_string(extent.x) + ", " + std::to_string(extent.y) + ", " + std::to_string(extent.z) + ")";
}

template <class Value>
Dim3 extents(const Value& value) {
  return {value.x, value.y, value.z};
}

std::uint64_t product(const Dim3& extent) { return std::uint64_t{extent.x} * extent.y * extent.z; }

void require_capability(const Device& device, ComputeCapability least, const char* what) {
  const ComputeCapability has = device.compute_capability();
  if (!(has < least)) return;
  driver::fail(driver::CUDA_ERROR_NOT_SUPPORTED, "cuLaunchKernelEx",
               describe_device(device.ordinal()) + ": " + what + " not supported below compute capability " +
                   std::to_string(least.major) + "." + std::to_string(least.minor) + ", and it has " +
                   std::to_string(has.major) + "." + std::to_string(has.minor),
               "launch without it on this device");
}

void check_priority(int priority, int ordinal) {
  int least = 0;
  int greatest = 0;
  ContextScope scope(primary_context(ordinal)->handle);
  driver::check(driver::table().cuCtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange",
                [&] { return describe_device(ordinal); });
  scope.restore();
  if (priority <= least && priority >= greatest) return;
  throw ValueError({.call = "launch",
                    .message = "the launch priority " + std::to_string(priority) +
                               " is out of range: " + describe_device(ordinal) + " has priorities from " +
                               std::to_string(greatest) + " (highest) to " + std::to_string(least) + " (lowest)"});
}

// How many blocks of the launch can be resident at a time, and how that comes about.
struct Resident {
  std::uint64_t blocks = 0;
  std::string reckoning;
};

Resident resident_blocks(const driver::CUlaunchConfig& config, const Kernel& kernel, const Device& device) {
  Resident resident;
  if (find_attribute(config, driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) != nullptr) {
    int clusters = 0;
    driver::CUlaunchConfig asked = config;
    asked.hStream = nullptr;  // which need not be of the primary context
    ContextScope scope(primary_context(device.ordinal())->handle);
    driver::check(driver::table().cuOccupancyMaxActiveClusters(&clusters, function_of(*kernel.state()), &asked),
                  "cuOccupancyMaxActiveClusters", [&] { return describe(*kernel.state()); });
    scope.restore();
    const Dim3 cluster = extents(find_attribute(config, driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)->clusterDim);
    resident.blocks = static_cast<std::uint64_t>(clusters) * product(cluster);
    resident.reckoning = std::to_string(clusters) + " clusters of " + std::to_string(product(cluster)) + " blocks";
    return resident;
  }
  const std::uint64_t threads = product({config.blockDimX, config.blockDimY, config.blockDimZ});
  const int per_multiprocessor =
      kernel.occupancy(device).max_active_blocks_per_multiprocessor(static_cast<int>(threads), config.sharedMemBytes);
  const int multiprocessors = device.attribute(driver::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  resident.blocks = static_cast<std::uint64_t>(per_multiprocessor) * static_cast<std::uint64_t>(multiprocessors);
  resident.reckoning =
      std::to_string(per_multiprocessor) + " on each of " + std::to_string(multiprocessors) + " multiprocessors";
  return resident;
}

void check_cooperative(const driver::CUlaunchConfig& config, const Kernel& kernel, const Device& device) {
  if (device.attribute(driver::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 0) {
    driver::fail(driver::CUDA_ERROR_NOT_SUPPORTED, "cuLaunchKernelEx",
                 describe_device(device.ordinal()) + ": cooperative kernels are not supported by this device");
  }
  const std::uint64_t grid = product({config.gridDimX, config.gridDimY, config.gridDimZ});
  // The driver itself refuses a block that no device can run, with its own code.
  if (product({config.blockDimX, config.blockDimY, config.blockDimZ}) >
      static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
    return;
  }
  const Resident resident = resident_blocks(config, kernel, device);
  if (grid <= resident.blocks) return;
  throw ValueError({.call = "launch",
                    .message = "a cooperative launch of " + std::to_string(grid) + " blocks exceeds the limit of " +
                               std::to_string(resident.blocks) + " that can be resident on " +
                               describe_device(device.ordinal()) + " (" + resident.reckoning + ")",
                    .hint = "use a smaller grid and let each block do more"});
}

std::string exceeded_cluster_limit(const driver::CUlaunchConfig& config, const KernelAttributes& attributes) {
  const driver::CUlaunchAttributeValue* const value =
      find_attribute(config, driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  if (value == nullptr) {
    return attributes.cluster_size_must_be_set() ? "the kernel needs a cluster, and the config has none" : "";
  }
  const Dim3 cluster = extents(value->clusterDim);
  const Dim3 required{static_cast<unsigned>(attributes.required_cluster_width()),
                      static_cast<unsigned>(attributes.required_cluster_height()),
                      static_cast<unsigned>(attributes.required_cluster_depth())};
  if (required.x != 0 && required != cluster) {
    return "the kernel is compiled for clusters of " + text(required) + ", the config has " + text(cluster);
  }
  if (product(cluster) > 8 && !attributes.non_portable_cluster_size_allowed()) {
    return "the cluster has " + std::to_string(product(cluster)) +
           " blocks; above 8 the kernel's attribute non_portable_cluster_size_allowed must be set";
  }
  return {};
}

}  // namespace

void check_device_features(const driver::CUlaunchConfig& config, const Kernel& kernel, int ordinal) {
  const Device device(ordinal);
  if (find_attribute(config, driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) != nullptr) {
    require_capability(device, {9, 0}, "thread block clusters are");
  }
  if (find_attribute(config, driver::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) != nullptr) {
    require_capability(device, {9, 0}, "programmatic stream serialization is");
  }
  if (const auto* const value = find_attribute(config, driver::CU_LAUNCH_ATTRIBUTE_PRIORITY)) {
    check_priority(value->priority, ordinal);
  }
  if (find_attribute(config, driver::CU_LAUNCH_ATTRIBUTE_COOPERATIVE) != nullptr)
    check_cooperative(config, kernel, device);
}

std::string exceeded_limit(const driver::CUlaunchConfig& config, const Kernel& kernel, int ordinal) {
  const Device device(ordinal);
  const DeviceProperties limits = device.properties();
  const KernelAttributes attributes = kernel.attributes(device);
  const Dim3 block{config.blockDimX, config.blockDimY, config.blockDimZ};
  const Dim3 grid{config.gridDimX, config.gridDimY, config.gridDimZ};
  const auto beyond = [](unsigned extent, int limit) { return std::uint64_t{extent} > static_cast<unsigned>(limit); };
  if (beyond(block.x, limits.max_block_dim_x()) || beyond(block.y, limits.max_block_dim_y()) ||
      beyond(block.z, limits.max_block_dim_z())) {
    return "block " + text(block) + " exceeds the device's limit of (" + std::to_string(limits.max_block_dim_x()) +
           ", " + std::to_string(limits.max_block_dim_y()) + ", " + std::to_string(limits.max_block_dim_z()) +
           ") threads";
  }
  const Dim3 required = kernel.state()->required_block;
  if (required.x != 0 && required != block) {
    return "the kernel is compiled for blocks of " + text(required) + " threads (.reqntid), the config has " +
           text(block);
  }
  if (product(block) > static_cast<std::uint64_t>(attributes.max_threads_per_block())) {
    return "block " + text(block) + " has " + std::to_string(product(block)) +
           " threads; this kernel can have at most " + std::to_string(attributes.max_threads_per_block()) +
           " per block (it uses " + std::to_string(attributes.num_regs()) +
           " registers per thread and may limit itself with __launch_bounds__)";
  }
  if (beyond(grid.x, limits.max_grid_dim_x()) || beyond(grid.y, limits.max_grid_dim_y()) ||
      beyond(grid.z, limits.max_grid_dim_z())) {
    return "grid " + text(grid) + " exceeds the device's limit of (" + std::to_string(limits.max_grid_dim_x()) + ", " +
           std::to_string(limits.max_grid_dim_y()) + ", " + std::to_string(limits.max_grid_dim_z()) + ") blocks";
  }
  return exceeded_cluster_limit(config, attributes);
}

}  // namespace cucore::detail
