// Exceptions of the core as Python exceptions, and failed releases as CUDAWarnings.
//
// A release can fail on any thread, with or without the GIL. The core's handler only queues the text and asks the
// interpreter for a call at a safe point of the main thread; a thread that is about to run Python again (WithoutGil)
// empties the queue earlier. Nothing is reported once the interpreter finalizes.
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "cucore/error.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {
namespace {

struct FailedReleases {
  std::mutex mutex;
  std::vector<std::string> texts;  // none while failed_releases_wait is false
};

// Never destroyed: a release may fail on a thread that outlives the interpreter.
FailedReleases& failed_releases() {
  static auto* queue = new FailedReleases;
  return *queue;
}

}  // namespace

std::atomic<bool> failed_releases_wait{false};

// An exception that is being handled stays as it is.
void warn_of_failed_releases() noexcept try {
  FailedReleases& queue = failed_releases();
  std::vector<std::string> texts;
  {
    const std::lock_guard lock(queue.mutex);
    texts.swap(queue.texts);
    failed_releases_wait = false;
  }
  const nb::error_scope handled;
  PyObject* const warning = from_package(Package::CUDAWarning).ptr();
  for (const std::string& text : texts) {
    const nb::object message = text_object(text);
    const char* utf8 = PyUnicode_AsUTF8(message.ptr());
    // No registry: two failures with the same text are two warnings.
    if (utf8 == nullptr || PyErr_WarnExplicit(warning, utf8, "cucore", 0, "cucore", nullptr) < 0) {
      PyErr_WriteUnraisable(warning);
    }
  }
} catch (...) {
  // Out of memory while reporting: the core has counted the failure.
}

namespace {

int at_safe_point(void*) {
  if (!finalizing()) warn_of_failed_releases();
  return 0;
}

void on_failed_release(const Error& error, void*) noexcept {
  if (finalizing()) return;
  try {
    FailedReleases& queue = failed_releases();
    const std::lock_guard lock(queue.mutex);
    queue.texts.emplace_back(error.what());
    failed_releases_wait = true;
  } catch (...) {
    return;  // no memory for the text; the core has counted the failure
  }
  Py_AddPendingCall(at_safe_point, nullptr);  // a full queue loses nothing: the next WithoutGil reports it
}

void set_attribute(PyObject* object, const char* name, const nb::object& value) {
  if (PyObject_SetAttrString(object, name, value.ptr()) < 0) PyErr_Clear();
}

void raise(nb::handle exception_class, const Error& error) {
  const nb::object message = text_object(error.what());
  const auto exception = nb::steal(PyObject_CallOneArg(exception_class.ptr(), message.ptr()));
  if (!exception.is_valid()) return;
  set_attribute(exception.ptr(), "code", nb::int_(error.code()));
  set_attribute(exception.ptr(), "name", text_object(error.code_name()));
  set_attribute(exception.ptr(), "call", text_object(error.call()));
  set_attribute(exception.ptr(), "log", error.log().empty() ? nb::none() : text_object(error.log()));
  set_attribute(exception.ptr(), "hint", text_object(error.hint()));
  PyErr_SetObject(exception_class.ptr(), exception.ptr());
}

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const NvrtcError& error) {
    raise(from_package(Package::NVRTCError), error);
  } catch (const NvJitLinkError& error) {
    raise(from_package(Package::NvJitLinkError), error);
  } catch (const NvvmError& error) {
    raise(from_package(Package::NVVMError), error);
  } catch (const OutOfMemoryError& error) {
    raise(from_package(Package::CUDAOutOfMemoryError), error);
  } catch (const NotReadyError& error) {
    raise(from_package(Package::CUDANotReadyError), error);
  } catch (const InvalidContextError& error) {
    raise(from_package(Package::CUDAInvalidContextError), error);
  } catch (const StickyError& error) {
    // On the CPU device Ctrl-C ends the work that is waited for. The caller then expects KeyboardInterrupt, which would
    // otherwise be raised in the middle of code that handles the error.
    if (PyErr_CheckSignals() != 0) return;
    raise(from_package(Package::CUDAStickyError), error);
  } catch (const DriverError& error) {
    raise(from_package(Package::CUDAError), error);
  } catch (const UnsupportedOptionError& error) {
    raise(from_package(Package::UnsupportedOptionError), error);
  } catch (const InvalidValueError& error) {
    raise(from_package(Package::CUDAInvalidValueError), error);
  } catch (const ValueError& error) {
    raise(PyExc_ValueError, error);
  } catch (const OverflowError& error) {
    raise(PyExc_OverflowError, error);
  } catch (const InvalidArgumentError& error) {
    raise(from_package(Package::CUDAInvalidArgumentError), error);
  } catch (const TypeError& error) {
    raise(PyExc_TypeError, error);
  } catch (const Error& error) {
    raise(PyExc_RuntimeError, error);
  } catch (const PythonFailure& failure) {
    failure.restore();
  }
}

// "LookupError: cannot take it back".
std::string one_line(const nb::python_error& error) {
  std::string text = nb::type_name(error.type()).c_str();
  const auto message = nb::steal(PyObject_Str(error.value().ptr()));
  if (!message.is_valid()) {
    PyErr_Clear();
    return text;
  }
  return text + ": " + nb::cast<std::string>(message);
}

}  // namespace

bool finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return !Py_IsInitialized() || Py_IsFinalizing();
#else
  return !Py_IsInitialized() || _Py_IsFinalizing();
#endif
}

void drop_reference(PyObject* object) noexcept {
  if (!finalizing()) {
    const WithGil gil;
    Py_DECREF(object);
    return;
  }
#if PY_VERSION_HEX >= 0x030D0000
  const PyThreadState* const running = PyThreadState_GetUnchecked();
#else
  const PyThreadState* const running = _PyThreadState_UncheckedGet();
#endif
  // Null once the interpreter is gone. Before 3.12 it is the thread that holds the GIL, which need not be this one.
  if (running != nullptr && running == PyGILState_GetThisThreadState()) Py_DECREF(object);
}

PythonFailure::PythonFailure(nb::python_error error)
    : std::runtime_error(one_line(error)), error_(std::make_shared<nb::python_error>(std::move(error))) {}

void set_python_exception() noexcept {
  try {
    throw;
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    switch (error.type()) {
      case nb::exception_type::type_error:
        return PyErr_SetString(PyExc_TypeError, error.what());
      case nb::exception_type::value_error:
        return PyErr_SetString(PyExc_ValueError, error.what());
      default:
        return PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  } catch (const Error&) {
    try {
      translate(std::current_exception(), nullptr);
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
    }
  } catch (const PythonFailure& failure) {
    failure.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

WithoutGil::WithoutGil() noexcept : state_(!finalizing() && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}

WithoutGil::WithoutGil(Held) noexcept : state_(finalizing() ? nullptr : PyEval_SaveThread()) {}

WithoutGil::~WithoutGil() {
  if (state_ == nullptr) return;
  restore_thread(state_);
  if (failed_releases_wait.load(std::memory_order_relaxed)) warn_of_failed_releases();
}

void sleep_for_ever() noexcept {
  for (;;) pause();
}

WithGil::WithGil() noexcept {
  try {
    state_ = PyGILState_Ensure();
  } catch (abi::__forced_unwind&) {  // see restore_thread()
    sleep_for_ever();
  }
}

WithGil::~WithGil() {
  // Python code that was run may have given the GIL up and have asked for it again while the interpreter finalizes:
  // then CPython unwinds the thread through here (see restore_thread()).
  if (finalizing() && PyGILState_Check() == 0) sleep_for_ever();
  PyGILState_Release(state_);
}

nb::object handle_object(Package handle_class, std::uint64_t value) {
  if (finalizing()) return nb::none();
  const auto number = nb::steal(PyLong_FromUnsignedLongLong(value));
  auto handle = nb::steal(PyObject_CallOneArg(from_package(handle_class).ptr(), number.ptr()));
  if (!handle.is_valid()) throw nb::python_error();
  return handle;
}

std::string repr_of_values(nb::handle self, nb::handle names) {
  std::string text;
  for (const nb::handle name : names) {
    const auto value = nb::steal(PyObject_GetAttr(self.ptr(), name.ptr()));
    if (!value.is_valid()) PyErr_Clear();
    text += (text.empty() ? " " : ", ") + nb::cast<std::string>(name) + "=";
    text += value.is_valid() ? nb::repr(value).c_str() : "?";
  }
  return "<" + nb::cast<std::string>(nb::handle(self.type()).attr("__name__")) + text + ">";
}

std::string hex(std::uint64_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), digits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

void raise(nb::handle exception_class, const std::string& text) {
  PyErr_SetString(exception_class.ptr(), text.c_str());
  throw nb::python_error();
}

nb::object number_of_text(nb::handle value) {
  if (!PyUnicode_Check(value.ptr()) || !nb::cast<bool>(value.attr("isdecimal")())) return nb::borrow(value);
  auto number = nb::steal(PyLong_FromUnicodeObject(value.ptr(), 10));
  if (!number.is_valid()) throw nb::python_error();
  return number;
}

bool truth_of(nb::handle value) {
  const int truth = PyObject_IsTrue(value.ptr());
  if (truth < 0) throw nb::python_error();
  return truth != 0;
}

std::string text_of(nb::handle value, const char* what) {
  if (PyUnicode_Check(value.ptr())) {
    Py_ssize_t size = 0;
    const char* utf8 = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    if (utf8 == nullptr) throw nb::python_error();
    return {utf8, static_cast<std::size_t>(size)};
  }
  if (PyBytes_Check(value.ptr())) {
    return {PyBytes_AS_STRING(value.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(value.ptr()))};
  }
  throw nb::type_error((std::string(what) + " must be str or bytes, not " + Py_TYPE(value.ptr())->tp_name).c_str());
}

std::optional<double> seconds_of(nb::handle timeout) {
  if (timeout.is_none()) return std::nullopt;
  const nb::object number =
      nb::hasattr(timeout, "total_seconds") ? timeout.attr("total_seconds")() : nb::borrow(timeout);
  const double seconds = PyFloat_AsDouble(number.ptr());
  if (seconds == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw nb::type_error((std::string("timeout must be a number of seconds, a timedelta or None, not ") +
                          Py_TYPE(timeout.ptr())->tp_name)
                             .c_str());
  }
  if (!(seconds >= 0)) throw nb::value_error("timeout must not be negative");
  return seconds;
}

std::string path_of(nb::handle path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), &encoded) == 0) throw nb::python_error();
  const nb::object kept = nb::steal(encoded);
  return {PyBytes_AS_STRING(encoded), static_cast<std::size_t>(PyBytes_GET_SIZE(encoded))};
}

nb::object text_object(std::string_view text) {
  auto object = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
  if (!object.is_valid()) throw nb::python_error();
  return object;
}

void bind_errors(nb::module_&) {
  nb::register_exception_translator(translate);
  set_release_failure_handler(on_failed_release);
}

}  // namespace cucore::python
