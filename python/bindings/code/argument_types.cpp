// The table of scalar types.
//
// The types are looked up in sys.modules when the first unknown type is met, and again when one of the libraries has
// been imported since. A finished table is never changed: a new one takes its place, so that readers need no lock,
// and the old one stays for those that still read it (there are at most four in a process).
//
// Reading a NumPy scalar through the buffer protocol costs more than the launch. Its bytes lie behind the object's
// header, as NumPy's arrayscalars.h declares, and those of ctypes behind a pointer there. Neither is simply assumed:
// when the table is made, one scalar of each type is compared with what its library says.
#include "python/bindings/code/argument_types.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

namespace cucore::python {
namespace {

struct NamedScalar {
  const char* name;
  ParameterKind kind;
  std::size_t size;
};

constexpr NamedScalar numpy_scalars[] = {{"bool_", ParameterKind::boolean, 1},
                                         {"int8", ParameterKind::signed_integer, 1},
                                         {"int16", ParameterKind::signed_integer, 2},
                                         {"int32", ParameterKind::signed_integer, 4},
                                         {"int64", ParameterKind::signed_integer, 8},
                                         {"longlong", ParameterKind::signed_integer, 8},
                                         {"uint8", ParameterKind::unsigned_integer, 1},
                                         {"uint16", ParameterKind::unsigned_integer, 2},
                                         {"uint32", ParameterKind::unsigned_integer, 4},
                                         {"uint64", ParameterKind::unsigned_integer, 8},
                                         {"ulonglong", ParameterKind::unsigned_integer, 8},
                                         {"float16", ParameterKind::floating, 2},
                                         {"float32", ParameterKind::floating, 4},
                                         {"float64", ParameterKind::floating, 8},
                                         {"complex64", ParameterKind::aggregate, 8},
                                         {"complex128", ParameterKind::aggregate, 16},
                                         {"void", ParameterKind::aggregate, 0}};

constexpr NamedScalar ml_dtypes_scalars[] = {
    {"bfloat16", ParameterKind::bfloat16, 2},       {"float8_e3m4", ParameterKind::aggregate, 1},
    {"float8_e4m3", ParameterKind::aggregate, 1},   {"float8_e4m3b11fnuz", ParameterKind::aggregate, 1},
    {"float8_e4m3fn", ParameterKind::aggregate, 1}, {"float8_e4m3fnuz", ParameterKind::aggregate, 1},
    {"float8_e5m2", ParameterKind::aggregate, 1},   {"float8_e5m2fnuz", ParameterKind::aggregate, 1},
    {"float8_e8m0fnu", ParameterKind::aggregate, 1}};

constexpr NamedScalar ctypes_scalars[] = {{"c_bool", ParameterKind::boolean, 1},
                                          {"c_char", ParameterKind::signed_integer, 1},
                                          {"c_byte", ParameterKind::signed_integer, 1},
                                          {"c_short", ParameterKind::signed_integer, 2},
                                          {"c_int", ParameterKind::signed_integer, 4},
                                          {"c_long", ParameterKind::signed_integer, sizeof(long)},
                                          {"c_longlong", ParameterKind::signed_integer, 8},
                                          {"c_ubyte", ParameterKind::unsigned_integer, 1},
                                          {"c_ushort", ParameterKind::unsigned_integer, 2},
                                          {"c_uint", ParameterKind::unsigned_integer, 4},
                                          {"c_ulong", ParameterKind::unsigned_integer, sizeof(unsigned long)},
                                          {"c_ulonglong", ParameterKind::unsigned_integer, 8},
                                          {"c_float", ParameterKind::floating, 4},
                                          {"c_double", ParameterKind::floating, 8},
                                          {"c_void_p", ParameterKind::pointer, 8},
                                          {"_Pointer", ParameterKind::pointer, 8},
                                          {"Structure", ParameterKind::aggregate, 0},
                                          {"Union", ParameterKind::aggregate, 0}};

struct Table {
  static constexpr std::size_t slots = 128;  // a power of two, more than twice the types there are
  std::array<ScalarType, slots> types{};
  unsigned libraries = 0;  // bit i: libraries[i] had been imported

  static std::size_t first_slot(const PyTypeObject* type) {
    return (reinterpret_cast<std::uintptr_t>(type) >> 4) * 0x9e3779b97f4a7c15u >> 57;
  }

  const ScalarType* find(const PyTypeObject* type) const {
    for (std::size_t i = first_slot(type); types[i].type != nullptr; i = (i + 1) % slots) {
      if (types[i].type == type) return &types[i];
    }
    return nullptr;
  }

  void add(const ScalarType& scalar) {
    std::size_t i = first_slot(scalar.type);
    while (types[i].type != nullptr) {
      if (types[i].type == scalar.type) return;  // an alias: longlong may be int64
      i = (i + 1) % slots;
    }
    types[i] = scalar;
  }
};
static_assert(std::size(numpy_scalars) + std::size(ml_dtypes_scalars) + std::size(ctypes_scalars) < Table::slots / 2);

const char* behind_header(PyObject* object) { return reinterpret_cast<const char*>(object) + sizeof(PyObject); }

// Whether a scalar made from 1 has the bytes behind its header that the buffer protocol tells.
bool is_inlined(PyObject* type, std::size_t size) {
  const auto one = nb::steal(PyObject_CallFunction(type, "i", 1));
  Py_buffer view;
  if (!one.is_valid() || PyObject_GetBuffer(one.ptr(), &view, PyBUF_SIMPLE) < 0) {
    PyErr_Clear();
    return false;
  }
  const bool same = static_cast<std::size_t>(view.len) == size && Py_TYPE(one.ptr())->tp_basicsize >= 0 &&
                    static_cast<std::size_t>(Py_TYPE(one.ptr())->tp_basicsize) >= sizeof(PyObject) + size &&
                    std::memcmp(view.buf, behind_header(one.ptr()), size) == 0;
  PyBuffer_Release(&view);
  return same;
}

// Whether the word behind the header is the address that ctypes.addressof() tells.
bool is_pointed(PyObject* module, PyObject* type) {
  const auto value = nb::steal(PyObject_CallNoArgs(type));
  if (!value.is_valid()) {
    PyErr_Clear();
    return false;
  }
  const auto address = nb::steal(PyObject_CallMethod(module, "addressof", "O", value.ptr()));
  if (!address.is_valid()) {
    PyErr_Clear();
    return false;
  }
  const void* stored = nullptr;
  std::memcpy(&stored, behind_header(value.ptr()), sizeof stored);
  return PyLong_AsVoidPtr(address.ptr()) == stored;
}

template <std::size_t N>
void add_library(Table& table, PyObject* module, const NamedScalar (&scalars)[N], ScalarType::Storage hoped) {
  for (const NamedScalar& scalar : scalars) {
    PyObject* type = PyObject_GetAttrString(module, scalar.name);  // never given back: the table lives on
    if (type == nullptr || !PyType_Check(type)) {                  // half-imported, or a version without it
      PyErr_Clear();
      Py_XDECREF(type);
      continue;
    }
    auto storage = ScalarType::Storage::buffer;
    if (hoped == ScalarType::Storage::method) {
      storage = hoped;
    } else if (scalar.size != 0 && scalar.name[0] != '_') {
      const bool found =
          hoped == ScalarType::Storage::inlined ? is_inlined(type, scalar.size) : is_pointed(module, type);
      if (found) storage = hoped;
    }
    table.add({reinterpret_cast<PyTypeObject*>(type), scalar.size, scalar.kind, storage});
  }
}

constexpr const char* library_names[] = {"numpy", "ctypes", "ml_dtypes"};

// The module, or nothing. Waits for one that another thread is importing, since a half-imported one would never be
// completed here.
nb::object imported(std::size_t library) {
  const nb::str name(library_names[library]);
  nb::object module = nb::steal(PyImport_GetModule(name.ptr()));
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return module;
}

std::atomic<const Table*> current{nullptr};

// The table for the libraries imported by now.
const Table* renewed(const Table* old) {
  unsigned libraries = 0;
  for (std::size_t i = 0; i < std::size(library_names); ++i) libraries |= (imported(i).is_valid() ? 1u : 0u) << i;
  if (old != nullptr && old->libraries == libraries) return old;
  auto table = std::make_unique<Table>();
  table->libraries = libraries;
  const auto add = [&](std::size_t library, const auto& scalars, ScalarType::Storage hoped) {
    const nb::object module = imported(library);
    if (module.is_valid()) add_library(*table, module.ptr(), scalars, hoped);
  };
  add(0, numpy_scalars, ScalarType::Storage::inlined);
  add(1, ctypes_scalars, ScalarType::Storage::pointed);
  add(2, ml_dtypes_scalars, ScalarType::Storage::method);
  // Another thread may have been faster; either table has at least what is needed here.
  if (current.compare_exchange_strong(old, table.get(), std::memory_order_acq_rel)) return table.release();
  return old;
}

}  // namespace

const ScalarType* known_scalar_type(const PyTypeObject* type) noexcept {
  const Table* const table = current.load(std::memory_order_acquire);
  return table == nullptr ? nullptr : table->find(type);
}

const ScalarType* find_scalar_type(PyTypeObject* type) {
  if (const ScalarType* scalar = known_scalar_type(type)) return scalar;
  const Table* const table = renewed(current.load(std::memory_order_acquire));
  if (const ScalarType* scalar = table->find(type)) return scalar;
  for (const ScalarType& scalar : table->types) {
    if (scalar.type != nullptr && PyType_IsSubtype(type, scalar.type) != 0) return &scalar;
  }
  return nullptr;
}

}  // namespace cucore::python
