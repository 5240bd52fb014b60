// What StridedMemoryView (cucore/utils/_memory_view.py) does for every array: its objects, which are slots of Python
// values, and the way of an array to a view by DLPack.
#include <array>
#include <bit>
#include <cstdint>

#include "cucore/strided_layout.hpp"
#include "python/bindings/callables.hpp"
#include "python/bindings/memory/dlpack.hpp"
#include "python/bindings/memory/memory.hpp"
#include "python/bindings/package.hpp"
#include "python/bindings/slots.hpp"

#if PY_VERSION_HEX < 0x030D0000
extern "C" int _PyObject_LookupAttr(PyObject*, PyObject*, PyObject**);
#endif

namespace cucore::python {
namespace {

// The slots of the class, told by it when it is made.
struct ViewSlots {
  Slot base, device, layout, tensor, typed, ptr, device_id, is_device_accessible, readonly, exporting_obj;
};
ViewSlots slots;

nb::object new_view(nb::handle type, nb::handle owner, std::uint64_t base, nb::handle layout, nb::handle dtype,
                    nb::handle device, nb::handle device_id, bool readonly, nb::handle tensor) {
  auto* const python_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  nb::object view = nb::steal(python_type->tp_alloc(python_type, 0));
  if (!view.is_valid()) throw nb::python_error();
  PyObject* const self = view.ptr();
  std::uint64_t first = base;
  if (!layout.is_none()) {
    const auto& known = *nb::inst_ptr<StridedLayout>(layout);
    first += static_cast<std::uint64_t>(known.slice_offset_in_bytes());
    slots.layout.put(self, nb::borrow(layout));
  }
  const bool on_host = PyLong_AsLong(PyTuple_GET_ITEM(device.ptr(), 0)) == kDLCPU;
  slots.base.put(self, nb::steal(PyLong_FromUnsignedLongLong(base)));
  slots.ptr.put(self, nb::steal(PyLong_FromUnsignedLongLong(first)));
  slots.device.put(self, nb::borrow(device));
  slots.tensor.put(self, nb::borrow(tensor));
  slots.typed.put(self, nb::borrow(dtype));
  slots.device_id.put(self, nb::borrow(device_id));
  slots.is_device_accessible.put(self, nb::borrow(on_host ? Py_False : Py_True));
  slots.readonly.put(self, nb::borrow(readonly ? Py_True : Py_False));
  slots.exporting_obj.put(self, nb::borrow(owner));
  return view;
}

// What DLPack says of types and devices, as tuples; those that are frequent are made once.
struct KnownTuples {
  static constexpr std::size_t codes = 7, sizes = 5, devices = 4;
  std::array<std::array<PyObject*, sizes>, codes> types;  // by code and by the logarithm of the bytes
  std::array<PyObject*, devices> cuda;
  PyObject* host = Py_BuildValue("(ii)", static_cast<int>(kDLCPU), 0);
  KnownTuples() {
    for (std::size_t code = 0; code < codes; ++code) {
      for (std::size_t size = 0; size < sizes; ++size) types[code][size] = Py_BuildValue("(nii)", code, 8 << size, 1);
    }
    for (std::size_t id = 0; id < devices; ++id) cuda[id] = Py_BuildValue("(in)", static_cast<int>(kDLCUDA), id);
  }
};
const KnownTuples& known_tuples() {
  static const KnownTuples* const made = new KnownTuples;  // for ever
  return *made;
}

nb::object type_tuple(const DLDataType& type) {
  const unsigned bytes = type.bits / 8u;
  if (type.lanes == 1 && type.code < KnownTuples::codes && type.bits % 8 == 0 && std::has_single_bit(bytes) &&
      bytes < 1u << KnownTuples::sizes) {
    return nb::borrow(known_tuples().types[type.code][static_cast<std::size_t>(std::countr_zero(bytes))]);
  }
  return nb::make_tuple(int{type.code}, int{type.bits}, int{type.lanes});
}

nb::object device_tuple(const DLDevice& device) {
  const auto id = static_cast<std::size_t>(device.device_id);
  if (device.device_type == kDLCPU && id == 0) return nb::borrow(known_tuples().host);
  if (device.device_type == kDLCUDA && id < KnownTuples::devices) return nb::borrow(known_tuples().cuda[id]);
  return nb::make_tuple(static_cast<int>(device.device_type), device.device_id);
}

nb::object view_of_capsule(nb::handle type, nb::handle capsule, nb::handle owner) {
  dlpack::Taken taken = dlpack::take(capsule);
  const DLTensor& described = taken.described;
  const DLDevice device = described.device;
  return new_view(type, owner.is_none() ? capsule : owner,
                  reinterpret_cast<std::uintptr_t>(described.data) + described.byte_offset, nb::none(),
                  type_tuple(described.dtype), device_tuple(device),
                  nb::int_(device.device_type == kDLCPU ? -1 : device.device_id), taken.readonly, taken.tensor);
}

// What a view made of a capsule keeps is the capsule, and what else is asked for later is read there.
nb::object layout_of_tensor(nb::handle capsule) { return new_object<StridedLayout>(dlpack::layout_of_taken(capsule)); }

// The attribute, or invalid if the object has none of that name.
nb::object attribute(nb::handle object, PyObject* name) {
  PyObject* found = nullptr;
#if PY_VERSION_HEX >= 0x030D0000
  const int known = PyObject_GetOptionalAttr(object.ptr(), name, &found);
#else
  const int known = _PyObject_LookupAttr(object.ptr(), name, &found);
#endif
  if (known < 0) throw nb::python_error();
  return nb::steal(found);
}

// Whether the object has that attribute; that of its own class is not made for it.
bool has_attribute(nb::handle object, PyObject* name) {
  PyObject* const own = Py_TYPE(object.ptr())->tp_dict;
  return (own != nullptr && PyDict_GetItemWithError(own, name) != nullptr) || attribute(object, name).is_valid();
}

struct Names {
  PyObject* itemsize = PyUnicode_InternFromString("itemsize");
  PyObject* requires_grad = PyUnicode_InternFromString("requires_grad");
  PyObject* detach = PyUnicode_InternFromString("detach");
  PyObject* dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject* dlpack_device = PyUnicode_InternFromString("__dlpack_device__");
  PyObject* stream_only = PyTuple_Pack(1, PyUnicode_InternFromString("stream"));
  PyObject* stream_and_version =
      PyTuple_Pack(2, PyUnicode_InternFromString("stream"), PyUnicode_InternFromString("max_version"));
  PyObject* version = Py_BuildValue("(ii)", 1, 3);
};
const Names& names() {
  static const Names* const made = new Names;  // for ever
  return *made;
}

// The object; a tensor of PyTorch that records gradients, which it does not export, as one that does not.
nb::object detached(nb::handle object) {
  const nb::object records = attribute(object, names().requires_grad);
  if (!records.is(Py_True)) return nb::borrow(object);
  auto plain = nb::steal(PyObject_CallMethodNoArgs(object.ptr(), names().detach));
  if (!plain.is_valid()) throw nb::python_error();
  return plain;
}

// The number of the stream, or None; anything that int() takes. Throws TypeError, and BufferError if it is required.
nb::object stream_number(nb::handle stream, bool required) {
  if (PyLong_CheckExact(stream.ptr())) return nb::borrow(stream);
  if (stream.is_none()) {
    if (!required) return nb::none();
    dlpack::raise_buffer_error(
        "stream_ptr=None does not say which stream uses the memory: pass stream.handle, or -1 for no ordering");
  }
  const PyNumberMethods* const numbers = Py_TYPE(stream.ptr())->tp_as_number;
  if (numbers == nullptr || (numbers->nb_int == nullptr && numbers->nb_index == nullptr)) {
    throw nb::type_error(
        (std::string("stream_ptr must be an int, not ") + Py_TYPE(stream.ptr())->tp_name + ": pass stream.handle")
            .c_str());
  }
  auto number = nb::steal(PyNumber_Long(stream.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  return number;
}

bool is_number(nb::handle object, long number) {
  if (object.is_none()) return false;
  const int equal = PyObject_RichCompareBool(object.ptr(), nb::int_(number).ptr(), Py_EQ);
  if (equal < 0) throw nb::python_error();
  return equal == 1;
}

// What the producer is told of the consumer's stream.
nb::object stream_for(long device_type, nb::handle stream_ptr) {
  switch (device_type) {
    case kDLCPU: {
      nb::object stream = stream_number(stream_ptr, true);
      return is_number(stream, -1) || is_number(stream, 0) ? nb::none() : stream;  // 0: nothing to order there
    }
    case kDLCUDA: {
      nb::object stream = stream_number(stream_ptr, true);
      return is_number(stream, 0) ? nb::none() : stream;  // 0 is not allowed: None is the legacy default stream
    }
    case kDLCUDAHost:
    case kDLCUDAManaged:
      return stream_number(stream_ptr, false);
    default:
      dlpack::raise_buffer_error(
          ("memory of DLPack device type " + std::to_string(device_type) + " is neither the host's nor a CUDA device's")
              .c_str());
  }
}

nb::object capsule_of(nb::handle exporter, nb::handle stream) {
  std::array<PyObject*, 3> arguments{exporter.ptr(), stream.ptr(), names().version};
  const std::size_t count = 1 | PY_VECTORCALL_ARGUMENTS_OFFSET;
  auto capsule =
      nb::steal(PyObject_VectorcallMethod(names().dlpack, arguments.data(), count, names().stream_and_version));
  if (!capsule.is_valid() && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {  // a producer from before DLPack 1.0
    PyErr_Clear();
    capsule = nb::steal(PyObject_VectorcallMethod(names().dlpack, arguments.data(), count, names().stream_only));
  }
  if (!capsule.is_valid()) throw nb::python_error();
  return capsule;
}

// The first of a sequence, as an int.
long first_number(nb::handle sequence) {
  const bool is_pair = PyTuple_CheckExact(sequence.ptr()) && PyTuple_GET_SIZE(sequence.ptr()) == 2;
  const nb::object first = is_pair ? nb::borrow(PyTuple_GET_ITEM(sequence.ptr(), 0)) : nb::object(sequence[0]);
  const auto number = nb::steal(PyNumber_Long(first.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  return PyLong_AsLong(number.ptr());
}

nb::object view_by_dlpack(nb::handle type, nb::handle object, nb::handle stream_ptr) {
  stream_number(stream_ptr, false);  // a wrong type is refused whatever the object
  const nb::object exporter = detached(object);
  const auto device = nb::steal(PyObject_CallMethodNoArgs(exporter.ptr(), names().dlpack_device));
  if (!device.is_valid()) throw nb::python_error();
  const nb::object stream = stream_for(first_number(device), stream_ptr);
  return view_of_capsule(type, capsule_of(exporter, stream), object);
}

// By DLPack if the object has it, else as the class finds.
nb::object view_by_any(nb::handle type, nb::handle object, nb::handle stream_ptr) {
  if (has_attribute(object, names().dlpack) && has_attribute(object, names().dlpack_device)) {
    return view_by_dlpack(type, object, stream_ptr);
  }
  return type.attr("_maker")(object)(object, stream_ptr);
}

// The object if it is a view, else a view of it; what may use the memory when is up to the caller.
nb::object as_view(nb::handle object) {
  const nb::handle type = from_package(Package::StridedMemoryView);
  return nb::isinstance(object, type) ? nb::borrow(object) : view_by_any(type, object, nb::int_(-1));
}

void check_itemsize(nb::handle dtype, const StridedLayout& layout) {
  if (dtype.is_none()) return;
  const auto told = nb::steal(PyObject_GetAttr(dtype.ptr(), names().itemsize));
  if (!told.is_valid()) throw nb::python_error();
  const auto size = nb::cast<std::int64_t>(told);
  if (size == layout.itemsize()) return;
  throw nb::value_error(("elements of " + std::to_string(layout.itemsize()) + " bytes cannot be of dtype " +
                         nb::str(dtype).c_str() + ", which has " + std::to_string(size))
                            .c_str());
}

// Nothing is known of memory that was allocated elsewhere: the caller's values count.
void check_bounds(nb::handle buffer, const StridedLayout& layout) {
  const auto& memory = self_as<PyBuffer>(buffer);
  if (memory.resource_object().is_none()) return;
  const std::int64_t required = layout.required_size_in_bytes();
  const std::size_t size = memory.value().size();
  if (required < 0 || static_cast<std::uint64_t>(required) <= size) return;
  throw nb::value_error(
      ("the layout needs " + std::to_string(required) + " bytes, and the buffer has " + std::to_string(size)).c_str());
}

nb::object view_of_buffer(nb::handle type, nb::handle buffer, nb::handle layout, nb::handle dtype,
                          nb::handle readonly) {
  const auto& shape = *nb::inst_ptr<StridedLayout>(layout);
  check_itemsize(dtype, shape);
  check_bounds(buffer, shape);
  const DLDevice device = dlpack::device_of_buffer(buffer);
  const auto& memory = self_as<PyBuffer>(buffer);
  if (!memory.is_open()) throw std::runtime_error("the buffer has been closed");
  const nb::object id = device.device_type == kDLCUDA ? nb::object(nb::int_(device.device_id)) : device_id_of(memory);
  return new_view(type, buffer, memory.value().handle(), layout, dtype, device_tuple(device), id, truth_of(readonly),
                  nb::none());
}

// A StridedLayout; most are of tuples of ints, and made here past what its __init__ does with other sequences.
nb::object new_layout(nb::handle shape, nb::handle strides, nb::handle itemsize, bool divide_strides) {
  return nb::type<StridedLayout>()(shape, strides, itemsize, divide_strides);
}

std::optional<StridedLayout::Numbers> numbers_of_tuple(PyObject* tuple) {
  if (!PyTuple_CheckExact(tuple)) return std::nullopt;
  StridedLayout::Numbers numbers(static_cast<std::size_t>(PyTuple_GET_SIZE(tuple)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    PyObject* const number = PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(i));
    if (!PyLong_CheckExact(number)) return std::nullopt;
    numbers[i] = PyLong_AsLongLong(number);
    if (numbers[i] == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
  }
  return numbers;
}

// new_layout() of a dense shape.
PyObject* new_layout_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  if (count != 4 || names != nullptr || arguments[1] != Py_None || !PyLong_CheckExact(arguments[2])) return nullptr;
  return answered([&]() -> nb::object {
    auto shape = numbers_of_tuple(arguments[0]);
    const long long itemsize = PyLong_AsLongLong(arguments[2]);
    if (!shape || PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return {};
    }
    return new_object<StridedLayout>(std::move(*shape), itemsize);
  });
}

// _view_by_dlpack(), _view_by_any() and _view_of_buffer() with all of their arguments in order.
PyObject* view_by_dlpack_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  if (count != 3 || names != nullptr) return nullptr;
  return answered([&] { return view_by_dlpack(arguments[0], arguments[1], arguments[2]); });
}

PyObject* view_by_any_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  if (count != 3 || names != nullptr) return nullptr;
  return answered([&] { return view_by_any(arguments[0], arguments[1], arguments[2]); });
}

PyObject* view_of_buffer_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  if (count != 5 || names != nullptr) return nullptr;
  return answered([&] { return view_of_buffer(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]); });
}

void set_view_class(nb::handle type, nb::handle kept) {
  slots = {
      Slot(type, "_base"),    Slot(type, "_device"),      Slot(type, "_layout"),   Slot(type, "_tensor"),
      Slot(type, "_typed"),   Slot(type, "ptr"),          Slot(type, "device_id"), Slot(type, "is_device_accessible"),
      Slot(type, "readonly"), Slot(type, "exporting_obj")};
  for (const auto& [name, slot] : nb::borrow<nb::dict>(kept)) {
    keep_property(type, nb::cast<std::string>(name), nb::cast<std::string>(slot));
  }
}

}  // namespace

void bind_strided_view(nb::module_& module) {
  module.def("_set_view_class", set_view_class, nb::arg("type"), nb::arg("kept"),
             "To be called once with StridedMemoryView, and a dict from the properties that keep their answers to the "
             "slots that they keep them in.");
  module.def("_new_view", new_view, nb::arg("type"), nb::arg("owner").none(), nb::arg("base"), nb::arg("layout").none(),
             nb::arg("dtype").none(), nb::arg("device"), nb::arg("device_id"), nb::arg("readonly"),
             nb::arg("tensor").none());
  module.def("_view_of_capsule", view_of_capsule, nb::arg("type"), nb::arg("capsule"), nb::arg("owner").none());
  module.def("_view_by_dlpack", view_by_dlpack, nb::arg("type"), nb::arg("object").none(),
             nb::arg("stream_ptr").none());
  module.def("_view_by_any", view_by_any, nb::arg("type"), nb::arg("object").none(), nb::arg("stream_ptr").none());
  module.def("_as_view", as_view, nb::arg("object").none());
  module.def("_view_of_buffer", view_of_buffer, nb::arg("type"), nb::arg("buffer"), nb::arg("layout"),
             nb::arg("dtype").none(), nb::arg("readonly").none());
  module.def("_new_layout", new_layout, nb::arg("shape").none(), nb::arg("strides").none(), nb::arg("itemsize").none(),
             nb::arg("divide_strides"));
  module.def("_layout_of_tensor", layout_of_tensor, nb::arg("capsule"));
  add_shortcut<new_layout_directly>(module, "_new_layout");
  add_shortcut<view_by_dlpack_directly>(module, "_view_by_dlpack");
  add_shortcut<view_by_any_directly>(module, "_view_by_any");
  add_shortcut<view_of_buffer_directly>(module, "_view_of_buffer");
  module.def("_check_itemsize", check_itemsize, nb::arg("dtype").none(), nb::arg("layout"));
  module.def("_check_bounds", check_bounds, nb::arg("buffer"), nb::arg("layout"));
}

}  // namespace cucore::python
