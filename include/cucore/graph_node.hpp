// GraphNode: an operation in a graph, its parameters and its edges. graph_point.hpp has the calls that add nodes.
//
//   cucore::GraphDefinition graph;
//   auto fill = graph.memset(x, 1.0f, n);                        // entry nodes: depend on nothing
//   auto copy = graph.memcpy(y, z, bytes);
//   auto both = graph.join({fill, copy});
//   auto work = both.launch(config, kernel, 2.0f, x, y, n);      // depends on `both`
//   work.update({.config = other});                              // for graphs instantiated from now on
//
// Identity: one operation is one node however it was reached; nodes compare by that. A destroyed node, or one in a
// graph whose owning node was destroyed, is not valid: its type and last parameters stay readable, it has no handle and
// no edges, and everything else throws StateError. Retention: a node keeps its kernel, events,
// callbacks and the allocations behind Buffers alive (closing the Buffer is harmless), and so does everything made from
// the definition: clones, executable graphs, launches under way. It is released when the last of these ends.
// Ownership: nodes are cheap copyable references that keep the whole graph, with child graphs and bodies, alive.
// Thread-safety: reading one graph from several threads is allowed; changing it needs exclusion. Context: memcpy,
// memset, kernel and conditional nodes are made for the current context, or for device 0's primary one if none is
// current. Drivers: CUDA 12.3 and later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/event.hpp"
#include "cucore/export.hpp"
#include "cucore/graph_operand.hpp"
#include "cucore/graph_point.hpp"
#include "cucore/kernel.hpp"
#include "cucore/launch.hpp"
#include "cucore/launch_config.hpp"

namespace cucore {

/// What a node does (CUgraphNodeType).
enum class GraphNodeType {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  graph = 4,
  empty = 5,
  wait_event = 6,
  event_record = 7,
  ext_semas_signal = 8,
  ext_semas_wait = 9,
  mem_alloc = 10,
  mem_free = 11,
  batch_mem_op = 12,
  conditional = 13
};

class CUCORE_API GraphNode : public GraphPoint {
 public:
  /// Refers to nothing.
  GraphNode() noexcept = default;

  /// The driver's handle; null once it is not valid.
  GraphNodeHandle handle() const noexcept;
  /// False once destroyed, by itself or with a node above it.
  bool is_valid() const noexcept;
  explicit operator bool() const noexcept { return is_valid(); }
  /// What it does; known also of a node that is no longer valid. @throws StateError refers to nothing
  GraphNodeType type() const;
  /// The graph it is, or was, in.
  GraphDefinition graph() const;
  /// Removes it and its edges; calling it twice is allowed. What it retained is released, unless something made from
  /// the graph still uses it. @throws DriverError the graph has memory nodes; nothing is changed then
  void destroy() const;

  /// The nodes it depends on, and those that depend on it. Empty once it is not valid.
  std::vector<GraphNode> pred() const;
  std::vector<GraphNode> succ() const;
  /// Adds or removes edges, in one driver call. Edges that exist are not added again; those that do not exist are not
  /// removed. @throws DriverError a destroyed node, one of another graph, or this node itself
  void add_pred(std::span<const GraphNode> nodes) const;
  void add_succ(std::span<const GraphNode> nodes) const;
  void remove_pred(std::span<const GraphNode> nodes) const;
  void remove_succ(std::span<const GraphNode> nodes) const;
  /// Makes these the only edges: removes and adds the difference, and restores what was removed if adding fails.
  void set_pred(std::span<const GraphNode> nodes) const;
  void set_succ(std::span<const GraphNode> nodes) const;

  /// The node as one of the classes below. @throws TypeError it does something else
  template <class Node>
  Node as() const {
    if (!is<Node>()) refuse_type(Node::node_type);
    return Node(*this);
  }
  template <class Node>
  bool is() const {
    return type() == Node::node_type;
  }
  /// Whether both are the same operation; also of nodes that are no longer valid.
  friend bool operator==(const GraphNode& a, const GraphNode& b) noexcept { return a.node_ == b.node_; }
  /// The same pointer for equal nodes, and for no others as long as one of them is referred to.
  const void* identity() const noexcept { return node_.get(); }

  /// Internal.
  GraphNode(std::shared_ptr<detail::GraphHierarchy> hierarchy, std::shared_ptr<detail::NodeState> node) noexcept;
  const std::shared_ptr<detail::NodeState>& state() const noexcept { return node_; }

 protected:
  /// What it keeps alive: the kernel and the arguments, the destination and the source, the event, or the function.
  std::array<std::shared_ptr<const void>, 2> owners() const;

 private:
  [[noreturn]] void refuse_type(GraphNodeType wanted) const;
};

class CUCORE_API EmptyNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::empty;
  explicit EmptyNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}
};

/// What is not given stays as it is.
struct KernelNodeUpdate {
  std::optional<LaunchConfig> config = std::nullopt;
  std::optional<Kernel> kernel = std::nullopt;  ///< needs `arguments`
  std::optional<KernelArguments> arguments = std::nullopt;
};

class CUCORE_API KernelNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::kernel;
  explicit KernelNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  Kernel kernel() const;
  /// The whole config; with clusters, its grid counts clusters.
  LaunchConfig config() const;
  /// What was given to keep the arguments alive.
  std::shared_ptr<const void> arguments_owner() const { return owners()[1]; }
  /// For graphs instantiated and cloned from now on. @throws ValueError a kernel without arguments  @throws StateError
  /// not valid  @throws DriverError; the node is as before then
  void update(const KernelNodeUpdate& changes) const;
  /// The same config and kernel with other arguments, checked.
  template <class... Args>
  void set_arguments(const Args&... args) const;
};

struct MemcpyNodeUpdate {
  std::optional<MemoryOperand> dst = std::nullopt;
  std::optional<MemoryOperand> src = std::nullopt;
  std::optional<std::size_t> size = std::nullopt;
};

class CUCORE_API MemcpyNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::memcpy;
  explicit MemcpyNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  DevicePointer dst() const;
  DevicePointer src() const;
  std::size_t size() const;
  bool is_dst_host() const;
  bool is_src_host() const;
  /// Whether it is one run of bytes; a captured copy may have rows, offsets or arrays, and cannot be updated then.
  bool is_linear() const;
  std::shared_ptr<const void> dst_owner() const { return owners()[0]; }
  std::shared_ptr<const void> src_owner() const { return owners()[1]; }
  /// As KernelNode::update(). The context to copy in is the current one. @throws StateError not linear, or not valid
  void update(const MemcpyNodeUpdate& changes) const;
};

struct MemsetNodeUpdate {
  std::optional<MemoryOperand> dst = std::nullopt;
  std::optional<FillPattern> value = std::nullopt;
  std::optional<std::size_t> width = std::nullopt;
  std::optional<std::size_t> height = std::nullopt;
  std::optional<std::size_t> pitch = std::nullopt;
};

class CUCORE_API MemsetNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::memset;
  explicit MemsetNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  DevicePointer dst() const;
  std::uint32_t value() const;
  unsigned element_size() const;
  std::size_t width() const;  ///< elements
  std::size_t height() const;
  std::size_t pitch() const;  ///< bytes
  std::shared_ptr<const void> dst_owner() const { return owners()[0]; }
  /// As MemcpyNode::update().
  void update(const MemsetNodeUpdate& changes) const;
};

class CUCORE_API AllocNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::mem_alloc;
  explicit AllocNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  DevicePointer dptr() const;
  std::size_t bytesize() const;
  int device_id() const;  ///< -1: the host's
  GraphMemoryType memory_type() const;
  std::vector<int> peer_access() const;
};

class CUCORE_API FreeNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::mem_free;
  explicit FreeNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  DevicePointer dptr() const;
};

class CUCORE_API ChildGraphNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::graph;
  explicit ChildGraphNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  /// The embedded clone. @throws StateError not valid
  GraphDefinition child_graph() const;
  /// Replaces the graph by a clone of `child`; the old one and its nodes are no longer valid. @throws ValueError
  /// `child` belongs to this graph
  void update(const GraphDefinition& child) const;
};

class CUCORE_API EventRecordNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::event_record;
  explicit EventRecordNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  Event event() const;
  void update(const Event& event) const;
};

class CUCORE_API EventWaitNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::wait_event;
  explicit EventWaitNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  Event event() const;
  void update(const Event& event) const;
};

class CUCORE_API HostCallbackNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::host;
  explicit HostCallbackNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  /// The C function; null if it is a std::function.
  HostFunction c_function() const;
  void* user_data() const;
  /// The std::function; null if it is a C function, and once the node is destroyed. Kept alive by the pointer.
  std::shared_ptr<const std::function<void()>> function() const;
  /// What was given with a C function.
  std::shared_ptr<const void> owner() const { return owners()[1]; }
  void update(std::function<void()> function) const;
  void update(HostFunction function, void* user_data, std::shared_ptr<const void> owner = nullptr) const;
};

class CUCORE_API ConditionalNode : public GraphNode {
 public:
  static constexpr GraphNodeType node_type = GraphNodeType::conditional;
  explicit ConditionalNode(GraphNode node) noexcept : GraphNode(std::move(node)) {}

  /// A node that cucore did not make is not known on drivers before CUDA 13.2: nullopt, and no branches.
  std::optional<GraphCondition> condition() const;
  std::optional<GraphConditionalType> cond_type() const;
  /// The bodies, to add nodes to: for an if, the body, or the then and the else.
  std::vector<GraphDefinition> branches() const;
};

namespace detail {

/// What keeps the buffers among the arguments alive; null if there are none.
template <class... Args>
std::shared_ptr<const void> allocations_of(const Args&... args) {
  constexpr std::size_t buffers = (std::size_t{0} + ... + (std::is_same_v<Args, Buffer> ? 1 : 0));
  if constexpr (buffers == 0) {
    return nullptr;
  } else {
    std::vector<std::shared_ptr<const void>> held;
    held.reserve(buffers);
    const auto hold = [&](const auto& argument) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(argument)>, Buffer>) {
        held.push_back(MemoryOperand::allocation_of(argument));
      }
    };
    (hold(args), ...);
    return std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(held));
  }
}

}  // namespace detail

template <class... Args>
KernelNode GraphPoint::launch(const LaunchConfig& config, const Kernel& kernel, const Args&... args) const {
  GraphNode node;
  auto owner = detail::allocations_of(args...);
  detail::with_values(
      [&](void* const* values, std::span<const Argument> arguments) {
        node = launch_arguments(config, kernel, values, arguments, std::move(owner));
      },
      args...);
  return KernelNode(std::move(node));
}

template <class... Args>
void KernelNode::set_arguments(const Args&... args) const {
  auto owner = detail::allocations_of(args...);
  detail::with_values(
      [&](void* const* values, std::span<const Argument> arguments) {
        check_arguments(kernel(), arguments);
        update({.arguments = KernelArguments{values, std::move(owner)}});
      },
      args...);
}

}  // namespace cucore
