// The extension module cucore._core.
#include "cucore/version.hpp"
#include "python/bindings/python.hpp"

NB_MODULE(_core, module) {
  namespace py = cucore::python;
  // Objects that live until the process ends are the interpreter's business, and nothing may be printed at exit.
  nanobind::set_leak_warnings(false);
  // What the module keeps (classes, the failure queue, the thread's devices) is one interpreter's.
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    throw nanobind::import_error(
        "cucore cannot be imported in a subinterpreter: use it in the main interpreter, or start a process instead");
  }
  module.attr("__version__") = CUCORE_VERSION_STRING;
  py::bind_errors(module);
  py::bind_context(module);
  py::bind_event(module);
  py::bind_event_pool(module);
  py::bind_stream(module);
  py::bind_device(module);
  py::bind_memory(module);
  py::bind_buffer(module);
  py::bind_kernel(module);
  py::bind_object_code(module);
  py::bind_launch_config(module);
  py::bind_launch(module);
  py::bind_program_options(module);
  py::bind_program_cache(module);
  py::bind_program(module);
  py::bind_linker(module);
  py::bind_toolkit(module);
}
