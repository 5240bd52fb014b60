// GraphNode: an operation in a graph, its parameters and its edges; and how nodes are added.
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
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "cucore/buffer.hpp"
#include "cucore/driver_types.hpp"
#include "cucore/error.hpp"
#include "cucore/event.hpp"
#include "cucore/export.hpp"
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

/// Where the memory of an allocation node lies.
enum class GraphMemoryType { device, host, managed };

/// How a conditional node chooses (CUgraphConditionalNodeType).
enum class GraphConditionalType { if_ = 0, while_ = 1, switch_ = 2 };

/// A value that device code sets and conditional nodes read. It is passed to kernels as an argument
/// (cudaGraphConditionalHandle).
class GraphCondition {
 public:
  explicit constexpr GraphCondition(std::uint64_t handle) noexcept : handle_(handle) {}
  constexpr std::uint64_t handle() const noexcept { return handle_; }
  friend constexpr bool operator==(const GraphCondition&, const GraphCondition&) = default;

 private:
  std::uint64_t handle_;
};

/// The source or destination of a copy or a fill: the address, the kind of memory, and what keeps it alive.
class CUCORE_API MemoryOperand {
 public:
  enum class Kind { ask, ask_else_host, device, host };

  /// The buffer's memory; its allocation is retained, so the Buffer may be closed. Memory that the driver does not know
  /// is the host's. @throws ValueError closed
  MemoryOperand(const Buffer& buffer);
  /// An address; the driver is asked what memory that is, and an address it does not know counts as device memory.
  /// Retains only `owner`.
  MemoryOperand(DevicePointer address, std::shared_ptr<const void> owner = nullptr) noexcept
      : address_(address), owner_(std::move(owner)) {}
  /// Memory of the host, page-locked or not: the only way to name pageable memory by its address.
  static MemoryOperand host(const void* address, std::shared_ptr<const void> owner = nullptr) noexcept;
  /// Memory of a device, without asking.
  static MemoryOperand device(DevicePointer address, std::shared_ptr<const void> owner = nullptr) noexcept;

  DevicePointer address() const noexcept { return address_; }
  Kind kind() const noexcept { return kind_; }
  const std::shared_ptr<const void>& owner() const noexcept { return owner_; }
  /// The owner to pass with an address into a Buffer's memory. @throws ValueError closed
  static std::shared_ptr<const void> allocation_of(const Buffer& buffer);

 private:
  DevicePointer address_ = 0;
  Kind kind_ = Kind::ask;
  std::shared_ptr<const void> owner_;
};

/// What a fill repeats: 1, 2 or 4 bytes. A number has the width of its type: 0 is four bytes, std::uint8_t{0} one.
class CUCORE_API FillPattern {
 public:
  template <FillValue T>
  FillPattern(const T& value) : FillPattern(from_bytes(std::as_bytes(std::span(&value, 1)))) {}
  /// @throws ValueError another width
  static FillPattern from_bytes(std::span<const std::byte> element);
  std::uint32_t value() const noexcept { return value_; }
  unsigned element_size() const noexcept { return element_size_; }

 private:
  FillPattern(std::uint32_t value, unsigned element_size) noexcept : value_(value), element_size_(element_size) {}
  std::uint32_t value_;
  unsigned element_size_;
};

/// A C function for a host node, called on a thread of the driver's; it must not call CUDA.
using HostFunction = void (*)(void* user_data);

/// Thrown by a callback that has reported its failure itself: recorded as the graph's last_callback_error(), and not
/// sent to the release failure handler again.
class CUCORE_API CallbackFailure : public Error {
 public:
  using Error::Error;
};

struct GraphAllocationOptions {
  std::optional<int> device = std::nullopt;  ///< ordinal; unset: the current context's
  GraphMemoryType memory_type = GraphMemoryType::device;
  std::vector<int> peer_access = {};  ///< ordinals of further devices that may read and write it
};

/// Kernel arguments for an update, and what they keep alive.
struct KernelArguments {
  void* const* values = nullptr;  ///< one pointer for each parameter, as launch_unchecked() takes them
  std::shared_ptr<const void> owner = nullptr;
};

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
