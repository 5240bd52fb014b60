// Numbers through __index__, with the errors of Python's own functions.
#include "python/bindings/unsigned.hpp"

#include <limits>
#include <string>

namespace cucore::python {

namespace nb = nanobind;

std::uint64_t unsigned_number(nb::handle object, const char* what) {
  const auto number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::type_error((std::string(what) + " must be an int, not " + Py_TYPE(object.ptr())->tp_name).c_str());
  }
  const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return value;
}

std::uint32_t unsigned_of_32_bits(Unsigned number, const char* what) {
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    PyErr_Format(PyExc_OverflowError, "%s must have 32 bits", what);
    throw nb::python_error();
  }
  return static_cast<std::uint32_t>(number);
}

}  // namespace cucore::python
