// Stream, and the stream protocol `__cuda_stream__`.
#include "cucore/stream.hpp"

#include <algorithm>
#include <array>

#include "cucore/bindings/fast_path.hpp"
#include "cucore/device.hpp"
#include "python/bindings/callables.hpp"
#include "python/bindings/graph/builder.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

nb::object record(const PyStream& self, nb::handle event, nb::handle options, bool external) {
  if (event.is_none()) {
    if (external) throw nb::type_error("Stream.record(external=True) needs the event that is to be recorded");
    refuse_event_after_fork();
    const EventOptions wanted = event_options(options);
    if (wanted.ipc_enabled) from_package(Package::event_descriptor);  // its module registers it with multiprocessing
    return new_object<PyEvent>(self.use([&](const Stream& stream) { return stream.record(wanted); }));
  }
  const PyEvent* recorded = nullptr;
  if (!nb::try_cast<const PyEvent*>(event, recorded) || recorded == nullptr) {
    throw nb::type_error((std::string("event must be an Event or None, not ") + Py_TYPE(event.ptr())->tp_name).c_str());
  }
  Stream stream = self.share();
  recorded->use([&](const Event& mark) { external ? stream.record_external(mark) : stream.record(mark); });
  return nb::borrow(event);
}

void wait_for_external(const PyStream& self, nb::handle other) {
  const PyEvent* event = nullptr;
  if (!nb::try_cast<const PyEvent*>(other, event) || event == nullptr) {
    throw nb::type_error("Stream.wait(external=True) takes Events only");
  }
  Event mark = event->share();
  self.use([&](const Stream& stream) { stream.wait_external(mark); });
}

void wait_for_one(const PyStream& self, nb::handle other) {
  if (other.is_none()) return self.use([](const Stream&) {});
  const PyEvent* event = nullptr;
  if (nb::try_cast<const PyEvent*>(other, event) && event != nullptr) {
    Event mark = event->share();
    return self.use([&](const Stream& stream) { stream.wait(mark); });
  }
  if (const PyStream* stream = as_stream(other)) {
    Stream waited = stream->share();
    return self.use([&](const Stream& waiting) { waiting.wait(waited); });
  }
  try {
    const Stream foreign = stream_from_protocol(other);
    self.use([&](const Stream& stream) { stream.wait(foreign); });
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;  // KeyboardInterrupt and SystemExit are not about the object
    nb::raise_from(error, PyExc_ValueError,
                   "Stream.wait takes an Event, a Stream or an object with __cuda_stream__, not %s",
                   Py_TYPE(other.ptr())->tp_name);
  } catch (const std::runtime_error&) {  // also nanobind's TypeError
    set_python_exception();
    nb::python_error error;
    nb::raise_from(error, PyExc_ValueError,
                   "Stream.wait takes an Event, a Stream or an object with a sound __cuda_stream__, not this %s",
                   Py_TYPE(other.ptr())->tp_name);
  }
}

void wait(const PyStream& self, nb::handle first, const nb::args& more, bool external) {
  const auto wait_for = external ? wait_for_external : wait_for_one;
  wait_for(self, first);
  for (const nb::handle other : more) wait_for(self, other);
}

PyTypeObject* stream_type = nullptr;  // set at import, as the next two
PyObject* legacy_default = nullptr;
PyObject* per_thread_default = nullptr;

// wait() for one Event.
PyObject* wait_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  const bool is_this = count == 2 && names == nullptr && Py_TYPE(arguments[0]) == stream_type;
  if (!is_this || Py_TYPE(arguments[1]) != event_type) return nullptr;
  const PyStream& self = *nb::inst_ptr<PyStream>(arguments[0]);
  const PyEvent& waited = *nb::inst_ptr<PyEvent>(arguments[1]);
  if (!self.is_open() || !waited.is_open()) return nullptr;
  return guarded([&] {
    const PyStream::Lent stream(self);
    const PyEvent::Lent event(waited);
    const WithoutGil released{WithoutGil::held};
    (*stream).wait(*event);
  });
}

// sync() without a timeout.
PyObject* sync_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  if (count != 1 || names != nullptr || Py_TYPE(arguments[0]) != stream_type) return nullptr;
  const PyStream& self = *nb::inst_ptr<PyStream>(arguments[0]);
  if (!self.is_open()) return nullptr;
  return guarded([&] {
    const PyStream::Lent stream(self);
    const WithoutGil released{WithoutGil::held};
    (*stream).sync();
  });
}

void sync(const PyStream& self, nb::handle timeout) {
  if (timeout.is_none()) return self.use([](const Stream& stream) { stream.sync(); });
  const Stream stream = self.share();
  wait_with_timeout(timeout, "end of the Stream",
                    [&](std::chrono::nanoseconds slice) { return stream.sync_for(slice); });
}

std::string describe(const PyStream& self) {
  std::string text = "<Stream handle=" + hex(self.value().handle());
  if (self.name.has_value()) text += " name='" + *self.name + "'";
  if (!self.is_open()) return text + " context=0x0>";
  // The default streams belong to whatever context is current; asking for it here would open the driver.
  if (self.identity() <= 2 && !devices_were_asked()) return text + " context=current>";
  try {
    const std::uint64_t context = self.use([](const Stream& stream) { return address(stream.context().handle()); });
    return text + " context=" + hex(context) + ">";
  } catch (const std::exception&) {
    return text + ">";
  }
}

// What the core knows already is said at once; otherwise the driver is asked.
bool is_nonblocking(const PyStream& self) {
  if (const auto known = detail::known_nonblocking(self.value())) return *known;
  return self.use([](const Stream& stream) { return stream.is_nonblocking(); });
}

int priority(const PyStream& self) {
  if (const auto known = detail::known_priority(self.value())) return *known;
  return self.use([](const Stream& stream) { return stream.priority(); });
}

Context core_context(const PyStream& self) {
  if (Context known = detail::known_context(self.value())) return known;
  return self.use([](const Stream& stream) { return stream.context(); });
}

nb::object context_of_stream(const PyStream& self) { return new_object<PyContext>(core_context(self)); }

nb::object resources_of_stream(const PyStream& self) { return resources_object(core_context(self).resources()); }

// The garbage collector must see the foreign object that is kept alive, or a cycle through it would stay for ever. When
// the core's stream is shared, this wrapper alone does not own the object's one reference, and must not show it.
int traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  if (!nb::inst_ready(object)) return 0;
  const Stream& stream = nb::inst_ptr<PyStream>(object)->bare_value();
  if (stream.state().use_count() == 1) Py_VISIT(static_cast<PyObject*>(const_cast<void*>(stream.owner().get())));
  return 0;
}

int clear(PyObject* object) {
  Stream& stream = nb::inst_ptr<PyStream>(object)->bare_value();
  if (stream.owner() != nullptr) stream = Stream();
  return 0;
}

// The most frequent record: of an Event, which is returned. Null without an exception: another kind, or the driver
// refused (the stream's context may have to be made current first).
PyObject* record_directly(PyObject* self, PyObject* event) {
  const PyStream& stream = *nb::inst_ptr<PyStream>(self);
  const PyEvent& mark = *nb::inst_ptr<PyEvent>(event);
  if (!stream.is_open() || !mark.is_open() || !mark.is_recordable) return nullptr;
  PyStream::Use stream_use(stream);
  PyEvent::Use recorded(mark);
  if (!stream_use.is_open() || !recorded.is_open()) return nullptr;
  PyThreadState* const thread = PyEval_SaveThread();
  const int code = detail::record_native(native(mark), native(stream));
  stream_use.end_without_gil();
  recorded.end_without_gil();
  restore_thread(thread);
  return code == 0 ? Py_NewRef(event) : nullptr;
}

// record() on the bare CPython API: programs call it around every piece of work.
PyObject* record_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  if (count == 1 && names == nullptr && Py_TYPE(arguments[0]) == event_type) [[likely]] {
    if (PyObject* const recorded = record_directly(self, arguments[0])) return recorded;
  }
  return answered([&] {
    std::array<PyObject*, 3> given{Py_None, Py_None, Py_False};  // event, options, external
    constexpr std::array<const char*, 3> known{"event", "options", "external"};
    if (count > 2) throw nb::type_error("Stream.record takes at most two positional arguments, event and options");
    std::copy_n(arguments, count, given.begin());
    for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
      PyObject* const name = PyTuple_GET_ITEM(names, i);
      const auto found = std::find_if(known.begin(), known.end(), [&](const char* each) {
        return PyUnicode_CompareWithASCIIString(name, each) == 0;
      });
      if (found == known.end()) {
        throw nb::type_error("Stream.record takes no arguments but event, options and external");
      }
      const auto place = static_cast<std::size_t>(found - known.begin());
      if (static_cast<Py_ssize_t>(place) < count) throw nb::type_error("Stream.record got an argument twice");
      given[place] = arguments[count + i];
    }
    const int external = given[2] == Py_False ? 0 : PyObject_IsTrue(given[2]);
    if (external < 0) throw nb::python_error();
    return record(self_as<PyStream>(self), given[0], given[1], external != 0);
  });
}

PyMethodDef stream_methods[] = {
    // The casts are how CPython takes functions of this kind.
    {"record", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(record_method)),
     METH_FASTCALL | METH_KEYWORDS,
     "record($self, event=None, options=None, *, external=False)\n--\n\n"
     "Records `event` after the work submitted so far and returns it; without one, makes it from `options`. With "
     "`external`, in a stream that is being captured, the graph records it each time it runs."},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot stream_slots[] = {{Py_tp_methods, stream_methods},
                              {Py_tp_new, reinterpret_cast<void*>(new_without_value)},
                              {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                              {Py_tp_clear, reinterpret_cast<void*>(clear)},
                              {0, nullptr}};

}  // namespace

EventOptions event_options(nb::handle options) {
  if (options.is_none()) return {};
  const nb::object accepted = accept_options(Package::EventOptions, options);
  const auto truth = [&](const char* field) {
    const int value = PyObject_IsTrue(nb::object(accepted.attr(field)).ptr());
    if (value < 0) throw nb::python_error();
    return value != 0;
  };
  return {.timing_enabled = truth("timing_enabled"),
          .blocking_sync = truth("blocking_sync"),
          .ipc_enabled = truth("ipc_enabled")};
}

const PyStream* as_stream(nb::handle object) {
  const PyStream* stream = nullptr;
  if (nb::try_cast<const PyStream*>(object, stream) && stream != nullptr) return stream;
  return stream_of_builder(object);
}

const PyStream& required_stream(nb::handle object) {
  if (const PyStream* stream = as_stream(object)) return *stream;
  if (object.is_none()) {
    throw nb::type_error("stream is required: pass a Stream, for example device.default_stream, instead of None");
  }
  throw nb::type_error(
      (std::string("stream must be a Stream or a GraphBuilder, not ") + Py_TYPE(object.ptr())->tp_name).c_str());
}

Stream kept_stream(const PyStream& stream) {
  const Reference<Stream> value = stream.value();
  const auto owner = value.owner();
  if (owner == nullptr) return value.share();
  return Stream::from_handle(value.handle(), keep_alive(static_cast<PyObject*>(const_cast<void*>(owner.get()))));
}

Stream stream_from_protocol(nb::handle object, int level) {
  if (const PyStream* stream = as_stream(object)) {
    if (!stream->is_open()) throw std::runtime_error("the stream has been closed");
    return stream->share();
  }
  const char* type = Py_TYPE(object.ptr())->tp_name;
  auto answer = nb::steal(PyObject_GetAttrString(object.ptr(), "__cuda_stream__"));
  if (!answer.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_AttributeError) == 0) throw nb::python_error();
    PyErr_Clear();
    throw nb::type_error((std::string("expected a Stream or an object with __cuda_stream__, not ") + type).c_str());
  }
  if (PyCallable_Check(answer.ptr()) != 0) {
    answer = answer();
  } else if (PyErr_WarnFormat(PyExc_DeprecationWarning, level,
                              "%s.__cuda_stream__ is a value; it should be a method that returns (0, address)",
                              type) < 0) {
    throw nb::python_error();
  }
  const Py_ssize_t size = PyObject_Size(answer.ptr());
  if (size != 2) {
    PyErr_Clear();
    throw std::runtime_error(std::string(type) + ".__cuda_stream__ must return a pair (0, address)");
  }
  const nb::object version = answer[0];
  const nb::object number = answer[1];
  if (!version.equal(nb::int_(0))) {
    throw std::runtime_error(std::string(type) + ".__cuda_stream__ speaks version " + nb::repr(version).c_str() +
                             " of the stream protocol; only version 0 is known");
  }
  const auto index = nb::steal(PyNumber_Index(number.ptr()));
  if (!index.is_valid()) throw nb::python_error();
  const unsigned long long handle = PyLong_AsUnsignedLongLong(index.ptr());
  if (PyErr_Occurred() != nullptr) throw nb::python_error();
  return Stream::from_handle(reinterpret_cast<StreamHandle>(static_cast<std::uintptr_t>(handle)), keep_alive(object));
}

nb::object legacy_default_stream() { return nb::borrow(legacy_default); }

nb::object default_stream(bool per_thread) { return nb::borrow(per_thread ? per_thread_default : legacy_default); }

void bind_stream(nb::module_& module) {
  auto cls = nb::class_<PyStream>(module, "Stream", nb::type_slots(stream_slots), nb::is_weak_referenceable(),
                                  nb::pooled(pooled_objects),
                                  "A queue of work on a device, executed in order. Device.create_stream() makes one.");
  forbid_construction<PyStream>(
      cls, "Stream cannot be instantiated directly: use Device.create_stream() or Stream.from_handle()");
  bind_owner<PyStream>(cls);
  getter<PyStream, is_nonblocking>(cls, "is_nonblocking",
                                   "Whether it does not synchronize with the legacy default stream.");
  getter<PyStream, priority>(cls, "priority", "Its priority; a lower number is more urgent.");
  getter<PyStream, context_of_stream>(cls, "context", "The stream's Context; of the default streams, the current one.");
  getter<PyStream, resources_of_stream>(
      cls, "resources",
      "What the stream's context was provisioned with: all of the device unless that is a green one.");
  cls.def_static(
         "from_handle",
         [](Unsigned handle) {
           return new PyStream(
               Stream::from_handle(reinterpret_cast<StreamHandle>(static_cast<std::uintptr_t>(handle.value))));
         },
         nb::arg("handle"), "Wraps the address of a stream that other code owns. Nothing is checked or destroyed.")
      .def_prop_ro(
          "handle", [](const PyStream& self) { return handle_object(Package::CUstream, self.value().handle()); },
          "The driver's handle (CUstream); 0 when closed.")
      .def_prop_ro(
          "is_done",
          [](const PyStream& self) { return self.use([](const Stream& stream) { return stream.is_done(); }); },
          "Whether everything submitted so far has completed.")
      .def_prop_ro(
          "device",
          [](const PyStream& self) {
            return device_object(self.use([](const Stream& stream) { return stream.device().ordinal(); }));
          },
          "The Device of the calling thread that the stream is on.")
      .def("sync", sync, nb::arg("timeout") = nb::none(),
           "Waits until everything submitted so far has completed. With a `timeout` (seconds or a timedelta): for at "
           "most that long, then TimeoutError; Ctrl-C ends such a wait.")
      .def_prop_ro(
          "id", [](const PyStream& self) { return self.use([](const Stream& stream) { return stream.id(); }); },
          "The driver's number of the stream, unique in the process.")
      .def_prop_ro(
          "is_capturing",
          [](const PyStream& self) {
            return self.use([](const Stream& stream) { return stream.capture_status() != CaptureStatus::none; });
          },
          "Whether work submitted now is recorded into a graph.")
      .def(
          "timer",
          [](nb::handle self) {
            if (!self_as<PyStream>(self).is_open()) throw std::runtime_error("the stream has been closed");
            return nb::object(from_package(Package::Timer)(self));
          },
          "A Timer of work on this stream: `with stream.timer() as t: ...`, then `t.ms`.")
      .def(
          "__await__", [](nb::handle self) { return from_package(Package::await_stream)(self); },
          "`await stream` waits for the work submitted so far without blocking the event loop.")
      .def("wait", wait, nb::arg("event_or_stream").none(), nb::arg("more"), nb::kw_only(), nb::arg("external") = false,
           "Later work here waits for an event's last record, or for the work submitted to another stream so far; for "
           "each of several.")
      .def(
          "close",
          [](PyStream& self) {
            if (!self.is_default) self.close_value();
          },
          "Drops the stream; one that cucore made is destroyed when its pending work is done.")
      .def("__cuda_stream__",
           [](const PyStream& self) {
             if (!self.is_open()) throw std::runtime_error("the stream has been closed");
             return nb::make_tuple(0, self.identity());
           })
      .def("__repr__", describe, nb::lock_self())
      .def("_repr_html_", [](nb::handle self) { return from_package(Package::stream_html)(self, nb::repr(self)); })
      .def("__reduce__", [](const PyStream&) -> nb::object {
        throw nb::type_error("a Stream is driver state of this process and cannot be pickled");
      });

  stream_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  add_shortcut<wait_directly>(cls, "wait");
  add_shortcut<sync_directly>(cls, "sync");
  bind_stream_operations(cls);
  module.def("_stream_from_protocol",
             [](nb::handle object) { return new PyStream(stream_from_protocol(object, 2)); });  // for Device, of Python
  const nb::object legacy =
      nb::cast(new PyStream(Stream::legacy_default().share(), true), nb::rv_policy::take_ownership);
  module.attr("LEGACY_DEFAULT_STREAM") = legacy;
  legacy_default = nb::object(legacy).release().ptr();
  nb::object per_thread =
      nb::cast(new PyStream(Stream::per_thread_default().share(), true), nb::rv_policy::take_ownership);
  module.attr("PER_THREAD_DEFAULT_STREAM") = per_thread;
  per_thread_default = per_thread.release().ptr();
}

}  // namespace cucore::python
