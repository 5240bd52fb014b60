// What GraphDefinition and GraphNode have in common: the methods that add nodes.
#include <algorithm>

#include "cucore/argument_pack.hpp"
#include "python/bindings/callables.hpp"
#include "python/bindings/code/code.hpp"
#include "python/bindings/code/launch.hpp"
#include "python/bindings/graph/graph.hpp"

namespace cucore::python {
namespace {

nb::object added(const PyGraphPoint& self, const std::function<GraphNode(const GraphPoint&)>& add) {
  GraphNode node;
  self.at([&](const GraphPoint& point) { node = add(point); });
  return node_object(std::move(node));
}

nb::object launch(const PyGraphPoint& self, nb::handle config, nb::handle kernel, const nb::args& arguments) {
  const nb::object made = config_object(config.ptr());
  const LaunchConfig how = nb::inst_ptr<PyLaunchConfig>(made)->of_launch();
  const Kernel what = required_kernel(kernel);
  GraphNode node;
  with_arguments(what, arguments, [&](const ArgumentPack& pack, std::shared_ptr<const void> owner) {
    self.at([&](const GraphPoint& point) { node = point.launch(how, pack, std::move(owner)); });
  });
  return node_object(std::move(node));
}

nb::object memcpy(const PyGraphPoint& self, nb::handle dst, nb::handle src, nb::handle size, nb::handle dst_owner,
                  nb::handle src_owner) {
  const MemoryOperand to = memory_operand(dst, dst_owner, "dst");
  const MemoryOperand from = memory_operand(src, src_owner, "src");
  const std::uint64_t bytes = unsigned_number(size, "size");
  return added(self, [&](const GraphPoint& point) { return point.memcpy(to, from, bytes); });
}

nb::object memset(const PyGraphPoint& self, nb::handle dst, nb::handle value, nb::handle width, nb::handle height,
                  nb::handle pitch, nb::handle dst_owner) {
  const MemoryOperand to = memory_operand(dst, dst_owner, "dst");
  const FillPattern pattern = FillPattern::from_bytes(FillElement(value).bytes());
  const std::uint64_t extents[] = {unsigned_number(width, "width"), unsigned_number(height, "height"),
                                   unsigned_number(pitch, "pitch")};
  return added(self,
               [&](const GraphPoint& point) { return point.memset(to, pattern, extents[0], extents[1], extents[2]); });
}

GraphMemoryType memory_type_of(nb::handle value) {
  if (value.is_none()) return GraphMemoryType::device;
  constexpr std::pair<const char*, GraphMemoryType> names[] = {
      {"device", GraphMemoryType::device}, {"host", GraphMemoryType::host}, {"managed", GraphMemoryType::managed}};
  if (PyUnicode_Check(value.ptr())) {
    const std::string text = text_of(value, "memory_type");
    for (const auto& [name, type] : names) {
      if (text == name) return type;
    }
  }
  throw nb::value_error((std::string("memory_type ") + nb::repr(value).c_str() +
                         " is no GraphMemoryType; it must be one of 'device', 'host', 'managed'")
                            .c_str());
}

nb::object allocate(const PyGraphPoint& self, nb::handle size, nb::handle device, nb::handle memory_type,
                    nb::handle peer_access) {
  GraphAllocationOptions options{.memory_type = memory_type_of(memory_type)};
  if (!device.is_none()) {  // a Device, a Buffer, or a number; one that there is not is refused as the driver does
    options.device = device_number(device, "device");
  }
  if (!peer_access.is_none()) {
    if (!PyList_Check(peer_access.ptr()) && !PyTuple_Check(peer_access.ptr()) && !PyAnySet_Check(peer_access.ptr())) {
      throw nb::type_error(
          (std::string("peer_access must be a list of devices or None, not ") + Py_TYPE(peer_access.ptr())->tp_name)
              .c_str());
    }
    for (const nb::handle peer : nb::iter(peer_access)) options.peer_access.push_back(device_ordinal(peer));
  }
  const std::uint64_t bytes = unsigned_number(size, "size");
  return added(self, [&](const GraphPoint& point) { return point.allocate(bytes, options); });
}

nb::object callback(const PyGraphPoint& self, nb::handle function, nb::handle user_data) {
  CallbackArguments given = callback_arguments(function, user_data);
  return added(self, [&](const GraphPoint& point) {
    if (given.function) return point.callback(std::move(given.function));
    return point.callback(given.c_function, given.user_data, std::move(given.owner));
  });
}

nb::object join(const PyGraphPoint& self, const nb::args& others) {
  std::vector<GraphNode> nodes;
  for (const nb::handle other : others) {
    if (other.is_none()) raise(from_package(Package::RuntimeTypeError), "what is joined must be nodes, not None");
  }
  for (const GraphNode& node : required_nodes(others)) {
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
  }
  return added(self, [&](const GraphPoint& point) { return point.join(nodes); });
}

}  // namespace

Kernel required_kernel(nb::handle object) {
  const PyKernel* const kernel = instance_of<PyKernel>(object.ptr(), launch_types.kernel);
  if (kernel != nullptr) return *kernel->kernel;
  throw nb::type_error((std::string("kernel must be a Kernel, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
}

std::shared_ptr<const void> arguments_owner(nb::handle arguments) {
  struct Kept {
    std::vector<std::shared_ptr<const void>> things;
  };
  Kept kept;
  for (const nb::handle argument : nb::iter(arguments)) {
    if (argument.is_none() || PyLong_CheckExact(argument.ptr()) || PyFloat_CheckExact(argument.ptr()) ||
        PyBool_Check(argument.ptr())) {
      continue;
    }
    const PyBuffer* const buffer = instance_of<PyBuffer>(argument.ptr(), launch_types.buffer);
    kept.things.push_back(keep_alive(argument));
    // A Buffer may be closed before the graph runs.
    if (buffer != nullptr) kept.things.push_back(MemoryOperand::allocation_of(buffer->share()));
  }
  if (kept.things.empty()) return nullptr;
  return std::make_shared<const Kept>(std::move(kept));
}

void with_arguments(const Kernel& kernel, nb::handle arguments,
                    const std::function<void(const ArgumentPack&, std::shared_ptr<const void>)>& call) {
  const auto tuple = nb::steal<nb::tuple>(PySequence_Tuple(arguments.ptr()));
  if (!tuple.is_valid()) throw nb::python_error();
  LaunchDependencies dependencies;
  ArgumentPack pack(kernel);
  add_arguments(pack, PySequence_Fast_ITEMS(tuple.ptr()), PyTuple_GET_SIZE(tuple.ptr()), dependencies);
  // A graph cannot wait for streams: the work that its arrays wait for has to be complete now.
  without_gil([&] {
    for (const StreamHandle producer : dependencies.producers) Stream::from_handle(producer).sync();
  });
  call(pack, arguments_owner(tuple));
}

MemoryOperand memory_operand(nb::handle operand, nb::handle owner, const char* name) {
  if (const PyBuffer* const buffer = instance_of<PyBuffer>(operand.ptr(), launch_types.buffer)) {
    if (!owner.is_none()) {
      throw nb::value_error(
          (std::string(name) + "_owner is for addresses: " + name + " is a Buffer, which is kept anyway").c_str());
    }
    if (!buffer->is_open()) throw std::runtime_error(std::string(name) + ": the buffer has been closed");
    return {buffer->share()};
  }
  const std::uint64_t address = unsigned_number(operand, (std::string(name) + " (a Buffer or an address)").c_str());
  if (owner.is_none()) return {address};
  if (const PyBuffer* const buffer = instance_of<PyBuffer>(owner.ptr(), launch_types.buffer)) {
    if (!buffer->is_open()) throw std::runtime_error(std::string(name) + "_owner: the buffer has been closed");
    return {address, MemoryOperand::allocation_of(buffer->share())};
  }
  return {address, keep_alive(owner)};
}

namespace {

void bind_graph_point(nb::module_& module) {
  auto cls = nb::class_<PyGraphPoint>(module, "_GraphPoint", nb::is_weak_referenceable(),
                                      "Where nodes can be added: a graph (they depend on nothing) or a node.");
  cls.def("launch", launch, nb::arg("config").none(), nb::arg("kernel").none(), nb::arg("args"),
          "Adds a KernelNode. The kernel and the arguments, of a Buffer its allocation, are kept alive.")
      .def("memcpy", memcpy, nb::arg("dst").none(), nb::arg("src").none(), nb::arg("size").none(), nb::kw_only(),
           nb::arg("dst_owner") = nb::none(), nb::arg("src_owner") = nb::none(),
           "Adds a MemcpyNode of `size` bytes. `dst` and `src` are Buffers, whose allocations are kept alive, or "
           "addresses, which keep nothing but the owner given with them.")
      .def("memset", memset, nb::arg("dst").none(), nb::arg("value").none(), nb::arg("width").none(),
           nb::arg("height") = 1, nb::arg("pitch") = 0, nb::kw_only(), nb::arg("dst_owner") = nb::none(),
           "Adds a MemsetNode: `height` rows of `width` elements, `pitch` bytes apart. `value` is an int (one byte) or "
           "has 1, 2 or 4 bytes.")
      .def("allocate", allocate, nb::arg("size").none(), nb::kw_only(), nb::arg("device") = nb::none(),
           nb::arg("memory_type").none() = "device", nb::arg("peer_access") = nb::none(),
           "Adds an AllocNode. `memory_type` is a GraphMemoryType; `peer_access` lists devices that may use it too.")
      .def(
          "deallocate",
          [](const PyGraphPoint& self, nb::handle dptr) {
            const DevicePointer address = unsigned_number(dptr, "dptr");
            return added(self, [&](const GraphPoint& point) { return point.deallocate(address); });
          },
          nb::arg("dptr").none(), "Adds a FreeNode for the address of an AllocNode.")
      .def(
          "embed",
          [](const PyGraphPoint& self, nb::handle child) {
            const GraphView graph = required_definition(child, "child").share();
            return added(self, [&](const GraphPoint& point) { return point.embed(graph); });
          },
          nb::arg("child").none(), "Adds a ChildGraphNode: a clone of another GraphDefinition as one node.")
      .def(
          "record",
          [](const PyGraphPoint& self, nb::handle event) {
            const Event mark = required_event(event);
            return added(self, [&](const GraphPoint& point) { return point.record(mark); });
          },
          nb::arg("event").none(), "Adds an EventRecordNode.")
      .def(
          "wait",
          [](const PyGraphPoint& self, nb::handle event) {
            const Event mark = required_event(event);
            return added(self, [&](const GraphPoint& point) { return point.wait(mark); });
          },
          nb::arg("event").none(), "Adds an EventWaitNode.")
      .def("callback", callback, nb::arg("fn").none(), nb::kw_only(), nb::arg("user_data") = nb::none(),
           "Adds a HostCallbackNode. `fn` is called with nothing on a thread of the driver's, and must not call CUDA; "
           "what it raises goes to sys.unraisablehook. A C function of ctypes, void (*)(void *), gets `user_data`: an "
           "address, or bytes, which are copied.")
      .def(
          "if_then",
          [](const PyGraphPoint& self, nb::handle condition) {
            const GraphCondition value = required_condition(condition);
            return added(self, [&](const GraphPoint& point) { return point.if_then(value); });
          },
          nb::arg("condition").none(), "Adds an IfNode, whose body runs if the condition is not 0.")
      .def(
          "if_else",
          [](const PyGraphPoint& self, nb::handle condition) {
            const GraphCondition value = required_condition(condition);
            return added(self, [&](const GraphPoint& point) { return point.if_else(value); });
          },
          nb::arg("condition").none(),
          "Adds an IfElseNode: one body runs if the condition is not 0, the other if it is.")
      .def(
          "while_loop",
          [](const PyGraphPoint& self, nb::handle condition) {
            const GraphCondition value = required_condition(condition);
            return added(self, [&](const GraphPoint& point) { return point.while_loop(value); });
          },
          nb::arg("condition").none(), "Adds a WhileNode, whose body runs again while the condition is not 0.")
      .def(
          "switch",
          [](const PyGraphPoint& self, nb::handle condition, Unsigned number) {
            const unsigned count = unsigned_of_32_bits(number, "count");
            const GraphCondition value = required_condition(condition);
            return added(self, [&](const GraphPoint& point) { return point.switch_on(value, count); });
          },
          nb::arg("condition").none(), nb::arg("count"),
          "Adds a SwitchNode of `count` bodies, of which the one with the condition's number runs, if there is one.")
      .def("join", join, nb::arg("nodes"), "Adds an EmptyNode that depends on this node and all given.");
}

}  // namespace

void bind_graphs(nb::module_& module) {
  module.def("_bind_graphs", [](nb::module_ core) {
    static bool bound = false;
    if (std::exchange(bound, true)) return;
    bind_graph_point(core);
    bind_graph_definition(core);
    bind_graph_node(core);
    bind_graph_nodes(core);
    bind_executable_graph(core);
    adopt_functions(core);
    serve_deferred_releases();
  });
}

}  // namespace cucore::python
