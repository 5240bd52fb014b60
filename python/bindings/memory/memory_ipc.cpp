// Memory shared between processes: the driver's part. The rest is in cucore/_ipc_memory.py.
#include <cstring>

#include "cucore/device.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

nb::object export_buffer(const PyBuffer& self) {
  const IpcBufferDescriptor made = self.use([](const Buffer& buffer) { return buffer.ipc_descriptor(); });
  return nb::make_tuple(nb::bytes(made.payload.data(), made.payload.size()), made.size);
}

nb::object open_buffer(nb::handle type, nb::handle resource, const nb::bytes& payload, Unsigned size,
                       nb::handle stream) {
  IpcBufferDescriptor descriptor{.size = size};
  if (payload.size() != descriptor.payload.size()) {
    throw nb::value_error(("a descriptor of a buffer has " + std::to_string(descriptor.payload.size()) +
                           " bytes, not " + std::to_string(payload.size()))
                              .c_str());
  }
  std::memcpy(descriptor.payload.data(), payload.data(), payload.size());
  const auto pool = std::static_pointer_cast<PoolMemoryResource>(nb::cast<PyPoolMemoryResource&>(resource).resource);
  const Stream core_stream = kept_stream(required_stream(stream));
  Buffer opened = without_gil([&] { return Buffer::from_ipc_descriptor(pool, descriptor, core_stream); });
  nb::object made = new_object_of<PyBuffer>(type, PyBuffer(std::move(opened)));
  nb::inst_ptr<PyBuffer>(made)->resource = nb::borrow(resource);
  return made;
}

nb::object import_pool(nb::handle type, int file, nb::handle device) {
  if (device.is_none()) {
    auto made = without_gil([&] { return PinnedMemoryResource::from_allocation_handle(file); });
    return new_object_of<PyPinnedMemoryResource>(type, PyPinnedMemoryResource{{{std::move(made)}}});
  }
  const int ordinal = device_ordinal(device);
  auto made = without_gil([&] { return DeviceMemoryResource::from_allocation_handle(Device(ordinal), file); });
  return new_object_of<PyDeviceMemoryResource>(type, PyDeviceMemoryResource{{{std::move(made)}}});
}

nb::object class_method(nb::object function) {
  return nb::module_::import_("builtins").attr("classmethod")(std::move(function));
}

void bind_sharing(nb::handle cls) {
  const auto property = [&](const char* name, Package function, const char* text) {
    nb::setattr(
        cls, name,
        nb::module_::import_("builtins")
            .attr("property")(nb::cpp_function([function](nb::handle self) { return from_package(function)(self); }),
                              nb::none(), nb::none(), text));
  };
  property("allocation_handle", Package::allocation_handle,
           "What other processes import the pool from: an IPCAllocationHandle, which the resource keeps.");
  nb::setattr(cls, "register",
              nb::cpp_function(
                  [](nb::handle self, nb::handle uuid) { return from_package(Package::register_pool)(self, uuid); },
                  nb::is_method(), nb::arg("uuid").none(),
                  "Makes the resource the one that pickles with this UUID mean in this process, as long as "
                  "it lives. Returns it, or the one that is registered already."));
  nb::setattr(
      cls, "from_registry",
      nb::module_::import_("builtins")
          .attr("staticmethod")(nb::cpp_function(
              [](nb::handle uuid) { return from_package(Package::registered_pool)(uuid); }, nb::arg("uuid").none(),
              "The resource that is registered under the UUID; RuntimeError if there is none.")));
  nb::setattr(
      cls, "__reduce__",
      nb::cpp_function([](nb::handle self) { return from_package(Package::reduce_pool)(self); }, nb::is_method()));
}

}  // namespace

void bind_memory_ipc(nb::module_& module) {
  module.def("_export_pool", [](const PyPoolMemoryResource& self) {
    return without_gil([&] { return self.pool().allocation_handle().release(); });
  });
  module.def("_import_pool", import_pool, nb::arg("type"), nb::arg("file"), nb::arg("device") = nb::none());
  module.def("_export_buffer", export_buffer);
  module.def("_open_ipc_buffer", open_buffer, nb::arg("type"), nb::arg("mr"), nb::arg("payload"), nb::arg("size"),
             nb::arg("stream").none());

  const nb::object device_pools = module.attr("DeviceMemoryResource");
  bind_sharing(device_pools);
  nb::setattr(device_pools, "from_allocation_handle",
              class_method(nb::cpp_function(
                  [](nb::handle type, nb::handle device, nb::handle handle) {
                    return from_package(Package::import_pool)(type, handle, device);
                  },
                  nb::arg("type"), nb::arg("device_id"), nb::arg("alloc_handle"),
                  "Imports a pool of another process from its IPCAllocationHandle, or from a file descriptor, which "
                  "stays the caller's. `device_id`: the pool's device, in this process.")));
  const nb::object pinned_pools = module.attr("PinnedMemoryResource");
  bind_sharing(pinned_pools);
  nb::setattr(pinned_pools, "from_allocation_handle",
              class_method(nb::cpp_function(
                  [](nb::handle type, nb::handle handle) { return from_package(Package::import_pool)(type, handle); },
                  nb::arg("type"), nb::arg("alloc_handle"),
                  "Imports a pool of another process from its IPCAllocationHandle, or from a file descriptor, which "
                  "stays the caller's.")));

  const nb::object buffers = module.attr("Buffer");
  nb::setattr(buffers, "from_ipc_descriptor",
              class_method(nb::cpp_function(
                  [](nb::handle type, nb::handle resource, nb::handle descriptor, nb::handle stream) {
                    return from_package(Package::open_buffer)(type, resource, descriptor, stream);
                  },
                  nb::arg("type"), nb::arg("mr"), nb::arg("ipc_descriptor"), nb::kw_only(), nb::arg("stream").none(),
                  "Opens a buffer of another process, of which `mr` must have the pool. Closing it, in the order of "
                  "`stream`, ends only the use of this process.")));
}

}  // namespace cucore::python
