// Graphs as Python objects: definitions, nodes, conditions and executable graphs, and what builders need of them.
//
// A node is one Python object as long as somebody has it: a table of weak references, by the core's identity of nodes,
// gives the object again. All that reads or changes a graph releases the GIL first, since the core locks the graph.
//
// The classes are bound when cucore.graph is imported, by _bind_graphs(): there are so many that programs without
// graphs would notice.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cucore/graph.hpp"
#include "python/bindings/memory/memory.hpp"
#include "python/bindings/unsigned.hpp"

namespace cucore::python {

/// A definition, with the closed state that Wrapper wants.
struct GraphView : GraphDefinition {
  using State = std::pair<std::shared_ptr<detail::GraphHierarchy>, std::shared_ptr<detail::GraphState>>;
  GraphView() noexcept : GraphDefinition(nullptr, nullptr) {}
  GraphView(GraphDefinition definition) noexcept : GraphDefinition(std::move(definition)) {}
  explicit GraphView(const State& state) noexcept : GraphDefinition(state.first, state.second) {}
  State state() const { return {hierarchy(), graph_state()}; }
};
template <>
inline std::uint64_t identity_of(const GraphView& view) noexcept {
  return address(view.identity());
}
/// Only the last of a hierarchy destroys anything.
template <>
inline bool may_call_driver_at_end(const GraphView& view) noexcept {
  return view.hierarchy().use_count() == 1;
}
template <>
inline bool may_call_driver_at_end(const GraphNode& node) noexcept {
  return node.hierarchy().use_count() == 1;
}

/// Where nodes can be added: the Python base of GraphDefinition and GraphNode.
struct PyGraphPoint {
  virtual ~PyGraphPoint() = default;
  /// Calls `call` without the GIL with the graph or the node.
  virtual void at(const std::function<void(const GraphPoint&)>& call) const = 0;
};

struct PyGraphDefinition : PyGraphPoint, Wrapper<GraphView> {
  explicit PyGraphDefinition(GraphDefinition definition) : Wrapper(GraphView(std::move(definition))) {}
  void at(const std::function<void(const GraphPoint&)>& call) const override { use(call); }
};

struct PyGraphNode : PyGraphPoint {
  explicit PyGraphNode(GraphNode wrapped) : node(std::move(wrapped)) {}
  ~PyGraphNode() override;
  void at(const std::function<void(const GraphPoint&)>& call) const override {
    if (node->state() == nullptr) throw std::runtime_error("the node is of no graph: use the node of one");
    without_gil([&] { call(*node); });
  }
  std::uint64_t identity() const noexcept { return address(node->identity()); }
  bool equals(const PyGraphNode& other) const noexcept { return *node == *other.node; }

  Owned<GraphNode> node;

  /// What its properties gave, until the next update: to read a node, its graph is locked.
  struct Known {
    std::array<nb::object, 7> values;  ///< cached properties (nodes.hpp); the last: the graph
    std::weak_ptr<const std::function<void()>> callback;
    PyObject* callable = nullptr;                                ///< behind `callback`, and as long as that
    std::shared_ptr<const std::function<void()>> last_callback;  ///< of a node that is destroyed: it goes on telling it
    unsigned version = 0;                                        ///< how many updates there have been
    [[no_unique_address]] Exclusion exclusion;
  };
  mutable Known known;
};

struct PyGraphCondition {
  GraphCondition condition;
};

struct PyGraph : Wrapper<Graph> {
  using Wrapper::Wrapper;
  /// The parameters of the last updates of single nodes, for updates that omit some: a mapping that its views use, or
  /// nothing.
  nb::object known_parameters;
};

nb::object definition_object(GraphDefinition definition);
/// The Python object that stands for the node: the same one as before while that is alive.
nb::object node_object(GraphNode node);
nb::list node_list(std::vector<GraphNode> nodes);
/// A new object of the class for what the node does.
nb::object new_node_object(GraphNode node);
nb::object graph_object(Graph graph);
nb::object condition_object(GraphCondition condition);
/// What a condition is set to at each launch, if it is. Throws TypeError, OverflowError.
std::optional<unsigned> default_of(nb::handle value);

/// `__reduce__` of all of them.
nb::object refuse_pickling(nb::handle self);

/// Throw TypeError that names `what`.
const PyGraphDefinition& required_definition(nb::handle object, const char* what);
const GraphNode& required_node(nb::handle object);
GraphCondition required_condition(nb::handle object);
Event required_event(nb::handle object);
std::vector<GraphNode> required_nodes(nb::handle nodes);
Kernel required_kernel(nb::handle object);

/// Calls `call` with GraphCompleteOptions made of the dataclass, a dict of its fields or None.
nb::object with_complete_options(nb::handle options, const std::function<Graph(const GraphCompleteOptions&)>& call);
GraphDebugPrintOptions debug_print_options(nb::handle options);

/// The source or destination of a copy or a fill: a Buffer, or an int with an owner or None.
MemoryOperand memory_operand(nb::handle operand, nb::handle owner, const char* name);
/// What keeps kernel arguments alive: the allocations of Buffers, and all else that is not a plain number.
std::shared_ptr<const void> arguments_owner(nb::handle arguments);
/// Calls `call` without the GIL with the packed arguments, after the work that arrays among them were waiting for.
void with_arguments(const Kernel& kernel, nb::handle arguments,
                    const std::function<void(const ArgumentPack&, std::shared_ptr<const void>)>& call);

/// A host callback as Python gives it: a callable, or a C function of ctypes with its user data.
struct CallbackArguments {
  std::function<void()> function;  ///< empty: the C function
  HostFunction c_function = nullptr;
  void* user_data = nullptr;
  std::shared_ptr<const void> owner;
};
CallbackArguments callback_arguments(nb::handle function, nb::handle user_data);
/// The callable behind a std::function of callback_arguments(); null if it is another's.
PyObject* callable_behind(const std::function<void()>& function) noexcept;

void bind_graph_definition(nb::module_& module);
void bind_graph_node(nb::module_& module);
void bind_graph_nodes(nb::module_& module);
void bind_executable_graph(nb::module_& module);
/// Has a pending call of the main thread release what graphs kept alive.
void serve_deferred_releases();

}  // namespace cucore::python
