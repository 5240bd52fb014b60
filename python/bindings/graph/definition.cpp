// GraphDefinition and GraphCondition.
#include "python/bindings/graph/graph.hpp"

namespace cucore::python {
namespace {

nb::object view_of(const PyGraphDefinition& self, std::vector<GraphNode> (GraphDefinition::*read)() const) {
  return node_list(self.use([&](const GraphView& graph) { return (graph.*read)(); }));
}

nb::object edges(const PyGraphDefinition& self) {
  const auto found = self.use([](const GraphView& graph) { return graph.edges(); });
  nb::set pairs;
  for (const auto& [from, to] : found) pairs.add(nb::make_tuple(node_object(from), node_object(to)));
  return pairs;
}

nb::object create_condition(const PyGraphDefinition& self, nb::handle default_value) {
  const auto value = default_of(default_value);
  return condition_object(self.use([&](const GraphView& graph) { return graph.create_condition(value); }));
}

nb::object instantiate(const PyGraphDefinition& self, nb::handle options) {
  return with_complete_options(options, [&](const GraphCompleteOptions& wanted) {
    return self.use([&](const GraphView& graph) { return graph.instantiate(wanted); });
  });
}

void debug_dot_print(const PyGraphDefinition& self, nb::handle path, nb::handle options) {
  const std::string file = path_of(path);
  const GraphDebugPrintOptions wanted = debug_print_options(options);
  self.use([&](const GraphView& graph) { graph.debug_dot_print(file, wanted); });
}

bool contains(const PyGraphDefinition& self, nb::handle object) {
  const PyGraphNode* node = nullptr;
  if (!nb::try_cast<const PyGraphNode*>(object, node) || node == nullptr) return false;
  return self.use([&](const GraphView& graph) { return graph.contains(*node->node); });
}

PyType_Slot condition_slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_without_value)}, {0, nullptr}};

void bind_condition(nb::module_& module) {
  auto cls =
      nb::class_<PyGraphCondition>(module, "GraphCondition", nb::type_slots(condition_slots),
                                   nb::is_weak_referenceable(), nb::pooled(pooled_objects),
                                   "A value that kernels set and conditional nodes read. It is passed to a kernel "
                                   "as an argument (cudaGraphConditionalHandle).");
  cls.def("__init__", [](PyGraphCondition* self) { new (self) PyGraphCondition{GraphCondition(0)}; })  // of no graph
      .def_prop_ro(
          "handle", [](const PyGraphCondition& self) { return self.condition.handle(); }, "The driver's number of it.")
      .def("__kernel_argument__", [](const PyGraphCondition& self) { return self.condition.handle(); })
      .def(
          "__eq__",
          [](const PyGraphCondition& self, const PyGraphCondition& other) { return self.condition == other.condition; },
          nb::is_operator())
      .def("__hash__", [](const PyGraphCondition& self) { return nb::hash(nb::int_(self.condition.handle())); })
      .def("__repr__",
           [](const PyGraphCondition& self) { return "<GraphCondition handle=" + hex(self.condition.handle()) + ">"; })
      .def("__copy__", [](nb::object self) { return self; })
      .def(
          "__deepcopy__", [](nb::object self, nb::handle) { return self; }, nb::arg("memo").none())
      .def("__reduce__", refuse_pickling);
}

}  // namespace

std::optional<unsigned> default_of(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return unsigned_of_32_bits({unsigned_number(value, "default_value")}, "default_value");
}

nb::object refuse_pickling(nb::handle self) {
  throw nb::type_error((std::string("a ") + nb::str(self.type().attr("__name__")).c_str() +
                        " is driver state of this process: pickle cannot save it")
                           .c_str());
}

nb::object definition_object(GraphDefinition definition) {
  return new_object<PyGraphDefinition>(std::move(definition));
}

nb::object condition_object(GraphCondition condition) { return new_object<PyGraphCondition>(condition); }

const PyGraphDefinition& required_definition(nb::handle object, const char* what) {
  const PyGraphDefinition* definition = nullptr;
  if (nb::try_cast<const PyGraphDefinition*>(object, definition) && definition != nullptr) return *definition;
  throw nb::type_error(
      (std::string(what) + " must be a GraphDefinition, not " + Py_TYPE(object.ptr())->tp_name).c_str());
}

GraphCondition required_condition(nb::handle object) {
  const PyGraphCondition* condition = nullptr;
  if (nb::try_cast<const PyGraphCondition*>(object, condition) && condition != nullptr) return condition->condition;
  throw nb::type_error(
      (std::string("condition must be a GraphCondition, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
}

nb::object with_complete_options(nb::handle options, const std::function<Graph(const GraphCompleteOptions&)>& call) {
  const auto complete_options = from_package(Package::complete_options);  // of cucore.graph, which binds Graph
  if (options.is_none()) return graph_object(call(GraphCompleteOptions{}));
  const nb::object given = complete_options(options);
  GraphCompleteOptions wanted{.auto_free_on_launch = truth_of(given.attr("auto_free_on_launch")),
                              .device_launch = truth_of(given.attr("device_launch")),
                              .use_node_priority = truth_of(given.attr("use_node_priority"))};
  const nb::object stream = given.attr("upload_stream");
  if (stream.is_none()) return graph_object(call(wanted));
  const Stream upload = required_stream(stream).share();
  wanted.upload_stream = &upload;
  return graph_object(call(wanted));
}

GraphDebugPrintOptions debug_print_options(nb::handle options) {
  const nb::object given = from_package(Package::debug_print_options)(options);
  GraphDebugPrintOptions wanted;
#define FLAG(name) wanted.name = truth_of(given.attr(#name));
  FLAG(verbose)
  FLAG(runtime_types)
  FLAG(kernel_node_params)
  FLAG(memcpy_node_params)
  FLAG(memset_node_params)
  FLAG(host_node_params)
  FLAG(event_node_params)
  FLAG(ext_semas_signal_node_params)
  FLAG(ext_semas_wait_node_params)
  FLAG(kernel_node_attributes)
  FLAG(handles)
  FLAG(mem_alloc_node_params)
  FLAG(mem_free_node_params)
  FLAG(batch_mem_op_node_params)
  FLAG(extra_topo_info)
  FLAG(conditional_node_params)
#undef FLAG
  return wanted;
}

void bind_graph_definition(nb::module_& module) {
  bind_condition(module);
  auto cls = nb::class_<PyGraphDefinition, PyGraphPoint>(module, "GraphDefinition", nb::is_weak_referenceable(),
                                                         "Operations and the order between them, to be instantiated as "
                                                         "a Graph and launched as one. Iterates over its nodes "
                                                         "in an order in which they could run.");
  bind_owner<PyGraphDefinition>(cls);
  getter<PyGraphDefinition, [](const PyGraphDefinition& self) { return self.value().handle() != nullptr; }>(
      cls, "is_valid", "Whether the graph is there: neither closed nor gone with the node that owned it.");
  cls.def("__bool__",
          [](const PyGraphDefinition&) { return true; });  // one without nodes, too, which has a length of 0
  cls.def("__init__",
          [](PyGraphDefinition* self) { new (self) PyGraphDefinition(without_gil([] { return GraphDefinition(); })); })
      .def_prop_ro(
          "handle",
          [](const PyGraphDefinition& self) { return handle_object(Package::CUgraph, self.value().handle()); },
          "The driver's handle (CUgraph); 0 when closed, or when the node that owned the graph was destroyed.")
      .def(
          "empty",
          [](const PyGraphDefinition& self) {
            return node_object(self.use([](const GraphView& graph) { return graph.empty(); }));
          },
          "Adds an EmptyNode that depends on nothing.")
      .def("create_condition", create_condition, nb::arg("default_value") = nb::none(),
           "A GraphCondition for conditional nodes of this graph; with a default it is set to that at each launch.")
      .def(
          "nodes", [](const PyGraphDefinition& self) { return nb::set(view_of(self, &GraphDefinition::nodes)); },
          "The set of all nodes; each is the same object as before, as long as somebody refers to that.")
      .def("edges", edges, "The set of all pairs (from, to).")
      .def_prop_ro(
          "root_nodes",
          [](const PyGraphDefinition& self) { return nb::set(view_of(self, &GraphDefinition::root_nodes)); },
          "The nodes that depend on nothing.")
      .def_prop_ro(
          "leaf_nodes",
          [](const PyGraphDefinition& self) { return nb::set(view_of(self, &GraphDefinition::leaf_nodes)); },
          "The nodes that nothing depends on.")
      .def("__iter__",
           [](const PyGraphDefinition& self) { return nb::iter(view_of(self, &GraphDefinition::sorted_nodes)); })
      .def("__len__",
           [](const PyGraphDefinition& self) { return self.use([](const GraphView& graph) { return graph.size(); }); })
      .def("__contains__", contains, nb::arg("node").none())
      .def("instantiate", instantiate, nb::arg("options") = nb::none(),
           "A Graph, independent of this definition from then on. `options` are GraphCompleteOptions.")
      .def("debug_dot_print", debug_dot_print, nb::arg("path").none(), nb::arg("options") = nb::none(),
           "Writes the graph in the DOT language. `options` are GraphDebugPrintOptions.")
      .def(
          "clone",
          [](const PyGraphDefinition& self) {
            return definition_object(self.use([](const GraphView& graph) { return graph.clone(); }));
          },
          "A definition of its own with the same nodes, edges and what they keep alive.")
      .def("close", &PyGraphDefinition::close_value,
           "Drops this view; the graph goes with the last view or node of its hierarchy. Closing twice is allowed.")
      .def("__repr__",
           [](const PyGraphDefinition& self) {
             return "<GraphDefinition handle=" + hex(self.value().handle()) + (self.is_open() ? ">" : " closed>");
           })
      .def("__reduce__", refuse_pickling);
}

}  // namespace cucore::python
