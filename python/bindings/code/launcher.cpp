// Launcher: a kernel with a config, and perhaps a stream, prepared to be called many times. A type on the bare CPython
// API with vectorcall, since nothing may stand between a caller in a loop and the driver.
//
// Immutable: what a Launcher refers to is set when it is made, so any threads may call one.
#include <Python.h>
#include <structmember.h>

#include <memory>
#include <new>
#include <vector>

#include "cucore/error.hpp"
#include "python/bindings/code/direct_launch.hpp"

namespace cucore::python {
namespace {

struct PyLauncher {
  PyObject_HEAD;
  vectorcallfunc vectorcall;
  PyObject* stream;  // as given; null: the first argument of every call
  const detail::KernelPlan* plan;
  detail::NativeConfig config;  // all of it if it is plain, less the stream
  bool is_plain;
  PyObject* kernel;  // a Kernel
  Launcher* launcher;
  PyObject* weak_references;
};

PyTypeObject* launcher_type = nullptr;

PyLauncher& cast(PyObject* self) { return *reinterpret_cast<PyLauncher*>(self); }

// The stream of a call, which takes the first argument if none is bound.
PyObject* take_stream(const PyLauncher& self, PyObject* const*& arguments, Py_ssize_t& count) {
  if (self.stream != nullptr) return self.stream;
  if (count == 0) throw nb::type_error("the launcher has no stream: pass one as the first argument");
  --count;
  return *arguments++;
}

[[gnu::noinline]] PyObject* call_generally(PyObject* object, PyObject* const* arguments, std::size_t flags,
                                           PyObject* keywords) {
  return guarded([&] {
    const PyLauncher& self = cast(object);
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (keywords != nullptr && PyTuple_GET_SIZE(keywords) != 0) {
      throw nb::type_error("a launcher takes no keyword arguments");
    }
    const Stream stream = stream_reference(take_stream(self, arguments, count));
    LaunchDependencies dependencies{.stream = stream.handle(), .producers = {}};
    const Launcher& launcher = *self.launcher;
    ArgumentPack pack(launcher.kernel());
    add_arguments(pack, arguments, count, dependencies);
    void* const* const values = pack.values();
    const WithoutGil released{WithoutGil::held};
    if (!dependencies.producers.empty()) wait_for_producers(stream, dependencies);
    launcher.launch_unchecked(stream, values);
  });
}

[[gnu::hot]] PyObject* call(PyObject* object, PyObject* const* arguments, std::size_t flags, PyObject* keywords) {
  const auto generally = [&] { return call_generally(object, arguments, flags, keywords); };
  const PyLauncher& self = cast(object);
  PyObject* stream = self.stream;
  PyObject* const* values = arguments;
  Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (stream == nullptr) {
    if (count == 0) return generally();
    stream = *values++;
    --count;
  }
  if (keywords != nullptr || !self.is_plain || Py_TYPE(stream) != launch_types.stream) [[unlikely]] {
    return generally();
  }
  return launch_directly(
      stream, self.config, self.plan, values, count, [&]() -> const Kernel& { return self.launcher->kernel(); },
      generally);
}

// Arguments of many launches, one after the other in one block of memory.
class Batch {
 public:
  Batch(const Kernel& kernel, std::size_t launches) : kernel_(kernel), signature_(kernel.signature()) {
    if (signature_ == nullptr) return;
    stride_ = (ArgumentPack::block_bytes(*signature_) + alignment - 1) / alignment * alignment;
    block_.reset(new (std::align_val_t{alignment}) std::byte[launches * stride_]);
    values_.resize(launches * signature_->size());
  }

  void add(PyObject* const* arguments, Py_ssize_t count, LaunchDependencies& dependencies) {
    if (signature_ == nullptr) {  // nobody knows their sizes: each has a block of its own
      packs_.push_back(std::make_unique<ArgumentPack>(kernel_));
      add_arguments(*packs_.back(), arguments, count, dependencies);
    } else {
      ArgumentPack pack(kernel_, {block_.get() + size_ * stride_, stride_},
                        {values_.data() + size_ * signature_->size(), signature_->size()});
      add_arguments(pack, arguments, count, dependencies);
      pack.values();  // complains about missing ones
    }
    ++size_;
  }

  std::size_t size() const noexcept { return size_; }

  void launch(const Launcher& launcher, const Stream& stream) const {
    for (std::size_t i = 0; i < size_; ++i) {
      launcher.launch_unchecked(stream,
                                signature_ == nullptr ? packs_[i]->values() : values_.data() + i * signature_->size());
    }
  }

 private:
  static constexpr std::size_t alignment = 64;
  struct Free {
    void operator()(std::byte* block) const noexcept { ::operator delete[](block, std::align_val_t{alignment}); }
  };

  const Kernel& kernel_;
  std::shared_ptr<const Signature> signature_;
  std::size_t stride_ = 0;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[], Free> block_;
  std::vector<void*> values_;
  std::vector<std::unique_ptr<ArgumentPack>> packs_;
};

nb::object sequence(PyObject* object, const char* refusal) {
  auto list = nb::steal(PySequence_Fast(object, refusal));
#ifdef Py_GIL_DISABLED
  // Copied: another thread may change a list at any time.
  if (list.is_valid()) list = nb::steal(PySequence_Tuple(list.ptr()));
#endif
  if (!list.is_valid()) throw nb::python_error();
  return list;
}

// Says which launch of a batch an error is about.
[[noreturn]] void refuse_row(std::size_t row, const TypeError& error) {
  throw TypeError({.call = error.call(),
                   .message = "launch " + std::to_string(row + 1) + " of the batch: " + error.message(),
                   .hint = error.hint()});
}

PyObject* batch(PyObject* object, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    const PyLauncher& self = cast(object);
    const Stream stream = stream_reference(take_stream(self, arguments, count));
    if (count != 1) throw nb::type_error("batch() takes one sequence, with a tuple of arguments for each launch");
    const nb::object rows =
        sequence(arguments[0], "batch() takes a sequence with a tuple of arguments for each launch");
    LaunchDependencies dependencies{.stream = stream.handle(), .producers = {}};
    const auto launches = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(rows.ptr()));
    Batch packed(self.launcher->kernel(), launches);
    while (packed.size() < static_cast<std::size_t>(PySequence_Fast_GET_SIZE(rows.ptr())) && packed.size() < launches) {
      const nb::object row = sequence(PySequence_Fast_ITEMS(rows.ptr())[packed.size()],
                                      "the arguments of one launch of a batch must be a tuple or a list");
      // Copied: Python code that runs while elements are converted may change a list.
      const nb::object fixed = nb::steal(PySequence_Tuple(row.ptr()));
      if (!fixed.is_valid()) throw nb::python_error();
      try {
        packed.add(reinterpret_cast<PyTupleObject*>(fixed.ptr())->ob_item, PyTuple_GET_SIZE(fixed.ptr()), dependencies);
      } catch (const TypeError& error) {
        refuse_row(packed.size(), error);
      }
    }
    const WithoutGil released{WithoutGil::held};
    if (!dependencies.producers.empty()) wait_for_producers(stream, dependencies);
    packed.launch(*self.launcher, stream);
  });
}

int traverse(PyObject* object, visitproc visit, void* arg) {
  const PyLauncher& self = cast(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self.kernel);
  Py_VISIT(self.stream);
  return 0;
}

// Nothing is cleared here: a Launcher can refer to itself only through the dictionaries of its kernel and its stream,
// and those are cleared.
void deallocate(PyObject* object) {
  PyObject_GC_UnTrack(object);
  PyLauncher& self = cast(object);
  if (self.weak_references != nullptr) PyObject_ClearWeakRefs(object);
  Launcher* const launcher = self.launcher;
  if (launcher != nullptr) {
    const WithoutGil released;  // the last reference to a library unloads it
    delete launcher;
  }
  Py_XDECREF(self.kernel);
  Py_XDECREF(self.stream);
  PyTypeObject* const type = Py_TYPE(object);
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* get_kernel(PyObject* self, void*) { return Py_NewRef(cast(self).kernel); }

PyObject* get_stream(PyObject* self, void*) {
  PyObject* const stream = cast(self).stream;
  return Py_NewRef(stream == nullptr ? Py_None : stream);
}

PyObject* get_config(PyObject* self, void*) {
  try {
    return nb::cast(PyLaunchConfig(cast(self).launcher->config())).release().ptr();
  } catch (...) {
    set_python_exception();
    return nullptr;
  }
}

PyObject* represent(PyObject* object) {
  const nb::object config = nb::steal(get_config(object, nullptr));
  if (!config.is_valid()) return nullptr;
  return PyUnicode_FromFormat("<Launcher of %R with %R>", cast(object).kernel, config.ptr());
}

PyGetSetDef launcher_properties[] = {
    {"kernel", get_kernel, nullptr, "The Kernel it launches.", nullptr},
    {"config", get_config, nullptr, "A copy of the LaunchConfig it launches with.", nullptr},
    {"stream", get_stream, nullptr, "The stream it launches on; None: the first argument of each call.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef launcher_methods[] = {
    {"batch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(batch)), METH_FASTCALL,
     "batch($self, /, *stream_and_arguments)\n--\n\n"
     "batch(stream, rows), or batch(rows) with a bound stream: launches once for each tuple of arguments in `rows`, in "
     "order. All of them are checked before the first is launched."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PyLauncher, vectorcall), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(PyLauncher, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

constexpr const char* launcher_doc =
    "A kernel prepared to be launched many times with one config: launcher(stream, *args), or launcher(*args) if it "
    "was "
    "made with a stream. Kernel.launcher(config) and kernel[grid, block, shared, stream] make one. Any threads may "
    "call "
    "it. Errors are those of launch().";

PyType_Slot launcher_slots[] = {{Py_tp_doc, const_cast<char*>(launcher_doc)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                                {Py_tp_repr, reinterpret_cast<void*>(represent)},
                                {Py_tp_getset, launcher_properties},
                                {Py_tp_methods, launcher_methods},
                                {Py_tp_members, members},
                                {0, nullptr}};

PyType_Spec specification{"cucore.Launcher", static_cast<int>(sizeof(PyLauncher)), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                              Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                          launcher_slots};

}  // namespace

nb::object new_launcher(nb::handle kernel, const LaunchConfig& config, PyObject* stream) {
  const PyKernel& wrapped = nb::cast<PyKernel&>(kernel);
  auto launcher = std::make_unique<Launcher>(*wrapped.kernel, config);
  const auto plain = detail::plain_config(ResolvedConfig(config));
  auto object = nb::steal(launcher_type->tp_alloc(launcher_type, 0));
  if (!object.is_valid()) throw nb::python_error();
  PyLauncher& self = cast(object.ptr());
  self.vectorcall = call;
  self.kernel = Py_NewRef(kernel.ptr());
  self.stream = Py_XNewRef(stream);
  self.plan = wrapped.plan;
  self.is_plain = plain.has_value();
  if (plain) self.config = *plain;
  self.launcher = launcher.release();
  return object;
}

void bind_launcher(nb::module_& module) {
  const auto type = nb::steal(PyType_FromSpec(&specification));
  if (!type.is_valid()) throw nb::python_error();
  module.attr("Launcher") = type;
  launcher_type = reinterpret_cast<PyTypeObject*>(nb::object(type).release().ptr());
}

}  // namespace cucore::python
