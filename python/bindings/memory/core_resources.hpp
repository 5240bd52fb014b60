// Members that the Python classes of the core's memory resources share.
#pragma once

#include "python/bindings/memory/memory.hpp"

namespace cucore::python {

/// The ordinal of a Device, or of what Device() makes of an ordinal or None: the current one.
inline int device_or_current(nb::handle device) {
  return device_ordinal(device.is_none() ? nb::object(from_package(Package::Device)()) : nb::borrow(device));
}

template <class T>
PyBuffer* allocate(nb::handle self, Unsigned size, nb::handle stream) {
  MemoryResource& resource = *nb::cast<T&>(self).resource;
  const std::shared_ptr<MemoryResource> kept = resource.shared_from_this();
  const PyStream& on = required_stream(stream);
  const auto from = [&](const Stream& core_stream) { return kept->allocate(size, core_stream); };
  auto buffer =
      std::make_unique<PyBuffer>(on.value().owner() == nullptr ? on.use(from) : PyStream(kept_stream(on)).use(from));
  buffer->resource = nb::borrow(self);
  return buffer.release();
}

template <class T>
void deallocate(nb::handle self, nb::handle address, Unsigned size, nb::handle stream) {
  const std::shared_ptr<MemoryResource> kept = nb::cast<T&>(self).resource;
  const std::uint64_t pointer = unsigned_number(address, "ptr");
  required_stream(stream).use([&](const Stream& on) { kept->deallocate(pointer, size, on); });
}

template <class T>
bool is_device_accessible(const T& self) {
  return self.resource->is_device_accessible();
}
template <class T>
bool is_host_accessible(const T& self) {
  return self.resource->is_host_accessible();
}
template <class T>
bool is_managed(const T& self) {
  return self.resource->is_managed();
}
template <class T>
int device_id(const T& self) {
  return self.resource->device_id();
}

template <class T, class Class>
void bind_core_resource(Class& cls) {
  getter<T, is_device_accessible<T>>(cls, "is_device_accessible", "Whether devices can access its memory.");
  getter<T, is_host_accessible<T>>(cls, "is_host_accessible", "Whether the host can access its memory.");
  getter<T, is_managed<T>>(cls, "is_managed", "Whether its memory is managed.");
  getter<T, device_id<T>>(cls, "device_id", "The device whose memory it is, or -1.");
}

// The stream argument of resources that work at once: optional.
template <class T>
PyBuffer* allocate_at_once(nb::handle self, nb::handle bytes, nb::handle stream) {
  if (is_array(bytes)) {
    raise(from_package(Package::ValueTypeError),
          std::string("size must be an int, not ") + Py_TYPE(bytes.ptr())->tp_name);
  }
  const Unsigned size{unsigned_number(bytes, "size")};
  const nb::object on = stream.is_none() ? legacy_default_stream() : nb::borrow(stream);
  return allocate<T>(self, size, on);
}

template <class T>
void deallocate_at_once(nb::handle self, nb::handle address, Unsigned size, nb::handle stream) {
  const nb::object on = stream.is_none() ? legacy_default_stream() : nb::borrow(stream);
  deallocate<T>(self, address, size, on);
}

/// The members of a resource that works at once.
template <class T, class Class>
void bind_at_once(Class& cls) {
  bind_core_resource<T>(cls);
  cls.def("allocate", allocate_at_once<T>, nb::arg("size"), nb::kw_only(), nb::arg("stream") = nb::none(),
          "Memory that is usable at once; `stream` is not waited for.")
      .def("deallocate", deallocate_at_once<T>, nb::arg("ptr").none(), nb::arg("size"), nb::kw_only(),
           nb::arg("stream") = nb::none(), "Waits for `stream`, if given, and frees.");
}

}  // namespace cucore::python
