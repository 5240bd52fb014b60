// GraphMemoryResource: one Python object for each device.
#include "cucore/graph_memory.hpp"

#include "cucore/device.hpp"
#include "python/bindings/memory/core_resources.hpp"

namespace cucore::python {
namespace {

struct PyGraphMemoryResource : PyMemoryResource {
  GraphMemoryResource& memory() const { return static_cast<GraphMemoryResource&>(*resource); }
};

// What the graphs of a device hold, asked for at each access.
struct PyGraphMemoryAttributes {
  std::shared_ptr<GraphMemoryResource> memory;
  GraphMemoryAttributes now() const {
    return without_gil([&] { return memory->attributes(); });
  }
};

void require_zero(nb::handle value, const char* attribute) {
  const nb::object zero = nb::int_(0);
  if (value.equal(zero)) return;
  if (PyIndex_Check(value.ptr()) == 0) {
    throw nb::type_error((std::string(attribute) + " is reset by assigning 0, not " + nb::repr(value).c_str()).c_str());
  }
  PyErr_Format(PyExc_AttributeError, "%s can only be reset: assign 0, not %R", attribute, value.ptr());
  throw nb::python_error();
}

void bind_attributes(nb::module_& module) {
  using Attributes = PyGraphMemoryAttributes;
  auto cls = nb::class_<Attributes>(module, "GraphMemoryResourceAttributes", nb::is_weak_referenceable(),
                                    "Memory that the graphs of a device hold, in bytes, asked for at each access.");
  forbid_construction<Attributes>(cls,
                                  "GraphMemoryResourceAttributes cannot be instantiated directly: use the `attributes` "
                                  "of a GraphMemoryResource");
  cls.def_prop_ro(
         "reserved_mem_current", [](const Attributes& self) { return self.now().reserved_mem_current; },
         "Taken from the system.")
      .def_prop_ro(
          "used_mem_current", [](const Attributes& self) { return self.now().used_mem_current; },
          "Allocated by graphs.")
      .def_prop_rw(
          "reserved_mem_high", [](const Attributes& self) { return self.now().reserved_mem_high; },
          [](const Attributes& self, nb::handle value) {
            require_zero(value, "reserved_mem_high");
            without_gil([&] { self.memory->reset_reserved_mem_high(); });
          },
          nb::for_setter(nb::arg("value").none()), "The most it was; assigning 0 lets it begin again.")
      .def_prop_rw(
          "used_mem_high", [](const Attributes& self) { return self.now().used_mem_high; },
          [](const Attributes& self, nb::handle value) {
            require_zero(value, "used_mem_high");
            without_gil([&] { self.memory->reset_used_mem_high(); });
          },
          nb::for_setter(nb::arg("value").none()), "The most it was; assigning 0 lets it begin again.")
      .def("__repr__", [](const Attributes& self) {
        const GraphMemoryAttributes now = self.now();
        return "GraphMemoryResourceAttributes(reserved_mem_current=" + std::to_string(now.reserved_mem_current) +
               ", reserved_mem_high=" + std::to_string(now.reserved_mem_high) +
               ", used_mem_current=" + std::to_string(now.used_mem_current) +
               ", used_mem_high=" + std::to_string(now.used_mem_high) + ")";
      });
}

// A device that there is not is refused when the resource is used, as with cuda.core.
int ordinal_of(nb::handle device) { return device_number(device, "device_id"); }

// The object for a device: the one there is, or a new one. `known` maps ordinals to them for ever.
nb::object object_for(PyObject* known, nb::handle device_id) {
  const int ordinal = ordinal_of(device_id);
  auto memory = without_gil([&] { return GraphMemoryResource::of(ordinal); });
  const nb::int_ key(ordinal);
  if (PyObject* const found = PyDict_GetItemWithError(known, key.ptr())) return nb::borrow(found);
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  const nb::object made = new_object<PyGraphMemoryResource>(PyGraphMemoryResource{{std::move(memory)}});
  PyObject* const kept = PyDict_SetDefault(known, key.ptr(), made.ptr());  // another thread may have been here
  if (kept == nullptr) throw nb::python_error();
  return nb::borrow(kept);
}

}  // namespace

void bind_graph_memory(nb::module_& module) {
  bind_attributes(module);
  PyObject* const known = nb::dict().release().ptr();
  auto cls = nb::class_<PyGraphMemoryResource, PyMemoryResource>(
      module, "GraphMemoryResource", nb::is_weak_referenceable(), nb::dynamic_attr(),
      "Memory that a graph allocates each time it runs: for capturing streams only. One object for each device.");
  bind_core_resource<PyGraphMemoryResource>(cls);
  cls.def(nb::new_([known](nb::handle device_id) { return object_for(known, device_id); }), nb::arg("device_id").none())
      .def("allocate", allocate<PyGraphMemoryResource>, nb::arg("size"), nb::kw_only(), nb::arg("stream").none(),
           "Memory that the graph captured in `stream` allocates. Closing the buffer while capturing adds the free.")
      .def("deallocate", deallocate<PyGraphMemoryResource>, nb::arg("ptr").none(), nb::arg("size"), nb::kw_only(),
           nb::arg("stream").none(), "Frees in the order of `stream`; in a capturing one, when the graph runs.")
      .def(
          "trim", [](const PyGraphMemoryResource& self) { without_gil([&] { self.memory().trim(); }); },
          "Returns memory that no graph uses at the moment to the system.")
      .def_prop_ro(
          "attributes",
          [](const PyGraphMemoryResource& self) {
            return nb::cast(new PyGraphMemoryAttributes{std::static_pointer_cast<GraphMemoryResource>(self.resource)},
                            nb::rv_policy::take_ownership);
          },
          "What the graphs of the device hold, asked for at each access.")
      .def(
          "close", [](const PyGraphMemoryResource&) {}, "Does nothing: there is nothing to give back.")
      .def("__repr__",
           [](const PyGraphMemoryResource& self) {
             return "<GraphMemoryResource device_id=" + std::to_string(self.resource->device_id()) + ">";
           })
      .def("__reduce__", [](const PyGraphMemoryResource&) -> nb::object {
        throw nb::type_error("a GraphMemoryResource is of this process and cannot be pickled");
      });
}

}  // namespace cucore::python
