// One run of an executable graph, and the graphs that its kernels launch. It is complete when it and its
// fire-and-forget launches are; then come its tail launches, and with the last of them the graph's launch ends.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "cpu/runtime/execution/launch_tree.hpp"
#include "cpu/runtime/graph/exec.hpp"

namespace cucore::cpu::runtime {

class GraphRun final : public RunningGraph {
 public:
  GraphRun(std::shared_ptr<const ExecPlan> plan, std::uint64_t handle, std::shared_ptr<const ResourceEpoch> epoch,
           Stream& stream);

  /// On the calling thread of ours, to the end of all that device code launches. `error` as in Work::run.
  void run_from_host(const RecordPoints& points, const Result<void>& context);
  /// As what device code launched.
  void run_as(std::shared_ptr<LaunchedItem> item);

  std::uint64_t handle() const override { return handle_; }
  CUresult launch(std::uint64_t exec, Place place) override;

 private:
  const std::shared_ptr<const ExecPlan> plan_;
  const std::uint64_t handle_;
  const std::shared_ptr<const ResourceEpoch> epoch_;
  Stream& stream_;
  std::once_flag item_made_;
  std::shared_ptr<LaunchedItem> item_;  ///< once it has launched something, or was launched by device code
};

}  // namespace cucore::cpu::runtime
