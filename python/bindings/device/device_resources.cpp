// DeviceResources, SMResource and WorkqueueResource.
#include "cucore/device_resources.hpp"

#include "cucore/device.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {
namespace {

const char* scope_name(WorkqueueSharingScope scope) {
  return scope == WorkqueueSharingScope::device_ctx ? "device_ctx" : "green_ctx_balanced";
}

nb::object context_of(const Device& device, const ContextOptions& options) {
  return nb::cast(new_context(without_gil([&] { return device.create_context(options); })),
                  nb::rv_policy::take_ownership);
}

void bind_sm(nb::module_& module) {
  auto cls = nb::class_<SMResource>(module, "SMResource", nb::is_weak_referenceable(),
                                    "Multiprocessors (SMs) of a device, to be divided among green contexts.");
  forbid_construction<SMResource>(cls, "SMResource cannot be instantiated directly: use Device.resources.sm");
  cls.def_prop_ro(
         "handle", [](const SMResource& self) { return address(self.handle()); },
         "The address of the driver's description (CUdevResource), valid as long as this object lives.")
      .def_prop_ro("sm_count", &SMResource::sm_count, "How many SMs there are.")
      .def_prop_ro("min_partition_size", &SMResource::min_partition_size, "The smallest group a split can give.")
      .def_prop_ro("coscheduled_alignment", &SMResource::coscheduled_alignment, "Groups are multiples of this many.")
      .def_prop_ro("flags", &SMResource::flags, "The driver's flags of the resource.")
      .def_prop_ro(
          "device", [](const SMResource& self) { return device_object(self.device().ordinal()); },
          "The Device whose SMs they are.")
      .def_prop_ro("is_dry_run", &SMResource::is_dry_run, "Whether no context can be made of it.")
      .def(
          "split",
          [](nb::handle self, nb::handle options, bool dry_run) {
            return from_package(Package::split_multiprocessors)(self, options, dry_run);
          },
          nb::arg("options").none(), nb::kw_only(), nb::arg("dry_run") = false,
          "(groups, remainder): divides the SMs as SMResourceOptions say. With `dry_run` the counts are the same, but "
          "no context can be made of the result.")
      .def(
          "split_fractions",
          [](nb::handle self, const nb::args& fractions, bool dry_run) {
            return from_package(Package::split_fractions)(self, fractions, dry_run);
          },
          nb::arg("fractions"), nb::kw_only(), nb::arg("dry_run") = false,
          "(groups, remainder): groups of these fractions of the SMs, each rounded down to what a split can give.")
      .def(
          "split_evenly",
          [](nb::handle self, int groups, bool dry_run) {
            return from_package(Package::split_evenly)(self, groups, dry_run);
          },
          nb::arg("groups"), nb::kw_only(), nb::arg("dry_run") = false,
          "(groups, remainder): that many groups of one size, as large as can be.")
      .def("__repr__",
           [](const SMResource& self) {
             return "<SMResource " + std::to_string(self.sm_count()) + " SMs" +
                    (self.is_dry_run() ? ", dry run>" : ">");
           })
      .def("_split",
           [](const SMResource& self,
              const std::vector<std::tuple<unsigned, std::optional<unsigned>, std::optional<unsigned>, bool>>& wanted,
              bool dry_run) {
             std::vector<SMGroup> groups;
             for (const auto& [count, together, preferred, backfill] : wanted) {
               groups.push_back({.count = count,
                                 .coscheduled_sm_count = together,
                                 .preferred_coscheduled_sm_count = preferred,
                                 .backfill = backfill});
             }
             SMSplit split = without_gil([&] { return self.split(groups, dry_run); });
             nb::list made;
             for (SMResource& group : split.groups) made.append(nb::cast(std::move(group)));
             return nb::make_tuple(made, nb::cast(std::move(split.remainder)));
           })
      .def("_fractions", [](const SMResource& self, const std::vector<double>& parts) {
        std::vector<unsigned> counts;
        for (const SMGroup& group : self.fractions(parts)) counts.push_back(group.count);
        return counts;
      });
}

void bind_workqueue(nb::module_& module) {
  auto cls = nb::class_<WorkqueueResource>(module, "WorkqueueResource", nb::is_weak_referenceable(),
                                           "How work reaches the device from a context.");
  forbid_construction<WorkqueueResource>(
      cls, "WorkqueueResource cannot be instantiated directly: use Device.resources.workqueue");
  cls.def_prop_ro(
         "handle", [](const WorkqueueResource& self) { return address(self.handle()); },
         "The address of the driver's description (CUdevResource), valid as long as this object lives.")
      .def_prop_ro(
          "sharing_scope",
          [](const WorkqueueResource& self) {
            return from_package(Package::WorkqueueSharingScopeType)(scope_name(self.sharing_scope()));
          },
          "Which contexts the queues may be shared between.")
      .def_prop_ro("concurrency_limit", &WorkqueueResource::concurrency_limit,
                   "How many streams can have work in flight at once; at first the most the driver has.")
      .def_prop_ro(
          "device", [](const WorkqueueResource& self) { return device_object(self.device().ordinal()); },
          "The Device it belongs to.")
      .def(
          "configure",
          [](nb::handle self, nb::handle options) { from_package(Package::configure_workqueue)(self, options); },
          nb::arg("options").none(),
          "Changes this object as WorkqueueResourceOptions say, and so the contexts that are made of it later.")
      .def("__repr__",
           [](const WorkqueueResource& self) {
             return std::string("<WorkqueueResource sharing_scope=") + scope_name(self.sharing_scope()) +
                    " concurrency_limit=" + std::to_string(self.concurrency_limit()) + ">";
           })
      .def("_configure", [](WorkqueueResource& self, std::optional<bool> balanced, std::optional<unsigned> limit) {
        WorkqueueResourceOptions options{.concurrency_limit = limit};
        if (balanced.has_value()) {
          options.sharing_scope =
              *balanced ? WorkqueueSharingScope::green_ctx_balanced : WorkqueueSharingScope::device_ctx;
        }
        self.configure(options);
      });
}

PyType_Slot resources_slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_without_value)}, {0, nullptr}};

}  // namespace

nb::object resources_object(DeviceResources resources) { return new_object<DeviceResources>(std::move(resources)); }

void bind_device_resources(nb::module_& module) {
  bind_sm(module);
  bind_workqueue(module);
  auto cls = nb::class_<DeviceResources>(
      module, "DeviceResources", nb::type_slots(resources_slots), nb::is_weak_referenceable(),
      nb::pooled(pooled_objects),
      "What a device has, or a context was provisioned with: Device.resources, Context.resources, Stream.resources.");
  forbid_construction<DeviceResources>(cls, "DeviceResources cannot be instantiated directly: use Device.resources");
  cls.def_prop_ro(
         "sm", [](const DeviceResources& self) { return without_gil([&] { return self.sm(); }); },
         "The multiprocessors: a new SMResource each time.")
      .def_prop_ro(
          "workqueue", [](const DeviceResources& self) { return without_gil([&] { return self.workqueue(); }); },
          "The work queues: a new WorkqueueResource each time.")
      .def_prop_ro(
          "device", [](const DeviceResources& self) { return device_object(self.device().ordinal()); },
          "The Device they are of.");
  module.def("_device_resources", [](int n) { return without_gil([&] { return Device(n).resources(); }); });
  module.def("_create_green_context", [](int n, const nb::list& resources) {
    ContextOptions options;
    for (const nb::handle resource : resources) {
      if (nb::isinstance<SMResource>(resource)) {
        options.resources.emplace_back(nb::cast<SMResource>(resource));
      } else {
        options.resources.emplace_back(nb::cast<WorkqueueResource>(resource));
      }
    }
    return context_of(without_gil([&] { return Device(n); }), options);
  });
}

}  // namespace cucore::python
