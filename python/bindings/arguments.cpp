// Kernel arguments: which C++ value a Python object stands for.
//
// Exact types are tried first, then subclasses. Scalars of NumPy and ctypes bring their own width: they are recognised
// by their types, which are looked up in sys.modules the first time an unknown type comes by, so that neither library
// is ever imported from here; their bytes come through the buffer protocol.
#include "python/bindings/arguments.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <string>

#include "cucore/error.hpp"
#include "python/bindings/memory.hpp"

namespace cucore::python {
namespace {

struct Scalar {
  const char* name;
  ParameterKind kind;
  std::size_t size;  // 0: whatever the object has (structures)
};

constexpr std::array numpy_scalars{Scalar{"bool_", ParameterKind::boolean, 1},
                                   Scalar{"int8", ParameterKind::signed_integer, 1},
                                   Scalar{"int16", ParameterKind::signed_integer, 2},
                                   Scalar{"int32", ParameterKind::signed_integer, 4},
                                   Scalar{"int64", ParameterKind::signed_integer, 8},
                                   Scalar{"longlong", ParameterKind::signed_integer, 8},
                                   Scalar{"uint8", ParameterKind::unsigned_integer, 1},
                                   Scalar{"uint16", ParameterKind::unsigned_integer, 2},
                                   Scalar{"uint32", ParameterKind::unsigned_integer, 4},
                                   Scalar{"uint64", ParameterKind::unsigned_integer, 8},
                                   Scalar{"ulonglong", ParameterKind::unsigned_integer, 8},
                                   Scalar{"float16", ParameterKind::floating, 2},
                                   Scalar{"float32", ParameterKind::floating, 4},
                                   Scalar{"float64", ParameterKind::floating, 8},
                                   Scalar{"complex64", ParameterKind::aggregate, 8},
                                   Scalar{"complex128", ParameterKind::aggregate, 16},
                                   Scalar{"void", ParameterKind::aggregate, 0}};

constexpr std::array ctypes_scalars{Scalar{"c_bool", ParameterKind::boolean, 1},
                                    Scalar{"c_byte", ParameterKind::signed_integer, 1},
                                    Scalar{"c_short", ParameterKind::signed_integer, 2},
                                    Scalar{"c_int", ParameterKind::signed_integer, 4},
                                    Scalar{"c_long", ParameterKind::signed_integer, sizeof(long)},
                                    Scalar{"c_longlong", ParameterKind::signed_integer, 8},
                                    Scalar{"c_ubyte", ParameterKind::unsigned_integer, 1},
                                    Scalar{"c_ushort", ParameterKind::unsigned_integer, 2},
                                    Scalar{"c_uint", ParameterKind::unsigned_integer, 4},
                                    Scalar{"c_ulong", ParameterKind::unsigned_integer, sizeof(unsigned long)},
                                    Scalar{"c_ulonglong", ParameterKind::unsigned_integer, 8},
                                    Scalar{"c_float", ParameterKind::floating, 4},
                                    Scalar{"c_double", ParameterKind::floating, 8},
                                    Scalar{"c_void_p", ParameterKind::pointer, 8},
                                    Scalar{"Structure", ParameterKind::aggregate, 0},
                                    Scalar{"Union", ParameterKind::aggregate, 0}};

// The types behind those names, once their library has been imported by somebody. Filled under the GIL, one time.
template <std::size_t N>
struct ScalarTypes {
  const std::array<Scalar, N>& scalars;
  const char* library;
  std::array<PyTypeObject*, N> types{};
  std::atomic<bool> known{false};

  bool look_up() {
    if (known.load(std::memory_order_acquire)) return true;
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* module = PyDict_GetItemString(modules, library);
    if (module == nullptr) return false;
    for (std::size_t i = 0; i < N; ++i) {
      PyObject* type = PyObject_GetAttrString(module, scalars[i].name);
      if (type == nullptr || !PyType_Check(type)) {  // half-imported, or a version without it
        PyErr_Clear();
        Py_XDECREF(type);
        type = nullptr;
      }
      types[i] = reinterpret_cast<PyTypeObject*>(type);
    }
    known.store(true, std::memory_order_release);
    return true;
  }

  const Scalar* find(PyTypeObject* type) {
    if (!look_up()) return nullptr;
    for (std::size_t i = 0; i < N; ++i) {
      if (types[i] == type) return &scalars[i];
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (types[i] != nullptr && PyType_IsSubtype(type, types[i]) != 0) return &scalars[i];
    }
    return nullptr;
  }
};

const Scalar* find_scalar(PyTypeObject* type) {
  static constinit ScalarTypes<numpy_scalars.size()> numpy{numpy_scalars, "numpy"};
  static constinit ScalarTypes<ctypes_scalars.size()> ctypes{ctypes_scalars, "ctypes"};
  const Scalar* scalar = numpy.find(type);
  return scalar != nullptr ? scalar : ctypes.find(type);
}

std::string where(const Kernel& kernel, Py_ssize_t position) {
  return "argument " + std::to_string(position + 1) + " of Kernel '" + kernel.display_name() + "': ";
}

[[noreturn]] void refuse(PyObject* exception, const std::string& text) {
  PyErr_SetString(exception, text.c_str());
  throw nb::python_error();
}

void add_long(ArgumentPack& pack, const Kernel& kernel, PyObject* argument, Py_ssize_t position) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(argument, &overflow);
  try {
    if (overflow == 0) return pack.add_integer(value);
    if (overflow > 0) {
      const unsigned long long large = PyLong_AsUnsignedLongLong(argument);
      if (PyErr_Occurred() == nullptr) return pack.add_unsigned(large);
      PyErr_Clear();
    }
  } catch (const ValueError& error) {
    refuse(PyExc_OverflowError, error.what());
  }
  refuse(PyExc_OverflowError, where(kernel, position) + "the int does not fit into 64 bits");
}

void add_scalar(ArgumentPack& pack, const Kernel& kernel, PyObject* argument, Py_ssize_t position,
                const Scalar& scalar) {
  Py_buffer view;
  if (PyObject_GetBuffer(argument, &view, PyBUF_SIMPLE) < 0) throw nb::python_error();
  const struct Release {
    Py_buffer& taken;
    ~Release() { PyBuffer_Release(&taken); }
  } release{view};
  const auto size = static_cast<std::size_t>(view.len);
  if (scalar.size != 0 && scalar.size != size) {
    refuse(PyExc_TypeError, where(kernel, position) + Py_TYPE(argument)->tp_name + " has an unexpected size");
  }
  pack.add_value(view.buf, size, scalar.kind);
}

void add_buffer(ArgumentPack& pack, const Kernel& kernel, const PyBuffer& buffer, Py_ssize_t position) {
  if (!buffer.is_open()) refuse(PyExc_ValueError, where(kernel, position) + "the buffer has been closed");
  pack.add_pointer(buffer.buffer->handle());
}

// A CUdeviceptr object of cuda.bindings: an address.
bool is_device_pointer(PyTypeObject* type) {
  return std::strcmp(type->tp_name, "cuda.bindings.driver.CUdeviceptr") == 0;
}

void add_other(ArgumentPack& pack, const Kernel& kernel, PyObject* argument, Py_ssize_t position) {
  PyTypeObject* type = Py_TYPE(argument);
  if (const Scalar* scalar = find_scalar(type)) return add_scalar(pack, kernel, argument, position, *scalar);
  if (PyLong_Check(argument)) return add_long(pack, kernel, argument, position);
  if (PyFloat_Check(argument)) return pack.add_float(PyFloat_AS_DOUBLE(argument));
  if (PyComplex_Check(argument)) {
    return pack.add_complex(PyComplex_RealAsDouble(argument), PyComplex_ImagAsDouble(argument));
  }
  const PyBuffer* buffer = nullptr;
  if (nb::try_cast<const PyBuffer*>(nb::handle(argument), buffer) && buffer != nullptr) {
    return add_buffer(pack, kernel, *buffer, position);
  }
  if (is_device_pointer(type)) {
    const auto number = nb::steal(PyNumber_Long(argument));
    if (!number.is_valid()) throw nb::python_error();
    return pack.add_pointer(unsigned_number(number, "the address"));
  }
  refuse(PyExc_TypeError, where(kernel, position) + "unsupported type " + type->tp_name);
}

}  // namespace

void add_argument(ArgumentPack& pack, const Kernel& kernel, PyObject* argument, Py_ssize_t position) {
  static PyTypeObject* const buffer_type = reinterpret_cast<PyTypeObject*>(nb::type<PyBuffer>().ptr());
  if (Py_TYPE(argument) == buffer_type) {
    return add_buffer(pack, kernel, *nb::inst_ptr<PyBuffer>(argument), position);
  }
  if (PyLong_CheckExact(argument)) return add_long(pack, kernel, argument, position);
  if (PyFloat_CheckExact(argument)) return pack.add_float(PyFloat_AS_DOUBLE(argument));
  if (PyBool_Check(argument)) return pack.add_bool(argument == Py_True);
  if (argument == Py_None) return pack.add_pointer(0);
  add_other(pack, kernel, argument, position);
}

}  // namespace cucore::python
