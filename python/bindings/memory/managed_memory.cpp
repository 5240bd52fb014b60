// ManagedMemoryResource and ManagedBuffer, and locations between Python (Device and Host objects) and the core.
#include "cucore/managed_memory.hpp"

#include "cucore/device.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

ManagedMemoryResource& core(const PyManagedMemoryResource& self) {
  return static_cast<ManagedMemoryResource&>(*self.resource);
}

void make_resource(PyManagedMemoryResource* self, nb::handle options) {
  from_package(Package::warn_without_concurrent_access)();
  if (options.is_none()) {
    new (self) PyManagedMemoryResource{{{without_gil([] { return ManagedMemoryResource::create(); })}}};
    return;
  }
  const nb::object accepted = accept_options(Package::ManagedMemoryResourceOptions, options);
  const nb::object keep = accepted.attr("release_threshold");
  const ManagedMemoryResourceOptions wanted{
      .preferred_location = memory_location(from_package(Package::preferred_location)(accepted)),
      .pooled = truth_of(accepted.attr("pooled")),
      .release_threshold = keep.is_none() ? 0 : unsigned_number(keep, "release_threshold")};
  new (self) PyManagedMemoryResource{{{without_gil([&] { return ManagedMemoryResource::create(wanted); })}}};
}

PyManagedBuffer* allocate(nb::handle self, Unsigned size, nb::handle stream) {
  const std::shared_ptr<MemoryResource> kept = nb::cast<PyManagedMemoryResource&>(self).resource;
  if (as_stream(stream) == nullptr) {  // which cuda.core asserts here
    raise(from_package(Package::AssertionTypeError),
          std::string("stream must be a Stream or a GraphBuilder, not ") + Py_TYPE(stream.ptr())->tp_name);
  }
  Stream core_stream = kept_stream(required_stream(stream));
  PyBuffer buffer(without_gil([&] { return kept->allocate(size, core_stream); }));
  buffer.resource = nb::borrow(self);
  return new PyManagedBuffer(std::move(buffer));
}

nb::object resource_location(const PyManagedMemoryResource& self) {
  const auto location = core(self).preferred_location();
  if (!location) return nb::none();
  const auto place = [](const char* kind, nb::object number) {
    return nb::make_tuple(from_package(Package::ManagedMemoryLocationType)(kind), number);
  };
  if (const auto device = location->device_id()) return place("device", nb::int_(*device));
  const auto node = location->host()->numa_id();
  return node ? place("host_numa", nb::int_(*node)) : place("host", nb::none());
}

void bind_resource(nb::module_& module) {
  nb::class_<PyManagedMemoryResource, PyPoolMemoryResource>(
      module, "ManagedMemoryResource", nb::is_weak_referenceable(),
      "Memory that the host and every device can use at one address, from the driver's managed pool, with options from "
      "one of its own or (pooled=False) each buffer by itself.")
      .def("__init__", make_resource, nb::arg("options") = nb::none())
      .def("allocate", allocate, nb::arg("size"), nb::kw_only(), nb::arg("stream").none(),
           "Managed memory, usable in the order of `stream`, and freed in its order.")
      .def_prop_ro("preferred_location", resource_location,
                   "Where its memory is preferably: None, or (type, id), with id None for the host.")
      .def_prop_ro(
          "is_pooled", [](const PyManagedMemoryResource& self) { return core(self).is_pooled(); },
          "Whether buffers are from a pool.")
      .def("__repr__", [](const PyManagedMemoryResource& self) {
        return "<ManagedMemoryResource handle=" + hex(self.pool().handle()) + ">";
      });
}

nb::list accessed_by(const PyManagedBuffer& self) {
  nb::list all;
  for (const MemoryLocation& location : self.use_managed([](const ManagedBuffer& b) { return b.accessed_by(); })) {
    all.append(memory_location_object(location));
  }
  return all;
}

void set_preferred_location(const PyManagedBuffer& self, nb::handle location) {
  std::optional<MemoryLocation> wanted;
  if (!location.is_none()) wanted = required_location(location);
  self.use_managed([&](const ManagedBuffer& buffer) { buffer.set_preferred_location(wanted); });
}

void prefetch(const PyManagedBuffer& self, nb::handle location, nb::handle stream) {
  const MemoryLocation to = required_location(location);
  const Stream core_stream = required_stream(stream).share();
  self.use_managed([&](const ManagedBuffer& buffer) { buffer.prefetch(to, core_stream); });
}

void discard(const PyManagedBuffer& self, nb::handle stream) {
  const Stream core_stream = required_stream(stream).share();
  if_implemented([&] { self.use_managed([&](const ManagedBuffer& buffer) { buffer.discard(core_stream); }); });
}

void discard_prefetch(const PyManagedBuffer& self, nb::handle location, nb::handle stream) {
  const MemoryLocation to = required_location(location);
  const Stream core_stream = required_stream(stream).share();
  if_implemented(
      [&] { self.use_managed([&](const ManagedBuffer& buffer) { buffer.discard_prefetch(to, core_stream); }); });
}

void bind_managed_buffer(nb::module_& module) {
  auto cls = nb::class_<PyManagedBuffer, PyBuffer>(
      module, "ManagedBuffer", nb::type_slots(buffer_type_slots()), nb::is_weak_referenceable(), nb::dynamic_attr(),
      "A buffer of managed memory, with advice to the driver on how it will be used.");
  forbid_construction<PyManagedBuffer>(cls,
                                       "ManagedBuffer cannot be instantiated directly: use "
                                       "ManagedMemoryResource.allocate() or ManagedBuffer.from_handle()");
  cls.def_static(
         "from_handle",
         [](nb::handle ptr, Unsigned size, nb::handle mr, nb::handle owner, nb::handle stream) {
           return new PyManagedBuffer(buffer_from_handle(ptr, size, mr, owner, stream));
         },
         nb::arg("ptr").none(), nb::arg("size"), nb::arg("mr") = nb::none(), nb::arg("owner") = nb::none(),
         nb::kw_only(), nb::arg("stream") = nb::none(),
         "Wraps managed memory that something else allocated, as Buffer.from_handle(); whether it is managed is asked "
         "at the first use.")
      .def_prop_rw(
          "read_mostly",
          [](const PyManagedBuffer& self) {
            return self.use_managed([](const ManagedBuffer& buffer) { return buffer.read_mostly(); });
          },
          [](const PyManagedBuffer& self, nb::handle value) {
            const int advised = PyObject_IsTrue(value.ptr());
            if (advised < 0) throw nb::python_error();
            self.use_managed([&](const ManagedBuffer& buffer) { buffer.set_read_mostly(advised != 0); });
          },
          nb::arg("value").none(), "Whether it is mostly read, so that every reader may have a copy of its own.")
      .def_prop_rw(
          "preferred_location",
          [](const PyManagedBuffer& self) {
            return memory_location_object(
                self.use_managed([](const ManagedBuffer& buffer) { return buffer.preferred_location(); }));
          },
          set_preferred_location, nb::arg("location").none(), "Where it is preferably: a Device, a Host or None.")
      .def_prop_rw(
          "accessed_by",
          [](nb::handle self) {
            if (!nb::cast<const PyManagedBuffer&>(self).is_open())
              raise(PyExc_RuntimeError, "the buffer has been closed");
            return from_package(Package::AccessedBy)(self);
          },
          [](nb::handle self, nb::handle locations) { from_package(Package::assign_accessed_by)(self, locations); },
          "The devices and the host that keep a mapping of it: a live set.")
      .def_prop_ro(
          "last_prefetch_location",
          [](const PyManagedBuffer& self) {
            return memory_location_object(
                self.use_managed([](const ManagedBuffer& buffer) { return buffer.last_prefetch_location(); }));
          },
          "Where it was prefetched to last, or None.")
      .def("prefetch", prefetch, nb::arg("location").none(), nb::kw_only(), nb::arg("stream").none(),
           "Brings it to a Device or a Host, in the order of `stream`.")
      .def("discard", discard, nb::kw_only(), nb::arg("stream").none(),
           "Says that what is in it is not needed any more, so that nothing is moved for its sake.")
      .def("discard_prefetch", discard_prefetch, nb::arg("location").none(), nb::kw_only(), nb::arg("stream").none(),
           "Discards what is in it and makes room at a Device or a Host.")
      .def("_accessed_by", accessed_by)
      .def("_add_accessed_by",
           [](const PyManagedBuffer& self, nb::handle location) {
             const MemoryLocation one = required_location(location);
             self.use_managed([&](const ManagedBuffer& buffer) { buffer.add_accessed_by(one); });
           })
      .def("_remove_accessed_by", [](const PyManagedBuffer& self, nb::handle location) {
        const MemoryLocation one = required_location(location);
        self.use_managed([&](const ManagedBuffer& buffer) { buffer.remove_accessed_by(one); });
      });
}

}  // namespace

std::optional<MemoryLocation> memory_location(nb::handle object) {
  if (PyObject_IsInstance(object.ptr(), from_package(Package::Device).ptr()) == 1)
    return MemoryLocation(Device(device_ordinal(object)));
  if (!nb::isinstance(object, from_package(Package::Host))) return std::nullopt;
  const nb::object node = object.attr("numa_id");
  if (!node.is_none()) return MemoryLocation(Host::numa(nb::cast<int>(node)));
  return MemoryLocation(truth_of(object.attr("is_numa_current")) ? Host::numa_current() : Host());
}

nb::object memory_location_object(const std::optional<MemoryLocation>& location) {
  if (!location) return nb::none();
  if (const auto device = location->device_id()) return device_object(*device);
  const Host host = *location->host();
  if (host.is_numa_current()) return from_package(Package::Host).attr("numa_current")();
  return host.numa_id() ? from_package(Package::Host)(*host.numa_id()) : from_package(Package::Host)();
}

MemoryLocation required_location(nb::handle object) {
  if (const auto location = memory_location(object)) return *location;
  if (object.is_none()) throw nb::value_error("a location is required: pass a Device or a Host instead of None");
  throw nb::type_error(
      (std::string("a location is a Device or a Host, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
}

void bind_managed_memory(nb::module_& module) {
  bind_resource(module);
  bind_managed_buffer(module);
}

}  // namespace cucore::python
