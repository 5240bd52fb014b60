// Event.
#include "cucore/event.hpp"

#include "cucore/device.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {
namespace {

float elapsed(const PyEvent& end, const PyEvent& start) {
  Event from = start.value().share();
  return end.use([&](const Event& to) { return to.elapsed_since(from); });
}

}  // namespace

void bind_event(nb::module_& module) {
  auto cls = nb::class_<PyEvent>(
      module, "Event", nb::is_weak_referenceable(), nb::dynamic_attr(),
      "A mark in a stream, to wait for, to ask about, or to take the time between two. Device.create_event() makes one "
      "that is not recorded; Stream.record() records.");
  forbid_construction<PyEvent>(cls,
                               "Event cannot be instantiated directly: use Device.create_event() or Stream.record()");
  bind_owner<PyEvent>(cls);
  cls.def_prop_ro(
         "handle", [](const PyEvent& self) { return handle_object(classes().event_handle, self.value().handle()); },
         "The driver's handle (CUevent); 0 when closed.")
      .def_prop_ro(
          "is_timing_enabled", [](const PyEvent& self) { return self.value().is_timing_enabled(); },
          "Whether it can be subtracted.")
      .def_prop_ro(
          "is_blocking_sync", [](const PyEvent& self) { return self.value().is_blocking_sync(); },
          "Whether sync() blocks the thread instead of spinning.")
      .def_prop_ro(
          "is_ipc_enabled", [](const PyEvent& self) { return self.value().is_ipc_enabled(); },
          "Whether other processes can open it.")
      .def_prop_ro(
          "is_done", [](const PyEvent& self) { return self.use([](const Event& event) { return event.is_done(); }); },
          "Whether the work before the last record has completed; True if it was never recorded.")
      .def_prop_ro(
          "device",
          [](const PyEvent& self) -> nb::object {
            const auto device = self.value().device();
            return device.has_value() ? device_object(device->ordinal()) : nb::none();
          },
          "Its Device; None for an event that other code made.")
      .def_prop_ro(
          "context",
          [](const PyEvent& self) -> nb::object {
            Context context = self.value().context();
            return context ? nb::cast(new_context(std::move(context)), nb::rv_policy::take_ownership) : nb::none();
          },
          "Its Context; None for an event that other code made.")
      .def(
          "sync", [](const PyEvent& self) { self.use([](const Event& event) { event.sync(); }); },
          "Waits until the work before the last record has completed.")
      .def(
          "record",
          [](const PyEvent& self, nb::handle on) {
            Stream stream = required_stream(on).value().share();
            self.use([&](const Event& event) { event.record(stream); });
          },
          nb::arg("stream").none(), "Records the event after the work submitted to `stream` so far.")
      .def("elapsed_time", elapsed, nb::arg("start"),
           "Milliseconds from `start` to this event. Raises RuntimeError if there is no time yet, and says why.")
      .def("__sub__", elapsed, nb::is_operator(), "Milliseconds from the right event to the left one.")
      .def(
          "close",
          [](PyEvent& self) {
            const WithoutGil released;
            self.value().close();
          },
          "Destroys the event. Closing twice is allowed.")
      .def("__repr__",
           [](const PyEvent& self) {
             return "<Event handle=" + hex(self.value().handle()) + (self.is_open() ? ">" : " closed>");
           })
      .def("__reduce__", [](const PyEvent&) -> nb::object {
        throw nb::type_error("an Event is driver state of this process and cannot be pickled");
      });
}

}  // namespace cucore::python
