// Kernel, its attributes and its occupancy.
#include "cucore/kernel.hpp"

#include "cucore/bindings/fast_path.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "cucore/launch.hpp"
#include "python/bindings/callables.hpp"
#include "python/bindings/code/code.hpp"
#include "python/bindings/code/launch.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

// The attributes on one device; without one, on the current device at each access.
struct PyKernelAttributes {
  Kernel kernel;
  std::optional<int> device;
  KernelAttributes view() const { return kernel.attributes(device.has_value() ? Device(*device) : Device::current()); }
};

struct PyKernelOccupancy {
  Kernel kernel;
  /// For one call: it counts no reference to the kernel.
  KernelOccupancy view(std::optional<int> device) const {
    using State = std::remove_cvref_t<decltype(kernel.state())>;
    return Kernel(State(State(), kernel.state().get()))
        .occupancy(device.has_value() ? Device(*device) : Device::current());
  }
};

// `device=` of the occupancy queries: None is the current device.
std::optional<int> chosen_device(nb::handle device) {
  if (device.is_none()) return std::nullopt;
  return device_ordinal(device);
}

void bind_attributes(nb::module_& module) {
  auto cls = nb::class_<PyKernelAttributes>(module, "KernelAttributes", nb::is_weak_referenceable(),
                                            "A kernel's attributes on the current device; attributes[device] is a "
                                            "view of another one.");
  forbid_construction<PyKernelAttributes>(cls,
                                          "KernelAttributes cannot be instantiated directly: use Kernel.attributes");
  cls.def(
      "__getitem__",
      [](const PyKernelAttributes& self, nb::handle device) {
        if (device.is_none()) return PyKernelAttributes{self.kernel, std::nullopt};
        const int ordinal = device_ordinal(device);
        return PyKernelAttributes{self.kernel, without_gil([&] { return Device(ordinal).ordinal(); })};
      },
      nb::arg("device").none());
  nb::list names;
#define READ(name)                               \
  [](const PyKernelAttributes& self) {           \
    const WithoutGil released{WithoutGil::held}; \
    return self.view().name();                   \
  }
#define WRITE(name, type) \
  [](const PyKernelAttributes& self, type value) { without_gil([&] { self.view().set_##name(value); }); }
#define READ_ONLY(name, text) \
  names.append(#name);        \
  getter<PyKernelAttributes, READ(name)>(cls, #name, text);
#define SETTABLE(name, type, text) \
  names.append(#name);             \
  cls.def_prop_rw(#name, READ(name), WRITE(name, type), text);
  READ_ONLY(max_threads_per_block, "Most threads of a block that it can be launched with.")
  READ_ONLY(shared_size_bytes, "Static shared memory of a block, in bytes.")
  READ_ONLY(const_size_bytes, "Constant memory that it uses, in bytes.")
  READ_ONLY(local_size_bytes, "Local memory of each thread, in bytes.")
  READ_ONLY(num_regs, "Registers of each thread.")
  READ_ONLY(ptx_version, "Of the virtual architecture it was compiled for: 10 x major + minor.")
  READ_ONLY(binary_version, "Of the architecture it was compiled for: 10 x major + minor.")
  READ_ONLY(cache_mode_ca, "Whether it was compiled to cache global loads at all levels (-Xptxas --dlcm=ca).")
  READ_ONLY(cluster_size_must_be_set, "Whether every launch must give a cluster.")
  SETTABLE(max_dynamic_shared_size_bytes, int,
           "Most dynamic shared memory of a launch, in bytes; launch() raises it where it must.")
  SETTABLE(preferred_shared_memory_carveout, int,
           "Percent of the L1 cache's memory to use as shared memory; -1: the driver's choice.")
  SETTABLE(required_cluster_width, int, "The cluster's x that every launch must have; 0: any.")
  SETTABLE(required_cluster_height, int, "The cluster's y that every launch must have; 0: any.")
  SETTABLE(required_cluster_depth, int, "The cluster's z that every launch must have; 0: any.")
  SETTABLE(non_portable_cluster_size_allowed, bool, "Whether clusters may have more than 8 blocks.")
  SETTABLE(cluster_scheduling_policy_preference, int,
           "How the blocks of a cluster are placed, a CUclusterSchedulingPolicy.")
  module.attr("_kernel_attribute_names") = nb::tuple(names);
  cls.def("__repr__",
          [module](nb::handle self) { return repr_of_values(self, module.attr("_kernel_attribute_names")); });
#undef READ
#undef WRITE
#undef READ_ONLY
#undef SETTABLE
}

nb::object block_size_result(const MaxPotentialBlockSize& result) {
  return named_tuple(Package::MaxPotentialBlockSizeOccupancyResult, result.min_grid_size, result.max_block_size);
}

PyTypeObject* occupancy_type = nullptr;  // set at import

// max_active_blocks_per_multiprocessor(block_size, bytes) on the current device, if the driver knows which that is.
PyObject* max_active_blocks_directly(PyObject* const* arguments, std::size_t count, PyObject* names) {
  const bool is_this = count == 3 && names == nullptr && Py_TYPE(arguments[0]) == occupancy_type &&
                       PyLong_CheckExact(arguments[1]) && PyLong_CheckExact(arguments[2]);
  if (!is_this) return nullptr;
  const long block_size = PyLong_AsLong(arguments[1]);
  const std::size_t bytes = PyLong_AsSize_t(arguments[2]);
  const bool fits = PyErr_Occurred() == nullptr && static_cast<int>(block_size) == block_size;
  PyErr_Clear();
  if (!fits || !nb::inst_ready(arguments[0])) return nullptr;
  const KernelHandle kernel = nb::inst_ptr<PyKernelOccupancy>(arguments[0])->kernel.handle();
  int blocks = 0;
  int code = 0;
  {
    const WithoutGil released{WithoutGil::held};
    code = detail::max_active_blocks_native(blocks, kernel, static_cast<int>(block_size), bytes);
  }
  return code == 0 ? PyLong_FromLong(blocks) : nullptr;
}

nb::object max_potential_block_size(const PyKernelOccupancy& self, nb::handle needed, Int limit, nb::handle device) {
  const std::optional<int> on = chosen_device(device);
  if (PyCallable_Check(needed.ptr()) != 0) {
    // Called back many times, in this thread: it keeps the GIL.
    const std::function<std::size_t(int)> bytes = [&](int block_size) {
      return static_cast<std::size_t>(unsigned_number(needed(block_size), "the dynamic shared memory of a block"));
    };
    return block_size_result(self.view(on).max_potential_block_size(bytes, limit));
  }
  if (PyIndex_Check(needed.ptr()) == 0) {
    throw nb::type_error((std::string("dynamic_shared_memory_needed must be an int, or a function from the block's "
                                      "size to one, not ") +
                          Py_TYPE(needed.ptr())->tp_name)
                             .c_str());
  }
  const std::size_t bytes = unsigned_number(needed, "dynamic_shared_memory_needed");
  return block_size_result(without_gil([&] { return self.view(on).max_potential_block_size(bytes, limit); }));
}

/// As its source has it; empty if the driver does not say.
std::string name_of(const Kernel& kernel) {
  try {
    return without_gil([&] { return kernel.display_name(); });
  } catch (const Error&) {
    return {};
  }
}

nb::object plot(nb::handle self, nb::handle dynamic_shared_memory, nb::handle device, nb::handle axes) {
  const std::string name = name_of(nb::cast<const PyKernelOccupancy&>(self).kernel);
  return from_package(Package::plot_occupancy)(self, text_object(name), dynamic_shared_memory, device, axes);
}

void bind_occupancy(nb::module_& module) {
  auto cls = nb::class_<PyKernelOccupancy>(module, "KernelOccupancy", nb::is_weak_referenceable(),
                                           "How a kernel fills a device: `device`, else the current one.");
  forbid_construction<PyKernelOccupancy>(cls, "KernelOccupancy cannot be instantiated directly: use Kernel.occupancy");
  occupancy_type = reinterpret_cast<PyTypeObject*>(cls.ptr());
  cls.def(
         "max_active_blocks_per_multiprocessor",
         [](const PyKernelOccupancy& self, Int block_size, Unsigned dynamic_shared_memory_size, nb::handle device) {
           const std::optional<int> on = chosen_device(device);
           return without_gil([&] {
             return self.view(on).max_active_blocks_per_multiprocessor(block_size, dynamic_shared_memory_size);
           });
         },
         nb::arg("block_size"), nb::arg("dynamic_shared_memory_size"), nb::kw_only(), nb::arg("device") = nb::none(),
         "How many blocks of this size a multiprocessor holds at a time.")
      .def("max_potential_block_size", max_potential_block_size, nb::arg("dynamic_shared_memory_needed"),
           nb::arg("block_size_limit"), nb::kw_only(), nb::arg("device") = nb::none(),
           "(min_grid_size, max_block_size) for a number of bytes per block, or a function from the block size to it.")
      .def(
          "available_dynamic_shared_memory_per_block",
          [](const PyKernelOccupancy& self, Int num_blocks_per_multiprocessor, Int block_size, nb::handle device) {
            const std::optional<int> on = chosen_device(device);
            return without_gil([&] {
              return self.view(on).available_dynamic_shared_memory_per_block(num_blocks_per_multiprocessor, block_size);
            });
          },
          nb::arg("num_blocks_per_multiprocessor"), nb::arg("block_size"), nb::kw_only(),
          nb::arg("device") = nb::none(), "Bytes that each of so many blocks on a multiprocessor can have.")
      .def(
          "max_potential_cluster_size",
          [](const PyKernelOccupancy& self, const PyLaunchConfig& config, nb::handle stream, nb::handle device) {
            const std::optional<int> ordinal = chosen_device(device);
            // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): it may be changed meanwhile
            const LaunchConfig how = config.of_launch();
            return required_stream(stream).use(
                [&](const Stream& on) { return self.view(ordinal).max_potential_cluster_size(how, on); });
          },
          nb::arg("config"), nb::kw_only(), nb::arg("stream").none(), nb::arg("device") = nb::none(),
          "The largest cluster that can be launched with `config`, whose own cluster does not count.")
      .def(
          "max_active_clusters",
          [](const PyKernelOccupancy& self, const PyLaunchConfig& config, nb::handle stream, nb::handle device) {
            const std::optional<int> ordinal = chosen_device(device);
            // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): it may be changed meanwhile
            const LaunchConfig how = config.of_launch();
            return required_stream(stream).use(
                [&](const Stream& on) { return self.view(ordinal).max_active_clusters(how, on); });
          },
          nb::arg("config"), nb::kw_only(), nb::arg("stream").none(), nb::arg("device") = nb::none(),
          "How many clusters of `config` can be resident at a time.")
      .def("plot", plot, nb::arg("dynamic_shared_memory") = 0, nb::kw_only(), nb::arg("device") = nb::none(),
           nb::arg("axes") = nb::none(),
           "Draws the occupancy for each size of block, by matplotlib, on `axes` or a figure of its own; returns the "
           "axes. `dynamic_shared_memory`: bytes of each block, or a function from the block's size to them.")
      .def("__repr__", [](const PyKernelOccupancy& self) {
        const std::string name = name_of(self.kernel);
        return "<KernelOccupancy of " + (name.empty() ? hex(self.kernel.handle()) : "'" + name + "'") + ">";
      });
  add_shortcut<max_active_blocks_directly>(cls, "max_active_blocks_per_multiprocessor");
}

std::shared_ptr<const Signature> known_signature(const PyKernel& self) {
  auto signature = without_gil([&] { return self.kernel->signature(); });
  if (signature == nullptr) {
    raise(from_package(Package::CUDAUnknownParametersError),
          "CUDA_ERROR_INVALID_HANDLE: the kernel's parameters are not known: its code carries no PTX, and the driver "
          "tells them (cuKernelGetParamInfo) from CUDA 12.4 on, and of the handle of a kernel (CUkernel), not of a "
          "function (CUfunction)");
  }
  return signature;
}

nb::object text_or_none(const std::string& text) {
  if (text.empty()) return nb::none();
  return text_object(text);
}

const char* kind_name(ParameterKind kind) {
  switch (kind) {
    case ParameterKind::unknown:
      return "unknown";
    case ParameterKind::boolean:
      return "boolean";
    case ParameterKind::signed_integer:
      return "signed_integer";
    case ParameterKind::unsigned_integer:
      return "unsigned_integer";
    case ParameterKind::integer:
      return "integer";
    case ParameterKind::floating:
      return "floating";
    case ParameterKind::bfloat16:
      return "bfloat16";
    case ParameterKind::pointer:
      return "pointer";
    case ParameterKind::aggregate:
      return "aggregate";
  }
  return "unknown";
}

const nb::object& attributes_of(PyKernel& self) {
  if (!self.attributes.is_valid()) self.attributes = nb::cast(PyKernelAttributes{*self.kernel, std::nullopt});
  return self.attributes;
}

const nb::object& occupancy_of(PyKernel& self) {
  if (!self.occupancy.is_valid()) self.occupancy = nb::cast(PyKernelOccupancy{*self.kernel});
  return self.occupancy;
}

std::string repr_of_kernel(const PyKernel& self) { return "<Kernel handle=" + hex(self.kernel->handle()) + ">"; }

nb::object signature_object(const PyKernel& self) {
  const nb::handle make = from_package(Package::KernelParameter);
  nb::list parameters;
  for (const Parameter& parameter : *known_signature(self)) {
    parameters.append(make(text_or_none(parameter.type_name), kind_name(parameter.kind), parameter.offset,
                           parameter.size, parameter.alignment, text_or_none(parameter.name)));
  }
  return from_package(Package::KernelSignature)(parameters);
}

nb::object launcher(nb::handle self, nb::handle config) {
  const nb::object made = config_object(config.ptr());
  return new_launcher(self, nb::cast<const PyLaunchConfig&>(made).of_launch(), nullptr);
}

// kernel[config], kernel[config, stream], kernel[grid, block], [grid, block, shared], [grid, block, shared, stream]
nb::object launcher_by_index(nb::handle self, nb::handle index) {
  const bool sequence = PyTuple_Check(index.ptr()) != 0;
  const nb::tuple parts = sequence ? nb::borrow<nb::tuple>(index) : nb::make_tuple(index);
  const std::size_t count = parts.size();
  const bool has_config =
      count != 0 && (PyDict_Check(nb::object(parts[0]).ptr()) != 0 || nb::isinstance<PyLaunchConfig>(parts[0]));
  if (has_config ? count > 2 : count < 2 || count > 4) {
    throw nb::type_error(
        "kernel[...] takes [config], [config, stream], or [grid, block, shared, stream], of which "
        "shared and stream may be left out");
  }
  nb::object config;
  nb::object stream;
  if (has_config) {
    config = config_object(nb::object(parts[0]).ptr());
    if (count == 2) stream = parts[1];
  } else {
    config = nb::type<PyLaunchConfig>()(nb::arg("grid") = parts[0], nb::arg("block") = parts[1],
                                        nb::arg("shmem_size") = count > 2 ? nb::object(parts[2]) : nb::none());
    if (count == 4) stream = parts[3];
  }
  if (stream.is_valid() && stream.is_none()) {
    throw nb::type_error("the stream of kernel[...] is None: leave it out, and pass one with each call");
  }
  return new_launcher(self, nb::cast<const PyLaunchConfig&>(config).of_launch(), stream.ptr());
}

// A wrong `mod` would keep alive what the kernel does not need. A library has one handle for one name.
void warn_unless_from(const Kernel& kernel, const ObjectCode& code) {
  const bool matches = without_gil([&] {
    code.load();
    if (kernel.name().empty()) return true;  // a driver that cannot tell
    try {
      return code.get_kernel(kernel.name()) == kernel;
    } catch (const DriverError&) {
      return false;
    }
  });
  if (matches) return;
  if (PyErr_WarnEx(PyExc_UserWarning, "the kernel's library does not match mod: it was not loaded from it", 1) != 0) {
    throw nb::python_error();
  }
}

PyKernel* from_handle(nb::handle handle, nb::handle mod) {
  if (!PyLong_Check(handle.ptr())) {
    throw nb::type_error((std::string("handle must be an int, not ") + Py_TYPE(handle.ptr())->tp_name).c_str());
  }
  const auto address = static_cast<std::uintptr_t>(unsigned_number(handle, "handle"));
  std::shared_ptr<const void> owner;
  if (!mod.is_none()) {
    if (!nb::isinstance<PyObjectCode>(mod)) {
      throw nb::type_error((std::string("mod must be an ObjectCode, not ") + Py_TYPE(mod.ptr())->tp_name).c_str());
    }
    owner = keep_alive(mod);
  }
  Kernel kernel = Kernel::from_handle(reinterpret_cast<KernelHandle>(address), std::move(owner));
  if (!mod.is_none()) {
    const ObjectCode code = nb::cast<const PyObjectCode&>(mod).held();
    warn_unless_from(kernel, code);
  }
  return new PyKernel(std::move(kernel));
}

}  // namespace

void bind_kernel(nb::module_& module) {
  bind_attributes(module);
  bind_occupancy(module);
  auto cls = nb::class_<PyKernel>(module, "Kernel", nb::is_weak_referenceable(),
                                  "A function that launch() can run. ObjectCode.get_kernel() gives one.");
  forbid_construction<PyKernel>(cls, "Kernel cannot be instantiated directly: use ObjectCode.get_kernel()");
  getter<PyKernel, attributes_of>(cls, "attributes", "What the compiler made of it: registers, memory and limits.");
  getter<PyKernel, occupancy_of>(cls, "occupancy", "How it fills a device.");
  cls.def_static("from_handle", from_handle, nb::arg("handle").none(), nb::arg("mod") = nb::none(),
                 "Wraps a kernel (CUkernel) that other code loaded; `mod`, if given, is loaded and kept alive, with a "
                 "UserWarning if the kernel is not one of its own.")
      .def_prop_ro(
          "handle", [](const PyKernel& self) { return handle_object(Package::CUkernel, self.kernel->handle()); },
          "The driver's handle (CUkernel).")
      .def_prop_ro(
          "name", [](const PyKernel& self) { return text_object(self.kernel->name()); }, "Its symbol.")
      .def_prop_ro(
          "num_arguments", [](const PyKernel& self) { return known_signature(self)->size(); },
          "How many parameters it has.")
      .def_prop_ro(
          "arguments_info",
          [](const PyKernel& self) {
            const nb::handle info = from_package(Package::ParamInfo);
            nb::list parameters;
            for (const Parameter& parameter : *known_signature(self)) {
              parameters.append(info(parameter.offset, parameter.size));
            }
            return parameters;
          },
          "(offset, size) of each parameter, in order.")
      .def_prop_ro("signature", signature_object,
                   "The parameters with their types, as far as the PTX, the mangled name and the driver tell: a tuple "
                   "that prints as a C++ parameter list. NotImplementedError if nothing is known.")
      .def("launcher", launcher, nb::arg("config"),
           "A Launcher: launcher(stream, *args) runs the kernel with `config`, which is checked once, here.")
      .def("__getitem__", launcher_by_index,
           "kernel[grid, block, shared, stream](*args): a Launcher with a stream. Without `stream` (or `shared`) the "
           "stream is the first argument of the call. kernel[config] and kernel[config, stream] do the same.")
      .def(
          "__eq__", [](const PyKernel& self, const PyKernel& other) { return *self.kernel == *other.kernel; },
          nb::is_operator())
      .def("__hash__", [](const PyKernel& self) { return static_cast<Py_hash_t>(address(self.kernel->handle()) >> 4); })
      .def("__repr__", repr_of_kernel)
      .def("_repr_html_",
           [](nb::handle self) {
             const std::string name = name_of(*nb::cast<const PyKernel&>(self).kernel);
             return from_package(Package::kernel_html)(self, text_object(name));
           })
      .def("__reduce__", [](const PyKernel&) -> nb::object {
        throw nb::type_error("a Kernel cannot be pickled: pickle its ObjectCode and call get_kernel() on the copy");
      });
  nb::type<PyKernel>().attr("__iter__") = nb::none();  // what has __getitem__ only is iterated without an end
}

}  // namespace cucore::python
