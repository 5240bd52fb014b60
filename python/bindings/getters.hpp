// Properties on the bare CPython API: reading a value that lies in the object costs no more than that.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cucore/launch_config.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

inline nb::object python_value(bool value) { return nb::borrow(value ? Py_True : Py_False); }
template <class Number>
  requires std::is_integral_v<Number>
nb::object python_value(Number value) {
  if constexpr (std::is_signed_v<Number>) return nb::steal(PyLong_FromLongLong(value));
  return nb::steal(PyLong_FromUnsignedLongLong(value));
}
inline nb::object python_value(std::string_view text) { return nb::str(text.data(), text.size()); }
inline nb::object python_value(const char* text) { return nb::str(text); }
inline nb::object python_value(const Dim3& extents) { return nb::make_tuple(extents.x, extents.y, extents.z); }
inline nb::object python_value(const std::vector<int>& numbers) {
  nb::list list;
  for (const int number : numbers) list.append(number);
  return nb::tuple(list);
}
inline nb::object python_value(nb::object object) { return object; }

/// A descriptor of this kind keeps what it was made of, as long as the class lives: for ever.
inline void add_descriptor(nb::handle type, PyGetSetDef* definition) {
  type.attr(definition->name) = nb::steal(PyDescr_NewGetSet(reinterpret_cast<PyTypeObject*>(type.ptr()), definition));
}

template <class T, auto Read>
PyObject* read_property(PyObject* self, void* /*closure*/) noexcept {
  return answered([&] {
    const nb::ft_object_guard guard(self);
    T& value = self_as<T>(self);
    if constexpr (std::is_invocable_v<decltype(Read), T&>) {
      return python_value(Read(value));
    } else {
      return python_value(Read(nb::handle(self)));
    }
  });
}

/// A property of a bound class: `Read` is a function of the T behind it, or of the object, called with the GIL.
template <class T, auto Read, class Class>
void getter(Class& cls, const char* name, const char* doc) {
  static PyGetSetDef definition;
  definition = {name, read_property<T, Read>, nullptr, doc, nullptr};
  add_descriptor(cls, &definition);
}

template <class T, auto Write>
int write_property(PyObject* self, PyObject* value, void* closure) noexcept {
  const nb::object done = nb::steal(guarded([&] {
    if (value == nullptr)
      throw nb::attribute_error((std::string(static_cast<const char*>(closure)) + " cannot be deleted").c_str());
    self_as<T>(self);
    Write(nb::handle(self), nb::handle(value));
  }));
  return done.is_valid() ? 0 : -1;
}

/// One that can be set too: `Write` is a function of the object and the value.
template <class T, auto Read, auto Write, class Class>
void getter(Class& cls, const char* name, const char* doc) {
  static PyGetSetDef definition;
  definition = {name, read_property<T, Read>, write_property<T, Write>, doc, const_cast<char*>(name)};
  add_descriptor(cls, &definition);
}

/// Objects of other types are not equal to any.
template <class T>
PyObject* compare_identity(PyObject* self, PyObject* other, int operation) noexcept {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  return answered([&]() -> nb::object {
    if (self != other && Py_TYPE(self) != Py_TYPE(other)) {
      const int alike = PyObject_IsInstance(other, nb::type<T>().ptr());
      if (alike < 0) throw nb::python_error();
      if (alike == 0) return nb::borrow(Py_NotImplemented);
    }
    return python_value(self_as<T>(self).equals(self_as<T>(other)) == (operation == Py_EQ));
  });
}

template <class T>
Py_hash_t hash_identity(PyObject* self) noexcept {
  try {
    const std::uint64_t identity = self_as<T>(self).identity();
    const auto hash = static_cast<Py_hash_t>(identity >> 3 ^ identity);
    return hash == -1 ? -2 : hash;
  } catch (...) {
    set_python_exception();
    return -1;
  }
}

/// == and hash of T, which has equals() and identity(): by name, and past the look-up of the name in the class itself.
template <class T, class Class>
void bind_identity(Class& cls) {
  cls.def(
         "__eq__", [](const T& self, const T& other) { return self.equals(other); }, nb::is_operator())
      .def("__hash__", [](nb::handle self) { return hash_identity<T>(self.ptr()); });
  auto* const type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  type->tp_richcompare = compare_identity<T>;
  type->tp_hash = hash_identity<T>;
}

}  // namespace cucore::python
