// launch(stream, config, kernel, *args), on the bare CPython API: the one call whose cost users count in nanoseconds.
//
// Arguments are converted straight into the core's inline argument block on this function's stack; nothing is allocated
// unless something is wrong. The config is copied and the stream referred to before the GIL is given up, so threads
// may share a kernel, a config and a stream, and a close() in another thread is harmless.
#include "cucore/launch.hpp"

#include "python/bindings/arguments.hpp"
#include "python/bindings/code.hpp"
#include "python/bindings/launch_config.hpp"

namespace cucore::python {
namespace {

constexpr const char* launch_doc =
    "launch(stream, config, kernel, *args)\n--\n\n"
    "Runs `kernel` on `stream` with `args`, and returns when the work is queued.\n\n"
    "Arguments are Buffers, Python numbers, NumPy and ctypes scalars and structures, and None for a null pointer. They "
    "are checked against the kernel's parameters: int and float take the parameter's type.";

template <class T>
PyTypeObject* type_of() {
  return reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
}

// `object` as a T, or null; subclasses are found the slow way.
template <class T>
const T* as(PyObject* object) {
  static PyTypeObject* const type = type_of<T>();
  if (Py_TYPE(object) == type) return nb::inst_ptr<T>(object);
  const T* value = nullptr;
  return nb::try_cast<const T*>(nb::handle(object), value) ? value : nullptr;
}

[[noreturn]] void wrong_type(const char* argument, const char* expected, PyObject* given) {
  throw nb::type_error((std::string(argument) + " must be " + expected + ", not " + Py_TYPE(given)->tp_name).c_str());
}

Stream stream_argument(PyObject* object) {
  if (const PyStream* stream = as<PyStream>(object)) return stream->value().share();
  if (object == Py_None) {
    throw nb::type_error("stream is required: pass a Stream, for example device.default_stream, instead of None");
  }
  Stream foreign = stream_from_protocol(object);
  if (PyErr_WarnFormat(PyExc_DeprecationWarning, 1,
                       "launching on a %s: wrap it once with Device.create_stream(obj) and pass the Stream",
                       Py_TYPE(object)->tp_name) < 0) {
    throw nb::python_error();
  }
  return foreign;
}

LaunchConfig config_argument(PyObject* object) {
  if (const PyLaunchConfig* config = as<PyLaunchConfig>(object)) return config->config;
  if (object == Py_None) throw nb::value_error("config is required: a LaunchConfig with grid and block");
  if (!PyDict_Check(object)) wrong_type("config", "a LaunchConfig or a dict of its fields", object);
  const auto made = nb::steal(PyObject_Call(nb::type<PyLaunchConfig>().ptr(), nb::make_tuple().ptr(), object));
  if (!made.is_valid()) throw nb::python_error();
  return nb::cast<PyLaunchConfig&>(made).config;
}

void launch(PyObject* const* arguments, Py_ssize_t count) {
  Stream stream = stream_argument(arguments[0]);
  const LaunchConfig config = config_argument(arguments[1]);
  const PyKernel* wrapped = as<PyKernel>(arguments[2]);
  if (wrapped == nullptr) wrong_type("kernel", "a Kernel", arguments[2]);
  const Kernel& kernel = *wrapped->kernel;
  ArgumentPack pack(kernel);
  for (Py_ssize_t i = 3; i < count; ++i) add_argument(pack, kernel, arguments[i], i - 3);
  const WithoutGil released;
  pack.launch(stream, config);
}

PyObject* launch_entry(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    if (keywords == nullptr && count >= 3) return launch(arguments, count);
    // stream, config and kernel by keyword: put them where they belong.
    PyObject* ordered[3] = {nullptr, nullptr, nullptr};
    if (count > 3) throw nb::type_error("launch() takes stream, config, kernel and arguments; no keyword is left");
    for (Py_ssize_t i = 0; i < count; ++i) ordered[i] = arguments[i];
    const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    constexpr const char* names[3] = {"stream", "config", "kernel"};
    for (Py_ssize_t i = 0; i < named; ++i) {
      PyObject* key = PyTuple_GET_ITEM(keywords, i);
      std::size_t slot = 0;
      while (slot < 3 && PyUnicode_CompareWithASCIIString(key, names[slot]) != 0) ++slot;
      if (slot == 3 || ordered[slot] != nullptr) {
        throw nb::type_error(
            ("launch() got an unexpected keyword argument " + std::string(nb::repr(nb::handle(key)).c_str())).c_str());
      }
      ordered[slot] = arguments[count + i];
    }
    for (std::size_t slot = 0; slot < 3; ++slot) {
      if (ordered[slot] == nullptr) {
        throw nb::type_error((std::string("launch() misses the argument '") + names[slot] + "'").c_str());
      }
    }
    launch(ordered, 3);
  });
}

PyMethodDef launch_method{"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launch_entry)),
                          METH_FASTCALL | METH_KEYWORDS, launch_doc};

}  // namespace

void bind_launch(nb::module_& module) {
  const nb::object name = nb::str("cucore");
  auto function = nb::steal(PyCFunction_NewEx(&launch_method, nullptr, name.ptr()));
  if (!function.is_valid()) throw nb::python_error();
  module.attr("launch") = function;
}

}  // namespace cucore::python
