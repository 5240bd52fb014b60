// Tells the CPU device the Python line on which an object is made, for its report of leaks.
#include <dlfcn.h>

#include <string>

#include "cucore/driver.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {
namespace {

bool is_our_own(const std::string& file) { return file.find("/cucore/_") != std::string::npos; }

// Called by the CPU device in the thread that makes an object, without the GIL.
std::size_t python_place(char* text, std::size_t size) {
  if (finalizing() || PyGILState_GetThisThreadState() == nullptr) return 0;
  const WithGil gil;
  const nb::error_scope handled;
  try {
    auto frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
    while (frame.is_valid()) {
      auto* const current = reinterpret_cast<PyFrameObject*>(frame.ptr());
      const auto code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(current)));
      const std::string file = nb::cast<std::string>(code.attr("co_filename"));
      if (!is_our_own(file)) {
        const std::string place = file + ":" + std::to_string(PyFrame_GetLineNumber(current)) + " in " +
                                  nb::cast<std::string>(code.attr("co_name"));
        return place.copy(text, size);
      }
      frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(current)));
    }
  } catch (const std::exception&) {  // a report without the line, then
  }
  return 0;
}

}  // namespace

void tell_cpu_device_origins() {
  const DriverInfo info = driver_info();
  if (info.kind != DriverKind::cpu) return;
  void* const library = dlopen(info.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return;
  using SetOrigin = void (*)(std::size_t (*)(char*, std::size_t));
  if (const auto set = reinterpret_cast<SetOrigin>(dlsym(library, "cucore_cpu_set_origin"))) set(python_place);
}

}  // namespace cucore::python
