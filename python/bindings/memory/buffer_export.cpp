// How other libraries access a Buffer's memory without a copy: DLPack, and for memory that the host can reach Python's
// own buffer protocol. Every export keeps the Buffer object alive, and a reference to the memory by itself: close()
// while there are exports frees nothing before the last of them goes. Nothing synchronizes: the caller orders.
#include "python/bindings/memory/dlpack.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {

DLDevice dlpack::device_of_buffer(nb::handle self) {
  const PyBuffer& buffer = self_as<PyBuffer>(self);
  const bool device = is_device_accessible(buffer);
  const bool host = is_host_accessible(buffer);
  if (device && host) return {is_managed_memory(buffer) ? kDLCUDAManaged : kDLCUDAHost, 0};
  if (device) return {kDLCUDA, nb::cast<int>(device_id_of(buffer))};
  if (host) return {kDLCPU, 0};
  raise_buffer_error("the buffer's memory is accessible neither from the host nor from a device");
}

namespace {

using dlpack::raise_buffer_error;

// One export: the managed tensor together with what it points to.
template <class Managed>
struct Export {
  Managed managed{};
  std::int64_t shape = 0;
  std::int64_t stride = 1;

  static void release(Managed* managed) {
    auto* self = static_cast<Export*>(managed->manager_ctx);
    PyObject* buffer = self->buffer;
    {
      const WithoutGil released;
      delete self;
    }
    drop_reference(buffer);
  }
  PyObject* buffer = nullptr;
  Buffer memory;
};

template <class Managed>
nb::object capsule_of(nb::handle self) {
  const PyBuffer& buffer = nb::cast<const PyBuffer&>(self);
  if (!buffer.is_open()) throw std::runtime_error("the buffer has been closed");
  auto* exported = new Export<Managed>;
  exported->memory = buffer.share();
  exported->shape = static_cast<std::int64_t>(exported->memory.size());
  exported->managed.manager_ctx = exported;
  exported->managed.deleter = Export<Managed>::release;
  exported->buffer = self.inc_ref().ptr();
  try {
    exported->managed.dl_tensor = {.data = reinterpret_cast<void*>(exported->memory.handle()),
                                   .device = dlpack::device_of_buffer(self),
                                   .ndim = 1,
                                   .dtype = {.code = 0, .bits = 8, .lanes = 1},
                                   .shape = &exported->shape,
                                   .strides = &exported->stride,
                                   .byte_offset = 0};
    if constexpr (requires { exported->managed.version; }) exported->managed.version = dlpack::newest_version;
    return dlpack::make_capsule(&exported->managed);
  } catch (...) {
    Export<Managed>::release(&exported->managed);
    throw;
  }
}

nb::object export_dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device,
                         nb::handle copy) {
  dlpack::check_request(stream, device, copy);
  if (!device.is_none()) {
    const DLDevice own = dlpack::device_of_buffer(self);
    if (!device.equal(nb::make_tuple(static_cast<int>(own.device_type), own.device_id))) {
      raise_buffer_error("exporting to another device (dl_device) is not supported");
    }
  }
  return dlpack::wants_version_1(max_version) ? capsule_of<DLManagedTensorVersioned>(self)
                                              : capsule_of<DLManagedTensor>(self);
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  try {
    const PyBuffer& buffer = *nb::inst_ptr<PyBuffer>(object);
    if (!buffer.is_open()) {
      PyErr_SetString(PyExc_TypeError, "the buffer has been closed");
      return -1;
    }
    if (!is_host_accessible(buffer)) {
      PyErr_SetString(PyExc_TypeError, "the buffer's memory is not accessible from the host");
      return -1;
    }
    auto memory = std::make_unique<Buffer>(buffer.share());
    const int filled = PyBuffer_FillInfo(view, object, reinterpret_cast<void*>(memory->handle()),
                                         static_cast<Py_ssize_t>(memory->size()), 0, flags);
    if (filled == 0) view->internal = memory.release();
    return filled;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_BufferError, error.what());
  }
  view->obj = nullptr;
  return -1;
}

void release_buffer(PyObject* /*object*/, Py_buffer* view) {
  const WithoutGil released;
  delete static_cast<Buffer*>(view->internal);
}

nb::dict cuda_array_interface(nb::handle self) {
  const PyBuffer& buffer = nb::cast<const PyBuffer&>(self);
  if (!buffer.is_open()) throw std::runtime_error("the buffer has been closed");
  if (!is_device_accessible(buffer)) {
    throw nb::attribute_error("the buffer's memory is not accessible from a device");
  }
  nb::dict described;
  described["version"] = 3;
  described["shape"] = nb::make_tuple(buffer.value().size());
  described["typestr"] = "|u1";
  described["data"] = nb::make_tuple(buffer.value().handle(), false);
  described["strides"] = nb::none();
  described["stream"] = nb::none();
  return described;
}

}  // namespace

PyType_Slot buffer_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                              {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)}};

void bind_buffer_exports(nb::class_<PyBuffer>& cls) {
  cls.def("__dlpack__", export_dlpack, nb::kw_only(), nb::arg("stream") = nb::none(),
          nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none(),
          "A DLPack capsule: one dimension of int8. `stream` is ignored, the caller orders.")
      .def_prop_ro("__cuda_array_interface__", cuda_array_interface,
                   "Version 3: its bytes in one dimension, with no stream: the caller orders.")
      .def("__dlpack_device__", [](nb::handle self) {
        const DLDevice device = dlpack::device_of_buffer(self);
        return nb::make_tuple(static_cast<int>(device.device_type), device.device_id);
      });
}

}  // namespace cucore::python
