// What every binding shares: the GIL around driver calls, errors and handles, and the list of binding functions. A
// binding file holds one type's glue and no logic: that is the core's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cxxabi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "python/bindings/package.hpp"
#include "python/bindings/unsigned.hpp"

namespace cucore::python {

namespace nb = nanobind;

/// Whether the interpreter is on its way out (or gone): then no Python object is touched from C++.
bool finalizing() noexcept;

/// Gives back a reference that C++ kept, from any thread, with or without the GIL. While the interpreter finalizes only
/// the thread that does it can: any other leaves the object to the end of the process.
void drop_reference(PyObject* object) noexcept;

/// Whether releases have failed that no CUDAWarning has reported yet; and reporting them, with the GIL.
extern std::atomic<bool> failed_releases_wait;
[[gnu::cold]] void warn_of_failed_releases() noexcept;

/// For a thread that may not run any more: sleeps until the process ends.
[[noreturn, gnu::cold]] void sleep_for_ever() noexcept;

/// PyEval_RestoreThread. Before 3.14, CPython ends a thread that asks for the GIL while the interpreter finalizes by
/// unwinding its stack, which destructors and nanobind's frames do not survive. Such a thread sleeps here until the
/// process ends, as CPython itself does from 3.14 on.
inline void restore_thread(PyThreadState* thread) noexcept {
  try {
    PyEval_RestoreThread(thread);
  } catch (abi::__forced_unwind&) {
    sleep_for_ever();
  }
}

/// Gives the GIL up for the lifetime of this object, if this thread has it and the interpreter is not finalizing.
/// On the way back it turns releases that failed meanwhile into CUDAWarnings.
class WithoutGil {
 public:
  struct Held {};
  static constexpr Held held{};

  WithoutGil() noexcept;
  /// For a caller that knows it has the GIL: saves the check.
  explicit WithoutGil(Held) noexcept;
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

/// The GIL for code that the core calls without it. Not to be used once the interpreter finalizes.
class WithGil {
 public:
  WithGil() noexcept;
  ~WithGil();
  WithGil(const WithGil&) = delete;
  WithGil& operator=(const WithGil&) = delete;

 private:
  PyGILState_STATE state_;
};

/// A Python exception on its way through the core, e.g. from a memory resource written in Python: what() is its type
/// and text in one line, and back in Python it is raised as it was.
class PythonFailure : public std::runtime_error {
 public:
  explicit PythonFailure(nb::python_error error);
  void restore() const noexcept { error_->restore(); }

 private:
  std::shared_ptr<nb::python_error> error_;
};

/// Calls `call` without the GIL.
template <class Call>
decltype(auto) without_gil(Call&& call) {
  WithoutGil released;
  return std::forward<Call>(call)();
}

/// Whether destroying `value` may call the driver, which may take its time.
template <class T>
bool may_call_driver_at_end(const T& /*value*/) noexcept {
  return true;
}

/// A core value, destroyed without the GIL if that may call the driver.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T value) : value_(std::move(value)) {}
  Owned(Owned&& other) noexcept : value_(std::move(other.value_)) { other.value_.reset(); }
  Owned& operator=(Owned&&) = delete;
  ~Owned() { reset(); }

  void reset() noexcept {
    if (!value_.has_value()) return;
    if (!may_call_driver_at_end(*value_)) return value_.reset();
    WithoutGil released;
    value_.reset();
  }
  T& operator*() noexcept { return *value_; }
  const T& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return &*value_; }
  const T* operator->() const noexcept { return &*value_; }

 private:
  std::optional<T> value_;
};

/// Excludes other users of an object while a reference is copied or moved. With a GIL it is empty; on a Python without
/// one it is a lock, which the garbage collector never takes.
class Exclusion {
 public:
  Exclusion() = default;
  Exclusion(Exclusion&& /*other*/) noexcept {}
  Exclusion& operator=(Exclusion&&) = delete;
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  [[no_unique_address]] nb::ft_mutex mutex_;
};

#ifdef Py_GIL_DISABLED
/// A reference of its own to a value that another thread may close, dropped as Owned does.
template <class T>
class Reference : public T {
 public:
  explicit Reference(const T& value) noexcept : T(value.state()) {}
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
  ~Reference() {
    if (!*this) return;
    const WithoutGil released;
    T::operator=(T());
  }
};
#else
/// Nobody closes the value before the GIL is given up.
template <class T>
using Reference = const T&;
#endif

/// `value` as an instance of a handle class; None while the interpreter finalizes.
nb::object handle_object(Package handle_class, std::uint64_t value);

template <class T>
nb::object handle_object(Package handle_class, T* handle) {
  return handle_object(handle_class, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle)));
}

/// "0x7f…" for a repr.
/// "<KernelAttributes num_regs=12, ...>": the attributes `names` of an object; "?" for one that cannot be had.
std::string repr_of_values(nb::handle self, nb::handle names);

std::string hex(std::uint64_t value);
template <class T>
std::string hex(T* handle) {
  return hex(static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(handle)));
}

/// Whether Python has asked for devices, and so opened the driver.
bool devices_were_asked() noexcept;

/// The Device singleton of this thread for an ordinal.
nb::object device_object(int ordinal);
/// The ordinal of a Device or of an int-like object. Throws TypeError.
int device_ordinal(nb::handle device);

/// str (UTF-8) or bytes as text; anything else is a TypeError that names `what`.
std::string text_of(nb::handle value, const char* what);

/// The number that a str of decimal digits is, for options that are passed on as text; other values as they are.
nb::object number_of_text(nb::handle value);

/// Whether Python takes the value for true.
bool truth_of(nb::handle value);

/// Bytes of a log or name as str; undecodable bytes become backslash escapes.
nb::object text_object(std::string_view text);

/// The path of a file, a str, bytes or os.PathLike, as the system spells it.
std::string path_of(nb::handle path);

/// An object of a class of the package that collections.namedtuple() made, past its __new__.
template <class... Values>
nb::object named_tuple(Package named_class, const Values&... values) {
  auto* const type = reinterpret_cast<PyTypeObject*>(from_package(named_class).ptr());
  nb::object made = nb::steal(type->tp_alloc(type, sizeof...(values)));
  if (!made.is_valid()) throw nb::python_error();
  Py_ssize_t place = 0;
  (PyTuple_SET_ITEM(made.ptr(), place++, nb::cast(values).release().ptr()), ...);
  return made;
}

/// Raises a Python exception of that class.
[[noreturn]] void raise(nb::handle exception_class, const std::string& text);

/// Sets the Python exception for the C++ exception in flight. For functions that nanobind does not call.
void set_python_exception() noexcept;

/// A timeout: seconds as a number, a timedelta, or None for no limit. Throws TypeError and ValueError (negative, NaN).
std::optional<double> seconds_of(nb::handle timeout);

/// Where objects are made, for the CPU device's leak report; nothing unless that was asked for.
void tell_cpu_device_origins();

/// Runs `call` as the body of a CPython function: None, or null with the exception set.
template <class Call>
PyObject* guarded(Call&& call) noexcept {
  try {
    std::forward<Call>(call)();
    Py_RETURN_NONE;
  } catch (...) {
    set_python_exception();
    return nullptr;
  }
}

/// Waits in slices without the GIL until `wait_for(slice)` answers true; in between signals are handled, so that Ctrl-C
/// ends the wait. `timeout` is None, a number of seconds or a timedelta. Throws TimeoutError.
template <class WaitFor>
void wait_with_timeout(nb::handle timeout, const char* what, WaitFor&& wait_for) {
  using std::chrono::nanoseconds;
  const std::optional<double> seconds = seconds_of(timeout);
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    nanoseconds slice = std::chrono::milliseconds(50);
    if (seconds.has_value()) {
      const double left = *seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (left < 0.05) slice = nanoseconds(left > 0 ? static_cast<std::int64_t>(left * 1e9) : 0);
    }
    if (without_gil([&] { return wait_for(slice); })) return;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (seconds.has_value() &&
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= *seconds) {
      PyErr_Format(PyExc_TimeoutError, "the work before the %s has not completed within the timeout", what);
      throw nb::python_error();
    }
  }
}

/// Runs `call` as the body of a CPython function: the object it returns, or null with the exception set.
template <class Call>
PyObject* answered(Call&& call) noexcept {
  try {
    return std::forward<Call>(call)().release().ptr();
  } catch (...) {
    set_python_exception();
    return nullptr;
  }
}

/// `self` of a CPython method of a bound class, which need not have been through __init__. Throws TypeError.
template <class T>
T& self_as(nb::handle self) {
  if (!nb::inst_ready(self)) throw nb::type_error("the object was made by __new__ alone and has nothing in it");
  return *nb::inst_ptr<T>(self);
}

/// Makes `Class()`, and the __init__() of an object that there is, raise RuntimeError and name the way to get one. What
/// is asked for by name is on the bare CPython API, since nanobind warns of objects that are made twice.
template <class T, class Class>
void forbid_construction(Class& cls, const char* message) {
  cls.def(
      "__init__", [message](T*, const nb::args&, const nb::kwargs&) { throw std::runtime_error(message); },
      nb::arg("args"), nb::arg("kwargs"));
  nb::object(cls.attr("__init__")).release();  // nanobind calls it without a reference to it
  static const char* said = message;
  static PyMethodDef definition{
      "__init__",
      // The cast is how CPython takes functions with keywords.
      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(+[](PyObject*, PyObject*, PyObject*) -> PyObject* {
        PyErr_SetString(PyExc_RuntimeError, said);
        return nullptr;
      })),
      METH_VARARGS | METH_KEYWORDS, "__init__($self, *args, **kwargs)\n--\n\nRaises RuntimeError."};
  cls.attr("__init__") = nb::steal(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(cls.ptr()), &definition));
}

void bind_package(nb::module_& module);
void bind_slots(nb::module_& module);
void bind_errors(nb::module_& module);
void bind_device(nb::module_& module);
void bind_checkpoint(nb::module_& module);
void bind_context(nb::module_& module);
void bind_device_resources(nb::module_& module);
void bind_opaque_array(nb::module_& module);
void bind_graphics_resource(nb::module_& module);
void bind_texture(nb::module_& module);
void bind_stream(nb::module_& module);
void bind_event(nb::module_& module);
void bind_event_pool(nb::module_& module);
void bind_graph_builder(nb::module_& module);
void bind_graph_memory(nb::module_& module);
void bind_memory(nb::module_& module);
void bind_memory_ipc(nb::module_& module);  // after Buffer
void bind_buffer(nb::module_& module);
void bind_managed_memory(nb::module_& module);
void bind_batch(nb::module_& module);
void bind_virtual_memory(nb::module_& module);
void bind_object_code(nb::module_& module);
void bind_kernel(nb::module_& module);
void bind_launch_config(nb::module_& module);
void bind_launch(nb::module_& module);
void bind_launcher(nb::module_& module);
void bind_program_options(nb::module_& module);
void bind_program(nb::module_& module);
void bind_program_cache(nb::module_& module);
void bind_linker(nb::module_& module);
void bind_strided_layout(nb::module_& module);
void bind_dlpack_exchange(nb::module_& module);
void bind_dlpack(nb::module_& module);        // after StridedLayout
void bind_strided_view(nb::module_& module);  // the same
void bind_tensor_map(nb::module_& module);    // after StridedLayout
void bind_toolkit(nb::module_& module);
void bind_graphs(nb::module_& module);

}  // namespace cucore::python
