// LaunchConfig: to the driver's form, against the device's features, and against the limits after a refusal.
#include <limits>
#include <string>

#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/detail/context_state.hpp"
#include "src/detail/kernel_state.hpp"
#include "src/detail/launch_config.hpp"

namespace cucore::detail {
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

std::string text(const Dim3& extent) {
  return "(" + std::to_string(extent.x) + ", " + std::to_string(extent.y) + ", " + std::to_string(extent.z) + ")";
}

}  // namespace

DriverLaunchConfig::DriverLaunchConfig(const LaunchConfig& config, driver::CUstream stream) {
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
  native.hStream = stream;
  native.attrs = nullptr;
  const auto add = [&](int id) -> driver::CUlaunchAttributeValue& {
    driver::CUlaunchAttribute& attribute = attributes[native.numAttrs++];
    attribute = {};
    attribute.id = id;
    native.attrs = attributes.data();
    return attribute.value;
  };
  if (config.cluster) {
    if (has_zero(*config.cluster)) refuse_extent("cluster", *config.cluster);
    native.gridDimX = blocks(config.grid.x, config.cluster->x, "x");
    native.gridDimY = blocks(config.grid.y, config.cluster->y, "y");
    native.gridDimZ = blocks(config.grid.z, config.cluster->z, "z");
    auto& dimension = add(driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
    dimension.x = config.cluster->x;
    dimension.y = config.cluster->y;
    dimension.z = config.cluster->z;
  }
  if (config.is_cooperative) add(driver::CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (config.programmatic_stream_serialization) {
    add(driver::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmaticStreamSerializationAllowed = 1;
  }
}

void check_device_features(const LaunchConfig& config, const DriverLaunchConfig& native, const Kernel& kernel,
                           int ordinal) {
  const Device device(ordinal);
  if (config.cluster || config.programmatic_stream_serialization) {
    const ComputeCapability capability = device.compute_capability();
    if (capability < ComputeCapability{9, 0}) {
      const char* what = config.cluster ? "thread block clusters are not supported"
                                        : "programmatic stream serialization is not supported";
      driver::fail(driver::CUDA_ERROR_NOT_SUPPORTED, "cuLaunchKernelEx",
                   describe_device(ordinal) + ": " + what + " below compute capability 9.0, and it has " +
                       std::to_string(capability.major) + "." + std::to_string(capability.minor),
                   "launch without it on this device");
    }
  }
  if (!config.is_cooperative) return;
  if (device.attribute(driver::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 0) {
    driver::fail(driver::CUDA_ERROR_NOT_SUPPORTED, "cuLaunchKernelEx",
                 describe_device(ordinal) + ": cooperative kernels are not supported by this device");
  }
  const driver::CUlaunchConfig& extents = native.native;
  const std::uint64_t grid = std::uint64_t{extents.gridDimX} * extents.gridDimY * extents.gridDimZ;
  const std::uint64_t threads = std::uint64_t{extents.blockDimX} * extents.blockDimY * extents.blockDimZ;
  // A block no device can run is the driver's to refuse, with its own code.
  if (threads > static_cast<std::uint64_t>(std::numeric_limits<int>::max())) return;
  const int per_multiprocessor =
      kernel.occupancy(device).max_active_blocks_per_multiprocessor(static_cast<int>(threads), config.shmem_size);
  const int multiprocessors = device.attribute(driver::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const auto resident = static_cast<std::uint64_t>(per_multiprocessor) * static_cast<std::uint64_t>(multiprocessors);
  if (grid > resident) {
    refuse_value("a cooperative launch of " + std::to_string(grid) + " blocks exceeds the limit of " +
                     std::to_string(resident) + " that can be resident on " + describe_device(ordinal) + " (" +
                     std::to_string(per_multiprocessor) + " on each of " + std::to_string(multiprocessors) +
                     " multiprocessors)",
                 "use a smaller grid and let each block do more");
  }
}

std::string exceeded_limit(const LaunchConfig& config, const Kernel& kernel, int ordinal) {
  const Device device(ordinal);
  const DeviceProperties limits = device.properties();
  const KernelAttributes attributes = kernel.attributes(device);
  const auto beyond = [](unsigned extent, int limit) { return std::uint64_t{extent} > static_cast<unsigned>(limit); };
  const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
  if (beyond(config.block.x, limits.max_block_dim_x()) || beyond(config.block.y, limits.max_block_dim_y()) ||
      beyond(config.block.z, limits.max_block_dim_z())) {
    return "block " + text(config.block) + " exceeds the device's limit of (" +
           std::to_string(limits.max_block_dim_x()) + ", " + std::to_string(limits.max_block_dim_y()) + ", " +
           std::to_string(limits.max_block_dim_z()) + ") threads";
  }
  if (threads > static_cast<std::uint64_t>(attributes.max_threads_per_block())) {
    return "block " + text(config.block) + " has " + std::to_string(threads) +
           " threads; this kernel can have at most " + std::to_string(attributes.max_threads_per_block()) +
           " per block (it uses " + std::to_string(attributes.num_regs()) +
           " registers per thread and may limit itself with __launch_bounds__)";
  }
  if (beyond(config.grid.x, limits.max_grid_dim_x()) || beyond(config.grid.y, limits.max_grid_dim_y()) ||
      beyond(config.grid.z, limits.max_grid_dim_z())) {
    return "grid " + text(config.grid) + " exceeds the device's limit of (" + std::to_string(limits.max_grid_dim_x()) +
           ", " + std::to_string(limits.max_grid_dim_y()) + ", " + std::to_string(limits.max_grid_dim_z()) + ") blocks";
  }
  if (!config.cluster && attributes.cluster_size_must_be_set()) {
    return "the kernel needs a cluster, and the config has none";
  }
  if (config.cluster) {
    const Dim3 required{static_cast<unsigned>(attributes.required_cluster_width()),
                        static_cast<unsigned>(attributes.required_cluster_height()),
                        static_cast<unsigned>(attributes.required_cluster_depth())};
    if (required.x != 0 && required != *config.cluster) {
      return "the kernel is compiled for clusters of " + text(required) + ", the config has " + text(*config.cluster);
    }
    const std::uint64_t size = std::uint64_t{config.cluster->x} * config.cluster->y * config.cluster->z;
    if (size > 8 && !attributes.non_portable_cluster_size_allowed()) {
      return "the cluster has " + std::to_string(size) +
             " blocks; above 8 the kernel's attribute non_portable_cluster_size_allowed must be set";
    }
  }
  return {};
}

}  // namespace cucore::detail
