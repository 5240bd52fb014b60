// Occupancy chapter: how many blocks the scheduler really runs at once.
#include <algorithm>
#include <cstddef>

#include "cpu/api/entry.hpp"
#include "cpu/api/nvidia_library.hpp"
#include "cpu/runtime/execution/launch.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/objects/device.hpp"

using namespace cucore::cpu::api;
namespace runtime = cucore::cpu::runtime;
using runtime::Function;

namespace {

template <class F>
CUresult of_queried_function(CUfunction handle, F&& call) {
  return in_context([&](Context& context) {
    std::shared_ptr<Function> function;
    const CUresult result = runtime::find_function(context, handle, &function);
    return result == CUDA_SUCCESS ? call(*function) : result;
  });
}

}  // namespace

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize, 0);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags) {
  return of_queried_function(func, [&](Function& function) {
    if (!numBlocks || blockSize <= 0 || (flags & ~1u) != 0) return CUDA_ERROR_INVALID_VALUE;
    *numBlocks = function.max_active_blocks(static_cast<std::uint32_t>(blockSize), dynamicSMemSize);
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* minGridSize, int* blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                          int blockSizeLimit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                   dynamicSMemSize, blockSizeLimit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* minGridSize, int* blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags) {
  return of_queried_function(func, [&](Function& function) {
    if (!minGridSize || !blockSize || blockSizeLimit < 0 || (flags & ~1u) != 0) return CUDA_ERROR_INVALID_VALUE;
    int largest = static_cast<int>(function.description().max_threads);
    if (blockSizeLimit != 0) largest = std::min(largest, blockSizeLimit);
    int best_threads = 0;
    const int warp = static_cast<int>(runtime::warp_size);
    // The block size with the most threads in flight; of several, the largest.
    for (int size = (largest + warp - 1) / warp * warp; size > 0; size -= warp) {
      const int threads = std::min(size, largest);
      const size_t shared = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(threads) : dynamicSMemSize;
      const int blocks = function.max_active_blocks(static_cast<std::uint32_t>(threads), shared);
      if (blocks * threads <= best_threads) continue;
      best_threads = blocks * threads;
      *blockSize = threads;
      *minGridSize = blocks * static_cast<int>(runtime::multiprocessor_count());
    }
    return best_threads > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                 int blockSize) {
  return of_queried_function(func, [&](Function& function) {
    if (!dynamicSmemSize || numBlocks <= 0 || blockSize <= 0) return CUDA_ERROR_INVALID_VALUE;
    const auto threads = static_cast<std::uint32_t>(blockSize);
    if (function.max_active_blocks(threads, 0) < numBlocks) return CUDA_ERROR_INVALID_VALUE;
    const size_t taken = function.description().info.declared_shared;  // what is reserved is not counted, as on an H100
    const size_t share = runtime::shared_per_multiprocessor / static_cast<size_t>(numBlocks);
    *dynamicSmemSize = std::min(share - std::min(share, taken), function.max_dynamic_shared());
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveClusters(int* numClusters, CUfunction func, const CUlaunchConfig* config) {
  const void* const caller = __builtin_return_address(0);
  return of_queried_function(func, [&](Function& function) {
    if (!numClusters || !config || (config->numAttrs != 0 && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
    const runtime::LaunchRequest request = runtime::request_of(*config, nullptr, nullptr);
    const auto size = runtime::cluster_size(function, request);
    if (!size) {
      report_nvidia_library(caller);  // cuBLAS asks about kernels that are machine code
      return driver_result(size.failure());
    }
    constexpr int most_blocks = 8;  // of clusters that an H200 says a multiprocessor holds, however small they are
    const unsigned int threads = request.block[0] * request.block[1] * request.block[2];
    const int blocks = std::min(most_blocks, function.max_active_blocks(threads, request.dynamic_shared));
    // One worker runs all blocks of a cluster, even if they are more than it would take otherwise.
    const int clusters = blocks == 0 ? 0 : std::max(1, blocks / static_cast<int>(*size));
    *numClusters = clusters * static_cast<int>(runtime::multiprocessor_count());
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* clusterSize, CUfunction func, const CUlaunchConfig* config) {
  return of_queried_function(func, [&](Function& function) {
    if (!clusterSize || !config) return CUDA_ERROR_INVALID_VALUE;
    const int blocks =
        function.max_active_blocks(config->blockDimX * config->blockDimY * config->blockDimZ, config->sharedMemBytes);
    *clusterSize = blocks == 0 ? 0 : static_cast<int>(function.cluster_limits().largest);
    return CUDA_SUCCESS;
  });
}
