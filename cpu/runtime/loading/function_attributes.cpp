// What the driver's interface asks and sets of a function, and its limits for launches. See function.hpp.
#include <algorithm>

#include "cpu/runtime/loading/function.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"

namespace cucore::cpu::runtime {

namespace {

// Attributes of functions that came after CUDA 13.0.
constexpr int device_node_update_supported = 16;  // CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED
constexpr int shared_memory_mode = 17;            // CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE

}  // namespace

Result<int> Function::attribute(CUfunction_attribute attribute) {
  if (Result<void> known = complete(); !known) return std::move(known).failure();
  const KernelInfo& info = description_.info;
  if (attribute == device_node_update_supported || attribute == shared_memory_mode)
    return 0;  // no; CU_SHARED_MEMORY_MODE_DEFAULT
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return static_cast<int>(description_.max_threads);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return static_cast<int>(info.declared_shared);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: {
      std::uint64_t bytes = 0;
      for (const ptx::Variable& variable : module_.program().ptx->variables)
        if (variable.space == ptx::Space::Const) bytes += variable.size;
      return static_cast<int>(bytes);
    }
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      return static_cast<int>(info.local_bytes + description_.spilled_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return static_cast<int>(description_.registers);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      return module_.program().target;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return module_.context().device().capability();
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return static_cast<int>(max_dynamic_shared());
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return carveout_.load();
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return description_.is_for_clusters ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return static_cast<int>(required_cluster_[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH].load());
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return may_be_large_cluster_.load() ? 1 : 0;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      return cluster_policy_.load();
    default:
      return ErrorCode::InvalidValue;
  }
}

Result<void> Function::set_attribute(CUfunction_attribute attribute, int value) {
  if (Result<void> known = complete(); !known) return known;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (value < 0 || static_cast<std::size_t>(value) + description_.info.declared_shared > shared_per_block_opt_in)
        return ErrorCode::InvalidValue;
      max_dynamic_shared_.store(static_cast<std::size_t>(value));
      return {};
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return ErrorCode::InvalidValue;
      carveout_.store(value);
      return {};
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      may_be_large_cluster_.store(value != 0);
      return {};
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT || value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
        return ErrorCode::InvalidValue;
      cluster_policy_.store(value);  // a hint
      return {};
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      if (value < 0 || description_.required_cluster[0] != 0) return ErrorCode::InvalidValue;
      required_cluster_[attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH].store(static_cast<std::uint32_t>(value));
      return {};
    default:
      return ErrorCode::InvalidValue;
  }
}

ClusterLimits Function::cluster_limits() const {
  ClusterLimits limits{};
  for (int axis = 0; axis < 3; ++axis) limits.required[axis] = required_cluster_[axis].load();
  limits.largest = may_be_large_cluster_.load() ? max_blocks_per_cluster : max_blocks_per_portable_cluster;
  if (description_.largest_cluster != 0) limits.largest = std::min(limits.largest, description_.largest_cluster);
  limits.must_be_given = description_.is_for_clusters;
  return limits;
}

int Function::max_active_blocks(std::uint32_t threads, std::size_t dynamic_shared) const {
  if (threads == 0 || threads > max_threads_per_block) return 0;  // launch bounds do not count
  const std::size_t shared = description_.info.declared_shared + dynamic_shared;
  if (dynamic_shared > max_dynamic_shared()) return 0;
  const std::uint32_t rounded = (threads + warp_size - 1) / warp_size * warp_size;
  const std::size_t by_threads = max_threads_per_multiprocessor / rounded;
  const std::size_t by_shared = shared_per_multiprocessor / (shared + shared_reserved_per_block);
  return static_cast<int>(std::min({by_threads, by_shared, std::size_t{max_blocks_per_multiprocessor}}));
}

}  // namespace cucore::cpu::runtime
