// One run of an executable graph: see graph_run.hpp.
#include "cpu/runtime/graph/graph_run.hpp"

#include <utility>

#include "cpu/runtime/objects/context.hpp"

namespace cucore::cpu::runtime {

GraphRun::GraphRun(std::shared_ptr<const ExecPlan> plan, std::uint64_t handle,
                   std::shared_ptr<const ResourceEpoch> epoch, Stream& stream)
    : plan_(std::move(plan)), handle_(handle), epoch_(std::move(epoch)), stream_(stream) {}

void GraphRun::run_from_host(const RecordPoints& points, const Result<void>& context) {
  run_plan(*plan_, points, epoch_, stream_, context, *this);
  if (item_) item_->tree->complete_below(item_);
}

void GraphRun::run_as(std::shared_ptr<LaunchedItem> item) {
  item_ = std::move(item);
  run_plan(*plan_, {}, epoch_, stream_, {}, *this);
}

CUresult GraphRun::launch(std::uint64_t exec, Place place) {
  std::shared_ptr<const ExecPlan> plan;
  {
    const std::lock_guard lock(graph_mutex());
    const auto found = find_graph_exec(reinterpret_cast<CUgraphExec>(exec));
    if (!found || found->device_handle() == 0) return CUDA_ERROR_INVALID_VALUE;
    plan = found->plan();
  }
  std::call_once(item_made_, [&] {
    if (!item_) item_ = LaunchTree::plant_below(stream_.context().home(), epoch_);
  });
  const auto run = [plan = std::move(plan), exec, epoch = epoch_, &stream = stream_](
                       const std::shared_ptr<LaunchedItem>& item) { GraphRun(plan, exec, epoch, stream).run_as(item); };
  const auto order = place == Place::Tail ? LaunchTree::Order::Tail : LaunchTree::Order::Forgotten;
  const bool has_room = item_->tree->launch(place == Place::Sibling ? item_->parent : item_, order, 0, run);
  return has_room ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

}  // namespace cucore::cpu::runtime
