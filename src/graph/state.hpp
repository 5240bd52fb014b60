// What graphs and nodes are made of: one hierarchy for a root graph, the graphs embedded in it and the bodies of its
// conditional nodes, and in it a state for each graph and each node.
//
// The hierarchy's registries map the driver's handles to states, so that an operation has one state however it is
// reached. A state leaves the registry, and loses its handle, before the driver may give the handle to something new:
// what has been destroyed never comes back to life under a handle used again.
//
// What a node keeps alive is given to the driver as one user object for each version of its parameters, attached to the
// node's graph (Retention): the driver hands references on to clones, executable graphs and launches. The order of
// every change: allocate and attach the new owners; change the driver's node; then publish, which cannot fail. A
// failure before that is undone.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "cucore/graph_node.hpp"
#include "src/device/context_state.hpp"
#include "src/device/event_state.hpp"
#include "src/driver/abi_graphs.hpp"
#include "src/handles/deferred_release.hpp"
#include "src/handles/owning_handle.hpp"

namespace cucore::detail {

struct CallbackErrors;
struct HostCallback;

struct GraphTraits : ReleasedBy<&driver::Table::cuGraphDestroy, /*anywhere=*/true> {
  static constexpr const char* call = "cuGraphDestroy";
};

struct GraphExecTraits : ReleasedBy<&driver::Table::cuGraphExecDestroy, /*anywhere=*/true> {
  static constexpr const char* call = "cuGraphExecDestroy";
};

/// Owners in a user object of the driver's that no graph has yet. Empty if there are no owners.
class Retention {
 public:
  Retention() noexcept = default;
  /// @throws DriverError
  explicit Retention(const Owners& owners);
  Retention(Retention&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Retention& operator=(Retention&&) = delete;
  ~Retention();

  /// Gives the reference to the graph; null if empty. @throws DriverError
  driver::CUuserObject attach(driver::CUgraph graph);

 private:
  driver::CUuserObject object_ = nullptr;
};

/// Takes back what attach() gave; null is ignored. A failure is reported: the graph keeps the owners then.
void release_retained(driver::CUgraph graph, driver::CUuserObject object) noexcept;

/// The values of a kernel's arguments, copied.
struct PackedArguments {
  std::vector<std::byte> block;
  std::vector<void*> values;  ///< into the block
};

struct KernelParameters {
  LaunchConfig config;
  Kernel kernel;
  std::shared_ptr<const PackedArguments> arguments;  ///< null: only the driver has them
};
struct MemcpyParameters {
  DevicePointer dst = 0;
  DevicePointer src = 0;
  std::size_t size = 0;
  bool is_dst_host = false;
  bool is_src_host = false;
  bool is_linear = true;
};
struct MemsetParameters {
  DevicePointer dst = 0;
  std::uint32_t value = 0;
  unsigned element_size = 1;
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t pitch = 0;
};
struct HostParameters {
  HostFunction function = nullptr;  ///< null: `callback`
  void* user_data = nullptr;
  std::shared_ptr<const HostCallback> callback;
};
struct ChildParameters {
  std::shared_ptr<GraphState> graph;
};
struct EventParameters {
  std::shared_ptr<const EventState> event;
};
struct AllocParameters {
  DevicePointer dptr = 0;
  std::size_t bytesize = 0;
  int device_id = 0;
  GraphMemoryType memory_type = GraphMemoryType::device;
  std::vector<int> peer_access;
};
struct FreeParameters {
  DevicePointer dptr = 0;
};
struct ConditionalParameters {
  std::optional<GraphCondition> condition;
  std::optional<GraphConditionalType> type;
  std::vector<std::shared_ptr<GraphState>> branches;
};
using NodeParameters =
    std::variant<std::monostate, KernelParameters, MemcpyParameters, MemsetParameters, HostParameters, ChildParameters,
                 EventParameters, AllocParameters, FreeParameters, ConditionalParameters>;

/// A node. All of it is guarded by the hierarchy's mutex but `type` and `graph`, which do not change.
struct NodeState {
  GraphNodeType type = GraphNodeType::empty;
  std::shared_ptr<GraphState> graph;        ///< the graph it is, or was, in
  driver::CUgraphNode handle = nullptr;     ///< null: destroyed
  NodeParameters parameters;                ///< the last known
  Owners owners;                            ///< what `retained` keeps alive; empty once destroyed
  driver::CUuserObject retained = nullptr;  ///< attached to the graph
  std::uint64_t attributes_since = 0;       ///< change_time() of the last update that changed launch attributes
};

/// Counts changes in the process, to tell what came first.
std::uint64_t change_time() noexcept;

/// One graph of a hierarchy.
struct GraphState {
  driver::CUgraph handle = nullptr;                                           ///< null: gone
  std::unordered_map<driver::CUgraphNode, std::shared_ptr<NodeState>> nodes;  ///< those with a GraphNode
};

/// A change to a hierarchy may release objects of users, whose destructors may need the mutex, or a lock that another
/// thread holds while it waits for the mutex (Python's). Such objects are collected here and released after the mutex:
/// declare one before locking.
struct LetGo {
  std::vector<Owners> owners;
  std::vector<std::shared_ptr<NodeState>> nodes;
  std::vector<std::shared_ptr<GraphState>> graphs;
  LetGo() = default;
  LetGo(const LetGo&) = delete;
  LetGo& operator=(const LetGo&) = delete;
  ~LetGo();

  /// Room for the node and all below it, so that invalidate() cannot fail. @throws std::bad_alloc
  void reserve(const NodeState& node);
};

struct GraphHierarchy {
  GraphHierarchy() = default;
  GraphHierarchy(const GraphHierarchy&) = delete;
  GraphHierarchy& operator=(const GraphHierarchy&) = delete;
  ~GraphHierarchy();

  /// A new empty graph. @throws DriverError
  static std::shared_ptr<GraphHierarchy> create();
  /// Takes over a graph that exists already: that of an ended capture, or a clone.
  static std::shared_ptr<GraphHierarchy> adopt(driver::CUgraph graph);

  std::mutex mutex;
  OwningHandle<GraphTraits> owned;  ///< the root
  std::shared_ptr<GraphState> root;
  std::vector<std::shared_ptr<GraphState>> graphs;  ///< all that are not gone
  std::shared_ptr<CallbackErrors> errors;

  /// The state of a graph of this hierarchy, made if it is new. @throws std::bad_alloc
  std::shared_ptr<GraphState> graph(driver::CUgraph handle);
};

/// What the driver says of a node that has no state yet. Lock held. @throws DriverError
NodeParameters read_parameters(GraphHierarchy& hierarchy, driver::CUgraphNode handle, GraphNodeType type,
                               Owners& owners);

/// The node's state, made and filled from the driver if there is none. Lock held. @throws DriverError
std::shared_ptr<NodeState> node_of(GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& graph,
                                   driver::CUgraphNode handle);

/// Marks the node, and all that is in graphs it owns, as gone, once the driver has destroyed it. Lock held, and room
/// made in `let_go`.
void invalidate(GraphHierarchy& hierarchy, NodeState& node, LetGo& let_go) noexcept;
/// The same for a graph and all that is in it.
void invalidate(GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& graph, LetGo& let_go) noexcept;

/// Gives `clone`, which the driver cloned from `graph` of another or the same hierarchy, what is known of the nodes
/// there. Both locked. What the driver cannot map stays unknown, and is retained by the graph all the same.
void adopt_nodes(const GraphState& graph, GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& clone);

/// The point's hierarchy. @throws StateError closed, or refers to nothing
GraphHierarchy& open_hierarchy(const GraphPoint& point, const char* call);
/// The point's graph. Lock held. @throws StateError not valid any more
GraphState& open_graph(const GraphPoint& point, const char* call);
/// The node's state. Lock held. @throws StateError destroyed
NodeState& open_node(const GraphNode& node, const char* call);
void require_valid(const NodeState& node, const char* call);

/// Gives the last node of a capture its owners, which `retained` holds: for builders. A handle that is null leaves them
/// with the graph. @throws DriverError
void adopt_captured_node(GraphHierarchy& hierarchy, const std::shared_ptr<GraphState>& graph,
                         driver::CUgraphNode handle, Owners owners, driver::CUuserObject retained);

/// "kernel", "host callback"...
std::string describe(GraphNodeType type);
/// "graph node 0x... (kernel)".
std::string describe(const NodeState& node);
/// "graph 0x...".
std::string describe(const GraphState& graph);

/// The context that nodes are made for: the current one, or device 0's primary one if none is current.
std::shared_ptr<const ContextState> recorded_context();

}  // namespace cucore::detail
