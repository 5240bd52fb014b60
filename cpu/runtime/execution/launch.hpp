// From a launch call to a grid on a stream: every limit checked with the driver's code, the parameters copied.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cpu/error/result.hpp"

namespace cucore::cpu::runtime {

class Context;
class Function;
class ResourceEpoch;
class RunningGraph;
class Stream;
struct Grid;

struct LaunchRequest {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  void** parameters = nullptr;        ///< one pointer per parameter, or
  void** extra = nullptr;             ///< CU_LAUNCH_PARAM_BUFFER_POINTER ... CU_LAUNCH_PARAM_END, or
  const std::byte* packed = nullptr;  ///< the whole block, as pack_parameters wrote it
  std::uint32_t cluster[3] = {};      ///< blocks; 0: what the kernel says, if it does
};

/// Of the whole grid.
std::uint64_t thread_count(const LaunchRequest& request);

/// What cuLaunchKernelEx is given, its attributes too.
LaunchRequest request_of(const CUlaunchConfig& config, void** parameters, void** extra);
/// Notes what `attribute` asks for, if it concerns the request.
void apply(const CUlaunchAttribute& attribute, LaunchRequest* request);

/// Whether a launch or a node of a graph can have the attribute, and with this value; what asks for a cluster is looked
/// at with the kernel.
Result<void> check_attribute(const CUlaunchAttribute& attribute);

/// A CUresult, and so are the results of its parts: a Result, which is returned in memory, would slow every launch.
CUresult launch(const std::shared_ptr<Function>& function, const LaunchRequest& request, Stream& stream);

/// For graphs: every check of a launch and the parameter block (`description().parameter_bytes` long), without a
/// launch.
Result<void> check_launch(Function& function, const LaunchRequest& request);
/// The part of the check that is about clusters (graph nodes get attributes later).
Result<void> check_cluster(const Function& function, const LaunchRequest& request);
/// Blocks in each cluster.
Result<std::uint32_t> cluster_size(const Function& function, const LaunchRequest& request);
Result<void> pack_parameters(const Function& function, const LaunchRequest& request, std::byte* out);
/// Everything about a grid that is known before it runs; compiles the kernel if that has not been done.
CUresult prepare(const std::shared_ptr<Function>& function, const LaunchRequest& request, Grid& grid);
/// For graphs: runs the kernel now, on the calling thread (one of the driver's) and the workers. `epoch`: when the
/// graph was launched.
Result<void> run_now(const std::shared_ptr<Function>& function, const LaunchRequest& request,
                     const std::shared_ptr<const ResourceEpoch>& epoch, RunningGraph& graph);

}  // namespace cucore::cpu::runtime
