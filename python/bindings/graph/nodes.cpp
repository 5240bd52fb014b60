// The classes of the other nodes: events, child graphs, callbacks, conditions; and the choice of a node's class.
#include "python/bindings/graph/nodes.hpp"

namespace cucore::python {
namespace {

using PyConditionalNode = PyNode<ConditionalNode>;
struct PyIfNode : PyConditionalNode {
  using PyNode::PyNode;
};
struct PyIfElseNode : PyConditionalNode {
  using PyNode::PyNode;
};
struct PyWhileNode : PyConditionalNode {
  using PyNode::PyNode;
};
struct PySwitchNode : PyConditionalNode {
  using PyNode::PyNode;
};

template <class Object>
nb::object made(GraphNode node) {
  return new_object<Object>(std::move(node));
}

// Events, children, callbacks.

template <class Node>
nb::object event_of(const PyGraphNode& self) {
  return cached_while_open<0, PyEvent>(
      self, [&] { return new_object<PyEvent>(use<Node>(self, [](const Node& node) { return node.event(); })); });
}

template <class Node>
void bind_event_node(nb::module_& module, const char* name, const char* doc) {
  auto cls = node_class<PyNode<Node>>(module, name, doc);
  getter<PyGraphNode, event_of<Node>>(cls, "event", "The Event.");
  cls.def(
         "update",
         [](const PyGraphNode& self, nb::handle event) {
           const Event mark = required_event(event);
           change<Node>(self, [&](const Node& node) { node.update(mark); });
         },
         nb::arg("event").none(), "Another event, for graphs instantiated from now on.")
      .def("_details", [](const PyGraphNode& self) {
        return " event=" + hex(use<Node>(self, [](const Node& node) { return node.event(); }).handle());
      });
}

void bind_child_node(nb::module_& module) {
  node_class<PyNode<ChildGraphNode>>(module, "ChildGraphNode", "Another graph as one node.")
      .def_prop_ro(
          "child_graph",
          [](const PyGraphNode& self) {
            return definition_object(
                use<ChildGraphNode>(self, [](const ChildGraphNode& node) { return node.child_graph(); }));
          },
          "The embedded clone.")
      .def(
          "update",
          [](const PyGraphNode& self, nb::handle child) {
            const GraphView graph = required_definition(child, "child").share();
            change<ChildGraphNode>(self, [&](const ChildGraphNode& node) { node.update(graph); });
          },
          nb::arg("child").none(), "Puts a clone of another definition in its place; views of the old one end.")
      .def("_details", [](const PyGraphNode& self) {
        return use<ChildGraphNode>(self, [](const ChildGraphNode& node) {
          return " child=" + hex(node.is_valid() ? node.child_graph().handle() : nullptr);
        });
      });
}

std::shared_ptr<const std::function<void()>> last_callback(const PyGraphNode& self) {
  const std::lock_guard lock(self.known.exclusion);
  return self.known.last_callback;
}

std::string describe_callback(const PyGraphNode& self) {
  const HostCallbackNode node(*self.node);
  auto function = last_callback(self);
  if (function == nullptr) function = without_gil([&] { return node.function(); });
  if (function == nullptr) {
    return " cfunc=" + hex(without_gil([&] { return reinterpret_cast<std::uintptr_t>(node.c_function()); }));
  }
  PyObject* const callable = callable_behind(*function);
  if (callable == nullptr) return " callback=?";
  return std::string(" callback=") + nb::str(nb::getattr(nb::handle(callable), "__name__", nb::str("?"))).c_str();
}

std::shared_ptr<const std::function<void()>> function_of(const PyGraphNode& self) {
  if (auto function = last_callback(self)) return function;
  unsigned version = 0;
  {
    const std::lock_guard lock(self.known.exclusion);
    if (auto function = self.known.callback.lock(); function != nullptr && self.node->is_valid()) return function;
    version = self.known.version;
  }
  auto function = use<HostCallbackNode>(self, [](const HostCallbackNode& node) { return node.function(); });
  const std::lock_guard lock(self.known.exclusion);
  if (self.known.version == version && function != nullptr) {
    self.known.callable = callable_behind(*function);
    if (self.known.callable != nullptr) self.known.callback = function;
  }
  return function;
}

nb::object callback_of(const PyGraphNode& self) {
#ifndef Py_GIL_DISABLED
  // What goes in another thread meanwhile drops the callable with the GIL, which this one holds.
  if (!self.known.callback.expired() && self.node->is_valid()) return nb::borrow(self.known.callable);
#endif
  const auto function = function_of(self);
  PyObject* const callable = function == nullptr ? nullptr : callable_behind(*function);
  return callable == nullptr ? nb::none() : nb::borrow(callable);
}

void bind_callback_node(nb::module_& module) {
  auto cls = node_class<PyNode<HostCallbackNode>>(module, "HostCallbackNode", "A function that the driver calls.");
  getter<PyGraphNode, callback_of>(cls, "callback", "The callable; None for a C function.");
  cls.def(
         "update",
         [](const PyGraphNode& self, nb::handle function, nb::handle user_data) {
           CallbackArguments given = callback_arguments(function, user_data);
           change<HostCallbackNode>(self, [&](const HostCallbackNode& node) {
             if (given.function) return node.update(std::move(given.function));
             node.update(given.c_function, given.user_data, std::move(given.owner));
           });
         },
         nb::arg("fn").none(), nb::kw_only(), nb::arg("user_data") = nb::none(),
         "Another function, for graphs instantiated from now on.")
      .def(
          "destroy",
          [](const PyGraphNode& self) {
            if (auto function = function_of(self)) {
              const std::lock_guard lock(self.known.exclusion);
              self.known.last_callback = std::move(function);
            }
            without_gil([&] { self.node->destroy(); });
          },
          "Takes the node out of the graph. It goes on telling its callback.")
      .def("_details", describe_callback);
}

// Conditional nodes.

nb::tuple branches(const PyGraphNode& self) {
  nb::list bodies;
  for (GraphDefinition& body :
       use<ConditionalNode>(self, [](const ConditionalNode& node) { return node.branches(); })) {
    bodies.append(definition_object(std::move(body)));
  }
  return nb::tuple(bodies);
}

// The same object each time, as long as it is open.
nb::object branch(const PyGraphNode& self, std::size_t index) {
  if (!self.node->is_valid()) return branches(self)[index];
  const nb::object known = cached<0>(self, [&]() -> nb::object { return branches(self); })[index];
  return nb::inst_ptr<PyGraphDefinition>(known)->is_open() ? known : nb::object(branches(self)[index]);
}

nb::object condition(const PyGraphNode& self) {
  const auto value = use<ConditionalNode>(self, [](const ConditionalNode& node) { return node.condition(); });
  return value.has_value() ? condition_object(*value) : nb::none();
}

nb::object conditional_type(const PyGraphNode& self) {
  const auto type = use<ConditionalNode>(self, [](const ConditionalNode& node) { return node.cond_type(); });
  if (!type.has_value()) return nb::none();
  constexpr const char* names[] = {"if", "while", "switch"};
  return from_package(Package::GraphConditionalType)(names[static_cast<int>(*type)]);
}

void bind_conditional_nodes(nb::module_& module) {
  node_class<PyConditionalNode>(module, "ConditionalNode", "Graphs that run as a condition says.")
      .def_prop_ro("condition", condition, "The GraphCondition; None if the driver cannot tell.")
      .def_prop_ro("cond_type", conditional_type, "A GraphConditionalType; None if the driver cannot tell.")
      .def_prop_ro("branches", branches, "The bodies as a tuple of GraphDefinitions, to add nodes to.")
      .def("_details", [](const PyGraphNode& self) {
        const auto value = use<ConditionalNode>(self, [](const ConditionalNode& node) { return node.condition(); });
        return value.has_value() ? " condition=" + hex(value->handle()) : std::string();
      });
  const auto first = [](const PyGraphNode& self) { return branch(self, 0); };
  const auto second = [](const PyGraphNode& self) { return branch(self, 1); };
  node_class<PyIfNode, PyConditionalNode>(module, "IfNode", "A graph that runs if the condition is not 0.")
      .def_prop_ro("then", first, "Its body.");
  node_class<PyIfElseNode, PyConditionalNode>(module, "IfElseNode",
                                              "One graph that runs if the condition is not 0, else another.")
      .def_prop_ro("then", first, "What runs if it is not 0.")
      .def_prop_ro("else_", second, "What runs if it is 0.");
  node_class<PyWhileNode, PyConditionalNode>(module, "WhileNode", "A graph that runs while the condition is not 0.")
      .def_prop_ro("body", first, "Its body.");
  node_class<PySwitchNode, PyConditionalNode>(module, "SwitchNode", "The graph whose number the condition is runs.");
}

nb::object new_conditional(GraphNode node) {
  const ConditionalNode conditional(node);
  const auto [type, count] =
      without_gil([&] { return std::pair(conditional.cond_type(), conditional.branches().size()); });
  if (!type.has_value()) return made<PyConditionalNode>(std::move(node));
  switch (*type) {
    case GraphConditionalType::if_:
      return count > 1 ? made<PyIfElseNode>(std::move(node)) : made<PyIfNode>(std::move(node));
    case GraphConditionalType::while_:
      return made<PyWhileNode>(std::move(node));
    case GraphConditionalType::switch_:
      return made<PySwitchNode>(std::move(node));
  }
  return made<PyConditionalNode>(std::move(node));
}

}  // namespace

nb::object new_node_object(GraphNode node) {
  switch (node.type()) {
    case GraphNodeType::kernel:
      return made<PyNode<KernelNode>>(std::move(node));
    case GraphNodeType::memcpy:
      return made<PyNode<MemcpyNode>>(std::move(node));
    case GraphNodeType::memset:
      return made<PyNode<MemsetNode>>(std::move(node));
    case GraphNodeType::host:
      return made<PyNode<HostCallbackNode>>(std::move(node));
    case GraphNodeType::graph:
      return made<PyNode<ChildGraphNode>>(std::move(node));
    case GraphNodeType::empty:
      return made<PyNode<EmptyNode>>(std::move(node));
    case GraphNodeType::wait_event:
      return made<PyNode<EventWaitNode>>(std::move(node));
    case GraphNodeType::event_record:
      return made<PyNode<EventRecordNode>>(std::move(node));
    case GraphNodeType::mem_alloc:
      return made<PyNode<AllocNode>>(std::move(node));
    case GraphNodeType::mem_free:
      return made<PyNode<FreeNode>>(std::move(node));
    case GraphNodeType::conditional:
      return new_conditional(std::move(node));
    case GraphNodeType::ext_semas_signal:
    case GraphNodeType::ext_semas_wait:
    case GraphNodeType::batch_mem_op:
      break;
  }
  return made<PyGraphNode>(std::move(node));
}

Event required_event(nb::handle object) {
  const PyEvent* event = nullptr;
  if (nb::try_cast<const PyEvent*>(object, event) && event != nullptr) return event->share();
  throw nb::type_error((std::string("event must be an Event, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
}

void bind_graph_nodes(nb::module_& module) {
  node_class<PyNode<EmptyNode>>(module, "EmptyNode", "A node that does nothing: what joins others.");
  bind_operation_nodes(module);
  bind_event_node<EventRecordNode>(module, "EventRecordNode", "The record of an event.");
  bind_event_node<EventWaitNode>(module, "EventWaitNode", "A wait for an event.");
  bind_child_node(module);
  bind_callback_node(module);
  bind_conditional_nodes(module);
}

}  // namespace cucore::python
