// Devices: what cucore._device asks about an ordinal, and DeviceProperties.
#include "cucore/device.hpp"

#include <array>
#include <atomic>

#include "cucore/driver.hpp"
#include "python/bindings/memory.hpp"

namespace cucore::python {
namespace {

// Answers are kept: attributes do not change.
struct PyDeviceProperties {
  DeviceProperties properties;
  std::array<std::optional<int>, 192> known{};

  template <class Ask>
  int value(std::size_t number, Ask ask) {
    if (!known[number].has_value()) known[number] = without_gil([&] { return static_cast<int>(ask(properties)); });
    return *known[number];
  }
};

void bind_properties(nb::module_& module) {
  auto cls = nb::class_<PyDeviceProperties>(module, "DeviceProperties", nb::is_weak_referenceable(),
                                            "The device's attributes by the driver's names, in lower case.");
  forbid_construction<PyDeviceProperties>(cls,
                                          "DeviceProperties cannot be instantiated directly: use Device.properties");
#define DEVICE_ATTRIBUTE(name, number, kind, default_value)                                               \
  cls.def_prop_ro(#name, [](PyDeviceProperties& self) {                                                   \
    return static_cast<kind>(self.value(number, [](const DeviceProperties& ask) { return ask.name(); })); \
  });
#include "cucore/device_attributes.def"
}

// Whether Python has asked about devices, so that the driver is open.
std::atomic<bool> devices_asked{false};

nb::object context_or_none(Context context) {
  if (!context) return nb::none();
  return nb::cast(new_context(std::move(context)), nb::rv_policy::take_ownership);
}

}  // namespace

nb::object device_object(int ordinal) {
  auto device = nb::steal(PyObject_CallOneArg(classes().device, nb::int_(ordinal).ptr()));
  if (!device.is_valid()) throw nb::python_error();
  return device;
}

int device_ordinal(nb::handle device) {
  if (classes().device != nullptr && PyObject_IsInstance(device.ptr(), classes().device) == 1) {
    return nb::cast<int>(device.attr("device_id"));
  }
  const auto index = nb::steal(PyNumber_Index(device.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    throw nb::type_error(
        (std::string("a device must be a Device or an ordinal, not ") + Py_TYPE(device.ptr())->tp_name).c_str());
  }
  return nb::cast<int>(index);
}

nb::object accept_options(const char* name, nb::handle options) {
  const nb::module_ module = nb::module_::import_("cucore._options");
  return module.attr("accept")(module.attr(name), options);
}

void bind_device(nb::module_& module) {
  bind_properties(module);
  module.def("_set_device_class", [](nb::handle device) { classes().device = device.inc_ref().ptr(); });
  module.def("_device_count", [] {
    const int count = without_gil([] { return Device::count(); });
    devices_asked = true;
    return count;
  });
  module.def("_current_device", [] {
    const int ordinal = without_gil([] { return Device::current().ordinal(); });
    devices_asked = true;
    return ordinal;
  });
  module.def("_open_driver_version", []() -> std::optional<int> {
    if (!devices_asked) return std::nullopt;
    const DriverInfo info = without_gil([] { return driver_info(); });
    // The CPU device takes PTX of any version.
    return info.kind == DriverKind::gpu ? std::optional(info.version) : std::nullopt;
  });
  module.def("_device_name", [](int n) { return text_object(without_gil([&] { return Device(n).name(); })); });
  module.def("_device_uuid", [](int n) { return without_gil([&] { return Device(n).uuid(); }); });
  module.def("_device_pci_bus_id", [](int n) { return without_gil([&] { return Device(n).pci_bus_id(); }); });
  module.def("_device_compute_capability", [](int n) {
    const ComputeCapability cc = without_gil([&] { return Device(n).compute_capability(); });
    return nb::make_tuple(cc.major, cc.minor);
  });
  module.def("_device_total_memory", [](int n) { return without_gil([&] { return Device(n).total_memory(); }); });
  module.def("_device_can_access_peer",
             [](int n, int peer) { return without_gil([&] { return Device(n).can_access_peer(Device(peer)); }); });
  module.def("_device_properties",
             [](int n) { return PyDeviceProperties{without_gil([&] { return Device(n).properties(); })}; });
  module.def("_primary_context", [](int n) { return new_context(without_gil([&] { return Device(n).context(); })); });
  module.def("_current_context", [] { return context_or_none(without_gil([] { return Context::current(); })); });
}

}  // namespace cucore::python
