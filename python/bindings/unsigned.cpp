// Numbers through __index__, with the errors of Python's own functions.
#include "python/bindings/unsigned.hpp"

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

}  // namespace cucore::python
