// OpaqueArray and MipmappedArray.
#include "python/bindings/memory/opaque_array.hpp"

#include <mutex>
#include <span>

#include "python/bindings/memory/memory.hpp"

namespace cucore::python {

nb::object format_object(ArrayFormat format) {
  const char* const name = [&] {
    switch (format) {
      case ArrayFormat::uint8:
        return "uint8";
      case ArrayFormat::uint16:
        return "uint16";
      case ArrayFormat::uint32:
        return "uint32";
      case ArrayFormat::int8:
        return "int8";
      case ArrayFormat::int16:
        return "int16";
      case ArrayFormat::int32:
        return "int32";
      case ArrayFormat::float16:
        return "float16";
      default:
        return "float32";
    }
  }();
  return from_package(Package::ArrayFormatType)(name);
}

std::string format_name(ArrayFormat format) { return nb::cast<std::string>(format_object(format).attr("name")); }

namespace {

nb::object shape_object(const std::vector<std::size_t>& shape) {
  nb::list extents;
  for (const std::size_t extent : shape) extents.append(extent);
  return nb::tuple(extents);
}

const PyBuffer* as_buffer(nb::handle object) {
  const PyBuffer* buffer = nullptr;
  return nb::try_cast<const PyBuffer*>(object, buffer) ? buffer : nullptr;
}

// Memory of a Python object by the buffer protocol: kept, and with it the object's promise not to move it.
nb::object memory_view(nb::handle object, const char* what, bool writable) {
  auto view = nb::steal(PyMemoryView_FromObject(object.ptr()));
  if (!view.is_valid()) {
    PyErr_Clear();
    throw nb::type_error((std::string(what) + " must be a Buffer or have the buffer protocol; " +
                          Py_TYPE(object.ptr())->tp_name + " has not")
                             .c_str());
  }
  const Py_buffer* const memory = PyMemoryView_GET_BUFFER(view.ptr());
  if (PyBuffer_IsContiguous(memory, 'C') == 0) {
    throw nb::value_error((std::string(what) + " must be C-contiguous").c_str());
  }
  if (writable && memory->readonly != 0) {
    Py_buffer writable_memory;
    // The object says in its own words, and with its own type of error, that it is read-only.
    if (PyObject_GetBuffer(object.ptr(), &writable_memory, PyBUF_WRITABLE) != 0) throw nb::python_error();
    PyBuffer_Release(&writable_memory);
    throw nb::value_error((std::string(what) + " is read-only").c_str());
  }
  return view;
}

std::span<std::byte> bytes_of(const nb::object& view) {
  const Py_buffer* const memory = PyMemoryView_GET_BUFFER(view.ptr());
  return {static_cast<std::byte*>(memory->buf), static_cast<std::size_t>(memory->len)};
}

// Objects whose copies are complete, handed over by a thread of the driver. That thread must not release them, which
// may run Python code that calls CUDA.
struct Copied {
  std::mutex mutex;
  std::vector<PyObject*> objects;
};

// Never destroyed: a copy may happen on a thread that outlives the interpreter.
Copied& copied() {
  static auto* const handed_over = new Copied;
  return *handed_over;
}

int drop_copied(void*) {
  std::vector<PyObject*> objects;
  {
    const std::lock_guard lock(copied().mutex);
    objects.swap(copied().objects);
  }
  for (PyObject* const object : objects) Py_DECREF(object);
  return 0;
}

void hand_over(PyObject* object) noexcept {
  if (finalizing()) return;  // left to the end of the process
  try {
    const std::lock_guard lock(copied().mutex);
    copied().objects.push_back(object);
  } catch (const std::bad_alloc&) {
    return;
  }
  Py_AddPendingCall(drop_copied, nullptr);  // a full queue is no loss: the next copy drops it
}

std::shared_ptr<const void> keep_until_copied(nb::handle object) {
  drop_copied(nullptr);
  return {object.inc_ref().ptr(), hand_over};
}

void copy_from(const PyOpaqueArray& self, nb::handle source, nb::handle stream) {
  Stream core_stream = required_stream(stream).share();
  if (const PyBuffer* const buffer = as_buffer(source)) {
    Buffer from = buffer->share();
    return self.use([&](const OpaqueArray& array) { array.copy_from(from, core_stream); });
  }
  const nb::object view = memory_view(source, "src", false);
  const auto kept = keep_until_copied(view);
  self.use([&](const OpaqueArray& array) { array.copy_from(bytes_of(view), core_stream, kept); });
}

nb::object copy_to(const PyOpaqueArray& self, nb::handle destination, nb::handle stream) {
  Stream core_stream = required_stream(stream).share();
  if (const PyBuffer* const buffer = as_buffer(destination)) {
    Buffer to = buffer->share();
    self.use([&](const OpaqueArray& array) { array.copy_to(to, core_stream); });
  } else {
    const nb::object view = memory_view(destination, "dst", true);
    const auto kept = keep_until_copied(view);
    self.use([&](const OpaqueArray& array) { array.copy_to(bytes_of(view), core_stream, kept); });
  }
  return nb::borrow(destination);
}

template <class T>
std::string description(const T& self) {
  return std::string("shape=") + nb::repr(shape_object(self.shape)).c_str() + ", format=" + format_name(self.format) +
         ", num_channels=" + std::to_string(self.num_channels);
}

template <class T, class Class>
void bind_described(Class& cls) {
  bind_owner<T>(cls);
  cls.def_prop_ro(
         "handle", [](const T& self) { return self.is_open() ? self.identity() : 0; },
         "The driver's handle as an int; 0 when closed.")
      .def_prop_ro(
          "shape", [](const T& self) { return shape_object(self.shape); },
          "(width,), (width, height) or (width, height, depth), in elements.")
      .def_prop_ro(
          "format", [](const T& self) { return format_object(self.format); }, "The ArrayFormatType of each channel.")
      .def_prop_ro(
          "num_channels", [](const T& self) { return self.num_channels; }, "Channels of an element: 1, 2 or 4.")
      .def_prop_ro(
          "is_surface_load_store", [](const T& self) { return self.is_surface_load_store; },
          "Whether kernels may write it through a SurfaceObject.")
      .def_prop_ro(
          "device", [](const T& self) { return device_object(self.device); }, "The Device whose memory it is.")
      .def(
          "close", [](T& self) { self.close_value(); },
          "Drops this reference; the memory is freed after its last use. Closing twice is allowed.");
}

}  // namespace

void bind_opaque_array(nb::module_& module) {
  auto array = nb::class_<PyOpaqueArray>(module, "OpaqueArray", nb::is_weak_referenceable(),
                                         "Memory that the device lays out for textures and surfaces. It has no "
                                         "address: copies fill and read it, and kernels through a TextureObject or "
                                         "SurfaceObject. Device.create_opaque_array() makes one.");
  forbid_construction<PyOpaqueArray>(array,
                                     "OpaqueArray cannot be instantiated directly: use Device.create_opaque_array()");
  bind_described<PyOpaqueArray>(array);
  array
      .def_prop_ro(
          "element_bytes", [](const PyOpaqueArray& self) { return self.element_bytes(); },
          "Bytes of an element: all its channels.")
      .def_prop_ro(
          "size_bytes", [](const PyOpaqueArray& self) { return self.size_bytes(); },
          "Bytes of all elements, side by side.")
      .def(
          "copy_from", copy_from, nb::arg("src"), nb::kw_only(), nb::arg("stream").none(),
          "Copies size_bytes from the beginning of `src`, a Buffer or an object with the buffer protocol, in the order "
          "of `stream`. The object is kept until then; in a graph that is being captured, keep it yourself.")
      .def("copy_to", copy_to, nb::arg("dst"), nb::kw_only(), nb::arg("stream").none(),
           "Copies all of it to the beginning of `dst`, and returns `dst`; as copy_from().")
      .def("__repr__", [](const PyOpaqueArray& self) { return "OpaqueArray(" + description(self) + ")"; });

  auto mipmapped = nb::class_<PyMipmappedArray>(module, "MipmappedArray", nb::is_weak_referenceable(),
                                                "Levels of an image, each of half the extents of the one before. "
                                                "Device.create_mipmapped_array() makes one.");
  forbid_construction<PyMipmappedArray>(
      mipmapped, "MipmappedArray cannot be instantiated directly: use Device.create_mipmapped_array()");
  bind_described<PyMipmappedArray>(mipmapped);
  mipmapped
      .def_prop_ro(
          "num_levels", [](const PyMipmappedArray& self) { return self.num_levels; }, "How many levels there are.")
      .def(
          "get_level",
          [](const PyMipmappedArray& self, nb::handle level) {
            const nb::object number = whole_number(level);
            if (!number.is_valid()) {
              raise(PyUnicode_Check(level.ptr()) != 0 ? from_package(Package::ValueTypeError) : PyExc_TypeError,
                    std::string("level must be an int, not ") + nb::repr(level).c_str());
            }
            int overflow = 0;
            const long long wanted = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
            if (overflow != 0 || wanted < 0 || wanted >= self.num_levels) {
              throw nb::value_error((std::string("level must be 0 to ") + std::to_string(self.num_levels - 1) +
                                     ", not " + nb::str(number).c_str())
                                        .c_str());
            }
            return new PyOpaqueArray(
                self.use([&](const MipmappedArray& all) { return all.get_level(static_cast<unsigned>(wanted)); }));
          },
          nb::arg("level"), "One level as an OpaqueArray, which keeps all of them.")
      .def("__repr__", [](const PyMipmappedArray& self) {
        return "MipmappedArray(" + description(self) + ", num_levels=" + std::to_string(self.num_levels) + ")";
      });
  module.def("_create_opaque_array", [](const PyContext& context, const std::vector<std::size_t>& shape, int format,
                                        unsigned channels, bool is_surface) {
    const OpaqueArrayOptions options{.shape = shape,
                                     .format = static_cast<ArrayFormat>(format),
                                     .num_channels = channels,
                                     .is_surface_load_store = is_surface};
    return new PyOpaqueArray(context.use([&](const Context& in) { return in.create_opaque_array(options); }));
  });
  module.def("_create_mipmapped_array", [](const PyContext& context, const std::vector<std::size_t>& shape, int format,
                                           unsigned channels, unsigned levels, bool is_surface) {
    const MipmappedArrayOptions options{.shape = shape,
                                        .format = static_cast<ArrayFormat>(format),
                                        .num_channels = channels,
                                        .num_levels = levels,
                                        .is_surface_load_store = is_surface};
    return new PyMipmappedArray(context.use([&](const Context& in) { return in.create_mipmapped_array(options); }));
  });
}

}  // namespace cucore::python
