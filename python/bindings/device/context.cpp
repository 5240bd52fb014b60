// Context.
#include "cucore/context.hpp"

#include "cucore/device.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {

namespace {

PyType_Slot context_slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_without_value)}, {0, nullptr}};

}  // namespace

PyContext* new_context(Context context) { return new PyContext(std::move(context)); }

void bind_context(nb::module_& module) {
  auto cls = nb::class_<PyContext>(module, "Context", nb::type_slots(context_slots), nb::is_weak_referenceable(),
                                   nb::pooled(pooled_objects),
                                   "Where a device's streams, events and memory belong. Device.context gives one.");
  forbid_construction<PyContext>(cls, "Context cannot be instantiated directly: use Device.context or Stream.context");
  bind_owner<PyContext>(cls);
  getter<PyContext, [](const PyContext& self) { return self.value().is_green(); }>(
      cls, "is_green", "Whether it was made from a part of a device's resources; False when closed.");
  getter<PyContext, [](const PyContext& self) { return resources_object(self.value().resources()); }>(
      cls, "resources", "What the context was provisioned with: all of the device unless it is green.");
  cls.def_static(
         "from_handle",
         [](Unsigned handle) {
           return new_context(without_gil([&] {
             return Context::from_handle(reinterpret_cast<ContextHandle>(static_cast<std::uintptr_t>(handle.value)));
           }));
         },
         nb::arg("handle"), "Wraps the address of a context that other code owns and keeps alive.")
      .def_prop_ro(
          "handle",
          [](const PyContext& self) -> nb::object {
            return self.is_open() ? handle_object(Package::CUcontext, self.value().handle()) : nb::none();
          },
          "The driver's handle (CUcontext); None when closed.")
      .def_prop_ro(
          "device",
          [](const PyContext& self) {
            return device_object(self.use([](const Context& context) { return context.device().ordinal(); }));
          },
          "The Device the context is on.")
      .def(
          "current", [](nb::handle self) { return from_package(Package::CurrentScope)(self); },
          "`with context.current():` makes it current, and the one before again afterwards.")
      .def(
          "close",
          [](PyContext& self) {
            if (!self.is_open()) return;
            if (self.use([](const Context& context) { return context.is_current(); })) {
              throw std::runtime_error(
                  "the context cannot be closed while it is current in this thread: make another context current with "
                  "Device.set_current() first");
            }
            self.close_value();
          },
          "Drops this reference; a green context is destroyed when no stream or event needs it any more.")
      .def(
          "create_stream",
          [](nb::handle self, nb::handle options) {
            const PyContext& context = self_as<PyContext>(self);
            if (!context.is_open()) throw std::runtime_error("the context has been closed");
            if (!context.value().is_green()) {
              throw std::runtime_error(
                  "only a green context makes streams itself: use Device.create_stream() for the primary context");
            }
            return from_package(Package::stream_in)(self, options);
          },
          nb::arg("options") = nb::none(),
          "A new stream that runs on this green context's part of the device; needs no set_current().")
      .def("__repr__",
           [](const PyContext& self) -> std::string {
             if (!self.is_open()) return "<Context closed>";
             const int ordinal = self.use([](const Context& context) { return context.device().ordinal(); });
             return "<Context handle=" + hex(self.identity()) + " device=" + std::to_string(ordinal) + ">";
           })
      .def("_set_current",
           [](const PyContext& self) { self.use([](const Context& context) { context.set_current(); }); })
      .def("_sync", [](const PyContext& self) { self.use([](const Context& context) { context.sync(); }); })
      .def("_limit",
           [](const PyContext& self, int limit) {
             return self.use([&](const Context& context) { return context.limit(static_cast<Limit>(limit)); });
           })
      .def("_set_limit",
           [](const PyContext& self, int limit, Unsigned value) {
             self.use([&](const Context& context) { context.set_limit(static_cast<Limit>(limit), value); });
           })
      .def("_enable_peer_access",
           [](const PyContext& self, const PyContext& peer) {
             Context other = peer.share();
             self.use([&](const Context& context) { context.enable_peer_access(other); });
           })
      .def("_disable_peer_access",
           [](const PyContext& self, const PyContext& peer) {
             Context other = peer.share();
             self.use([&](const Context& context) { context.disable_peer_access(other); });
           })
      .def("_create_stream",
           [](const PyContext& self, bool nonblocking, std::optional<int> priority) {
             return new PyStream(self.use([&](const Context& context) {
               return context.create_stream(StreamOptions{.nonblocking = nonblocking, .priority = priority});
             }));
           })
      .def("_create_event", [](const PyContext& self, bool timing, bool blocking, bool ipc) {
        refuse_event_after_fork();
        return new_object<PyEvent>(self.use([&](const Context& context) {
          return context.create_event(
              EventOptions{.timing_enabled = timing, .blocking_sync = blocking, .ipc_enabled = ipc});
        }));
      });
}

}  // namespace cucore::python
