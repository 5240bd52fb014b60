// What launch() and Launcher share: their stream, kernel and config arguments, and the way to the driver.
#pragma once

#include "python/bindings/code/arguments.hpp"
#include "python/bindings/code/code.hpp"
#include "python/bindings/code/launch_config.hpp"

namespace cucore::python {

/// The types that launches meet, looked up once at import.
struct LaunchTypes {
  PyTypeObject* stream = nullptr;
  PyTypeObject* config = nullptr;
  PyTypeObject* kernel = nullptr;
  PyTypeObject* buffer = nullptr;
};
extern LaunchTypes launch_types;

/// `object` as a T, or null; subclasses are found the slow way.
template <class T>
T* instance_of(PyObject* object, PyTypeObject* type) {
  if (Py_TYPE(object) == type) return nb::inst_ptr<T>(object);
  T* value = nullptr;
  return nb::try_cast<T*>(nb::handle(object), value) ? value : nullptr;
}

/// A reference to the stream: of a Stream, or with a DeprecationWarning of an object with `__cuda_stream__`.
inline Stream stream_reference(PyObject* object);
Stream foreign_stream_reference(PyObject* object);

inline Stream stream_reference(PyObject* object) {
  if (Py_TYPE(object) == launch_types.stream) return Stream(nb::inst_ptr<PyStream>(object)->value().state());
  return foreign_stream_reference(object);
}

/// The config of a LaunchConfig, or of a dict of its fields.
nb::object config_object(PyObject* object);

/// Makes the stream wait for the producers of arrays among the arguments. Called without the GIL.
void wait_for_producers(const Stream& stream, const LaunchDependencies& dependencies);

/// A new Launcher; `stream` may be null.
nb::object new_launcher(nb::handle kernel, const LaunchConfig& config, PyObject* stream);

}  // namespace cucore::python
