// GraphPoint: where nodes are added to a graph, and by which calls. GraphDefinition and GraphNode are points;
// graph_node.hpp has the nodes that the calls give, and the definitions of the templates here.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>

#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/event.hpp"
#include "cucore/export.hpp"
#include "cucore/graph_operand.hpp"
#include "cucore/kernel.hpp"
#include "cucore/launch.hpp"
#include "cucore/launch_config.hpp"

namespace cucore {

namespace detail {
struct GraphHierarchy;
struct GraphState;
struct NodeState;
}  // namespace detail

class AllocNode;
class ArgumentPack;
class ChildGraphNode;
class ConditionalNode;
class EmptyNode;
class EventRecordNode;
class EventWaitNode;
class FreeNode;
class GraphDefinition;
class GraphNode;
class HostCallbackNode;
class KernelNode;
class MemcpyNode;
class MemsetNode;

/// Where nodes can be added: a graph (they depend on nothing) or a node (they depend on it).
class CUCORE_API GraphPoint {
 public:
  /// A kernel with arguments, checked as launch() checks them. The whole config counts: clusters, cooperative launches
  /// and every attribute. Buffers among the arguments are retained. @throws as launch(), StateError
  template <class... Args>
  KernelNode launch(const LaunchConfig& config, const Kernel& kernel, const Args&... args) const;
  /// The same with arguments collected at run time, which `owner` keeps alive.
  KernelNode launch(const LaunchConfig& config, const ArgumentPack& arguments,
                    std::shared_ptr<const void> owner = nullptr) const;
  /// The same as both, but the arguments are not checked.
  KernelNode launch_unchecked(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) const;
  /// Copies `size` bytes.
  MemcpyNode memcpy(const MemoryOperand& dst, const MemoryOperand& src, std::size_t size) const;
  /// Fills `height` rows of `width` elements, `pitch` bytes apart.
  MemsetNode memset(const MemoryOperand& dst, const FillPattern& value, std::size_t width, std::size_t height = 1,
                    std::size_t pitch = 0) const;
  /// Memory that lives from this node to a free node, or beyond the launch. Its address is known at once.
  /// @throws ValueError managed memory before CUDA 13
  AllocNode allocate(std::size_t size, const GraphAllocationOptions& options = {}) const;
  FreeNode deallocate(DevicePointer address) const;
  /// A clone of `child` as one node. @throws DriverError it holds memory or conditional nodes
  ChildGraphNode embed(const GraphDefinition& child) const;
  EventRecordNode record(const Event& event) const;
  EventWaitNode wait(const Event& event) const;
  /// Calls `function` on one of the driver's threads; it must not call CUDA. What it throws is recorded as the graph's
  /// last_callback_error() and reported to the release failure handler; the graph goes on. @throws ValueError empty
  HostCallbackNode callback(std::function<void()> function) const;
  /// Calls a C function. `owner` is kept alive with the node. @throws ValueError null
  HostCallbackNode callback(HostFunction function, void* user_data, std::shared_ptr<const void> owner = nullptr) const;
  /// The body runs if the condition is not 0.
  ConditionalNode if_then(const GraphCondition& condition) const;
  /// The first body runs if the condition is not 0, else the second (CUDA 12.8).
  ConditionalNode if_else(const GraphCondition& condition) const;
  /// The body runs again and again while the condition is not 0.
  ConditionalNode while_loop(const GraphCondition& condition) const;
  /// The condition is the index of the body that runs; beyond the last, none runs (CUDA 12.8).
  ConditionalNode switch_on(const GraphCondition& condition, unsigned count) const;
  /// A node that does nothing, after this one and all given.
  EmptyNode join(std::span<const GraphNode> nodes) const;
  EmptyNode join(std::initializer_list<GraphNode> nodes) const;

  /// Internal.
  const std::shared_ptr<detail::GraphHierarchy>& hierarchy() const noexcept { return hierarchy_; }
  const std::shared_ptr<detail::GraphState>& graph_state() const noexcept { return graph_; }

 protected:
  GraphPoint() noexcept = default;
  GraphPoint(std::shared_ptr<detail::GraphHierarchy> hierarchy, std::shared_ptr<detail::GraphState> graph,
             std::shared_ptr<detail::NodeState> node) noexcept
      : hierarchy_(std::move(hierarchy)), graph_(std::move(graph)), node_(std::move(node)) {}
  ~GraphPoint() = default;
  GraphPoint(const GraphPoint&) = default;
  GraphPoint(GraphPoint&&) noexcept = default;
  GraphPoint& operator=(const GraphPoint&) = default;
  GraphPoint& operator=(GraphPoint&&) noexcept = default;

  std::shared_ptr<detail::GraphHierarchy> hierarchy_;  // closed: null
  std::shared_ptr<detail::GraphState> graph_;
  std::shared_ptr<detail::NodeState> node_;  // null: a graph

 private:
  KernelNode launch_arguments(const LaunchConfig& config, const Kernel& kernel, void* const* values,
                              std::span<const Argument> arguments, std::shared_ptr<const void> owner) const;
};

}  // namespace cucore
