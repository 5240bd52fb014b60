// What the files that bind classes of nodes share.
//
// `_details()` of a class is what it adds to the repr of its nodes.
#pragma once

#include "python/bindings/graph/graph.hpp"

namespace cucore::python {

/// The Python class of a core class of nodes. One that is made by calling it is of no graph, as one that was destroyed.
template <class Node>
struct PyNode : PyGraphNode {
  using PyGraphNode::PyGraphNode;
};

/// Calls `call` without the GIL with the node as the core's class.
template <class Node, class Call>
decltype(auto) use(const PyGraphNode& self, Call&& call) {
  return without_gil([&] { return call(Node(*self.node)); });
}

/// The same for a change, after which no property is cached.
template <class Node, class Call>
void change(const PyGraphNode& self, Call&& call) {
  use<Node>(self, std::forward<Call>(call));
  decltype(self.known.values) forgotten;  // dropped without the lock
  const std::lock_guard lock(self.known.exclusion);
  self.known.values.swap(forgotten);
  self.known.callback.reset();
  ++self.known.version;
}

/// What `ask` gives, asked once for each update of the node. `Place`: among the cached properties of its class.
template <std::size_t Place, class Ask>
nb::object cached(const PyGraphNode& self, Ask&& ask) {
  PyGraphNode::Known& known = self.known;
  unsigned version = 0;
  {
    const std::lock_guard lock(known.exclusion);
    if (known.values[Place].is_valid()) return known.values[Place];
    version = known.version;
  }
  nb::object value = ask();
  const std::lock_guard lock(known.exclusion);
  if (known.version == version) known.values[Place] = value;
  return value;
}

/// The same of an object that its user can close: then it is asked again.
template <std::size_t Place, class Object, class Ask>
nb::object cached_while_open(const PyGraphNode& self, Ask&& ask) {
  nb::object value = cached<Place>(self, ask);
  return nb::inst_ptr<Object>(value)->is_open() ? value : ask();
}

template <class Node, std::size_t Place, auto Read>
nb::object cached_value(const PyGraphNode& self) {
  return cached<Place>(self, [&] { return python_value(use<Node>(self, Read)); });
}

/// A property of a class of nodes, which is read once for each update: `Read` is a function of the core's Node, called
/// without the GIL. Each of a class has a `Place` of its own.
template <class Node, std::size_t Place, auto Read, class Class>
void node_value(Class& cls, const char* name, const char* doc) {
  getter<PyGraphNode, cached_value<Node, Place, Read>>(cls, name, doc);
}

template <class Object, class Base = PyGraphNode>
nb::class_<Object, Base> node_class(nb::module_& module, const char* name, const char* doc) {
  nb::class_<Object, Base> cls(module, name, nb::is_weak_referenceable(), doc);
  cls.def("__init__", [](Object* self) { new (self) Object(GraphNode()); });
  return cls;
}

/// Kernel launches, copies, fills and allocations.
void bind_operation_nodes(nb::module_& module);

}  // namespace cucore::python
