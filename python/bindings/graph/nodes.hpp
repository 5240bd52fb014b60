// What the files that bind classes of nodes share.
//
// `_details()` of a class is what it adds to the repr of its nodes.
#pragma once

#include "python/bindings/graph/graph.hpp"

namespace cucore::python {

/// The Python class of a core class of nodes.
template <class Node>
struct PyNode : PyGraphNode {
  using PyGraphNode::PyGraphNode;
};

/// Calls `call` without the GIL with the node as the core's class.
template <class Node, class Call>
decltype(auto) use(const PyGraphNode& self, Call&& call) {
  return without_gil([&] { return call(Node(*self.node)); });
}

template <class Object, class Base = PyGraphNode>
nb::class_<Object, Base> node_class(nb::module_& module, const char* name, const char* doc) {
  nb::class_<Object, Base> cls(module, name, nb::is_weak_referenceable(), doc);
  forbid_construction<Object>(
      cls, "a node cannot be instantiated directly: use the methods of GraphDefinition and GraphNode");
  return cls;
}

/// Kernel launches, copies, fills and allocations.
void bind_operation_nodes(nb::module_& module);

}  // namespace cucore::python
