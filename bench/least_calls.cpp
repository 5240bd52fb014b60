// The least that a driver call from Python can cost: C functions that take whatever arguments they are given, give the
// GIL up around one ready driver call, and do nothing else. No library that checks or packs anything can be cheaper.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <memory>
#include <vector>

#include "bench/bare_driver.hpp"

namespace {

struct Ready {
  bare::Driver driver;
  bare::LaunchConfig config{{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 0};
  void* kernel = nullptr;
  void* event = nullptr;
  std::vector<std::uint64_t> values;
  std::vector<void*> pointers;
};
std::unique_ptr<Ready> ready;

template <class Call>
void without_gil(Call call, const char* name) {
  PyThreadState* const thread = PyEval_SaveThread();
  const bare::Result result = call();
  PyEval_RestoreThread(thread);
  bare::check(result, name);
}

// prepare(driver_path, stream, kernel, parameters): what the others call with.
PyObject* prepare(PyObject*, PyObject* arguments) {
  const char* path = nullptr;
  unsigned long long stream = 0;
  unsigned long long kernel = 0;
  unsigned long count = 0;
  if (PyArg_ParseTuple(arguments, "sKKk", &path, &stream, &kernel, &count) == 0) return nullptr;
  ready = std::make_unique<Ready>(Ready{.driver = bare::Driver(path), .values = {}, .pointers = {}});
  ready->config.stream = reinterpret_cast<void*>(stream);
  ready->kernel = reinterpret_cast<void*>(kernel);
  ready->values.resize(count + 1);
  for (auto& value : ready->values) ready->pointers.push_back(&value);
  bare::check(ready->driver.event_create(&ready->event, 2), "cuEventCreate");
  Py_RETURN_NONE;
}

PyObject* launch(PyObject*, PyObject* const*, Py_ssize_t) {
  without_gil(
      [] { return ready->driver.launch_kernel_ex(&ready->config, ready->kernel, ready->pointers.data(), nullptr); },
      "cuLaunchKernelEx");
  Py_RETURN_NONE;
}

PyObject* record(PyObject*, PyObject*) {
  without_gil([] { return ready->driver.event_record(ready->event, ready->config.stream); }, "cuEventRecord");
  Py_RETURN_NONE;
}

PyObject* create(PyObject*, PyObject*) {
  void* event = nullptr;
  without_gil([&] { return ready->driver.event_create(&event, 2); }, "cuEventCreate");
  return PyLong_FromVoidPtr(event);
}

PyObject* destroy(PyObject*, PyObject* event) {
  void* const handle = PyLong_AsVoidPtr(event);
  without_gil([&] { return ready->driver.event_destroy(handle); }, "cuEventDestroy");
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"prepare", prepare, METH_VARARGS, nullptr},
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launch)), METH_FASTCALL, nullptr},
    {"record", record, METH_NOARGS, nullptr},
    {"create", create, METH_NOARGS, nullptr},
    {"destroy", destroy, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "least_calls", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_least_calls() { return PyModule_Create(&definition); }
