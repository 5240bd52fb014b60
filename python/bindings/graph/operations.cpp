// Nodes that run kernels and access memory: their attributes, and how a definition's parameters are changed.
#include "python/bindings/code/code.hpp"
#include "python/bindings/code/launch.hpp"
#include "python/bindings/graph/nodes.hpp"

namespace cucore::python {
namespace {

// A keyword that was left out is None.
template <class Number = std::uint64_t>
std::optional<Number> optional_number(nb::handle value, const char* name) {
  if (value.is_none()) return std::nullopt;
  return unsigned_number(value, name);
}

std::optional<MemoryOperand> optional_operand(nb::handle operand, nb::handle owner, const char* name) {
  if (!operand.is_none()) return memory_operand(operand, owner, name);
  if (owner.is_none()) return std::nullopt;
  throw nb::value_error((std::string(name) + "_owner is the owner of an address: give " + name + " too").c_str());
}

void require_valid(const PyGraphNode& self) {
  if (self.node->is_valid()) return;
  throw std::runtime_error("the node has been destroyed: it cannot be updated");
}

// KernelNode.

LaunchConfig config_of(const PyGraphNode& self) {
  return use<KernelNode>(self, [](const KernelNode& node) { return node.config(); });
}

nb::object kernel_of(const PyGraphNode& self) {
  return cached<3>(self, [&] {
    return new_object<PyKernel>(use<KernelNode>(self, [](const KernelNode& node) { return node.kernel(); }));
  });
}

void update_kernel(const PyGraphNode& self, nb::handle config, nb::handle kernel, nb::handle arguments) {
  require_valid(self);
  KernelNodeUpdate changes;
  if (!config.is_none()) changes.config = nb::inst_ptr<PyLaunchConfig>(config_object(config.ptr()))->of_launch();
  if (!kernel.is_none()) changes.kernel = required_kernel(kernel);
  if (arguments.is_none()) {
    if (changes.kernel.has_value()) throw nb::value_error("another kernel needs its arguments: give args too");
    return change<KernelNode>(self, [&](const KernelNode& node) { node.update(changes); });
  }
  const Kernel packed_for =
      changes.kernel ? *changes.kernel : use<KernelNode>(self, [](const KernelNode& node) { return node.kernel(); });
  with_arguments(packed_for, arguments, [&](const ArgumentPack& pack, std::shared_ptr<const void> owner) {
    changes.arguments = KernelArguments{pack.values(), std::move(owner)};
    change<KernelNode>(self, [&](const KernelNode& node) { node.update(changes); });
  });
}

void bind_kernel_node(nb::module_& module) {
  auto cls = node_class<PyNode<KernelNode>>(module, "KernelNode", "A kernel launch.");
  node_value<KernelNode, 0, [](const KernelNode& node) { return node.config().grid; }>(
      cls, "grid", "As in its LaunchConfig: blocks, or clusters if there are clusters.");
  node_value<KernelNode, 1, [](const KernelNode& node) { return node.config().block; }>(cls, "block",
                                                                                        "Threads of a block.");
  node_value<KernelNode, 2, [](const KernelNode& node) { return node.config().shmem_size; }>(
      cls, "shmem_size", "Bytes of dynamic shared memory.");
  getter<PyGraphNode, kernel_of>(cls, "kernel", "The Kernel.");
  cls.def_prop_ro(
         "config", [](const PyGraphNode& self) { return PyLaunchConfig(config_of(self)); }, "All of its LaunchConfig.")
      .def("update", update_kernel, nb::kw_only(), nb::arg("config") = nb::none(), nb::arg("kernel") = nb::none(),
           nb::arg("args") = nb::none(),
           "Changes what is given, for graphs instantiated from now on. Another kernel needs `args`.")
      .def("_details", [](const PyGraphNode& self) {
        return " kernel=" + hex(use<KernelNode>(self, [](const KernelNode& node) { return node.kernel(); }).handle());
      });
}

// Memory.

void update_memcpy(const PyGraphNode& self, nb::handle dst, nb::handle src, nb::handle size, nb::handle dst_owner,
                   nb::handle src_owner) {
  const MemcpyNodeUpdate changes{.dst = optional_operand(dst, dst_owner, "dst"),
                                 .src = optional_operand(src, src_owner, "src"),
                                 .size = optional_number(size, "size")};
  require_valid(self);
  if (!use<MemcpyNode>(self, [](const MemcpyNode& node) { return node.is_linear(); })) {
    PyErr_SetString(PyExc_NotImplementedError,
                    "the copy has rows, offsets or arrays: only copies of one run of bytes can be updated");
    throw nb::python_error();
  }
  change<MemcpyNode>(self, [&](const MemcpyNode& node) { node.update(changes); });
}

void bind_memcpy_node(nb::module_& module) {
  auto cls = node_class<PyNode<MemcpyNode>>(module, "MemcpyNode", "A copy.");
  node_value<MemcpyNode, 0, [](const MemcpyNode& n) { return n.dst(); }>(cls, "dst", "The address.");
  node_value<MemcpyNode, 1, [](const MemcpyNode& n) { return n.src(); }>(cls, "src", "The address.");
  node_value<MemcpyNode, 2, [](const MemcpyNode& n) { return n.size(); }>(cls, "size", "Bytes.");
  cls.def("update", update_memcpy, nb::kw_only(), nb::arg("dst") = nb::none(), nb::arg("src") = nb::none(),
          nb::arg("size") = nb::none(), nb::arg("dst_owner") = nb::none(), nb::arg("src_owner") = nb::none(),
          "Changes what is given, for graphs instantiated from now on; the rest stays, with what keeps it alive.")
      .def("_details", [](const PyGraphNode& self) {
        return use<MemcpyNode>(self, [](const MemcpyNode& n) {
          return " dst=" + hex(n.dst()) + (n.is_dst_host() ? "(H)" : "(D)") + " src=" + hex(n.src()) +
                 (n.is_src_host() ? "(H)" : "(D)") + " size=" + std::to_string(n.size());
        });
      });
}

void update_memset(const PyGraphNode& self, nb::handle dst, nb::handle value, nb::handle width, nb::handle height,
                   nb::handle pitch, nb::handle dst_owner) {
  MemsetNodeUpdate changes{.dst = optional_operand(dst, dst_owner, "dst"),
                           .width = optional_number(width, "width"),
                           .height = optional_number(height, "height"),
                           .pitch = optional_number(pitch, "pitch")};
  if (!value.is_none()) changes.value = FillPattern::from_bytes(FillElement(value).bytes());
  require_valid(self);
  change<MemsetNode>(self, [&](const MemsetNode& node) { node.update(changes); });
}

void bind_memset_node(nb::module_& module) {
  auto cls = node_class<PyNode<MemsetNode>>(module, "MemsetNode", "A fill.");
  node_value<MemsetNode, 0, [](const MemsetNode& n) { return n.dst(); }>(cls, "dptr", "The address.");
  node_value<MemsetNode, 1, [](const MemsetNode& n) { return n.value(); }>(
      cls, "value", "What it fills with, as a number of `element_size` bytes.");
  node_value<MemsetNode, 2, [](const MemsetNode& n) { return n.element_size(); }>(cls, "element_size", "1, 2 or 4.");
  node_value<MemsetNode, 3, [](const MemsetNode& n) { return n.width(); }>(cls, "width", "Elements in a row.");
  node_value<MemsetNode, 4, [](const MemsetNode& n) { return n.height(); }>(cls, "height", "Rows.");
  node_value<MemsetNode, 5, [](const MemsetNode& n) { return n.pitch(); }>(cls, "pitch", "Bytes from row to row.");
  cls.def("update", update_memset, nb::kw_only(), nb::arg("dst") = nb::none(), nb::arg("value") = nb::none(),
          nb::arg("width") = nb::none(), nb::arg("height") = nb::none(), nb::arg("pitch") = nb::none(),
          nb::arg("dst_owner") = nb::none(),
          "Changes what is given, for graphs instantiated from now on; the rest stays, with what keeps it alive.")
      .def("_details", [](const PyGraphNode& self) {
        return use<MemsetNode>(
            self, [](const MemsetNode& n) { return " dptr=" + hex(n.dst()) + " value=" + std::to_string(n.value()); });
      });
}

const char* name_of(GraphMemoryType type) {
  return type == GraphMemoryType::host ? "host" : type == GraphMemoryType::managed ? "managed" : "device";
}

void bind_allocation_nodes(nb::module_& module) {
  auto allocated =
      node_class<PyNode<AllocNode>>(module, "AllocNode", "An allocation, whose address is known from the start.");
  node_value<AllocNode, 0, [](const AllocNode& n) { return n.dptr(); }>(allocated, "dptr", "The address.");
  node_value<AllocNode, 1, [](const AllocNode& n) { return n.bytesize(); }>(allocated, "bytesize",
                                                                            "How many bytes there are.");
  node_value<AllocNode, 2, [](const AllocNode& n) { return n.device_id(); }>(
      allocated, "device_id", "The ordinal of the device whose memory it is.");
  node_value<AllocNode, 3, [](const AllocNode& n) { return name_of(n.memory_type()); }>(
      allocated, "memory_type", "\"device\", \"host\" or \"managed\".");
  node_value<AllocNode, 4, [](const AllocNode& n) { return n.peer_access(); }>(
      allocated, "peer_access", "The ordinals of further devices that may use it.");
  allocated.def("_details", [](const PyGraphNode& self) {
    return use<AllocNode>(
        self, [](const AllocNode& n) { return " dptr=" + hex(n.dptr()) + " size=" + std::to_string(n.bytesize()); });
  });
  auto freed = node_class<PyNode<FreeNode>>(module, "FreeNode", "The end of an allocation.");
  node_value<FreeNode, 0, [](const FreeNode& n) { return n.dptr(); }>(freed, "dptr", "The address that is freed.");
  freed.def("_details", [](const PyGraphNode& self) {
    return " dptr=" + hex(use<FreeNode>(self, [](const FreeNode& n) { return n.dptr(); }));
  });
}

}  // namespace

void bind_operation_nodes(nb::module_& module) {
  bind_kernel_node(module);
  bind_memcpy_node(module);
  bind_memset_node(module);
  bind_allocation_nodes(module);
}

}  // namespace cucore::python
