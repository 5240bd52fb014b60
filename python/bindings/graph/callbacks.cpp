// Python on the driver's threads: host callbacks, as callables and as C functions of ctypes, and the release of what
// graphs kept alive.
#include "cucore/deferred_release.hpp"
#include "cucore/error.hpp"
#include "python/bindings/callback.hpp"
#include "python/bindings/graph/graph.hpp"

namespace cucore::python {
namespace {

// What it raises is on the graph too.
struct GraphCallback {
  PythonCallback callback;
  void operator()() const {
    if (auto failure = callback.call()) throw CallbackFailure({.message = *std::move(failure)});
  }
};

// The user data of a C function: None is null, an int is an address, and bytes are copied.
void put_user_data(CallbackArguments& arguments, nb::handle user_data, nb::handle function) {
  struct Kept {
    std::shared_ptr<const void> function;
    std::string data;
  };
  auto kept = std::make_shared<Kept>(Kept{keep_alive(function), {}});
  if (PyIndex_Check(user_data.ptr())) {
    arguments.user_data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(unsigned_number(user_data, "user_data")));
  } else if (!user_data.is_none()) {
    Py_buffer view;
    if (PyObject_GetBuffer(user_data.ptr(), &view, PyBUF_SIMPLE) < 0) throw nb::python_error();
    kept->data.assign(static_cast<const char*>(view.buf), static_cast<std::size_t>(view.len));
    PyBuffer_Release(&view);
    if (!kept->data.empty()) arguments.user_data = kept->data.data();
  }
  arguments.owner = std::move(kept);
}

// Owners that the driver's thread has dropped are released by the main thread, where Python and CUDA are allowed. A
// full queue of pending calls loses nothing: the hook is called again, and using or closing graphs does the same.
int at_safe_point(void* /*unused*/) {
  if (finalizing()) return 0;
  const nb::error_scope handled;
  const WithoutGil released;
  release_deferred();
  return 0;
}

bool ask_for_safe_point() noexcept { return !finalizing() && Py_AddPendingCall(at_safe_point, nullptr) == 0; }

}  // namespace

void serve_deferred_releases() { set_safe_point_hook(ask_for_safe_point); }

CallbackArguments callback_arguments(nb::handle function, nb::handle user_data) {
  CallbackArguments arguments;
  const nb::object c_function = from_package(Package::address_of_c_function)(function);
  if (!c_function.is_none()) {
    const auto address = static_cast<std::uintptr_t>(unsigned_number(c_function, "the C function's address"));
    arguments.c_function = reinterpret_cast<HostFunction>(address);
    put_user_data(arguments, user_data, function);
    return arguments;
  }
  if (!user_data.is_none()) {
    throw nb::value_error("user_data is for C functions: a Python callable brings its own, for example as a closure");
  }
  arguments.function = GraphCallback{PythonCallback(function)};
  return arguments;
}

PyObject* callable_behind(const std::function<void()>& function) noexcept {
  const auto* const callback = function.target<GraphCallback>();
  return callback == nullptr ? nullptr : callback->callback.function();
}

}  // namespace cucore::python
