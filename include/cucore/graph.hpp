// Graph: an executable graph, launched as one.
//
//   cucore::Graph graph = definition.instantiate({.auto_free_on_launch = true});
//   graph.launch(stream);
//   graph[copy].update({.dst = x, .src = y, .size = bytes});       // for launches from now on
//   graph.update(other_definition);                                // all parameters at once
//
// Independent of the definition it came from: neither closing nor changing that affects it. Launches of one Graph run
// one after the other. What nodes use is kept alive by the driver until the last launch that uses it has ended, also
// after close(). What is no longer needed is released in a thread that may call CUDA: deferred_release.hpp.
// Ownership: move-only; share() makes another reference. Closed: after close(), and when moved from, handle() is null
// and every active use throws StateError. Thread-safety: launches may come from several threads; all else needs
// exclusion.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cucore/driver_types.hpp"
#include "cucore/error.hpp"
#include "cucore/export.hpp"
#include "cucore/graph_definition.hpp"
#include "cucore/graph_node.hpp"
#include "cucore/stream.hpp"

namespace cucore {

namespace detail {
struct GraphExecState;
}

struct GraphCompleteOptions {
  bool auto_free_on_launch = false;       ///< a launch frees what the launch before allocated and did not free
  const Stream* upload_stream = nullptr;  ///< where to upload the graph, as upload() does, before it is returned
  bool device_launch = false;             ///< kernels may launch it; excludes auto_free_on_launch
  bool use_node_priority = false;         ///< nodes run with their own priorities instead of the stream's
};

/// Why an executable graph could not be updated (CUgraphExecUpdateResult).
enum class GraphUpdateReason {
  success = 0,
  error = 1,
  topology_changed = 2,
  node_type_changed = 3,
  function_changed = 4,
  parameters_changed = 5,
  not_supported = 6,
  unsupported_function_change = 7,
  attributes_changed = 8
};

struct GraphUpdateResult {
  GraphUpdateReason reason = GraphUpdateReason::success;
  /// The driver's name: "CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED".
  std::string reason_name = {};
  /// The node of the source that does not fit; refers to nothing if the driver names none.
  GraphNode node = {};
  /// The code of the call.
  int code = 0;
  explicit operator bool() const noexcept { return code == 0; }
};

/// A node of the definition as it is in an executable graph. Updates replace all parameters, for launches from now on,
/// and leave the definition alone. Does not keep the Graph open. The driver says whether the node is in that graph when
/// it is used.
class CUCORE_API ExecutableGraphNode {
 public:
  /// The executable graph's handle; null once that is closed.
  GraphExecHandle graph_handle() const noexcept;
  const GraphNode& node() const noexcept { return node_; }

  /// Internal.
  ExecutableGraphNode(std::weak_ptr<detail::GraphExecState> exec, GraphNode node) noexcept
      : exec_(std::move(exec)), node_(std::move(node)) {}

 protected:
  bool get_enabled() const;
  void set_enabled(bool enabled, const char* call) const;

  std::weak_ptr<detail::GraphExecState> exec_;
  GraphNode node_;
};

/// A node that can be switched off: it then does nothing, and its edges stay.
class CUCORE_API SwitchableGraphNode : public ExecutableGraphNode {
 public:
  using ExecutableGraphNode::ExecutableGraphNode;
  bool is_enabled() const { return get_enabled(); }
  void enable() const { set_enabled(true, "enable"); }
  void disable() const { set_enabled(false, "disable"); }
};

class CUCORE_API ExecutableKernelNode : public SwitchableGraphNode {
 public:
  using SwitchableGraphNode::SwitchableGraphNode;
  /// @throws StateError the config has other attributes than the node: the driver cannot change those in an executable
  /// graph; Graph::update() can
  void update(const LaunchConfig& config, const Kernel& kernel, const KernelArguments& arguments) const;
  template <class... Args>
  void update(const LaunchConfig& config, const Kernel& kernel, const Args&... args) const {
    auto owner = detail::allocations_of(args...);
    detail::with_values(
        [&](void* const* values, std::span<const Argument> arguments) {
          check_arguments(kernel, arguments);
          update(config, kernel, KernelArguments{values, std::move(owner)});
        },
        args...);
  }
};

class CUCORE_API ExecutableMemcpyNode : public SwitchableGraphNode {
 public:
  using SwitchableGraphNode::SwitchableGraphNode;
  void update(const MemoryOperand& dst, const MemoryOperand& src, std::size_t size) const;
};

class CUCORE_API ExecutableMemsetNode : public SwitchableGraphNode {
 public:
  using SwitchableGraphNode::SwitchableGraphNode;
  void update(const MemoryOperand& dst, const FillPattern& value, std::size_t width, std::size_t height = 1,
              std::size_t pitch = 0) const;
};

class CUCORE_API ExecutableChildGraphNode : public ExecutableGraphNode {
 public:
  using ExecutableGraphNode::ExecutableGraphNode;
  /// @throws DriverError `child` is not of the same topology
  void update(const GraphDefinition& child) const;
};

class CUCORE_API ExecutableEventRecordNode : public ExecutableGraphNode {
 public:
  using ExecutableGraphNode::ExecutableGraphNode;
  void update(const Event& event) const;
};

class CUCORE_API ExecutableEventWaitNode : public ExecutableGraphNode {
 public:
  using ExecutableGraphNode::ExecutableGraphNode;
  void update(const Event& event) const;
};

class CUCORE_API ExecutableHostCallbackNode : public ExecutableGraphNode {
 public:
  using ExecutableGraphNode::ExecutableGraphNode;
  void update(std::function<void()> function) const;
  void update(HostFunction function, void* user_data, std::shared_ptr<const void> owner = nullptr) const;
};

class CUCORE_API Graph {
 public:
  /// The closed graph.
  Graph() noexcept = default;
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;

  /// The driver's handle; null when closed.
  GraphExecHandle handle() const noexcept;
  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// Runs the graph after the work submitted to `stream` so far (cuGraphLaunch). @throws DriverError memory that a
  /// launch allocated has not been freed (see auto_free_on_launch)
  void launch(const Stream& stream) const;
  /// Brings what launches need to the device beforehand (cuGraphUpload); runs nothing.
  void upload(const Stream& stream) const;
  /// Takes all parameters, and what they keep alive, from a definition of the same topology. @throws DriverError with
  /// the reason and the node; the graph is as before then
  void update(const GraphDefinition& source) const;
  /// The same, but returns whether it worked and, if not, why. @throws StateError closed
  GraphUpdateResult try_update(const GraphDefinition& source) const;

  /// Views of a node of the definition. @throws ValueError closed, or the node is not valid any more
  ExecutableKernelNode operator[](const KernelNode& node) const;
  ExecutableMemcpyNode operator[](const MemcpyNode& node) const;
  ExecutableMemsetNode operator[](const MemsetNode& node) const;
  ExecutableChildGraphNode operator[](const ChildGraphNode& node) const;
  ExecutableEventRecordNode operator[](const EventRecordNode& node) const;
  ExecutableEventWaitNode operator[](const EventWaitNode& node) const;
  ExecutableHostCallbackNode operator[](const HostCallbackNode& node) const;

  /// The last error that a callback threw, in this graph or another made from the same definition.
  std::optional<Error> last_callback_error() const;

  /// Another reference to the same graph.
  Graph share() const;
  /// Drops this reference; the last one destroys the graph. Launches under way finish and keep what they use alive.
  /// Closing twice is allowed. @throws DriverError cuGraphExecDestroy failed; it is closed all the same
  void close();

  /// Internal.
  explicit Graph(std::shared_ptr<detail::GraphExecState> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<detail::GraphExecState>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::GraphExecState> state_;
};

}  // namespace cucore
