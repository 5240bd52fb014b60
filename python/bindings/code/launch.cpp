// launch(stream, config, kernel, *args), on the bare CPython API: the one call whose cost users count in nanoseconds.
//
// Arguments are converted straight into the core's inline argument block on this function's stack; nothing is allocated
// unless something is wrong. The config is brought into the driver's form and the stream referred to before the GIL is
// given up, so threads may share a kernel, a config and a stream, and a close() in another thread is harmless.
#include "python/bindings/code/launch.hpp"

#include "python/bindings/code/direct_launch.hpp"

namespace cucore::python {

LaunchTypes launch_types;

namespace {

constexpr const char* launch_doc =
    "launch(stream, config, kernel, *kernel_args)\n--\n\n"
    "Runs `kernel` on `stream` with `kernel_args`, and returns when the work is queued.\n\n"
    "Arguments are Buffers, Python numbers, NumPy, ml_dtypes and ctypes scalars, structures and pointers, arrays with "
    "__cuda_array_interface__ or DLPack (their address), objects with __kernel_argument__(), and None for a null "
    "pointer. They are checked against the kernel's parameters, `kernel.signature`: int, float, complex and bool take "
    "the parameter's type.\n\n"
    "Raises TypeError (number or type of arguments), OverflowError (a number out of its parameter's range), ValueError "
    "(the config is impossible, a Buffer is closed) before anything reaches the driver, and CUDAError "
    "(cuLaunchKernelEx refused), which names the limit exceeded. Any threads may launch one kernel with one config; "
    "changing a config while another thread launches with it needs exclusion on free-threaded Python.";

[[noreturn]] void wrong_type(const char* argument, const char* expected, PyObject* given) {
  throw nb::type_error((std::string(argument) + " must be " + expected + ", not " + Py_TYPE(given)->tp_name).c_str());
}

void launch(PyObject* const* arguments, Py_ssize_t count) {
  const Stream stream = stream_reference(arguments[0]);
  nb::object made;  // a config made from a dict
  const PyLaunchConfig* config = nullptr;
  if (Py_TYPE(arguments[1]) == launch_types.config) [[likely]] {
    config = nb::inst_ptr<PyLaunchConfig>(arguments[1]);
  } else {
    made = config_object(arguments[1]);
    config = nb::inst_ptr<PyLaunchConfig>(made);
  }
  const PyKernel* const wrapped = instance_of<PyKernel>(arguments[2], launch_types.kernel);
  if (wrapped == nullptr) wrong_type("kernel", "a Kernel", arguments[2]);
  LaunchDependencies dependencies{.stream = stream.handle(), .producers = {}};
  ArgumentPack pack(*wrapped->kernel);
  add_arguments(pack, arguments + 3, count - 3, dependencies);
  const ResolvedConfig resolved(config->of_launch());
  void* const* const values = pack.values();
  const WithoutGil released{WithoutGil::held};
  if (!dependencies.producers.empty()) wait_for_producers(stream, dependencies);
  launch_unchecked(stream, resolved, *wrapped->kernel, values);
}

// stream, config and kernel by keyword: put where they belong.
void launch_with_keywords(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
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
}

[[gnu::noinline]] PyObject* launch_generally(PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  return guarded([&] {
    if (keywords == nullptr && count >= 3) {
      launch(arguments, count);
    } else {
      launch_with_keywords(arguments, count, keywords);
    }
  });
}

[[gnu::hot]] PyObject* launch_entry(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  const auto generally = [&] { return launch_generally(arguments, count, keywords); };
  if (keywords != nullptr || count < 3 || Py_TYPE(arguments[0]) != launch_types.stream ||
      Py_TYPE(arguments[1]) != launch_types.config || Py_TYPE(arguments[2]) != launch_types.kernel) [[unlikely]] {
    return generally();
  }
  const PyLaunchConfig& config = *nb::inst_ptr<PyLaunchConfig>(arguments[1]);
  if (!config.is_plain) return generally();
  const PyKernel& kernel = *nb::inst_ptr<PyKernel>(arguments[2]);
  return launch_directly(
      arguments[0], config.native, kernel.plan, arguments + 3, count - 3,
      [&]() -> const Kernel& { return *kernel.kernel; }, generally);
}

PyMethodDef launch_method{"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(launch_entry)),
                          METH_FASTCALL | METH_KEYWORDS, launch_doc};

template <class T>
PyTypeObject* type_of() {
  return reinterpret_cast<PyTypeObject*>(nb::type<T>().ptr());
}

}  // namespace

Stream foreign_stream_reference(PyObject* object) {
  if (const PyStream* stream = as_stream(object)) return stream->share();
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

PyObject* after_refusal(int code, const PyStream::Use& use, const detail::NativeConfig& config, const Kernel& kernel,
                        void* const* values) noexcept {
  return guarded([&] {
    const WithoutGil released{WithoutGil::held};
    detail::launch_refused(code, *use, config, kernel, values);
  });
}

PyObject* launch_many(const PyStream& stream, const detail::NativeConfig& config, const detail::KernelPlan& plan,
                      PyObject* const* arguments, bool& done) noexcept {
  constexpr std::uint32_t most_bytes = 4096;
  alignas(16) std::byte block[most_bytes + 8];
  done = plan.bytes <= most_bytes && put_all(plan, arguments, block, nullptr);
  if (!done) return nullptr;
  return without_gil_on(
      stream, [&] { return detail::launch_block(config, plan.handle, block, plan.bytes); },
      [&](int, const PyStream::Use&) -> PyObject* {
        done = false;  // the general path tries again and reports what is wrong
        return nullptr;
      });
}

nb::object config_object(PyObject* object) {
  if (PyObject_TypeCheck(object, launch_types.config) != 0) return nb::borrow(object);
  if (object == Py_None) throw nb::type_error("config is required: a LaunchConfig with grid and block");
  if (!PyDict_Check(object)) wrong_type("config", "a LaunchConfig or a dict of its fields", object);
  auto made =
      nb::steal(PyObject_Call(reinterpret_cast<PyObject*>(launch_types.config), nb::make_tuple().ptr(), object));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

void wait_for_producers(const Stream& stream, const LaunchDependencies& dependencies) {
  for (const StreamHandle producer : dependencies.producers) stream.wait(Stream::from_handle(producer));
}

void bind_launch(nb::module_& module) {
  launch_types = {type_of<PyStream>(), type_of<PyLaunchConfig>(), type_of<PyKernel>(), type_of<PyBuffer>()};
  const nb::object name = nb::str("cucore");
  auto function = nb::steal(PyCFunction_NewEx(&launch_method, nullptr, name.ptr()));
  if (!function.is_valid()) throw nb::python_error();
  module.attr("launch") = function;
  bind_launcher(module);
}

}  // namespace cucore::python
