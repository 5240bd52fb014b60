// Python callables on threads of the driver's.
#include "python/bindings/callback.hpp"

namespace cucore::python {

PythonCallback::PythonCallback(nb::handle function) {
  if (PyCallable_Check(function.ptr()) == 0) {
    throw nb::type_error((std::string("a callback must be callable, not ") + Py_TYPE(function.ptr())->tp_name).c_str());
  }
  function_ = {function.inc_ref().ptr(), [](PyObject* object) { drop_reference(object); }};
}

std::optional<std::string> PythonCallback::call() const {
  if (finalizing()) return std::nullopt;
  const WithGil gil;
  PyObject* const answer = PyObject_CallNoArgs(function_.get());
  if (answer != nullptr) {
    Py_DECREF(answer);
    return std::nullopt;
  }
  const PythonFailure failure{nb::python_error()};
  failure.restore();
  PyErr_WriteUnraisable(function_.get());
  return failure.what();
}

}  // namespace cucore::python
