// GraphNode: identity, edges and the end of a node.
#include <algorithm>
#include <unordered_map>

#include "python/bindings/graph/nodes.hpp"

namespace cucore::python {
namespace {

// Weak references to the objects of nodes, by the core's identity: an object keeps its node's state, so that no other
// node has that identity meanwhile, and takes its entry with it (~PyGraphNode). Never given back.
struct KnownNodes {
  std::unordered_map<const void*, PyObject*> references;
  [[no_unique_address]] Exclusion exclusion;

  // The object; invalid if there is none, or it is on its way out.
  nb::object find(const void* identity) {
    const std::lock_guard lock(exclusion);
    const auto found = references.find(identity);
    return found == references.end() ? nb::object() : alive(found->second);
  }

  // Enters the object, unless another thread has entered one: then that.
  nb::object enter(const void* identity, nb::object made) {
    auto reference = nb::steal(PyWeakref_NewRef(made.ptr(), nullptr));
    if (!reference.is_valid()) throw nb::python_error();
    const std::lock_guard lock(exclusion);
    const auto [place, fresh] = references.try_emplace(identity, nullptr);
    if (!fresh) {
      if (nb::object other = alive(place->second); other.is_valid()) return other;
      Py_DECREF(place->second);
    }
    place->second = reference.release().ptr();
    return made;
  }

  void leave(const void* identity) noexcept {
    PyObject* reference = nullptr;
    nb::object other;  // dropped without the lock
    {
      const std::lock_guard lock(exclusion);
      const auto found = references.find(identity);
      if (found == references.end()) return;
      other = alive(found->second);
      if (other.is_valid()) return;  // entered meanwhile
      reference = found->second;
      references.erase(found);
    }
    Py_DECREF(reference);
  }

 private:
  static nb::object alive(PyObject* reference) noexcept {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject* object = nullptr;
    if (PyWeakref_GetRef(reference, &object) < 0) PyErr_Clear();
    return nb::steal(object);
#else
    PyObject* const object = PyWeakref_GetObject(reference);
    return object == Py_None ? nb::object() : nb::borrow(object);
#endif
  }
};

KnownNodes& known_nodes() {
  static auto* const nodes = new KnownNodes;
  return *nodes;
}

nb::list neighbours(const PyGraphNode& self, std::vector<GraphNode> (GraphNode::*read)() const) {
  return node_list(without_gil([&] { return ((*self.node).*read)(); }));
}

// Removes and adds edges; what was removed is put back if adding fails.
void change_edges(const PyGraphNode& self, bool incoming, nb::handle removed, nb::handle added) {
  const std::vector<GraphNode> out = required_nodes(removed);
  const std::vector<GraphNode> in = required_nodes(added);
  without_gil([&] {
    const GraphNode& node = *self.node;
    if (in.empty() || out.empty()) {
      if (!out.empty()) incoming ? node.remove_pred(out) : node.remove_succ(out);
      if (!in.empty()) incoming ? node.add_pred(in) : node.add_succ(in);
      return;
    }
    std::vector<GraphNode> wanted = in;
    for (const GraphNode& old : incoming ? node.pred() : node.succ()) {
      if (std::find(out.begin(), out.end(), old) == out.end()) wanted.push_back(old);
    }
    incoming ? node.set_pred(wanted) : node.set_succ(wanted);
  });
}

nb::object graph_of(const PyGraphNode& self) {
  return cached_while_open<6, PyGraphDefinition>(self, [&] { return definition_object(self.node->graph()); });
}

nb::object type_of(const PyGraphNode& self) {
  if (!self.node->is_valid()) return nb::none();
  return from_package(Package::CUgraphNodeType)(static_cast<int>(self.node->type()));
}

nb::object adjacency(nb::handle self, bool incoming) { return from_package(Package::AdjacencySet)(self, incoming); }

void assign(nb::handle self, bool incoming, nb::handle nodes) {
  from_package(Package::assign_neighbours)(self, incoming, nodes);
}

}  // namespace

nb::object node_object(GraphNode node) {
  const void* const identity = node.identity();
  nb::object known = known_nodes().find(identity);
  return known.is_valid() ? known : known_nodes().enter(identity, new_node_object(std::move(node)));
}

PyGraphNode::~PyGraphNode() { known_nodes().leave(node->identity()); }

nb::list node_list(std::vector<GraphNode> nodes) {
  nb::list objects;
  for (GraphNode& node : nodes) objects.append(node_object(std::move(node)));
  return objects;
}

const GraphNode& required_node(nb::handle object) {
  const PyGraphNode* node = nullptr;
  if (nb::try_cast<const PyGraphNode*>(object, node) && node != nullptr) return *node->node;
  throw nb::type_error((std::string("expected a GraphNode, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
}

std::vector<GraphNode> required_nodes(nb::handle nodes) {
  std::vector<GraphNode> all;
  for (const nb::handle node : nb::iter(nodes)) all.push_back(required_node(node));
  return all;
}

void bind_graph_node(nb::module_& module) {
  auto cls = nb::class_<PyGraphNode, PyGraphPoint>(
      module, "GraphNode", nb::is_weak_referenceable(),
      "An operation in a graph. Methods that add nodes add ones that depend on this one.");
  cls.def("__init__", [](PyGraphNode* self) { new (self) PyGraphNode(GraphNode()); });
  getter<PyGraphNode, [](const PyGraphNode& self) { return self.node->is_valid(); }>(
      cls, "is_valid", "False once it was destroyed, by itself or with a node above it.");
  getter<PyGraphNode, graph_of>(cls, "graph", "The GraphDefinition it is, or was, in.");
  bind_identity<PyGraphNode>(cls);
  getter<PyGraphNode, type_of>(cls, "type",
                               "What it does, as the driver's CUgraphNodeType; None once it is destroyed.");
  cls.def_prop_ro(
         "handle",
         [](const PyGraphNode& self) -> nb::object {
           const GraphNodeHandle handle = self.node->handle();
           return handle == nullptr ? nb::none() : handle_object(Package::CUgraphNode, handle);
         },
         "The driver's handle (CUgraphNode); None once it is destroyed.")
      .def(
          "destroy", [](const PyGraphNode& self) { without_gil([&] { self.node->destroy(); }); },
          "Removes the node and its edges. Twice is allowed.")
      .def_prop_rw(
          "pred", [](nb::handle self) { return adjacency(self, true); },
          [](nb::handle self, nb::handle nodes) { assign(self, true, nodes); }, nb::for_setter(nb::arg("nodes").none()),
          "The nodes it depends on: a set that can be changed, and assigned.")
      .def_prop_rw(
          "succ", [](nb::handle self) { return adjacency(self, false); },
          [](nb::handle self, nb::handle nodes) { assign(self, false, nodes); },
          nb::for_setter(nb::arg("nodes").none()),
          "The nodes that depend on it: a set that can be changed, and assigned.")
      .def("_pred", [](const PyGraphNode& self) { return neighbours(self, &GraphNode::pred); })
      .def("_succ", [](const PyGraphNode& self) { return neighbours(self, &GraphNode::succ); })
      .def("_change_edges", change_edges)
      .def("__repr__",
           [](nb::handle self) {
             const GraphNodeHandle handle = self_as<PyGraphNode>(self).node->handle();
             return std::string("<") + nb::str(self.type().attr("__name__")).c_str() + " handle=" + hex(handle) +
                    (self_as<PyGraphNode>(self).node->state() == nullptr
                         ? ""
                         : nb::cast<std::string>(self.attr("_details")())) +
                    ">";
           })
      .def("_details", [](const PyGraphNode&) { return ""; })
      .def("__reduce__", refuse_pickling);
}

}  // namespace cucore::python
