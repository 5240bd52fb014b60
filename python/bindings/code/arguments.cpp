// Kernel arguments: which C++ value a Python object stands for.
//
// Exact types are tried first, in the order in which programs use them, then subclasses, then the protocols. Whether an
// object is a number, an address or a struct is decided here; whether it fits, and its width, by the core.
#include "python/bindings/code/arguments.hpp"

#include <cstring>
#include <string>

#include "cucore/error.hpp"
#include "python/bindings/code/argument_types.hpp"
#include "python/bindings/code/direct_launch.hpp"
#include "python/bindings/memory/dlpack.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

std::string where(const ArgumentPack& pack) {
  std::string text = "argument " + std::to_string(pack.size() + 1);
  if (const Parameter* parameter = pack.next(); parameter != nullptr && !parameter->name.empty()) {
    text += " ('" + parameter->name + "')";
  }
  return text + " of Kernel '" + pack.kernel().display_name() + "': ";
}

// What the parameter takes, for the end of a sentence.
std::string expected(const ArgumentPack& pack) {
  const Parameter* parameter = pack.next();
  if (parameter == nullptr || parameter->type_name.empty()) return {};
  return "; the parameter is " + parameter->type_name;
}

[[noreturn]] void refuse(PyObject* exception, const std::string& text) {
  PyErr_SetString(exception, text.c_str());
  throw nb::python_error();
}

[[noreturn]] void refuse_type(const ArgumentPack& pack, PyObject* argument, const std::string& why = {}) {
  refuse(PyExc_TypeError, where(pack) + "unsupported type " + Py_TYPE(argument)->tp_name + why + expected(pack));
}

nb::object required(PyObject* made) {
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

// The attribute, or nothing if there is none; any other error is raised.
nb::object optional_attribute(PyObject* object, const char* name) {
  PyObject* const value = PyObject_GetAttrString(object, name);
  if (value == nullptr) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nb::python_error();
    PyErr_Clear();
  }
  return nb::steal(value);
}

[[gnu::noinline]] void add_long_int(ArgumentPack& pack, PyObject* argument) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return pack.add_integer(value);
  }
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(argument);
    if (PyErr_Occurred() == nullptr) return pack.add_unsigned(large);
    PyErr_Clear();
  }
  refuse(PyExc_OverflowError, where(pack) + "the int does not fit into 64 bits" + expected(pack));
}

inline void add_int(ArgumentPack& pack, PyObject* argument) {
  std::int64_t small = 0;
  if (small_int(argument, small)) [[likely]] {
    return pack.add_integer(small);
  }
  add_long_int(pack, argument);
}

// Bytes by the buffer protocol. `size` 0: whatever there are.
void add_bytes(ArgumentPack& pack, PyObject* argument, std::size_t size, ParameterKind kind) {
  Py_buffer view;
  if (PyObject_GetBuffer(argument, &view, PyBUF_SIMPLE) < 0) throw nb::python_error();
  const struct Release {
    Py_buffer& taken;
    ~Release() { PyBuffer_Release(&taken); }
  } release{view};
  const auto length = static_cast<std::size_t>(view.len);
  if (size != 0 && size != length) refuse_type(pack, argument, " (of an unexpected size)");
  pack.add_value(view.buf, length, kind);
}

const char* value_behind_header(PyObject* scalar) { return reinterpret_cast<const char*>(scalar) + sizeof(PyObject); }

bool is_integer(ParameterKind kind) {
  return kind == ParameterKind::signed_integer || kind == ParameterKind::unsigned_integer ||
         kind == ParameterKind::integer;
}

// An integer of another width than the parameter's, such as NumPy's int64 for an int: a number like Python's own.
bool is_of_another_width(const ArgumentPack& pack, const ScalarType& scalar) {
  if (!is_integer(scalar.kind)) return false;
  const Parameter* const parameter = pack.next();
  return parameter != nullptr && is_integer(parameter->kind) && parameter->size != scalar.size;
}

void add_scalar(ArgumentPack& pack, PyObject* argument, const ScalarType& scalar) {
  if (is_of_another_width(pack, scalar)) [[unlikely]] {
    const bool is_number = PyIndex_Check(argument) != 0;
    return add_int(pack,
                   required(is_number ? PyNumber_Index(argument) : PyObject_GetAttrString(argument, "value")).ptr());
  }
  const char* const behind = value_behind_header(argument);
  switch (scalar.storage) {
    case ScalarType::Storage::inlined:
      return pack.add_value(behind, scalar.size, scalar.kind);
    case ScalarType::Storage::pointed: {
      const void* value = nullptr;
      std::memcpy(&value, behind, sizeof value);
      return pack.add_value(value, scalar.size, scalar.kind);
    }
    case ScalarType::Storage::buffer:
      return add_bytes(pack, argument, scalar.size, scalar.kind);
    case ScalarType::Storage::method: {
      const nb::object bytes = required(PyObject_CallMethod(argument, "tobytes", nullptr));
      return add_bytes(pack, bytes.ptr(), scalar.size, scalar.kind);
    }
  }
}

void add_buffer(ArgumentPack& pack, const PyBuffer& buffer) {
  if (!buffer.is_open()) [[unlikely]] {
    refuse(PyExc_RuntimeError, where(pack) + "the buffer has been closed");
  }
  pack.add_pointer(buffer.address);
}

// The value, or nothing. Another thread may change the dict meanwhile.
nb::object item(PyObject* dict, const char* key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* value = nullptr;
  if (PyDict_GetItemStringRef(dict, key, &value) < 0) throw nb::python_error();
  return nb::steal(value);
#else
  return nb::borrow(PyDict_GetItemString(dict, key));
#endif
}

// __cuda_array_interface__: the data pointer, and the stream the data is written on if it names one.
bool add_cuda_array(ArgumentPack& pack, PyObject* argument, LaunchDependencies& dependencies) {
  const nb::object interface = optional_attribute(argument, "__cuda_array_interface__");
  if (!interface.is_valid()) return false;
  if (!PyDict_Check(interface.ptr())) refuse_type(pack, argument, " (its __cuda_array_interface__ is not a dict)");
  const nb::object data = item(interface.ptr(), "data");
  if (!data.is_valid() || !PyTuple_Check(data.ptr()) || PyTuple_GET_SIZE(data.ptr()) != 2) {
    refuse_type(pack, argument, " (its __cuda_array_interface__ has no data pointer)");
  }
  PyObject* const pointer = PyTuple_GET_ITEM(data.ptr(), 0);
  const DevicePointer address = pointer == Py_None ? 0 : unsigned_number(nb::handle(pointer), "the data pointer");
  const nb::object stream = item(interface.ptr(), "stream");
  pack.add_pointer(address);
  if (stream.is_valid() && !stream.is_none()) {
    const auto producer =
        reinterpret_cast<StreamHandle>(static_cast<std::uintptr_t>(unsigned_number(stream, "the stream")));
    if (producer != dependencies.stream) dependencies.producers.push_back(producer);
  }
  return true;
}

// DLPack: the producer orders its work before the launch's stream itself. Memory that only the host has is refused.
bool add_dlpack(ArgumentPack& pack, PyObject* argument, const LaunchDependencies& dependencies) {
  const nb::object tell_device = optional_attribute(argument, "__dlpack_device__");
  if (!tell_device.is_valid()) return false;
  const nb::object place = required(PyObject_CallNoArgs(tell_device.ptr()));
  int type = 0;
  int ordinal = 0;
  if (PyArg_ParseTuple(place.ptr(), "ii", &type, &ordinal) == 0) throw nb::python_error();
  if (type != kDLCUDA && type != kDLCUDAHost && type != kDLCUDAManaged) {
    refuse_type(pack, argument, " (its memory is not the device's: copy it into a Buffer)");
  }
  nb::dict keywords;
  if (type != kDLCUDAHost) {
    // 0 is not allowed there: the legacy default stream is 1.
    keywords["stream"] = dependencies.stream == nullptr ? 1 : reinterpret_cast<std::uintptr_t>(dependencies.stream);
  }
  nb::object capsule;
  try {
    capsule = nb::handle(argument).attr("__dlpack__")(**keywords);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_BufferError)) throw;
    refuse_type(pack, argument, (std::string(" (") + nb::str(error.value()).c_str() + ")").c_str());
  }
  auto* const tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (tensor == nullptr) throw nb::python_error();
  // The capsule is not consumed: it gives its reference back, and the caller has another.
  pack.add_pointer(reinterpret_cast<std::uintptr_t>(tensor->dl_tensor.data) + tensor->dl_tensor.byte_offset);
  return true;
}

// Handles of NVIDIA's bindings (CUdeviceptr, CUtexObject, ...) are numbers to a kernel.
bool is_foreign_handle(PyTypeObject* type) {
  return std::strncmp(type->tp_name, "cuda.bindings.", 14) == 0 && type->tp_as_number != nullptr &&
         type->tp_as_number->nb_int != nullptr;
}

[[gnu::noinline]] void add_other(ArgumentPack& pack, PyObject* argument, LaunchDependencies& dependencies,
                                 bool may_stand_for_another) {
  PyTypeObject* const type = Py_TYPE(argument);
  if (PyLong_Check(argument)) return add_int(pack, argument);
  if (const ScalarType* scalar = find_scalar_type(type)) return add_scalar(pack, argument, *scalar);
  if (PyFloat_Check(argument)) return pack.add_float(PyFloat_AS_DOUBLE(argument));
  if (PyComplex_Check(argument)) {
    return pack.add_complex(PyComplex_RealAsDouble(argument), PyComplex_ImagAsDouble(argument));
  }
  const PyBuffer* buffer = nullptr;
  if (nb::try_cast<const PyBuffer*>(nb::handle(argument), buffer) && buffer != nullptr) {
    return add_buffer(pack, *buffer);
  }
  if (is_foreign_handle(type)) return add_int(pack, required(PyNumber_Long(argument)).ptr());
  if (may_stand_for_another) {
    const nb::object stands_for = optional_attribute(argument, "__kernel_argument__");
    if (stands_for.is_valid() && !PyType_Check(argument)) {
      const nb::object value = required(PyObject_CallNoArgs(stands_for.ptr()));
      if (PyBytes_Check(value.ptr()) || PyByteArray_Check(value.ptr()) || PyMemoryView_Check(value.ptr())) {
        return add_bytes(pack, value.ptr(), 0, ParameterKind::aggregate);
      }
      if (value.is_none()) return pack.add_pointer(0);
      if (PyBool_Check(value.ptr())) return pack.add_bool(value.is(Py_True));
      return add_other(pack, value.ptr(), dependencies, false);
    }
  }
  if (add_cuda_array(pack, argument, dependencies) || add_dlpack(pack, argument, dependencies)) return;
  refuse_type(pack, argument);
}

inline void add_argument(ArgumentPack& pack, PyObject* argument, LaunchDependencies& dependencies) {
  PyTypeObject* const type = Py_TYPE(argument);
  if (type == launch_types.buffer) return add_buffer(pack, *nb::inst_ptr<PyBuffer>(argument));
  if (type == &PyLong_Type) return add_int(pack, argument);
  if (type == &PyFloat_Type) return pack.add_float(PyFloat_AS_DOUBLE(argument));
  if (type == &PyBool_Type) return pack.add_bool(argument == Py_True);
  if (argument == Py_None) return pack.add_pointer(0);
  add_other(pack, argument, dependencies, true);
}

}  // namespace

void add_arguments(ArgumentPack& pack, PyObject* const* arguments, Py_ssize_t count, LaunchDependencies& dependencies) {
  Py_ssize_t i = 0;
  try {
    for (; i < count; ++i) add_argument(pack, arguments[i], dependencies);
  } catch (const ValueError& error) {
    refuse(PyExc_OverflowError, error.what());
  } catch (const TypeError& error) {
    if (pack.next() == nullptr) throw;  // their number is wrong, or nothing is known
    throw TypeError({.call = error.call(),
                     .message = error.message() + " (given: " + Py_TYPE(arguments[i])->tp_name + ")",
                     .hint = error.hint()});
  }
}

bool put_scalar(const detail::ParameterSlot& slot, std::byte* at, PyObject* argument) noexcept {
  const ScalarType* const scalar = known_scalar_type(Py_TYPE(argument));
  if (scalar == nullptr || scalar->size != slot.size ||
      (slot.fitting_kinds >> static_cast<unsigned>(scalar->kind) & 1u) == 0) {
    return false;
  }
  const void* value = value_behind_header(argument);
  if (scalar->storage == ScalarType::Storage::pointed) {
    std::memcpy(&value, value_behind_header(argument), sizeof(const void*));
  } else if (scalar->storage != ScalarType::Storage::inlined) {
    return false;
  }
  std::memcpy(at, value, slot.size);
  return true;
}

}  // namespace cucore::python
