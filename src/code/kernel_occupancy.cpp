// KernelOccupancy: the driver's answers about one kernel on one device.
#include <algorithm>
#include <exception>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/kernel.hpp"
#include "src/code/kernel_state.hpp"
#include "src/code/launch_config.hpp"
#include "src/device/context_state.hpp"
#include "src/device/stream_state.hpp"
#include "src/handles/context_scope.hpp"

namespace cucore {
namespace {

using detail::ContextScope;
using detail::function_of;

// The driver's size function has no user-data pointer: what to call is kept here for this thread's call.
struct SizeCallback {
  const std::function<std::size_t(int)>* function;
  std::exception_ptr failure;
};
thread_local SizeCallback* active_callback = nullptr;

std::size_t call_size_function(int block_size) {
  SizeCallback& callback = *active_callback;
  if (callback.failure != nullptr) return 0;
  try {
    return (*callback.function)(block_size);
  } catch (...) {  // must not pass through the driver
    callback.failure = std::current_exception();
    return 0;
  }
}

auto on(const std::shared_ptr<const detail::KernelState>& kernel, int device) {
  return [&kernel, device] { return describe(*kernel) + " on " + detail::describe_device(device); };
}

}  // namespace

int KernelOccupancy::max_active_blocks_per_multiprocessor(int block_size,
                                                          std::size_t dynamic_shared_memory_size) const {
  int blocks = 0;
  ContextScope scope(detail::primary_context(device_)->handle);
  driver::check(driver::table().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_of(*kernel_), block_size,
                                                                            dynamic_shared_memory_size),
                "cuOccupancyMaxActiveBlocksPerMultiprocessor", on(kernel_, device_));
  scope.restore();
  return blocks;
}

int detail::max_active_blocks_native(int& blocks, KernelHandle kernel, int block_size,
                                     std::size_t dynamic_shared_memory_size) noexcept {
  const driver::Table* const table = driver::table_for_release();
  if (table == nullptr) return driver::CUDA_ERROR_DEINITIALIZED;
  return table->cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reinterpret_cast<driver::CUfunction>(kernel),
                                                            block_size, dynamic_shared_memory_size);
}

MaxPotentialBlockSize KernelOccupancy::max_potential_block_size(std::size_t dynamic_shared_memory_needed,
                                                                int block_size_limit) const {
  MaxPotentialBlockSize size;
  ContextScope scope(detail::primary_context(device_)->handle);
  driver::check(
      driver::table().cuOccupancyMaxPotentialBlockSize(&size.min_grid_size, &size.max_block_size, function_of(*kernel_),
                                                       nullptr, dynamic_shared_memory_needed, block_size_limit),
      "cuOccupancyMaxPotentialBlockSize", on(kernel_, device_));
  scope.restore();
  return size;
}

MaxPotentialBlockSize KernelOccupancy::max_potential_block_size(
    const std::function<std::size_t(int)>& shared_memory_for, int block_size_limit) const {
  MaxPotentialBlockSize size;
  ContextScope scope(detail::primary_context(device_)->handle);
  SizeCallback callback{&shared_memory_for, nullptr};
  SizeCallback* const outer = std::exchange(active_callback, &callback);
  const driver::CUresult code = driver::table().cuOccupancyMaxPotentialBlockSize(
      &size.min_grid_size, &size.max_block_size, function_of(*kernel_), &call_size_function, 0, block_size_limit);
  active_callback = outer;
  if (callback.failure != nullptr) std::rethrow_exception(callback.failure);
  driver::check(code, "cuOccupancyMaxPotentialBlockSize", on(kernel_, device_));
  scope.restore();
  return size;
}

std::size_t KernelOccupancy::available_dynamic_shared_memory_per_block(int num_blocks_per_multiprocessor,
                                                                       int block_size) const {
  std::size_t bytes = 0;
  ContextScope scope(detail::primary_context(device_)->handle);
  driver::check(driver::table().cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function_of(*kernel_),
                                                                        num_blocks_per_multiprocessor, block_size),
                "cuOccupancyAvailableDynamicSMemPerBlock", on(kernel_, device_));
  scope.restore();
  return bytes;
}

int KernelOccupancy::max_potential_cluster_size(const LaunchConfig& config, const Stream& stream) const {
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "max_potential_cluster_size");
  LaunchConfig without = config;
  without.cluster = std::nullopt;
  detail::DriverLaunchConfig native(without);
  native.native.hStream = stream_state.handle;
  int size = 0;
  ContextScope scope(detail::primary_context(device_)->handle);
  driver::check(driver::table().cuOccupancyMaxPotentialClusterSize(&size, function_of(*kernel_), &native.native),
                "cuOccupancyMaxPotentialClusterSize", on(kernel_, device_));
  scope.restore();
  return size;
}

int KernelOccupancy::max_active_clusters(const LaunchConfig& config, const Stream& stream) const {
  const detail::StreamState& stream_state = detail::open_stream(stream.state(), "max_active_clusters");
  detail::DriverLaunchConfig native(config);
  native.native.hStream = stream_state.handle;
  int clusters = 0;
  ContextScope scope(detail::primary_context(device_)->handle);
  driver::check(driver::table().cuOccupancyMaxActiveClusters(&clusters, function_of(*kernel_), &native.native),
                "cuOccupancyMaxActiveClusters", on(kernel_, device_));
  scope.restore();
  return clusters;
}

LaunchConfig LaunchConfig::for_kernel(const Kernel& kernel, const Device& device, std::size_t n, std::size_t shmem_size,
                                      int block_size_limit) {
  const detail::KernelState& state = detail::open_kernel(kernel.state(), "LaunchConfig::for_kernel");
  state.parameters();
  Dim3 block = state.required_block;
  if (block.x == 0) {
    const MaxPotentialBlockSize best = kernel.occupancy(device).max_potential_block_size(shmem_size, block_size_limit);
    block = {static_cast<unsigned>(best.max_block_size)};
    // Fewer threads than one such block: the least number of whole warps that holds them.
    const auto warp = static_cast<std::size_t>(device.properties().warp_size());
    if (n != 0 && n < block.x) block.x = std::min(block.x, static_cast<unsigned>((n + warp - 1) / warp * warp));
  }
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  const std::size_t blocks = n / threads + (n % threads != 0 ? 1 : 0);
  const auto most = static_cast<std::size_t>(device.properties().max_grid_dim_x());
  if (blocks == 0 || blocks > most) {
    throw ValueError(
        {.call = "LaunchConfig::for_kernel",
         .message = "n is " + std::to_string(n) + ", but must be from 1 to " + std::to_string(most * threads) + " on " +
                    detail::describe_device(device.ordinal()),
         .hint = n == 0 ? "a launch of nothing is not possible: skip it" : "let each thread do more than one element"});
  }
  return {.grid = {static_cast<unsigned>(blocks)}, .block = block, .shmem_size = shmem_size};
}

}  // namespace cucore
