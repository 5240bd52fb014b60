// Buffer.
#include "cucore/buffer.hpp"

#include <cstring>

#include "python/bindings/callables.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

// The options of a copy are those of a batch of one.
void copy_with_options(nb::handle source, nb::handle destination, nb::handle stream, nb::handle options) {
  nb::list from, to;
  from.append(source);
  to.append(destination);
  nb::list one;  // a sequence of options is a batch's
  one.append(options);
  from_package(Package::copy_batch)(stream, from, to, nb::arg("options") = one);
}

nb::object copy_to(nb::handle self, nb::handle destination, nb::handle stream, nb::handle options) {
  const PyBuffer& source = nb::cast<const PyBuffer&>(self);
  const PyStream& on = required_stream(stream);
  nb::object target = nb::borrow(destination);
  if (destination.is_none()) {
    if (!source.is_open()) throw std::runtime_error("the buffer has been closed");
    const nb::object resource = source.resource_object();
    if (resource.is_none()) {
      throw nb::value_error("copy_to needs a destination: this buffer has no memory resource to allocate one from");
    }
    target = resource.attr("allocate")(source.value().size(), nb::arg("stream") = stream);
  }
  const PyBuffer* wrapped = nullptr;
  if (!nb::try_cast<const PyBuffer*>(target, wrapped) || wrapped == nullptr) {
    throw nb::type_error((std::string("dst must be a Buffer, not ") + Py_TYPE(target.ptr())->tp_name).c_str());
  }
  if (!options.is_none()) {
    copy_with_options(self, target, stream, options);
    return target;
  }
  Stream core_stream = on.share();
  Buffer to = wrapped->share();
  source.use([&](const Buffer& from) { from.copy_to(to, core_stream); });
  return target;
}

void copy_from(nb::handle object, nb::handle other, nb::handle stream, nb::handle options) {
  const PyBuffer& self = nb::cast<const PyBuffer&>(object);
  const PyBuffer* wrapped = nullptr;
  if (!nb::try_cast<const PyBuffer*>(other, wrapped) || wrapped == nullptr) {
    throw nb::type_error((std::string("src must be a Buffer, not ") + Py_TYPE(other.ptr())->tp_name).c_str());
  }
  const PyBuffer& source = *wrapped;
  if (!options.is_none()) return copy_with_options(other, object, stream, options);
  Stream core_stream = required_stream(stream).share();
  Buffer from = source.share();
  self.use([&](const Buffer& to) { to.copy_from(from, core_stream); });
}

void fill(const PyBuffer& self, nb::handle value, nb::handle stream) {
  Stream core_stream = required_stream(stream).share();
  const FillElement element(value);
  self.use([&](const Buffer& buffer) { buffer.fill_bytes(element.bytes(), core_stream); });
}

// With the object locked: no other thread closes it in between.
void close(PyBuffer& self, nb::handle stream) {
  if (!stream.is_none()) {
    const Stream on = required_stream(stream).share();
    if (self.is_open()) self.share().set_deallocation_stream(on);
  }
  Buffer closed = self.take();
  nb::object resource;  // a closed buffer keeps nothing alive
  {
    const std::lock_guard lock(self.exclusion);
    resource = std::move(self.resource);
  }
  const WithoutGil released;
  closed.close();
}

// What `ask` says of an open buffer with its resource, or None; asked once where there is a resource.
template <class Ask>
bool answer(const PyBuffer& self, std::int8_t& known, Ask&& ask) {
  if (known >= 0 && self.is_open()) return known != 0;
  const nb::object resource = self.resource_object();
  const bool said = ask(resource);
  if (!resource.is_none()) known = said ? 1 : 0;
  return said;
}

// The resource's word, or the driver's of memory that has none.
bool answer(const PyBuffer& self, std::int8_t& known, const char* attribute, bool (Buffer::*ask)() const) {
  return answer(self, known, [&](const nb::object& resource) {
    return resource.is_none() ? self.use([&](const Buffer& buffer) { return (buffer.*ask)(); })
                              : truth_of(resource.attr(attribute));
  });
}

// The object behind the stream that the open buffer is freed on, if that is a foreign stream and only this buffer
// refers to it.
PyObject* foreign_stream(const PyBuffer& self) {
  const Stream core_stream = self.buffer->deallocation_stream();
  if (self.buffer->state().use_count() != 1 || core_stream.state().use_count() != 2) return nullptr;
  return static_cast<PyObject*>(const_cast<void*>(core_stream.owner().get()));
}

// The garbage collector must see what the core keeps alive: the resource written in Python, the owner, and the object
// behind the stream.
int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  if (PyObject** const attributes = _PyObject_GetDictPtr(object)) Py_VISIT(*attributes);  // a ManagedBuffer's
  if (!nb::inst_ready(object)) return 0;
  PyBuffer* self = nb::inst_ptr<PyBuffer>(object);
  Py_VISIT(self->resource.ptr());
  if (!self->is_open()) return 0;
  Py_VISIT(self->owner());
  Py_VISIT(foreign_stream(*self));
  if (!self->resource.is_valid()) {
    if (const auto* resource = dynamic_cast<const PythonResource*>(self->buffer->memory_resource().get())) {
      Py_VISIT(resource->object());
    }
  }
  return 0;
}

// In a garbage cycle the buffer is given back to a resource written in Python, and in the order of somebody else's
// stream, before the collector empties those objects.
void finalize(PyObject* object) {
  if (!nb::inst_ready(object)) return;
  PyBuffer* self = nb::inst_ptr<PyBuffer>(object);
  if (!self->is_open() || self->buffer->memory_resource() == nullptr) return;
  if (self->resource.is_valid() && foreign_stream(*self) == nullptr) return;
  const nb::error_scope handled;
  const WithoutGil released;
  *self->buffer = Buffer();
}

int clear(PyObject* object) {
  if (PyObject** const attributes = _PyObject_GetDictPtr(object)) Py_CLEAR(*attributes);
  PyBuffer* self = nb::inst_ptr<PyBuffer>(object);
  {
    const WithoutGil released;
    *self->buffer = Buffer();
  }
  self->resource.reset();
  return 0;
}

}  // namespace

PyBuffer buffer_from_handle(nb::handle ptr, std::uint64_t size, nb::handle resource, nb::handle owner,
                            nb::handle stream) {
  const auto number = nb::steal(PyNumber_Long(ptr.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  const std::uint64_t address = unsigned_number(number, "ptr");
  if (!resource.is_none() && !owner.is_none()) {
    throw nb::value_error("a buffer has a memory resource (mr) or an owner, not both");
  }
  if (resource.is_none()) {
    if (!stream.is_none()) {
      throw nb::value_error("stream is the one that a memory resource (mr) frees in: give mr too, or no stream");
    }
    return PyBuffer(Buffer::from_handle(address, size, owner.is_none() ? nullptr : keep_alive(owner)));
  }
  if (!nb::isinstance<PyMemoryResource>(resource)) {
    throw nb::type_error((std::string("mr must be a MemoryResource, not ") + Py_TYPE(resource.ptr())->tp_name).c_str());
  }
  // A class derived in Python need not call __init__ of the base, which then has no core object either.
  const PyMemoryResource* wrapped = nb::inst_ready(resource) ? nb::inst_ptr<PyMemoryResource>(resource) : nullptr;
  const bool in_python = wrapped == nullptr || wrapped->resource == nullptr;
  std::shared_ptr<MemoryResource> core = in_python ? std::make_shared<PythonResource>(resource) : wrapped->resource;
  // What no device reaches is in no stream's order.
  if (!stream.is_none()) required_stream(stream);
  const bool is_ordered = !stream.is_none() && truth_of(resource.attr("is_device_accessible"));
  PyBuffer buffer(!is_ordered ? Buffer::adopt(address, size, std::move(core))
                              : Buffer::adopt(address, size, std::move(core), kept_stream(required_stream(stream))));
  if (!in_python) buffer.resource = nb::borrow(resource);
  return buffer;
}

nb::object PyBuffer::resource_object() const {
  {
    const std::lock_guard lock(exclusion);
    if (!static_cast<bool>(*buffer)) return nb::none();
    if (resource.is_valid()) return resource;
  }
  const auto core = value().memory_resource();
  const auto* in_python = dynamic_cast<const PythonResource*>(core.get());
  return in_python == nullptr ? nb::none() : nb::borrow(nb::handle(in_python->object()));
}

bool is_device_accessible(const PyBuffer& self) {
  return answer(self, self.answers.device_accessible, "is_device_accessible", &Buffer::is_device_accessible);
}

bool is_host_accessible(const PyBuffer& self) {
  return answer(self, self.answers.host_accessible, "is_host_accessible", &Buffer::is_host_accessible);
}

bool is_mapped(const PyBuffer& self) {
  if (!self.is_open()) return false;
  return answer(self, self.answers.mapped, [&](const nb::object&) { return self.value().is_mapped(); });
}

nb::object owner_object(const PyBuffer& self) {
  const auto owner = self.value().owner();
  if (owner == nullptr) return nb::none();
  return nb::borrow(static_cast<PyObject*>(const_cast<void*>(owner.get())));
}

// A resource of the core's says it once; one that is written in Python is asked each time.
nb::object device_id_of(const PyBuffer& self) {
  if (self.answers.device_id && self.is_open()) return nb::int_(*self.answers.device_id);
  const nb::object resource = self.resource_object();
  if (!resource.is_none() && !nb::isinstance<PyLegacyPinnedMemoryResource>(resource)) {
    nb::object number = resource.attr("device_id");
    if (nb::isinstance<PyPoolMemoryResource>(resource)) self.answers.device_id = nb::cast<int>(number);
    return number;
  }
  return nb::int_(self.use([](const Buffer& buffer) { return buffer.device_id(); }));
}

// A resource that is of no device says so by an error, which is the buffer's too.
nb::object told_device_id(const PyBuffer& self) {
  const nb::object resource = self.resource_object();
  if (nb::isinstance<PyLegacyPinnedMemoryResource>(resource)) return resource.attr("device_id");
  return device_id_of(self);
}

bool is_managed_memory(const PyBuffer& self) {
  return answer(self, self.answers.managed, [&](const nb::object& resource) {
    return (!resource.is_none() && truth_of(resource.attr("is_managed"))) ||
           self.use([](const Buffer& buffer) { return buffer.is_managed(); });
  });
}

PyObject* PyBuffer::owner() const noexcept { return static_cast<PyObject*>(const_cast<void*>(buffer->owner().get())); }

FillElement::FillElement(nb::handle value) {
  if (PyLong_Check(value.ptr())) {
    const long byte = PyLong_AsLong(value.ptr());
    if ((byte == -1 && PyErr_Occurred() != nullptr) || byte < 0 || byte > 255) {
      PyErr_Clear();
      PyErr_SetString(PyExc_OverflowError, "an int fill value is one byte: it must be in 0..255");
      throw nb::python_error();
    }
    bytes_[0] = static_cast<std::byte>(byte);
    width_ = 1;
    return;
  }
  Py_buffer view;
  if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_SIMPLE) < 0) {
    PyErr_Clear();
    throw nb::type_error((std::string("a fill value must be an int or have 1, 2 or 4 bytes; ") +
                          Py_TYPE(value.ptr())->tp_name + " has none")
                             .c_str());
  }
  width_ = static_cast<std::size_t>(view.len);
  const bool fits = width_ == 1 || width_ == 2 || width_ == 4;
  if (fits) std::memcpy(bytes_.data(), view.buf, width_);
  PyBuffer_Release(&view);
  if (!fits) throw nb::value_error(("a fill value must have 1, 2 or 4 bytes, not " + std::to_string(width_)).c_str());
}

namespace {

// Buffer.from_handle(ptr, size), or with owner=.
PyObject* from_handle_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  static PyObject* const owner_name = PyUnicode_InternFromString("owner");
  if (count != 2 || !PyLong_CheckExact(arguments[0]) || !PyLong_CheckExact(arguments[1])) return nullptr;
  const bool has_owner = names != nullptr;
  if (has_owner && (PyTuple_GET_SIZE(names) != 1 || PyTuple_GET_ITEM(names, 0) != owner_name)) return nullptr;
  return answered([&] {
    const nb::handle owner(has_owner ? arguments[2] : Py_None);
    const std::uint64_t address = unsigned_number(arguments[0], "ptr");
    const std::uint64_t size = unsigned_number(arguments[1], "size");
    return new_object<PyBuffer>(Buffer::from_handle(address, size, owner.is_none() ? nullptr : keep_alive(owner)));
  });
}

}  // namespace

PyType_Slot* buffer_type_slots() noexcept {
  static PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_finalize, reinterpret_cast<void*>(finalize)}, {Py_bf_getbuffer, buffer_slots[0].pfunc},
      {Py_bf_releasebuffer, buffer_slots[1].pfunc},        {0, nullptr}};
  return slots;
}

void bind_buffer(nb::module_& module) {
  auto cls = nb::class_<PyBuffer>(module, "Buffer", nb::type_slots(buffer_type_slots()), nb::is_weak_referenceable(),
                                  "A range of memory and what keeps it alive. Device.allocate(), a MemoryResource's "
                                  "allocate() and Buffer.from_handle() make one.");
  forbid_construction<PyBuffer>(
      cls,
      "Buffer cannot be instantiated directly: use Device.allocate(), MemoryResource.allocate() or "
      "Buffer.from_handle()");
  getter<PyBuffer, [](const PyBuffer& self) { return self.value().handle(); }>(cls, "handle",
                                                                               "The address; 0 when closed.");
  getter<PyBuffer, [](const PyBuffer& self) { return self.value().size(); }>(cls, "size", "Bytes; 0 when closed.");
  getter<PyBuffer, told_device_id>(cls, "device_id",
                                   "The device whose memory it is, or -1. RuntimeError: it is of none.");
  getter<PyBuffer, is_device_accessible>(cls, "is_device_accessible", "Whether devices can access it.");
  getter<PyBuffer, is_host_accessible>(cls, "is_host_accessible", "Whether the host can access it.");
  getter<PyBuffer, is_managed_memory>(cls, "is_managed", "Whether it is managed memory.");
  getter<PyBuffer, is_mapped>(cls, "is_mapped", "Whether another process allocated it.");
  getter<PyBuffer, [](const PyBuffer& self) { return !self.is_open(); }>(cls, "is_closed",
                                                                         "Whether it has been closed.");
  getter<PyBuffer, [](const PyBuffer& self) { return self.resource_object(); }>(cls, "memory_resource",
                                                                                "What takes the memory back, or None.");
  getter<PyBuffer, owner_object>(cls, "owner", "What is kept alive, or None.");
  cls.def_static(
         "from_handle",
         [](nb::handle ptr, Unsigned size, nb::handle mr, nb::handle owner, nb::handle stream) {
           return new_object<PyBuffer>(buffer_from_handle(ptr, size, mr, owner, stream));
         },
         nb::arg("ptr").none(), nb::arg("size"), nb::arg("mr") = nb::none(), nb::arg("owner") = nb::none(),
         nb::kw_only(), nb::arg("stream") = nb::none(),
         "Wraps an address. With `mr` the buffer owns the memory, which mr.deallocate() takes back, in the "
         "order of `stream`; `owner` is only kept alive.")
      .def_prop_ro(
          "ipc_descriptor", [](nb::handle self) { return from_package(Package::buffer_descriptor)(self); },
          "What other processes open it with, together with its pool: an IPCBufferDescriptor.")
      .def("copy_to", copy_to, nb::arg("dst") = nb::none(), nb::kw_only(), nb::arg("stream").none(),
           nb::arg("options") = nb::none(),
           "Copies all of it to `dst` (without one: to a new buffer of the same resource) and returns that.")
      .def("copy_from", copy_from, nb::arg("src"), nb::kw_only(), nb::arg("stream").none(),
           nb::arg("options") = nb::none(), "Copies all of `src` into it.")
      .def("fill", fill, nb::arg("value").none(), nb::kw_only(), nb::arg("stream").none(),
           "Fills it with a byte (an int), or with a value of 1, 2 or 4 bytes.")
      .def(
          "set_deallocation_stream",
          [](PyBuffer& self, nb::handle stream) {
            self.share().set_deallocation_stream(kept_stream(required_stream(stream)));
          },
          nb::arg("stream").none(), nb::lock_self(), "Frees in the order of `stream` instead of the recorded one.")
      .def("close", close, nb::arg("stream") = nb::none(), nb::lock_self(),
           "Frees the memory, in the order of `stream` or of the recorded stream. Closing twice is allowed.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](nb::handle self, const nb::args&) { self.attr("close")(); })
      .def(
          "__eq__",
          [](const PyBuffer& self, const PyBuffer& other) {
            return &self == &other || (self.is_open() && other.is_open() && self.value() == other.value());
          },
          nb::is_operator())
      .def(
          "__hash__", [](const PyBuffer& self) { return nb::hash(nb::int_(self.address)); },
          "Of the address, also when it has been closed: it stays findable in a set.")
      .def("__repr__",
           [](nb::handle object) {
             const PyBuffer& self = self_as<PyBuffer>(object);
             return std::string("<") + nb::str(object.type().attr("__name__")).c_str() +
                    " ptr=" + hex(self.value().handle()) + " size=" + std::to_string(self.value().size()) +
                    (self.value().is_mapped() ? " is_mapped=True>" : ">");
           })
      .def("__reduce__", [](nb::handle self) { return from_package(Package::reduce_buffer)(self); });
  add_shortcut<from_handle_directly>(cls, "from_handle");
  bind_buffer_exports(cls);
}

}  // namespace cucore::python
