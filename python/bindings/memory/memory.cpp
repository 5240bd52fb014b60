// Memory resources.
#include "python/bindings/memory/memory.hpp"

#include <nanobind/stl/vector.h>

#include "cucore/device.hpp"
#include "python/bindings/memory/core_resources.hpp"
#include "python/bindings/slots.hpp"

namespace cucore::python {
namespace {

[[noreturn]] void not_overridden(nb::handle self, const char* member) {
  throw nb::type_error((std::string(Py_TYPE(self.ptr())->tp_name) + " does not define " + member +
                        ": a class derived from MemoryResource must")
                           .c_str());
}

// The module of the objects that share pools registers them with multiprocessing's pickler.
bool wants_ipc(const nb::object& options) {
  const bool wanted = truth_of(options.attr("ipc_enabled"));
  if (wanted) from_package(Package::pool_uuid);
  return wanted;
}

std::uint64_t keep_bytes(const nb::object& options) {
  const nb::object wanted = options.attr("release_threshold");
  return wanted.is_none() ? 0 : unsigned_number(wanted, "release_threshold");
}

// The pool's state, asked for at each access.
struct PyPoolAttributes {
  Owned<PoolAttributesReader> reader;
  PoolAttributes now() const {
    return without_gil([&] { return (*reader)(); });
  }
  template <class Value>
  Value one(Value PoolAttributes::* which) const {
    const WithoutGil released{WithoutGil::held};
    return (*reader)(which);
  }
};

void bind_pool_attributes(nb::module_& module) {
  auto cls = nb::class_<PyPoolAttributes>(module, "MemoryPoolAttributes", nb::is_weak_referenceable(),
                                          "State of a memory pool, asked for at each access.");
  forbid_construction<PyPoolAttributes>(cls,
                                        "MemoryPoolAttributes cannot be instantiated directly: use the `attributes` "
                                        "of a memory resource");
#define POOL_ATTRIBUTE(name, text)                                                                                   \
  getter<PyPoolAttributes, [](const PyPoolAttributes& self) { return self.one(&PoolAttributes::name); }>(cls, #name, \
                                                                                                         text);
  POOL_ATTRIBUTE(reuse_follow_event_dependencies,
                 "Whether memory freed on one stream is used again on another that waits for it.")
  POOL_ATTRIBUTE(reuse_allow_opportunistic,
                 "Whether memory freed on one stream is used again on another once the free has completed.")
  POOL_ATTRIBUTE(reuse_allow_internal_dependencies,
                 "Whether a stream may be made to wait for another so that memory can be used again.")
  POOL_ATTRIBUTE(release_threshold, "Unused bytes that stay in the pool at a synchronization.")
  POOL_ATTRIBUTE(reserved_mem_current, "Bytes that the pool has of the device now.")
  POOL_ATTRIBUTE(reserved_mem_high, "The most bytes that it had of the device.")
  POOL_ATTRIBUTE(used_mem_current, "Bytes that are allocated from the pool now.")
  POOL_ATTRIBUTE(used_mem_high, "The most bytes that were allocated from it.")
#undef POOL_ATTRIBUTE
  cls.def("__repr__", [](const PyPoolAttributes& self) {
    const PoolAttributes now = self.now();
    const auto boolean = [](bool value) { return value ? "True" : "False"; };
    return "_MemPoolAttributes(release_threshold=" + std::to_string(now.release_threshold) +
           ", reserved_mem_current=" + std::to_string(now.reserved_mem_current) +
           ", reserved_mem_high=" + std::to_string(now.reserved_mem_high) +
           ", reuse_allow_internal_dependencies=" + boolean(now.reuse_allow_internal_dependencies) +
           ", reuse_allow_opportunistic=" + boolean(now.reuse_allow_opportunistic) +
           ", reuse_follow_event_dependencies=" + boolean(now.reuse_follow_event_dependencies) +
           ", used_mem_current=" + std::to_string(now.used_mem_current) +
           ", used_mem_high=" + std::to_string(now.used_mem_high) + ")";
  });
}

void bind_base(nb::module_& module) {
  nb::class_<PyMemoryResource>(module, "MemoryResource", nb::is_weak_referenceable(),
                               "Where buffers come from and go back to. To make your own, derive from it and define "
                               "allocate, deallocate, is_device_accessible, is_host_accessible and device_id.")
      .def("__init__", [](PyMemoryResource* self, const nb::args&, const nb::kwargs&) { new (self) PyMemoryResource; })
      .def(
          "allocate", [](nb::handle self, std::uint64_t, nb::handle) { not_overridden(self, "allocate"); },
          nb::arg("size"), nb::kw_only(), nb::arg("stream") = nb::none(),
          "A Buffer of `size` bytes, usable in the order of `stream`.")
      .def(
          "deallocate",
          [](nb::handle self, nb::handle, std::uint64_t, nb::handle) { not_overridden(self, "deallocate"); },
          nb::arg("ptr").none(), nb::arg("size"), nb::kw_only(), nb::arg("stream") = nb::none(),
          "Takes memory back in the order of `stream`.")
      .def_prop_ro(
          "is_device_accessible", [](nb::handle self) -> bool { not_overridden(self, "is_device_accessible"); },
          "Whether devices can access its memory.")
      .def_prop_ro(
          "is_host_accessible", [](nb::handle self) -> bool { not_overridden(self, "is_host_accessible"); },
          "Whether the host can access its memory.")
      .def_prop_ro(
          "device_id", [](nb::handle self) -> int { not_overridden(self, "device_id"); },
          "The device whose memory it is, or -1.")
      .def_prop_ro(
          "is_managed", [](nb::handle) { return false; }, "Whether its memory is managed.")
      .def_prop_ro(
          "is_ipc_enabled", [](nb::handle) { return false; }, "Whether other processes can use its memory.")
      .def(
          "close", [](nb::handle) {}, "Gives back what the resource itself holds; buffers stay valid.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](nb::handle self, const nb::args&) { self.attr("close")(); });
}

nb::object attributes_of(PyPoolMemoryResource& self) {
  {
    const std::lock_guard lock(self.exclusion);
    if (self.attributes.is_valid()) return self.attributes;
  }
  PoolAttributesReader reader = self.pool().attributes_reader();
  nb::object made = nb::cast(new PyPoolAttributes{Owned(std::move(reader))}, nb::rv_policy::take_ownership);
  const std::lock_guard lock(self.exclusion);
  if (!self.attributes.is_valid()) self.attributes = std::move(made);
  return self.attributes;
}

nb::object uuid_of(nb::handle self) {
  const PoolMemoryResource& pool = nb::inst_ptr<PyPoolMemoryResource>(self)->pool();
  if (pool.is_closed() || !pool.is_ipc_enabled()) return nb::none();
  return from_package(Package::pool_uuid)(self);
}

// A PeerAccess, made past its __init__.
nb::object peers_of(nb::handle self) {
  if (nb::inst_ptr<PyDeviceMemoryResource>(self)->pool().is_closed()) {
    throw std::runtime_error("the memory resource has been closed");
  }
  static const nb::handle set_class = from_package(Package::PeerAccess);
  static const Slot resource(set_class, "_resource");
  auto* const type = reinterpret_cast<PyTypeObject*>(set_class.ptr());
  nb::object peers = nb::steal(type->tp_alloc(type, 0));
  if (!peers.is_valid()) throw nb::python_error();
  resource.put(peers.ptr(), nb::borrow(self));
  return peers;
}

void assign_peers(nb::handle self, nb::handle devices) { peers_of(self).attr("assign")(devices); }

template <class Class>
void bind_pool_state(Class& cls) {
  getter<PyPoolMemoryResource, [](const PyPoolMemoryResource& self) { return self.pool().is_handle_owned(); }>(
      cls, "is_handle_owned", "False for the driver's own current pool.");
  getter<PyPoolMemoryResource, [](const PyPoolMemoryResource& self) {
    return !self.pool().is_closed() && self.pool().is_ipc_enabled();
  }>(cls, "is_ipc_enabled", "Whether other processes can import the pool, or it is imported itself.");
  getter<PyPoolMemoryResource,
         [](const PyPoolMemoryResource& self) { return !self.pool().is_closed() && self.pool().is_mapped(); }>(
      cls, "is_mapped",
      "Whether it is imported from another process, which alone allocates from it; False when closed.");
  getter<PyPoolMemoryResource, [](const PyPoolMemoryResource& self) { return self.pool().is_closed(); }>(
      cls, "is_closed", "Whether it has been closed.");
  getter<PyPoolMemoryResource, attributes_of>(
      cls, "attributes",
      "State of the pool, asked for at each access; what was taken before close() goes on answering.");
  getter<PyPoolMemoryResource, uuid_of>(cls, "uuid",
                                        "The name of a pool that processes share, a uuid.UUID; None for others.");
}

void bind_pools(nb::module_& module) {
  auto pool =
      nb::class_<PyPoolMemoryResource, PyMemoryResource>(module, "_PoolMemoryResource", nb::is_weak_referenceable());
  bind_core_resource<PyPoolMemoryResource>(pool);
  bind_pool_state(pool);
  pool.def("allocate", allocate<PyPoolMemoryResource>, nb::arg("size"), nb::kw_only(), nb::arg("stream").none(),
           "Memory from the pool, usable in the order of `stream`, and freed in its order.")
      .def("deallocate", deallocate<PyPoolMemoryResource>, nb::arg("ptr").none(), nb::arg("size"), nb::kw_only(),
           nb::arg("stream").none(), "Takes memory back in the order of `stream`.")
      .def_prop_ro(
          "handle",
          [](const PyPoolMemoryResource& self) { return handle_object(Package::CUmemoryPool, self.pool().handle()); },
          "The driver's handle (CUmemoryPool); 0 when closed.")
      .def(
          "trim_to",
          [](const PyPoolMemoryResource& self, Unsigned bytes) { without_gil([&] { self.pool().trim_to(bytes); }); },
          nb::arg("min_bytes_to_keep"), "Returns idle memory above that to the operating system.")
      .def(
          "close",
          [](PyPoolMemoryResource& self) {
            nb::object dropped;  // it would keep the pool
            {
              const std::lock_guard lock(self.exclusion);
              dropped = std::move(self.attributes);
            }
            without_gil([&] { self.pool().close(); });
          },
          "Detaches from the pool; a pool of its own is destroyed after its last buffer.")
      .def("__reduce__", [](const PyPoolMemoryResource&) -> nb::object {
        throw nb::type_error("a memory resource that other processes cannot open cannot be pickled");
      });

  auto of_device = nb::class_<PyDeviceMemoryResource, PyPoolMemoryResource>(
      module, "DeviceMemoryResource", nb::is_weak_referenceable(),
      "Device memory from a stream-ordered pool: the device's current one, or with options one of its own.");
  getter<PyDeviceMemoryResource, peers_of, assign_peers>(
      of_device, "peer_accessible_by",
      "Live set of the other devices whose kernels may read and write the pool's memory.");
  of_device
      .def(
          "__init__",
          [](PyDeviceMemoryResource* self, nb::handle device_id, nb::handle options) {
            const int ordinal = device_or_current(device_id);
            if (options.is_none()) {
              auto made = without_gil([&] { return DeviceMemoryResource::create(Device(ordinal)); });
              new (self) PyDeviceMemoryResource{{{std::move(made)}}};
              return;
            }
            const nb::object accepted = accept_options(Package::DeviceMemoryResourceOptions, options);
            const DeviceMemoryResourceOptions wanted{.max_size = unsigned_number(accepted.attr("max_size"), "max_size"),
                                                     .release_threshold = keep_bytes(accepted),
                                                     .ipc_enabled = wants_ipc(accepted)};
            auto made = without_gil([&] { return DeviceMemoryResource::create(Device(ordinal), wanted); });
            new (self) PyDeviceMemoryResource{{{std::move(made)}}};
          },
          nb::arg("device_id").none(), nb::arg("options") = nb::none())
      .def(
          "_peers",
          [](const PyDeviceMemoryResource& self) {
            return without_gil([&] { return static_cast<DeviceMemoryResource&>(*self.resource).peer_accessible_by(); });
          })
      .def("_set_peers",
           [](const PyDeviceMemoryResource& self, const std::vector<int>& devices) {
             without_gil([&] { static_cast<DeviceMemoryResource&>(*self.resource).set_peer_accessible_by(devices); });
           })
      .def("__repr__", [](const PyDeviceMemoryResource& self) {
        return "<DeviceMemoryResource device_id=" + std::to_string(self.resource->device_id()) +
               " handle=" + hex(self.pool().handle()) + ">";
      });

  nb::class_<PyPinnedMemoryResource, PyPoolMemoryResource>(
      module, "PinnedMemoryResource", nb::is_weak_referenceable(),
      "Page-locked host memory from a stream-ordered pool, which every visible device may use.")
      .def(
          "__init__",
          [](PyPinnedMemoryResource* self, nb::handle options) {
            if (options.is_none()) {
              auto made = without_gil([] { return PinnedMemoryResource::create(); });
              new (self) PyPinnedMemoryResource{{{std::move(made)}}};
              return;
            }
            const nb::object accepted = accept_options(Package::PinnedMemoryResourceOptions, options);
            const nb::object node = accepted.attr("numa_id");
            const PinnedMemoryResourceOptions wanted{
                .max_size = unsigned_number(accepted.attr("max_size"), "max_size"),
                .numa_id = node.is_none() ? std::nullopt : std::optional(nb::cast<int>(node)),
                .release_threshold = keep_bytes(accepted),
                .ipc_enabled = wants_ipc(accepted)};
            auto made = without_gil([&] { return PinnedMemoryResource::create(wanted); });
            new (self) PyPinnedMemoryResource{{{std::move(made)}}};
          },
          nb::arg("options") = nb::none())
      .def_prop_ro(
          "numa_id",
          [](const PyPinnedMemoryResource& self) {
            return static_cast<PinnedMemoryResource&>(*self.resource).numa_id();
          },
          "The NUMA node it was made for, or -1.")
      .def("__repr__", [](const PyPinnedMemoryResource& self) {
        return "<PinnedMemoryResource handle=" + hex(self.pool().handle()) + ">";
      });
}

}  // namespace

void bind_memory(nb::module_& module) {
  bind_base(module);
  bind_pool_attributes(module);
  bind_pools(module);

  auto pinned = nb::class_<PyLegacyPinnedMemoryResource, PyMemoryResource>(
      module, "LegacyPinnedMemoryResource", nb::is_weak_referenceable(), nb::dynamic_attr(),
      "Page-locked host memory, allocated and freed at once.");
  bind_at_once<PyLegacyPinnedMemoryResource>(pinned);
  pinned
      .def_prop_ro(
          "device_id",
          [](const PyLegacyPinnedMemoryResource&) -> int {
            throw std::runtime_error("a LegacyPinnedMemoryResource is of no device, and neither are its buffers");
          },
          "RuntimeError: it is of no device.")
      .def("__init__",
           [](PyLegacyPinnedMemoryResource* self, const nb::args&, const nb::kwargs&) {  // cuda.core takes any too
             new (self) PyLegacyPinnedMemoryResource{{LegacyPinnedMemoryResource::create()}};
           })
      .def("__repr__", [](const PyLegacyPinnedMemoryResource&) { return "<LegacyPinnedMemoryResource>"; })
      .def("__reduce__", [](nb::handle self) { return nb::make_tuple(self.type(), nb::make_tuple()); });

  auto synchronous = nb::class_<PySynchronousMemoryResource, PyMemoryResource>(
      module, "_SynchronousMemoryResource", nb::is_weak_referenceable(), nb::dynamic_attr(),
      "Device memory, allocated and freed at once: for devices without pools.");
  bind_at_once<PySynchronousMemoryResource>(synchronous);
  synchronous.def(
      "__init__",
      [](PySynchronousMemoryResource* self, nb::handle device_id) {
        const int ordinal = device_or_current(device_id);
        auto made = without_gil([&] { return SynchronousMemoryResource::create(Device(ordinal)); });
        new (self) PySynchronousMemoryResource{{std::move(made)}};
      },
      nb::arg("device_id").none());
}

}  // namespace cucore::python
