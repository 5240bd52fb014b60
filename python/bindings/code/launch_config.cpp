// LaunchConfig.
#include "python/bindings/code/launch_config.hpp"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "cucore/device.hpp"
#include "python/bindings/code/code.hpp"
#include "python/bindings/code/launch_attributes.hpp"
#include "python/bindings/unsigned.hpp"

namespace cucore::python {
namespace {

// What can be of no launch is refused when it is given, with the type of error that cuda.core's launch() raises.
unsigned extent(nb::handle value, const char* field) {
  const auto number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::value_error(
        (std::string(field) + " must be an int or up to three ints, not " + nb::repr(value).c_str()).c_str());
  }
  int overflow = 0;
  const long long extent = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow < 0 || (overflow == 0 && extent < 1)) {
    throw nb::value_error(
        (std::string(field) + " must be >= 1 in every dimension, not " + nb::repr(value).c_str()).c_str());
  }
  if (overflow > 0 || extent > std::numeric_limits<unsigned>::max()) {
    raise(PyExc_OverflowError, std::string(field) + " must be below 2**32, not " + nb::repr(value).c_str());
  }
  return static_cast<unsigned>(extent);
}

Dim3 dimensions(nb::handle value, const char* field) {
  if (value.is_none()) throw nb::value_error((std::string(field) + " is required").c_str());
  const bool sequence = PyTuple_Check(value.ptr()) || PyList_Check(value.ptr());
  if (!sequence) return {.x = extent(value, field)};
  const auto tuple = nb::steal<nb::tuple>(PySequence_Tuple(value.ptr()));
  if (tuple.size() > 3) {
    throw nb::value_error(
        (std::string(field) + " has at most three dimensions, not " + std::to_string(tuple.size())).c_str());
  }
  std::array<unsigned, 3> extents{1, 1, 1};
  for (std::size_t i = 0; i < tuple.size(); ++i) extents[i] = extent(tuple[i], field);
  return {extents[0], extents[1], extents[2]};
}

std::optional<Dim3> optional_dimensions(nb::handle value, const char* field) {
  if (value.is_none()) return std::nullopt;
  return dimensions(value, field);
}

// cuda.core looks at extents that are assigned when it launches: those that cannot be are its errors there.
void refuse_assigned_extents(nb::handle tuple, const char* field) {
  const std::string what = std::string(field) + " cannot be " + nb::repr(tuple).c_str();
  if (PyTuple_GET_SIZE(tuple.ptr()) > 3) raise(PyExc_ValueError, what + ": it has at most three dimensions");
  for (const nb::handle extent : nb::borrow<nb::tuple>(tuple)) {
    if (PyLong_Check(extent.ptr()) == 0) continue;
    if (PyObject_RichCompareBool(extent.ptr(), nb::int_(0).ptr(), Py_LT) == 1) {
      raise(PyExc_OverflowError, what + ": it must be >= 1 in every dimension");
    }
    if (PyObject_RichCompareBool(extent.ptr(), nb::int_(0).ptr(), Py_EQ) == 1) {
      raise(from_package(Package::CUDAInvalidValueError),
            "CUDA_ERROR_INVALID_VALUE: " + what + ": it must be >= 1 in every dimension");
    }
  }
}

// As an attribute is assigned, where cuda.core calls a wrong value one of a wrong type.
Dim3 assigned(nb::handle value, const char* field) try {
  if (PyTuple_Check(value.ptr())) refuse_assigned_extents(value, field);
  return dimensions(value, field);
} catch (const nb::builtin_exception& wrong) {
  raise(from_package(Package::TypeValueError), wrong.what());
}

std::optional<Dim3> optional_assigned(nb::handle value, const char* field) {
  if (value.is_none()) return std::nullopt;
  return assigned(value, field);
}

std::size_t shared_bytes(nb::handle value) {
  if (value.is_none()) return 0;
  const nb::object number = whole_number(value);
  if (!number.is_valid()) {
    throw nb::type_error((std::string("shmem_size must be an int, not ") + Py_TYPE(value.ptr())->tp_name).c_str());
  }
  int overflow = 0;
  const long long bytes = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow > 0 || bytes > std::numeric_limits<unsigned>::max()) {
    raise(PyExc_OverflowError, std::string("shmem_size must be below 2**32, not ") + nb::repr(value).c_str());
  }
  if (overflow < 0 || bytes < 0) {
    raise(
        from_package(Package::CUDAInvalidValueError),
        std::string("CUDA_ERROR_INVALID_VALUE: shmem_size must be a number of bytes, not ") + nb::repr(value).c_str());
  }
  return static_cast<std::size_t>(bytes);
}

std::size_t assigned_bytes(nb::handle value) {
  if (value.is_none()) throw nb::type_error("shmem_size must be an int, not None");
  return shared_bytes(value);
}

bool truth(nb::handle value) {
  const int result = PyObject_IsTrue(value.ptr());
  if (result < 0) throw nb::python_error();
  return result != 0;
}

nb::object tuple_of(const Dim3& extents) { return nb::make_tuple(extents.x, extents.y, extents.z); }

const nb::object& kept(nb::object& tuple, const Dim3& extents) {
  if (!tuple.is_valid()) tuple = tuple_of(extents);
  return tuple;
}

template <auto Read>
PyObject* read_field(PyObject* self, void* /*closure*/) noexcept {
  return answered([&] {
    const nb::ft_object_guard guard(self);
    auto& config = self_as<PyLaunchConfig>(self);
    return nb::object(Read(config, config.config));
  });
}

template <auto Write>
int write_field(PyObject* self, PyObject* value, void* closure) noexcept {
  PyObject* const done = guarded([&] {
    if (value == nullptr) raise(PyExc_AttributeError, std::string(static_cast<const char*>(closure)) + " is required");
    const nb::ft_object_guard guard(self);
    auto& whole = self_as<PyLaunchConfig>(self);
    LaunchConfig config = whole.config;
    Write(config, value);
    whole = PyLaunchConfig(config);
  });
  Py_XDECREF(done);
  return done == nullptr ? -1 : 0;
}

// A property of LaunchConfig, on the bare CPython API.
template <auto Read, auto Write, class Class>
void field(Class& cls, const char* name, const char* doc) {
  static PyGetSetDef definition;
  definition = {name, read_field<Read>, write_field<Write>, doc, const_cast<char*>(name)};
  add_descriptor(cls, &definition);
}

nb::object optional_tuple(const std::optional<Dim3>& extents) {
  return extents ? tuple_of(*extents) : nb::object(nb::none());
}

struct Field {
  const char* name;
  nb::object value;
};

// The fields that cuda.core does not have, where they are set.
std::vector<Field> further_fields(const LaunchConfig& config) {
  std::vector<Field> fields;
  const auto add = [&](const char* name, nb::object value) {
    if (!value.is_none()) fields.push_back({name, std::move(value)});
  };
  add("priority", optional_object(config.priority));
  add("preferred_cluster", optional_tuple(config.preferred_cluster));
  add("cluster_scheduling_policy", cluster_scheduling_policy_object(config));
  add("programmatic_event", programmatic_event_object(config));
  add("launch_completion_event", launch_completion_event_object(config));
  add("memory_sync_domain", memory_sync_domain_object(config));
  add("memory_sync_domain_map", memory_sync_domain_map_object(config));
  add("preferred_shared_memory_carveout", optional_object(config.preferred_shared_memory_carveout));
  add("access_policy_window", access_policy_window_object(config));
  return fields;
}

Py_hash_t hash_of(const LaunchConfig& config) {
  nb::list parts;
  parts.append(tuple_of(config.grid));
  parts.append(optional_tuple(config.cluster));
  parts.append(tuple_of(config.block));
  parts.append(config.shmem_size);
  parts.append(config.is_cooperative);
  parts.append(config.programmatic_stream_serialization);
  for (const Field& field : further_fields(config)) {
    parts.append(field.name);
    parts.append(field.value);
  }
  return nb::hash(nb::tuple(parts));
}

std::string repr_of_config(const LaunchConfig& config) {
  const auto text = [](const nb::object& value) { return std::string(nb::repr(value).c_str()); };
  std::string all =
      "LaunchConfig(grid=" + text(tuple_of(config.grid)) + ", cluster=" + text(optional_tuple(config.cluster)) +
      ", block=" + text(tuple_of(config.block)) + ", shmem_size=" + std::to_string(config.shmem_size) +
      ", is_cooperative=" + (config.is_cooperative ? "True" : "False") +
      ", programmatic_stream_serialization=" + (config.programmatic_stream_serialization ? "True" : "False");
  for (const Field& field : further_fields(config)) all += std::string(", ") + field.name + "=" + text(field.value);
  return all + ")";
}

PyLaunchConfig for_kernel(nb::handle kernel, std::uint64_t n, std::uint64_t shmem_size, int block_size_limit,
                          nb::handle device) {
  const PyKernel* wrapped = nullptr;
  if (!nb::try_cast<const PyKernel*>(kernel, wrapped) || wrapped == nullptr) {
    throw nb::type_error((std::string("kernel must be a Kernel, not ") + Py_TYPE(kernel.ptr())->tp_name).c_str());
  }
  const std::optional<int> ordinal = device.is_none() ? std::nullopt : std::optional(device_ordinal(device));
  return PyLaunchConfig(without_gil([&] {
    return LaunchConfig::for_kernel(*wrapped->kernel, ordinal ? Device(*ordinal) : Device::current(), n, shmem_size,
                                    block_size_limit);
  }));
}

}  // namespace

void bind_launch_config(nb::module_& module) {
  auto cls = nb::class_<PyLaunchConfig>(
      module, "LaunchConfig", nb::is_weak_referenceable(),
      "How to launch a kernel. With a cluster, `grid` counts clusters. What depends on the device is checked by "
      "launch(). Fields that are None leave the driver's default alone.");
  cls.def(
      "__init__",
      [](PyLaunchConfig* self, nb::handle grid, nb::handle cluster, nb::handle block, nb::handle shmem_size,
         nb::handle is_cooperative, nb::handle serialization, nb::handle priority, nb::handle preferred_cluster,
         nb::handle scheduling_policy, nb::handle event, nb::handle completion_event, nb::handle domain,
         nb::handle domain_map, nb::handle carveout, nb::handle window) {
        const LaunchConfig config{
            .grid = dimensions(grid, "grid"),
            .block = dimensions(block, "block"),
            .cluster = optional_dimensions(cluster, "cluster"),
            .shmem_size = shared_bytes(shmem_size),
            .is_cooperative = truth(is_cooperative),
            .programmatic_stream_serialization = truth(serialization),
            .priority = optional_int(priority, "priority"),
            .preferred_cluster = optional_dimensions(preferred_cluster, "preferred_cluster"),
            .cluster_scheduling_policy = cluster_scheduling_policy(scheduling_policy),
            .programmatic_event = programmatic_event(event),
            .launch_completion_event = launch_completion_event(completion_event),
            .memory_sync_domain = memory_sync_domain(domain),
            .memory_sync_domain_map = memory_sync_domain_map(domain_map),
            .preferred_shared_memory_carveout = optional_int(carveout, "preferred_shared_memory_carveout"),
            .access_policy_window = access_policy_window(window)};
        new (self) PyLaunchConfig(config);
      },
      nb::arg("grid") = nb::none(), nb::arg("cluster") = nb::none(), nb::arg("block") = nb::none(),
      nb::arg("shmem_size") = nb::none(), nb::arg("is_cooperative").none() = false,
      nb::arg("programmatic_stream_serialization").none() = false, nb::kw_only(), nb::arg("priority") = nb::none(),
      nb::arg("preferred_cluster") = nb::none(), nb::arg("cluster_scheduling_policy") = nb::none(),
      nb::arg("programmatic_event") = nb::none(), nb::arg("launch_completion_event") = nb::none(),
      nb::arg("memory_sync_domain") = nb::none(), nb::arg("memory_sync_domain_map") = nb::none(),
      nb::arg("preferred_shared_memory_carveout") = nb::none(), nb::arg("access_policy_window") = nb::none());
  // A field is what `read` gives and `write` takes; a new value is checked with the others before it stands.
#define FIELD(name, read, write, doc)                                                                         \
  field<[]([[maybe_unused]] PyLaunchConfig& self, const LaunchConfig& config) -> nb::object { return read; }, \
        [](LaunchConfig& config, nb::handle value) { config.name = write; }>(cls, #name, doc);
  FIELD(grid, kept(self.grid, config.grid), assigned(value, "grid"),
        "How many blocks there are on each axis; with a cluster, how many clusters.")
  FIELD(block, kept(self.block, config.block), assigned(value, "block"), "How many threads a block has on each axis.")
  FIELD(cluster, optional_tuple(config.cluster), optional_assigned(value, "cluster"),
        "How many blocks a cluster has on each axis; None: no clusters.")
  FIELD(shmem_size, nb::int_(config.shmem_size), assigned_bytes(value),
        "Bytes of dynamic shared memory for each block.")
  FIELD(is_cooperative, nb::bool_(config.is_cooperative), truth(value),
        "Whether all blocks run at once, so that they can wait for each other.")
  FIELD(programmatic_stream_serialization, nb::bool_(config.programmatic_stream_serialization), truth(value),
        "Whether the kernel may begin before the one in front of it in the stream has ended.")
  FIELD(priority, optional_object(config.priority), optional_int(value, "priority"),
        "The kernel's priority; None: the stream's.")
  FIELD(preferred_cluster, optional_tuple(config.preferred_cluster), optional_dimensions(value, "preferred_cluster"),
        "The extents of a cluster where there is room, multiples of those of `cluster`.")
  FIELD(cluster_scheduling_policy, cluster_scheduling_policy_object(config), cluster_scheduling_policy(value),
        "How clusters are distributed over the device.")
  FIELD(programmatic_event, programmatic_event_object(config), programmatic_event(value),
        "The event that the kernel's blocks trigger, as (event, flags).")
  FIELD(launch_completion_event, launch_completion_event_object(config), launch_completion_event(value),
        "The event that is recorded when all blocks have begun.")
  FIELD(memory_sync_domain, memory_sync_domain_object(config), memory_sync_domain(value),
        "The domain in which its memory is ordered.")
  FIELD(memory_sync_domain_map, memory_sync_domain_map_object(config), memory_sync_domain_map(value),
        "The numbers of the default and the remote domain.")
  FIELD(preferred_shared_memory_carveout, optional_object(config.preferred_shared_memory_carveout),
        optional_int(value, "preferred_shared_memory_carveout"),
        "The percentage of the L1 cache that is to be shared memory.")
  FIELD(access_policy_window, access_policy_window_object(config), access_policy_window(value),
        "What is to stay in the L2 cache.")
#undef FIELD
  cls.def_static(
         "for_kernel", for_kernel, nb::arg("kernel"), nb::arg("n"), nb::arg("shmem_size") = 0,
         nb::arg("block_size_limit") = 0, nb::arg("device") = nb::none(),
         "A config with at least `n` threads in one dimension, in blocks of the size that fills the device best "
         "with this kernel (cuOccupancyMaxPotentialBlockSize). `block_size_limit` 0: none. The kernel has to "
         "check its index against n. Without `device`: for the current one.")
      .def(
          "__eq__", [](const PyLaunchConfig& self, const PyLaunchConfig& other) { return self.config == other.config; },
          nb::is_operator())
      .def("__hash__", [](const PyLaunchConfig& self) { return hash_of(self.config); })
      .def("__repr__", [](const PyLaunchConfig& self) { return repr_of_config(self.config); });
}

}  // namespace cucore::python
