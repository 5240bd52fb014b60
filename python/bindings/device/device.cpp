// Devices: what cucore._device asks about an ordinal, and DeviceProperties.
#include "cucore/device.hpp"

#include <array>
#include <atomic>
#include <limits>

#include "cucore/driver.hpp"
#include "cucore/process.hpp"
#include "python/bindings/memory/memory.hpp"
#include "python/bindings/slots.hpp"
// After Python.h, which it needs.
#include <structmember.h>

namespace cucore::python {
namespace {

// Answers are kept: attributes do not change.
struct PyDeviceProperties {
  DeviceProperties properties;
  int device;
  std::array<std::optional<int>, 192> known{};

  template <class Ask>
  int value(std::size_t number, Ask ask) {
    if (!known[number].has_value()) known[number] = without_gil([&] { return static_cast<int>(ask(properties)); });
    return *known[number];
  }
};

void bind_properties(nb::module_& module) {
  auto cls = nb::class_<PyDeviceProperties>(module, "DeviceProperties", nb::is_weak_referenceable(),
                                            "The device's attributes by the driver's names, in lower case.");
  forbid_construction<PyDeviceProperties>(cls,
                                          "DeviceProperties cannot be instantiated directly: use Device.properties");
  nb::list names;
#define DEVICE_ATTRIBUTE(name, number, kind, default_value, text)                                             \
  names.append(#name);                                                                                        \
  cls.def_prop_ro(                                                                                            \
      #name,                                                                                                  \
      [](PyDeviceProperties& self) {                                                                          \
        return static_cast<kind>(self.value(number, [](const DeviceProperties& ask) { return ask.name(); })); \
      },                                                                                                      \
      nb::lock_self(), text);
#include "cucore/device_attributes.def"
  module.attr("_device_property_names") = nb::tuple(names);
  cls.def("__iter__", [module](const PyDeviceProperties&) { return nb::iter(module.attr("_device_property_names")); })
      .def("__repr__",
           [module](nb::handle self) { return repr_of_values(self, module.attr("_device_property_names")); })
      .def("__reduce__", [](const PyDeviceProperties& self) {
        const nb::object get = nb::module_::import_("operator").attr("attrgetter")("properties");
        return nb::make_tuple(get, nb::make_tuple(device_object(self.device)));
      });
}

// Whether Python has asked for devices, and so opened the driver.
std::atomic<bool> devices_asked{false};

// Device(...) by vectorcall. The devices of a thread are a list in the dict that CPython keeps for it, so they go with
// the thread's state, and finding one costs less than the driver call that says which is current.
PyObject* devices_key = nullptr;

// Borrowed; null if this thread has none yet (no exception set).
PyObject* devices_of_this_thread() {
  PyObject* const dict = PyThreadState_GetDict();
  return dict == nullptr ? nullptr : PyDict_GetItemWithError(dict, devices_key);
}

PyObject* known_device(PyTypeObject* type, PyObject* argument) {
  if (argument != nullptr && Py_TYPE(argument) == type) return Py_NewRef(argument);
  PyObject* const devices = devices_of_this_thread();
  if (devices == nullptr) return nullptr;
  long ordinal = -1;
  if (argument == nullptr || argument == Py_None) {
    ordinal = Device::current().ordinal();
  } else if (PyLong_CheckExact(argument)) {
    int overflow = 0;
    ordinal = PyLong_AsLongAndOverflow(argument, &overflow);
  }
  if (ordinal < 0 || ordinal >= PyList_GET_SIZE(devices)) return nullptr;
  PyObject* const device = PyList_GET_ITEM(devices, ordinal);
  return device == Py_None ? nullptr : Py_NewRef(device);
}

PyObject* call_device(PyObject* type, PyObject* const* arguments, std::size_t count_and_flags, PyObject* names) {
  try {
    const Py_ssize_t count = PyVectorcall_NARGS(count_and_flags);
    if (names == nullptr && count <= 1) {
      PyObject* known = known_device(reinterpret_cast<PyTypeObject*>(type), count == 0 ? nullptr : arguments[0]);
      if (known != nullptr) return known;
    }
    nb::object positional = nb::steal(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.ptr(), i, Py_NewRef(arguments[i]));
    nb::dict keywords;
    for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
      keywords[nb::handle(PyTuple_GET_ITEM(names, i))] = nb::handle(arguments[count + i]);
    }
    return PyType_Type.tp_call(type, positional.ptr(), keywords.ptr());
  } catch (...) {
    set_python_exception();
    return nullptr;
  }
}

// Device.create_event() and create_stream() without arguments, from the slot where the Device keeps its context;
// anything else is for the methods of the same names with an underscore, in Python.
PyMemberDef* context_slot = nullptr;

// The Context or None; null if the slot is empty. On a Python without a GIL another thread may replace it at any time.
#ifdef Py_GIL_DISABLED
nb::object bound_context(PyObject* device) {
  auto bound = nb::steal(PyMember_GetOne(reinterpret_cast<const char*>(device), context_slot));
  if (!bound.is_valid()) PyErr_Clear();
  return bound;
}
#else
nb::handle bound_context(PyObject* device) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(device) + context_slot->offset);
}
#endif

template <class Object, class Make>
PyObject* make_in_context(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                          const char* method, Make make) {
  if (count == 0 && names == nullptr && driver_opened()) {  // in a child of fork() it is not
    static PyObject* const context_type = nb::type<PyContext>().ptr();
    const auto bound = bound_context(self);
    if (bound.is_valid() && bound.type().is(context_type)) {
      const PyContext& context = *nb::inst_ptr<PyContext>(bound);
      if (context.is_open()) {
        return answered([&] {
          // Without the GIL, though the call is short: NVIDIA's driver (580) lets cuEventCreate wait while another
          // thread waits inside cuMemFree, cuLibraryUnload or a launch on a full queue, and what that thread waits for
          // may be a callback that needs the GIL.
          const PyContext::Use in(context);
          auto made = [&] {
            const WithoutGil released{WithoutGil::held};
            return make(*in);
          }();
          return new_object<Object>(std::move(made));
        });
      }
    }
  }
  const auto in_python = nb::steal(PyObject_GetAttrString(self, method));
  if (!in_python.is_valid()) return nullptr;
  return PyObject_Vectorcall(in_python.ptr(), arguments, static_cast<std::size_t>(count), names);
}

// Device.context, from the same slot.
PyObject* context_of_device(PyObject* self, void* /*closure*/) {
  static PyObject* const context_type = nb::type<PyContext>().ptr();
  const auto bound = bound_context(self);
  if (bound.is_valid() && bound.type().is(context_type) && nb::inst_ptr<PyContext>(bound)->is_open()) {
    return nb::borrow(bound).release().ptr();
  }
  return PyObject_CallMethod(self, "_bound_context", nullptr);  // or the reason why there is none
}

PyObject* default_stream_of_device(PyObject* /*self*/, void* /*closure*/) {
  return answered([] { return default_stream(&Device::default_stream() == &Stream::per_thread_default()); });
}

// Equal by their ordinals, which are small ints.
Slot ordinal_slot;
Slot uuid_slot;

PyObject* compare_devices(PyObject* self, PyObject* other, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) ||
      PyObject_TypeCheck(other, reinterpret_cast<PyTypeObject*>(from_package(Package::Device).ptr())) == 0) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (self == other) return Py_NewRef(operation == Py_EQ ? Py_True : Py_False);
  return answered([&] {
    const nb::object mine = nb::borrow(ordinal_slot.get(self));
    const nb::object others = nb::borrow(ordinal_slot.get(other));
    return nb::steal(PyObject_RichCompare(mine.ptr(), others.ptr(), operation));
  });
}

Py_hash_t hash_device(PyObject* self) {
  const auto known = uuid_slot.get(self);
  if (known.is_valid() && !known.is_none()) return PyObject_Hash(known.ptr());
  PyObject* const uuid = PyObject_GetAttrString(self, "uuid");
  if (uuid == nullptr) return -1;
  const Py_hash_t hash = PyObject_Hash(uuid);
  Py_DECREF(uuid);
  return hash;
}

PyObject* create_event(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return make_in_context<PyEvent>(self, arguments, count, names, "_create_event",
                                  [](const Context& in) { return in.create_event(); });
}

PyObject* create_stream(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return make_in_context<PyStream>(self, arguments, count, names, "_create_stream",
                                   [](const Context& in) { return in.create_stream(); });
}

// The casts are how CPython takes functions of this kind.
PyMethodDef create_event_method = {
    "create_event", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(create_event)),
    METH_FASTCALL | METH_KEYWORDS, "create_event($self, options=None)\n--\n\nA new event, not recorded on any stream."};
PyMethodDef create_stream_method = {
    "create_stream", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(create_stream)),
    METH_FASTCALL | METH_KEYWORDS,
    "create_stream($self, obj=None, options=None)\n--\n\n"
    "A new stream; or, for an object with ``__cuda_stream__``, a Stream around its stream."};

void set_device_class(nb::handle device) {
  auto* const type = reinterpret_cast<PyTypeObject*>(device.ptr());
  type->tp_vectorcall = call_device;
  const nb::object slot = device.attr("_context");
  context_slot = reinterpret_cast<PyMemberDescrObject*>(slot.ptr())->d_member;
  ordinal_slot = Slot(device, "_ordinal");
  uuid_slot = Slot(device, "_uuid");
  replace_property(device, "context", context_of_device, nullptr);
  replace_property(device, "default_stream", default_stream_of_device, nullptr);
  type->tp_richcompare = compare_devices;  // besides __eq__ and __hash__, which are found by name
  type->tp_hash = hash_device;
  device.attr("create_event") = nb::steal(PyDescr_NewMethod(type, &create_event_method));
  device.attr("create_stream") = nb::steal(PyDescr_NewMethod(type, &create_stream_method));
}

nb::object context_or_none(Context context) {
  if (!context) return nb::none();
  return nb::cast(new_context(std::move(context)), nb::rv_policy::take_ownership);
}

}  // namespace

bool devices_were_asked() noexcept { return devices_asked; }

nb::object device_object(int ordinal) {
  auto device = nb::steal(PyObject_CallOneArg(from_package(Package::Device).ptr(), nb::int_(ordinal).ptr()));
  if (!device.is_valid()) throw nb::python_error();
  return device;
}

int device_ordinal(nb::handle device) {
  if (PyObject_IsInstance(device.ptr(), from_package(Package::Device).ptr()) == 1) {
    return nb::cast<int>(device.attr("device_id"));
  }
  if (is_array(device)) {
    raise(from_package(Package::ValueTypeError),
          std::string("a device must be a Device or an ordinal, not ") + Py_TYPE(device.ptr())->tp_name);
  }
  const nb::object index = whole_number(device);
  if (!index.is_valid()) {
    throw nb::type_error(
        (std::string("a device must be a Device or an ordinal, not ") + Py_TYPE(device.ptr())->tp_name).c_str());
  }
  int overflow = 0;
  const long ordinal = PyLong_AsLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0 || ordinal > std::numeric_limits<int>::max() || ordinal < std::numeric_limits<int>::min()) {
    raise(PyExc_OverflowError, std::string("device ") + nb::str(index).c_str() + " does not fit into 32 bits");
  }
  if (ordinal < 0) {
    throw nb::value_error((std::string("there is no device ") + nb::str(index).c_str()).c_str());
  }
  return static_cast<int>(ordinal);
}

void bind_device(nb::module_& module) {
  bind_properties(module);
  devices_key = PyUnicode_InternFromString("cucore.devices");
  module.def("_set_device_class", set_device_class);
  module.def("_devices_of_this_thread", [](std::size_t count) {
    if (PyObject* const devices = devices_of_this_thread()) return nb::borrow(devices);
    nb::list devices;
    for (std::size_t i = 0; i < count; ++i) devices.append(nb::none());
    PyObject* const dict = PyThreadState_GetDict();
    if (dict != nullptr && PyDict_SetItem(dict, devices_key, devices.ptr()) < 0) throw nb::python_error();
    return nb::object(std::move(devices));
  });
  // All of them as a tuple, if this thread has had each of them; else None.
  module.def("_known_devices", []() -> nb::object {
    PyObject* const devices = devices_of_this_thread();
    if (devices == nullptr) return nb::none();
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(devices); ++i) {
      if (PyList_GET_ITEM(devices, i) == Py_None) return nb::none();
    }
    return nb::steal(PyList_AsTuple(devices));
  });
  module.def("_device_count", [] {
    const int count = without_gil([] { return Device::count(); });
    if (!devices_asked.exchange(true)) tell_cpu_device_origins();
    return count;
  });
  module.def("_current_device", [] {
    const int ordinal = without_gil([] { return Device::current().ordinal(); });
    if (!devices_asked.exchange(true)) tell_cpu_device_origins();
    return ordinal;
  });
  module.def("_default_stream_is_per_thread",
             [] { return without_gil([] { return &Device::default_stream() == &Stream::per_thread_default(); }); });
  module.def("_open_driver_version", []() -> std::optional<int> {
    if (!devices_asked || !driver_opened()) return std::nullopt;  // in a child of fork() it is not open
    const DriverInfo info = without_gil([] { return driver_info(); });
    // The CPU device takes PTX of any version.
    return info.kind == DriverKind::gpu ? std::optional(info.version) : std::nullopt;
  });
  module.def("_device_name", [](int n) { return text_object(without_gil([&] { return Device(n).name(); })); });
  module.def("_device_uuid", [](int n) { return without_gil([&] { return Device(n).uuid(); }); });
  module.def("_device_pci_bus_id", [](int n) { return without_gil([&] { return Device(n).pci_bus_id(); }); });
  module.def("_device_compute_capability", [](int n) {
    const ComputeCapability cc = without_gil([&] { return Device(n).compute_capability(); });
    return nb::make_tuple(cc.major, cc.minor);
  });
  module.def("_device_total_memory", [](int n) { return without_gil([&] { return Device(n).total_memory(); }); });
  module.def("_device_memory_info", [](int n) {
    const MemoryInfo info = without_gil([&] { return Device(n).memory_info(); });
    return nb::make_tuple(info.free, info.total);
  });
  module.def("_device_priority_range", [](int n) {
    const PriorityRange range = without_gil([&] { return Device(n).priority_range(); });
    return nb::make_tuple(range.lowest, range.highest);
  });
  module.def("_device_from_uuid",
             [](std::string_view uuid) { return without_gil([&] { return Device::from_uuid(uuid).ordinal(); }); });
  module.def("_device_from_pci_bus_id",
             [](const std::string& id) { return without_gil([&] { return Device::from_pci_bus_id(id).ordinal(); }); });
  module.def("_device_can_access_peer",
             [](int n, int peer) { return without_gil([&] { return Device(n).can_access_peer(Device(peer)); }); });
  module.def("_device_properties",
             [](int n) { return PyDeviceProperties{without_gil([&] { return Device(n).properties(); }), n}; });
  module.def("_primary_context", [](int n) { return new_context(without_gil([&] { return Device(n).context(); })); });
  module.def("_set_no_context", [] { without_gil([] { Context::set_none_current(); }); });
  module.def("_current_context", [] { return context_or_none(without_gil([] { return Context::current(); })); });
}

}  // namespace cucore::python
