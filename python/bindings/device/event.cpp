// Event.
#include "cucore/event.hpp"

#include <span>

#include "cucore/device.hpp"
#include "cucore/driver.hpp"
#include "cucore/error.hpp"
#include "cucore/process.hpp"
#include "python/bindings/callables.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {
namespace {

float elapsed(const PyEvent& end, const PyEvent& start, bool sync) {
  Event from = start.share();
  return end.use([&](const Event& to) {
    if (sync) {
      from.sync();
      to.sync();
    }
    return to.elapsed_time(from);
  });
}

float difference(const PyEvent& end, const PyEvent& start) { return elapsed(end, start, false); }

// sync() without a timeout.
PyObject* sync_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  if (count != 1 || names != nullptr || Py_TYPE(arguments[0]) != event_type) return nullptr;
  const PyEvent& self = *nb::inst_ptr<PyEvent>(arguments[0]);
  if (!self.is_open()) return nullptr;
  return guarded([&] {
    const PyEvent::Lent event(self);
    const WithoutGil released{WithoutGil::held};
    (*event).sync();
  });
}

void sync(const PyEvent& self, nb::handle timeout) {
  if (timeout.is_none()) return self.use([](const Event& event) { event.sync(); });
  const Event event = self.share();
  wait_with_timeout(timeout, "Event", [&](std::chrono::nanoseconds slice) { return event.sync_for(slice); });
}

bool is_done(const PyEvent& self) {
  const PyEvent::Lent event(self);
  const WithoutGil released{WithoutGil::held};
  return (*event).is_done();
}

// A time is not an event: `event -= other` is `event = event - other`, and nothing but an event is subtracted from.
nb::object not_implemented(const PyEvent&, nb::handle) { return nb::borrow(Py_NotImplemented); }

// IPC: the bytes of the driver's handle in a small Python object, see cucore/_ipc.py.
nb::bytes export_ipc(const PyEvent& self) {
  const auto bytes = self.use([](const Event& event) { return event.ipc_descriptor(); });
  return nb::bytes(bytes.data(), bytes.size());
}

nb::object open_ipc(nb::handle type, const nb::bytes& handle, bool blocking) {
  const std::span bytes(static_cast<const std::byte*>(handle.data()), handle.size());
  return new_object_of<PyEvent>(type, without_gil([&] { return Event::from_ipc_descriptor(bytes, blocking); }));
}

nb::object context_of_event(const PyEvent& self) {
  Context context = self.value().context();
  return context ? new_object<PyContext>(std::move(context)) : nb::none();
}

PyType_Slot event_slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_without_value)}, {0, nullptr}};

}  // namespace

void refuse_event_after_fork() {
  if (driver_opened()) return;
  try {
    driver_info();
  } catch (const DriverError& error) {
    raise(from_package(Package::RuntimeForkedError), error.what());
  }
}

void bind_event(nb::module_& module) {
  auto cls = nb::class_<PyEvent>(
      module, "Event", nb::type_slots(event_slots), nb::is_weak_referenceable(), nb::pooled(pooled_objects),
      "A mark in a stream, to wait for, to ask about, or to take the time between two. Device.create_event() makes one "
      "that is not recorded; Stream.record() records.");
  forbid_construction<PyEvent>(cls,
                               "Event cannot be instantiated directly: use Device.create_event() or Stream.record()");
  bind_owner<PyEvent>(cls);
  getter<PyEvent, [](const PyEvent& self) { return self.value().is_timing_enabled(); }>(
      cls, "is_timing_enabled", "Whether it can be subtracted.");
  getter<PyEvent, [](const PyEvent& self) { return self.value().is_blocking_sync(); }>(
      cls, "is_blocking_sync", "Whether sync() blocks the thread instead of spinning.");
  getter<PyEvent, [](const PyEvent& self) { return self.value().is_ipc_enabled(); }>(
      cls, "is_ipc_enabled", "Whether other processes can open it.");
  getter<PyEvent, is_done>(cls, "is_done",
                           "Whether the work before the last record has completed; True if it was never recorded.");
  getter<PyEvent, context_of_event>(cls, "context", "Its Context; None for an event that other code made.");
  cls.def_static(
         "from_handle",
         [](Unsigned handle, nb::handle options) {
           const EventOptions made_with = event_options(options);
           return new_object<PyEvent>(
               Event::from_handle(reinterpret_cast<EventHandle>(static_cast<std::uintptr_t>(handle.value)), made_with));
         },
         nb::arg("handle"), nb::arg("options") = nb::none(),
         "Wraps the address of an event that other code owns; `options` says how that made it. Nothing is checked or "
         "destroyed. The address of an event of cucore's gives that event.")
      .def_prop_ro(
          "ipc_descriptor", [](nb::handle self) { return from_package(Package::event_descriptor)(self); },
          "What another process opens the event with: an IPCEventDescriptor.")
      .def_prop_ro(
          "handle", [](const PyEvent& self) { return handle_object(Package::CUevent, self.value().handle()); },
          "The driver's handle (CUevent); 0 when closed.")
      .def_prop_ro(
          "device",
          [](const PyEvent& self) -> nb::object {
            const auto device = self.value().device();
            return device.has_value() ? device_object(device->ordinal()) : nb::none();
          },
          "Its Device; None for an event that other code made.")
      .def("sync", sync, nb::arg("timeout") = nb::none(),
           "Waits until the work before the last record has completed. With a `timeout` (seconds or a timedelta): for "
           "at most that long, then TimeoutError; Ctrl-C ends such a wait.")
      .def(
          "wait_on",
          [](const PyEvent& self, nb::handle by) {
            Stream stream = required_stream(by).share();
            self.use([&](const Event& event) { event.wait_on(stream); });
          },
          nb::arg("stream").none(), "Later work in `stream` waits for the last record; the host does not.")
      .def(
          "future", [](nb::handle self) { return from_package(Package::future_of_event)(self); },
          "A concurrent.futures.Future that is done when the work before the last record has completed; its exception "
          "is the one that sync() would raise.")
      .def(
          "__await__", [](nb::handle self) { return from_package(Package::await_event)(self); },
          "`await event` waits without blocking the event loop.")
      .def(
          "record",
          [](const PyEvent& self, nb::handle on) {
            Stream stream = required_stream(on).share();
            self.use([&](const Event& event) { event.record(stream); });
          },
          nb::arg("stream").none(), "Records the event after the work submitted to `stream` so far.")
      .def("elapsed_time", elapsed, nb::arg("start"), nb::kw_only(), nb::arg("sync") = false,
           "Milliseconds from `start` to this event. Raises RuntimeError if there is no time yet, and says why; "
           "`sync=True` waits for both first.")
      .def(
          "elapsed",
          [](const PyEvent& self, const PyEvent& start, bool sync) {
            const float milliseconds = elapsed(self, start, sync);
            return nb::module_::import_("datetime").attr("timedelta")(nb::arg("milliseconds") = milliseconds);
          },
          nb::arg("start"), nb::kw_only(), nb::arg("sync") = false,
          "elapsed_time() as a timedelta, which is a microsecond fine.")
      .def("__sub__", difference, nb::is_operator(), "Milliseconds from the right event to the left one.")
      .def("__rsub__", not_implemented)
      .def("__isub__", not_implemented)
      .def("close", &PyEvent::close,
           "Destroys the event, or gives it back to the EventPool it is from. Closing twice is allowed.")
      .def("__repr__", [](const PyEvent& self) { return "<Event handle=" + hex(self.value().handle()) + ">"; })
      .def("__reduce__", [](const PyEvent&) -> nb::object {
        throw nb::type_error(
            "an Event is driver state of this process and cannot be pickled; an IPC-enabled one travels through "
            "multiprocessing");
      });
  event_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  add_shortcut<sync_directly>(cls, "sync");
  module.def("_export_ipc_event", export_ipc);
  module.def("_open_ipc_event", open_ipc);
  cls.attr("from_ipc_descriptor") = nb::module_::import_("builtins")
                                        .attr("classmethod")(nb::cpp_function(
                                            [](nb::handle type, nb::handle descriptor) {
                                              return from_package(Package::open_event)(type, descriptor);
                                            },
                                            nb::arg("type"), nb::arg("ipc_descriptor"),
                                            "Opens another process's event from what its `ipc_descriptor` gave."));
}

}  // namespace cucore::python
