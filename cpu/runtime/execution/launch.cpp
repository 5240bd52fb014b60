// From a launch call to a grid on a stream: see launch.hpp.
#include "cpu/runtime/execution/launch.hpp"
#include "cpu/runtime/process/check_settings.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "cpu/runtime/checker/check_services.hpp"
#include "cpu/runtime/checker/numbers.hpp"
#include "cpu/runtime/checker/races.hpp"
#include "cpu/runtime/execution/launch_tree.hpp"
#include "cpu/runtime/execution/workers.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"
#include "cpu/runtime/objects/stream.hpp"
#include "cpu/runtime/process/driver_result.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/trace.hpp"
#include "cpu/runtime/texture/resource_epoch.hpp"

namespace cucore::cpu::runtime {
namespace {

/// What the services and generated code need of a device thread's stack beyond its own variables.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t stack_base = 256 * 1024;  // frames are several times as large
#else
constexpr std::size_t stack_base = 64 * 1024;
#endif
/// The shared windows of a cluster's blocks start at multiples of this: bulk copies swizzle within it.
constexpr std::uint32_t cluster_step = 1024;
/// Words of a cooperative grid's barrier workspace.
constexpr std::size_t workspace_words = 64;

std::atomic<std::uint64_t> next_grid_id{1};

CUresult check_shape(const KernelDescription& kernel, const LaunchRequest& request) {
  constexpr std::uint32_t max_grid[3] = {std::numeric_limits<std::int32_t>::max(), 65535, 65535};
  constexpr std::uint32_t max_block[3] = {1024, 1024, 64};
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (request.grid[axis] == 0 || request.grid[axis] > max_grid[axis]) return CUDA_ERROR_INVALID_VALUE;
    if (request.block[axis] == 0 || request.block[axis] > max_block[axis]) return CUDA_ERROR_INVALID_VALUE;
    if (kernel.required[axis] != 0 && request.block[axis] != kernel.required[axis]) return CUDA_ERROR_INVALID_VALUE;
    threads *= request.block[axis];
  }
  return threads > std::min<std::uint64_t>(max_threads_per_block, kernel.max_threads) ? CUDA_ERROR_INVALID_VALUE
                                                                                      : CUDA_SUCCESS;
}

/// `extra`: pairs of a key and a value, up to CU_LAUNCH_PARAM_END.
CUresult copy_buffer(const KernelDescription& kernel, void** extra, std::byte* out) {
  const void* buffer = nullptr;
  const std::size_t* size = nullptr;
  constexpr int most_pairs = 8;
  for (int pair = 0; extra[2 * pair] != CU_LAUNCH_PARAM_END; ++pair) {
    if (pair == most_pairs) return CUDA_ERROR_INVALID_VALUE;
    if (extra[2 * pair] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[2 * pair + 1];
    else if (extra[2 * pair] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const std::size_t*>(extra[2 * pair + 1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (kernel.parameter_bytes == 0) return CUDA_SUCCESS;
  if (!buffer || !size || *size < kernel.parameter_bytes) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(out, buffer, kernel.parameter_bytes);
  return CUDA_SUCCESS;
}

CUresult copy_parameters(const KernelDescription& kernel, const LaunchRequest& request, std::byte* out) {
  if (request.packed) {
    std::copy_n(request.packed, kernel.parameter_bytes, out);
    return CUDA_SUCCESS;
  }
  if (request.parameters && request.extra) return CUDA_ERROR_INVALID_VALUE;
  if (request.extra) return copy_buffer(kernel, request.extra, out);
  if (kernel.parameters.empty()) return CUDA_SUCCESS;
  if (!request.parameters) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (!request.parameters[i]) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(out + parameter.offset, request.parameters[i], parameter.size);
  }
  return CUDA_SUCCESS;
}

CUresult check(Function& function, const LaunchRequest& request) {
  if (const CUresult result = check_shape(function.description(), request); result != CUDA_SUCCESS) return result;
  if (request.dynamic_shared > function.max_dynamic_shared())
    return request.cooperative ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE : CUDA_ERROR_INVALID_VALUE;
  if (!request.cooperative) return CUDA_SUCCESS;
  const std::uint64_t blocks = std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2];
  const int resident =
      function.max_active_blocks(request.block[0] * request.block[1] * request.block[2], request.dynamic_shared);
  return blocks > static_cast<std::uint64_t>(resident) * multiprocessor_count()
             ? CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
             : CUDA_SUCCESS;
}

/// The cluster that a launch has: 1, 1, 1 without one. `is_explicit`: kernel or launch name it.
CUresult find_cluster(const Function& function, const LaunchRequest& request, std::uint32_t (&cluster)[3],
                      bool* is_explicit) {
  const ClusterLimits limits = function.cluster_limits();
  const bool is_required = limits.required[0] != 0 || limits.required[1] != 0 || limits.required[2] != 0;
  const bool is_given = request.cluster[0] != 0;
  if (!is_given && !is_required && limits.must_be_given) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  *is_explicit = is_given || is_required;
  std::uint64_t size = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t required = std::max(1u, limits.required[axis]);  // an axis that was not set is 1
    if (is_given && is_required && request.cluster[axis] != required) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    cluster[axis] = is_given ? request.cluster[axis] : required;
    size *= cluster[axis];
    if (size == 0 || size > limits.largest) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  }
  if (size > 1 && function.module().context().device().capability() < least_for_clusters)
    return CUDA_ERROR_NOT_SUPPORTED;
  for (int axis = 0; axis < 3; ++axis)
    if (request.grid[axis] % cluster[axis] != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  return CUDA_SUCCESS;
}

std::string spelt(const std::uint32_t (&shape)[3]) {
  return std::to_string(shape[0]) + "," + std::to_string(shape[1]) + "," + std::to_string(shape[2]);
}

/// As the core writes them, and what only this device knows.
trace::Arguments facts_for_trace(const Function& function, const LaunchRequest& request, const Grid& grid,
                                 CUstream stream = nullptr) {
  const std::uint32_t warps = (grid.threads_per_block + warp_size - 1) / warp_size;
  const int blocks = function.max_active_blocks(grid.threads_per_block, request.dynamic_shared);
  const FormOfCode form = grid.code->info.form;
  trace::Arguments facts;
  facts.add("kernel", *grid.kernel)
      .add("grid", spelt(request.grid))
      .add("block", spelt(request.block))
      .add("shared_bytes", std::uint64_t{request.dynamic_shared})
      .add("occupancy_percent",
           std::uint64_t{static_cast<std::uint32_t>(blocks) * warps * warp_size * 100 / max_threads_per_multiprocessor})
      .address("stream", reinterpret_cast<std::uintptr_t>(stream));
  // Else it is known when the grid has run (later_code.hpp).
  if (!grid.later) facts.add("form", form == FormOfCode::Scalar ? "scalar" : "vector");
  return facts;
}

class Launch final : public Work {
 public:
  Launch() : Work(Runner::Anyone) {}
  void run(const Result<void>& context) override {
    if (!context) return;
    run_with_launches(grid);
  }
  Grid grid;
};

}  // namespace

CUresult prepare(const std::shared_ptr<Function>& function, const LaunchRequest& request, Grid& grid) {
  const KernelDescription& kernel = function->description();
  if (const CUresult result = check(*function, request); result != CUDA_SUCCESS) return result;
  std::uint32_t cluster[3];
  bool is_explicit = false;
  if (const CUresult result = find_cluster(*function, request, cluster, &is_explicit); result != CUDA_SUCCESS)
    return result;
  grid.params.resize((kernel.parameter_bytes + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  auto* const params = reinterpret_cast<std::byte*>(grid.params.data());
  if (const CUresult result = copy_parameters(kernel, request, params); result != CUDA_SUCCESS) return result;

  Context& context = function->module().context();
  grid.context = &context;
  grid.kernel = &kernel.display_name;
  grid.function = function;
  grid.ptx = kernel.ptx.get();
  grid.threads_per_block = request.block[0] * request.block[1] * request.block[2];
  grid.block_count = std::uint64_t{request.grid[0]} * request.grid[1] * request.grid[2];
  grid.is_cooperative = request.cooperative;
  grid.pace = &function->pace();
  if (request.cooperative) grid.workspace.assign(workspace_words, 0);
  const bool may_change = !request.cooperative && cluster[0] * cluster[1] * cluster[2] == 1;
  if (const CUresult result =
          function->code(request.block, thread_count(request), &grid.code, may_change ? &grid.later : nullptr);
      result != CUDA_SUCCESS)
    return result;
  const KernelInfo& info = grid.code->info;
  grid.own_stack_bytes = stack_base + 4 * context.stack_limit();

  LaunchState& state = grid.state;
  state.params = params;
  std::memcpy(state.grid, request.grid, sizeof state.grid);
  std::memcpy(state.block, request.block, sizeof state.block);
  state.dynamic_shared = request.dynamic_shared;
  state.total_shared = info.static_shared + request.dynamic_shared;
  state.grid_id = next_grid_id.fetch_add(1, std::memory_order_relaxed);
  state.grid_workspace = reinterpret_cast<std::uintptr_t>(grid.workspace.data());
  state.multiprocessors = multiprocessor_count();
  state.runtime = &grid;
  std::memcpy(state.cluster, cluster, sizeof state.cluster);
  state.cluster_size = cluster[0] * cluster[1] * cluster[2];
  const int blocks = function->max_active_blocks(grid.threads_per_block, request.dynamic_shared);
  grid.usual_residents = std::max(1u, static_cast<std::uint32_t>(blocks) / state.cluster_size);
  grid.most_resident = grid.usual_residents * std::max(worker_count(), state.multiprocessors);
  state.cluster_stride = (state.total_shared / cluster_step + 1) * cluster_step;
  state.names_clusters = is_explicit ? 1 : 0;
  state.checks = check_table();
  if (checker::checks(check_class::race_checks)) grid.races = std::make_shared<LaunchRaces>();
  if (checker::checks(check_class::number_checks)) grid.numbers = std::make_shared<LaunchNumbers>(grid);
  return CUDA_SUCCESS;
}

Result<void> check_launch(Function& function, const LaunchRequest& request) {
  return result_of(check(function, request));
}

std::uint64_t thread_count(const LaunchRequest& request) {
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) threads *= std::uint64_t{request.grid[axis]} * request.block[axis];
  return threads;
}

void apply(const CUlaunchAttribute& attribute, LaunchRequest* request) {
  if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) request->cooperative = attribute.value.cooperative != 0;
  if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) return;
  request->cluster[0] = attribute.value.clusterDim.x;
  request->cluster[1] = attribute.value.clusterDim.y;
  request->cluster[2] = attribute.value.clusterDim.z;
}

Result<void> check_attribute(const CUlaunchAttribute& attribute) {
  constexpr std::uint8_t most_domains = 4;
  const CUlaunchAttributeValue& value = attribute.value;
  bool is_valid = false;
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      is_valid = true;
      break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION: {
      const bool has_zero = value.clusterDim.x == 0 || value.clusterDim.y == 0 || value.clusterDim.z == 0;
      const bool is_absent = value.clusterDim.x == 0 && value.clusterDim.y == 0 && value.clusterDim.z == 0;
      if (has_zero && !is_absent) return ErrorCode::InvalidClusterSize;
      is_valid = true;
      break;
    }
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      is_valid = is_access_window(value.accessPolicyWindow);
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      is_valid = value.memSyncDomainMap.default_ < most_domains && value.memSyncDomainMap.remote < most_domains;
      break;
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      is_valid = value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT ||
                 value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
      break;
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      is_valid = value.sharedMemCarveout <= 100;
      break;
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      is_valid = value.nvlinkUtilCentricScheduling <= 1;
      break;
    default:
      break;
  }
  return is_valid ? Result<void>() : ErrorCode::InvalidValue;
}

LaunchRequest request_of(const CUlaunchConfig& config, void** parameters, void** extra) {
  LaunchRequest request{{config.gridDimX, config.gridDimY, config.gridDimZ},
                        {config.blockDimX, config.blockDimY, config.blockDimZ},
                        config.sharedMemBytes,
                        false,
                        parameters,
                        extra};
  for (unsigned int i = 0; i < config.numAttrs; ++i) apply(config.attrs[i], &request);
  return request;
}

Result<std::uint32_t> cluster_size(const Function& function, const LaunchRequest& request) {
  std::uint32_t cluster[3] = {};
  bool is_explicit = false;
  if (Result<void> found = result_of(find_cluster(function, request, cluster, &is_explicit)); !found)
    return std::move(found).failure();
  return cluster[0] * cluster[1] * cluster[2];
}

Result<void> check_cluster(const Function& function, const LaunchRequest& request) {
  Result<std::uint32_t> size = cluster_size(function, request);
  return size ? Result<void>() : std::move(size).failure();
}

Result<void> pack_parameters(const Function& function, const LaunchRequest& request, std::byte* out) {
  return result_of(copy_parameters(function.description(), request, out));
}

Result<void> run_now(const std::shared_ptr<Function>& function, const LaunchRequest& request,
                     const std::shared_ptr<const ResourceEpoch>& epoch, RunningGraph& graph) {
  Grid grid;
  grid.graph = &graph;
  grid.state.graph_exec = graph.handle();
  grid.resources.epoch = epoch;
  if (const CUresult result = prepare(function, request, grid); result != CUDA_SUCCESS) return result_of(result);
  std::unique_ptr<const trace::Note> note;
  if (trace::is_open()) note = trace::note_for_part(*grid.kernel, facts_for_trace(*function, request, grid));
  const trace::Running here(note.get());
  run_with_launches(grid);
  return {};
}

CUresult launch(const std::shared_ptr<Function>& function, const LaunchRequest& request, Stream& stream) {
  if (&function->module().context() != &stream.context().home()) return CUDA_ERROR_INVALID_HANDLE;
  auto work = std::make_unique<Launch>();
  work->grid.resources.epoch = ResourceEpoch::current();
  if (const CUresult result = prepare(function, request, work->grid); result != CUDA_SUCCESS) return result;
  if (trace::is_on())
    trace::describe(*work->grid.kernel, facts_for_trace(*function, request, work->grid, stream.handle()));
  if (runs_alone(work->grid)) work->runner = Work::Runner::Briefly;
  const std::uint64_t number = stream.enqueue(std::move(work));
  if (!launches_block()) return CUDA_SUCCESS;
  stream.wait_for(number);
  return driver_result(stream.context().error());
}

}  // namespace cucore::cpu::runtime
