// Graph, the executable, and what its views of nodes (cucore/graph/_executable.py) call.
#include "cucore/argument_pack.hpp"
#include "python/bindings/code/code.hpp"
#include "python/bindings/code/launch.hpp"
#include "python/bindings/graph/builder.hpp"
#include "python/bindings/graph/graph.hpp"

namespace cucore::python {
namespace {

/// Calls `call` without the GIL with the view of a node. Throws StateError for a closed graph.
template <class View, class Call>
decltype(auto) use_view(const PyGraph& self, nb::handle node, Call&& call) {
  const GraphNode in_definition = required_node(node);
  return self.use([&](const Graph& graph) { return call(View(graph.state(), in_definition)); });
}

void update_kernel(const PyGraph& self, nb::handle node, nb::handle config, nb::handle kernel, nb::handle arguments) {
  const nb::object how = config_object(config.ptr());
  const LaunchConfig& wanted = nb::inst_ptr<PyLaunchConfig>(how)->of_launch();
  const KernelNode in_definition = required_node(node).as<KernelNode>();
  LaunchConfig same = without_gil([&] { return in_definition.config(); });
  same.grid = wanted.grid;
  same.block = wanted.block;
  same.shmem_size = wanted.shmem_size;
  if (!(same == wanted)) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "an executable graph's kernel node keeps the cluster, cooperative and other attributes it was "
                    "instantiated with: change the definition's node and use Graph.update()");
    throw nb::python_error();
  }
  const Kernel what = required_kernel(kernel);
  with_arguments(what, arguments, [&](const ArgumentPack& pack, std::shared_ptr<const void> owner) {
    const KernelArguments values{pack.values(), std::move(owner)};
    use_view<ExecutableKernelNode>(self, node,
                                   [&](const ExecutableKernelNode& view) { view.update(wanted, what, values); });
  });
}

void update_memcpy(const PyGraph& self, nb::handle node, nb::handle dst, nb::handle src, nb::handle size,
                   nb::handle dst_owner, nb::handle src_owner) {
  const MemoryOperand to = memory_operand(dst, dst_owner, "dst");
  const MemoryOperand from = memory_operand(src, src_owner, "src");
  const std::uint64_t bytes = unsigned_number(size, "size");
  use_view<ExecutableMemcpyNode>(self, node, [&](const ExecutableMemcpyNode& view) { view.update(to, from, bytes); });
}

void update_memset(const PyGraph& self, nb::handle node, nb::handle dst, nb::handle value, nb::handle width,
                   nb::handle height, nb::handle pitch, nb::handle dst_owner) {
  const MemoryOperand to = memory_operand(dst, dst_owner, "dst");
  const FillPattern pattern = FillPattern::from_bytes(FillElement(value).bytes());
  const std::uint64_t extents[] = {unsigned_number(width, "width"), unsigned_number(height, "height"),
                                   unsigned_number(pitch, "pitch")};
  use_view<ExecutableMemsetNode>(self, node, [&](const ExecutableMemsetNode& view) {
    view.update(to, pattern, extents[0], extents[1], extents[2]);
  });
}

void update_event(const PyGraph& self, nb::handle node, nb::handle event) {
  const Event mark = required_event(event);
  if (required_node(node).is<EventRecordNode>()) {
    return use_view<ExecutableEventRecordNode>(self, node,
                                               [&](const ExecutableEventRecordNode& view) { view.update(mark); });
  }
  use_view<ExecutableEventWaitNode>(self, node, [&](const ExecutableEventWaitNode& view) { view.update(mark); });
}

void update_callback(const PyGraph& self, nb::handle node, nb::handle function, nb::handle user_data) {
  CallbackArguments given = callback_arguments(function, user_data);
  use_view<ExecutableHostCallbackNode>(self, node, [&](const ExecutableHostCallbackNode& view) {
    if (given.function) return view.update(std::move(given.function));
    view.update(given.c_function, given.user_data, std::move(given.owner));
  });
}

// What is remembered of single nodes is out of date now.
void forget_parameters(PyGraph& self) {
  const nb::object forgotten = std::exchange(self.known_parameters, nb::object());
}

GraphView update_source(nb::handle source) {
  if (auto built = definition_of_builder(source)) return *std::move(built);
  return required_definition(source, "the source of an update").share();
}

nb::object try_update(PyGraph& self, nb::handle source) {
  const GraphView definition = update_source(source);
  const GraphUpdateResult result = self.use([&](const Graph& graph) { return graph.try_update(definition); });
  if (result) forget_parameters(self);
  const nb::object node = result.node.identity() == nullptr ? nb::none() : node_object(result.node);
  return from_package(Package::GraphUpdateResult)(static_cast<bool>(result), result.reason_name, node);
}

nb::object last_callback_error(const PyGraph& self) {
  const auto error = self.use([](const Graph& graph) { return graph.last_callback_error(); });
  if (!error.has_value()) return nb::none();
  return nb::handle(PyExc_RuntimeError)(text_object(error->message()));
}

}  // namespace

nb::object graph_object(Graph graph) { return new_object<PyGraph>(std::move(graph)); }

void bind_executable_graph(nb::module_& module) {
  auto cls = nb::class_<PyGraph>(module, "Graph", nb::is_weak_referenceable(),
                                 "An executable graph, launched as one. GraphDefinition.instantiate() and "
                                 "GraphBuilder.complete() make one.");
  forbid_construction<PyGraph>(
      cls, "Graph cannot be instantiated directly: use GraphDefinition.instantiate() or GraphBuilder.complete()");
  bind_owner<PyGraph>(cls);
  cls.def_prop_ro(
         "handle", [](const PyGraph& self) { return handle_object(Package::CUgraphExec, self.value().handle()); },
         "The driver's handle (CUgraphExec); 0 when closed.")
      .def(
          "launch",
          [](const PyGraph& self, nb::handle on) {
            const Stream stream = stream_reference(on.ptr());
            self.use([&](const Graph& graph) { graph.launch(stream); });
          },
          nb::arg("stream").none(),
          "Runs it after the work submitted to `stream` so far. Launches of one Graph run one after the other.")
      .def(
          "upload",
          [](const PyGraph& self, nb::handle on) {
            const Stream stream = stream_reference(on.ptr());
            self.use([&](const Graph& graph) { graph.upload(stream); });
          },
          nb::arg("stream").none(), "Brings what launches need to the device beforehand; runs nothing.")
      .def(
          "update",
          [](PyGraph& self, nb::handle source) {
            const GraphView definition = update_source(source);
            self.use([&](const Graph& graph) { graph.update(definition); });
            forget_parameters(self);
          },
          nb::arg("source").none(), nb::lock_self(),
          "Takes all parameters from a GraphDefinition of the same topology, and what they keep alive. Refused, it "
          "raises "
          "CUDAError with the reason, and is as before.")
      .def("try_update", try_update, nb::arg("source").none(), nb::lock_self(),
           "As update(), but says whether it worked: a GraphUpdateResult, true or false, with the reason and the node.")
      .def(
          "__getitem__",
          [](nb::handle self, nb::handle node) { return from_package(Package::view_of_node)(self, node); },
          nb::arg("node").none(),
          "The view of a node of the definition: its parameters in this executable graph can be replaced.")
      .def(
          "update_nodes",
          [](nb::handle self, nb::handle updates) { from_package(Package::update_nodes)(self, updates); },
          nb::arg("updates").none(),
          "Updates many nodes: a dict of the keywords of graph[node].update() for each node. If one is refused, those "
          "before it stay updated.")
      .def_prop_ro("last_callback_error", last_callback_error,
                   "What a callback of this graph, or of another made from the same definition, raised last: a "
                   "RuntimeError that names it; None if none did. The exception itself went to sys.unraisablehook.")
      .def(
          "close",
          [](PyGraph& self) {
            forget_parameters(self);
            self.close_value();
          },
          nb::lock_self(),
          "Destroys the graph; launches on their way finish and keep what they use. Closing twice is allowed.")
      .def("__reduce__", refuse_pickling)
      .def_prop_rw(
          "_known_parameters",
          [](const PyGraph& self) { return self.known_parameters.is_valid() ? self.known_parameters : nb::none(); },
          [](PyGraph& self, nb::object known) { self.known_parameters = std::move(known); }, nb::lock_self())
      .def("_update_kernel", update_kernel, nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def("_update_memcpy", update_memcpy, nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
           nb::arg().none(), nb::arg().none())
      .def("_update_memset", update_memset, nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
           nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def("_update_event", update_event, nb::arg().none(), nb::arg().none())
      .def("_update_callback", update_callback, nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def(
          "_update_child",
          [](const PyGraph& self, nb::handle node, nb::handle child) {
            const GraphView graph = required_definition(child, "child").share();
            use_view<ExecutableChildGraphNode>(self, node,
                                               [&](const ExecutableChildGraphNode& view) { view.update(graph); });
          },
          nb::arg().none(), nb::arg().none())
      .def("_is_enabled",
           [](const PyGraph& self, nb::handle node) {
             return use_view<SwitchableGraphNode>(self, node,
                                                  [](const SwitchableGraphNode& view) { return view.is_enabled(); });
           })
      .def("_set_enabled", [](const PyGraph& self, nb::handle node, bool enabled) {
        use_view<SwitchableGraphNode>(
            self, node, [&](const SwitchableGraphNode& view) { enabled ? view.enable() : view.disable(); });
      });
}

}  // namespace cucore::python
