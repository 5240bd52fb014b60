// Runs an executable graph: its nodes one after another, dependencies first. See exec.hpp.
#include "cpu/runtime/graph/exec.hpp"

#include <cstddef>
#include <vector>

#include "cpu/runtime/execution/updatable_node.hpp"
#include "cpu/runtime/loading/module.hpp"
#include "cpu/runtime/memory/copy.hpp"
#include "cpu/runtime/memory/memory_operations.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/event.hpp"
#include "cpu/runtime/process/process.hpp"

namespace cucore::cpu::runtime {

namespace {

struct Run {
  const RecordPoints& points;
  const std::shared_ptr<const ResourceEpoch>& epoch;  ///< of the graph's launch
  Stream& stream;
  RunningGraph& graph;

  /// A kernel of the graph may have failed meanwhile: then the rest does nothing.
  bool has_failed() const { return !stream.context().error(); }
  void nodes(const std::vector<ExecNode>& all) const;
  void node(const ExecNode& node) const;
};

/// The context that an operation was recorded for; the stream's if it is gone.
Context& context_of(CUcontext handle, Stream& stream) {
  Context* const context = handle ? find_context(handle) : nullptr;
  return context ? *context : stream.context();
}

void run(const KernelPayload& kernel, bool is_enabled, const std::shared_ptr<const ResourceEpoch>& epoch,
         Stream& stream, RunningGraph& graph) {
  LaunchRequest request = kernel.request;
  std::vector<std::max_align_t> parameters;
  if (kernel.updatable ? !kernel.updatable->apply(is_enabled, &request, &parameters) : !is_enabled) return;
  const Result<void> result = run_now(kernel.function, request, epoch, graph);
  if (!result) stream.context().set_error(result.failure().code());
}

void run(const MemsetPayload& memset, Stream& stream) {
  const CUDA_MEMSET_NODE_PARAMS_v2& fill = memset.fill;
  const Place to{fill.dst, Side::Device, fill.pitch, 0};
  fill_now(context_of(fill.ctx, stream), to, fill.value, fill.elementSize,
           {fill.width * fill.elementSize, fill.height, 1});
}

void Run::node(const ExecNode& node) const {
  const Payload& payload = *node.payload;
  if (const auto* const event = std::get_if<EventPayload>(&payload)) {
    const auto point = points.find(&node);
    if (event->is_record) {
      if (point != points.end())
        point->second->reach();
      else
        event->event->record_reached(stream);
    } else if (point != points.end() && point->second && !point->second->is_done() &&
               point->second->stream.get() != &stream) {
      point->second->stream->wait_for(point->second->number);
    }
    return;
  }
  if (has_failed()) return;
  if (const auto* const kernel = std::get_if<KernelPayload>(&payload))
    return run(*kernel, node.is_enabled, epoch, stream, graph);
  if (!node.is_enabled) return;
  if (const auto* const memcpy = std::get_if<MemcpyPayload>(&payload)) {
    copy_now(context_of(memcpy->context, stream), memcpy->copy);
  } else if (const auto* const memset = std::get_if<MemsetPayload>(&payload)) {
    run(*memset, stream);
  } else if (const auto* const host = std::get_if<HostPayload>(&payload)) {
    const HostFunctionScope scope;
    host->function(host->data);
  } else if (std::holds_alternative<ChildPayload>(payload)) {
    nodes(node.graphs.front());
  } else if (const auto* const operations = std::get_if<MemOpsPayload>(&payload)) {
    for (const CUstreamBatchMemOpParams& operation : operations->operations) run_memory_operation(operation);
  } else if (const auto* const conditional = std::get_if<ConditionalPayload>(&payload)) {
    const auto* const value = reinterpret_cast<const volatile unsigned int*>(conditional->handle);
    switch (conditional->type) {
      case CU_GRAPH_COND_TYPE_WHILE:
        while (*value != 0 && !has_failed() && !is_shutting_down()) nodes(node.graphs.front());
        break;
      case CU_GRAPH_COND_TYPE_IF:
        if (*value != 0)
          nodes(node.graphs.front());
        else if (node.graphs.size() > 1)
          nodes(node.graphs[1]);
        break;
      case CU_GRAPH_COND_TYPE_SWITCH:
        if (*value < node.graphs.size()) nodes(node.graphs[*value]);
        break;
    }
  }
}

void Run::nodes(const std::vector<ExecNode>& all) const {
  for (const ExecNode& each : all) {
    if (is_shutting_down()) return;
    node(each);
  }
}

}  // namespace

void run_plan(const ExecPlan& plan, const RecordPoints& points, const std::shared_ptr<const ResourceEpoch>& epoch,
              Stream& stream, const Result<void>& context, RunningGraph& graph) {
  if (context)
    for (const auto& condition : plan.conditions)
      if (condition->is_assigned_at_launch) condition->value = condition->default_value;
  Run{points, epoch, stream, graph}.nodes(plan.nodes);
}

}  // namespace cucore::cpu::runtime
