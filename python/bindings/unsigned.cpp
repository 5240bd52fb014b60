// Numbers through __index__ or __int__, with the errors of Python's own functions.
#include "python/bindings/unsigned.hpp"

#include <limits>
#include <string>

namespace cucore::python {

namespace nb = nanobind;

bool is_number(nb::handle object) noexcept {
  const PyNumberMethods* const methods = Py_TYPE(object.ptr())->tp_as_number;
  return methods != nullptr && (methods->nb_index != nullptr || methods->nb_int != nullptr);
}

nb::object whole_number(nb::handle object) {
  auto number = nb::steal(PyNumber_Index(object.ptr()));
  if (number.is_valid()) return number;
  PyErr_Clear();
  if (!is_number(object)) return {};
  number = nb::steal(PyNumber_Long(object.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  return number;
}

bool is_array(nb::handle object) noexcept {
  if (PyUnicode_Check(object.ptr()) != 0 || !is_number(object)) return false;
  const Py_ssize_t elements = PyObject_Length(object.ptr());
  if (elements < 0) PyErr_Clear();
  return elements > 1;
}

int device_number(nb::handle object, const char* what) {
  nb::object number = nb::steal(PyObject_GetAttrString(object.ptr(), "device_id"));
  if (!number.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nb::python_error();
    PyErr_Clear();
    number = nb::borrow(object);
  }
  return int_number(number, what);
}

std::uint64_t unsigned_number(nb::handle object, const char* what) {
  const nb::object number = whole_number(object);
  if (!number.is_valid()) {
    throw nb::type_error((std::string(what) + " must be an int, not " + Py_TYPE(object.ptr())->tp_name).c_str());
  }
  const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

int int_number(nb::handle object, const char* what) {
  const nb::object number = whole_number(object);
  if (!number.is_valid()) {
    throw nb::type_error((std::string(what) + " must be an int, not " + Py_TYPE(object.ptr())->tp_name).c_str());
  }
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(number.ptr(), &overflow);
  if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (overflow != 0 || value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    PyErr_Format(PyExc_OverflowError, "%s does not fit into 32 bits", what);
    throw nb::python_error();
  }
  return static_cast<int>(value);
}

std::uint32_t unsigned_of_32_bits(Unsigned number, const char* what) {
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    PyErr_Format(PyExc_OverflowError, "%s must have 32 bits", what);
    throw nb::python_error();
  }
  return static_cast<std::uint32_t>(number);
}

}  // namespace cucore::python
