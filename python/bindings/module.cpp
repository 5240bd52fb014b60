// The extension module cucore._core.
#include <vector>

#include "cucore/version.hpp"
#include "python/bindings/callables.hpp"
#include "python/bindings/python.hpp"

NB_MODULE(_core_bindings, module) {
  namespace py = cucore::python;
  // Objects may live until the process ends, and nothing may be printed at exit.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = CUCORE_VERSION_STRING;
  py::bind_package(module);
  py::bind_slots(module);
  py::bind_errors(module);
  py::bind_device_resources(module);
  py::bind_context(module);
  py::bind_event(module);
  py::bind_event_pool(module);
  py::bind_stream(module);
  py::bind_strided_layout(module);
  py::bind_dlpack(module);
  py::bind_strided_view(module);
  py::bind_dlpack_exchange(module);
  py::bind_tensor_map(module);
  py::bind_device(module);
  py::bind_memory(module);
  py::bind_graph_memory(module);
  py::bind_buffer(module);
  py::bind_memory_ipc(module);
  py::bind_managed_memory(module);
  py::bind_batch(module);
  py::bind_virtual_memory(module);
  py::bind_opaque_array(module);
  py::bind_texture(module);
  py::bind_graphics_resource(module);
  py::bind_kernel(module);
  py::bind_object_code(module);
  py::bind_launch_config(module);
  py::bind_launch(module);
  py::bind_program_options(module);
  py::bind_program_cache(module);
  py::bind_program(module);
  py::bind_linker(module);
  py::bind_toolkit(module);
  py::bind_checkpoint(module);
  py::bind_graphs(module);
  py::bind_graph_builder(module);
  py::bind_callables(module);  // of all that is there by then
}

namespace {

// What the module keeps (classes, the failure queue, the thread's devices) is one interpreter's.
int refuse_subinterpreters(PyObject*) {
  if (PyInterpreterState_Get() == PyInterpreterState_Main()) return 0;
  PyErr_SetString(
      PyExc_ImportError,
      "cucore cannot be imported in a subinterpreter: use it in the main interpreter, or start a process instead");
  return -1;
}

}  // namespace

// The module that NB_MODULE defines, with a check before all else: nanobind's set-up in a subinterpreter would break
// the main interpreter's classes.
PyMODINIT_FUNC PyInit__core() {
  auto* definition = reinterpret_cast<PyModuleDef*>(PyInit__core_bindings());
  if (definition == nullptr) return nullptr;
  static std::vector<PyModuleDef_Slot> slots;
  if (slots.empty()) {
    slots.push_back({Py_mod_exec, reinterpret_cast<void*>(refuse_subinterpreters)});
    for (const PyModuleDef_Slot* slot = definition->m_slots; slot->slot != 0; ++slot) slots.push_back(*slot);
    slots.push_back({0, nullptr});
  }
  definition->m_slots = slots.data();
  return reinterpret_cast<PyObject*>(definition);
}
