// LaunchConfig.
#include "python/bindings/code/launch_config.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "cucore/device.hpp"
#include "python/bindings/code/code.hpp"
#include "python/bindings/code/launch_attributes.hpp"
#include "python/bindings/unsigned.hpp"

namespace cucore::python {
namespace {

using Given = PyLaunchConfig::Given;

nb::object whole_extent(nb::handle value, const char* field) {
  nb::object number = PyLong_Check(value.ptr()) != 0 ? nb::borrow(value) : nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::value_error(
        (std::string(field) + " must be an int or up to three ints, not " + nb::repr(value).c_str()).c_str());
  }
  if (PyObject_RichCompareBool(number.ptr(), nb::int_(1).ptr(), Py_LT) == 1) {
    throw nb::value_error(
        (std::string(field) + " must be >= 1 in every dimension, not " + nb::repr(value).c_str()).c_str());
  }
  return number;
}

// What a config is made with, as a tuple of three.
nb::object dimensions(nb::handle value, const char* field) {
  if (value.is_none()) throw nb::value_error((std::string(field) + " is required").c_str());
  std::array<nb::object, 3> extents{nb::int_(1), nb::int_(1), nb::int_(1)};
  if (PyTuple_Check(value.ptr()) == 0) {
    extents[0] = whole_extent(value, field);
  } else {
    const auto tuple = nb::borrow<nb::tuple>(value);
    if (tuple.size() > 3) {
      throw nb::value_error(
          (std::string(field) + " has at most three dimensions, not " + std::to_string(tuple.size())).c_str());
    }
    for (std::size_t i = 0; i < tuple.size(); ++i) extents[i] = whole_extent(tuple[i], field);
  }
  return nb::make_tuple(extents[0], extents[1], extents[2]);
}

// Whether they are small ints, as they nearly always are, which need not be kept as they were given.
bool are_plain(nb::handle value, Dim3& extents) {
  const auto one = [](PyObject* number, unsigned& extent) {
    if (!PyLong_CheckExact(number)) return false;
    int overflow = 0;
    const long whole = PyLong_AsLongAndOverflow(number, &overflow);
    extent = static_cast<unsigned>(whole);
    return overflow == 0 && whole >= 1 && whole <= std::numeric_limits<int>::max();
  };
  std::array<unsigned, 3> axes{1, 1, 1};
  if (PyTuple_CheckExact(value.ptr())) {
    const Py_ssize_t count = PyTuple_GET_SIZE(value.ptr());
    if (count > 3) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!one(PyTuple_GET_ITEM(value.ptr(), i), axes[static_cast<std::size_t>(i)])) return false;
    }
  } else if (!one(value.ptr(), axes[0])) {
    return false;
  }
  extents = {axes[0], axes[1], axes[2]};
  return true;
}

nb::object number_of(nb::handle value, const char* field) {
  nb::object number = whole_number(value);
  if (!number.is_valid()) {
    throw nb::type_error((std::string(field) + " must be of ints, not " + nb::repr(value).c_str()).c_str());
  }
  return number;
}

// What an attribute is set to: a tuple of numbers or text is kept as it is, to be looked at by a launch.
nb::object assigned(nb::handle value, const char* field) try {
  if (value.is_none()) return nb::none();
  if (PyTuple_Check(value.ptr()) == 0) return dimensions(value, field);
  nb::list extents;
  for (const nb::handle extent : nb::borrow<nb::tuple>(value)) {
    PyObject* const given = extent.ptr();
    const bool plain = PyLong_Check(given) != 0 || PyFloat_CheckExact(given) != 0 || PyUnicode_CheckExact(given) != 0;
    extents.append(plain ? nb::borrow(extent) : number_of(extent, field));
  }
  return nb::tuple(extents);
} catch (const nb::builtin_exception& wrong) {
  raise(from_package(Package::TypeValueError), wrong.what());
}

[[noreturn]] void refuse(Package error, const std::string& text) {
  raise(from_package(error), "CUDA_ERROR_INVALID_VALUE: " + text);
}

// An extent as the driver takes it. The types of the errors are those of cuda.core's launch().
unsigned extent_of_launch(nb::handle value, const std::string& what) {
  const nb::object number = whole_number(value);
  if (!number.is_valid()) raise(PyExc_TypeError, what + ": extents are ints");
  int overflow = 0;
  const long long extent = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow > 0 || extent > std::numeric_limits<unsigned>::max()) {
    raise(PyExc_OverflowError, what + ": it must be below 2**32");
  }
  if (overflow < 0 || extent < 0) raise(PyExc_OverflowError, what + ": it must be >= 1 in every dimension");
  if (extent == 0) refuse(Package::CUDAInvalidValueError, what + ": it must be >= 1 in every dimension");
  return static_cast<unsigned>(extent);
}

Dim3 extents_of_launch(nb::handle given, const char* field) {
  const std::string what = std::string(field) + " cannot be " + nb::repr(given).c_str();
  if (given.is_none()) raise(PyExc_TypeError, what);
  if (PyTuple_GET_SIZE(given.ptr()) > 3) raise(PyExc_ValueError, what + ": it has at most three dimensions");
  std::array<unsigned, 3> extents{1, 1, 1};
  std::size_t axis = 0;
  for (const nb::handle extent : nb::borrow<nb::tuple>(given)) extents[axis++] = extent_of_launch(extent, what);
  return {extents[0], extents[1], extents[2]};
}

std::optional<Dim3> optional_extents_of_launch(nb::handle given, const char* field) {
  return given.is_none() ? std::nullopt : std::optional(extents_of_launch(given, field));
}

std::optional<Dim3> preferred(nb::handle value) {
  const char* const field = "preferred_cluster";
  return value.is_none() ? std::nullopt : optional_extents_of_launch(dimensions(value, field), field);
}

// An int of C, as with cuda.core.
nb::object shared_bytes(nb::handle value) {
  const nb::object number = whole_number(value);
  if (!number.is_valid()) {
    throw nb::type_error((std::string("shmem_size must be an int, not ") + Py_TYPE(value.ptr())->tp_name).c_str());
  }
  int overflow = 0;
  const long long bytes = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || bytes > std::numeric_limits<int>::max() || bytes < std::numeric_limits<int>::min()) {
    raise(PyExc_OverflowError, std::string("shmem_size must be below 2**31, not ") + nb::repr(value).c_str());
  }
  return nb::int_(bytes);
}

std::size_t bytes_of_launch(nb::handle given) {
  const auto bytes = nb::cast<long long>(given);
  if (bytes < 0) refuse(Package::CUDAInvalidValueError, "shmem_size cannot be " + std::to_string(bytes));
  return static_cast<std::size_t>(bytes);
}

// Brings what is given into the config; throws what can be of no launch.
void put(LaunchConfig& config, const Given& given) {
  if (given.grid.is_valid()) config.grid = extents_of_launch(given.grid, "grid");
  if (given.block.is_valid()) config.block = extents_of_launch(given.block, "block");
  if (given.cluster.is_valid()) config.cluster = optional_extents_of_launch(given.cluster, "cluster");
  if (given.shmem_size.is_valid()) config.shmem_size = bytes_of_launch(given.shmem_size);
}

PyLaunchConfig with(LaunchConfig config, Given given) {
  try {
    put(config, given);
  } catch (const nb::python_error&) {
    return {config, std::move(given)};  // a launch says what
  }
  PyLaunchConfig made(config);
  made.given = std::move(given);
  return made;
}

bool truth(nb::handle value) {
  const int result = PyObject_IsTrue(value.ptr());
  if (result < 0) throw nb::python_error();
  return result != 0;
}

nb::object tuple_of(const Dim3& extents) { return nb::make_tuple(extents.x, extents.y, extents.z); }

nb::object optional_tuple(const std::optional<Dim3>& extents) {
  return extents ? tuple_of(*extents) : nb::object(nb::none());
}

nb::object grid_of(const PyLaunchConfig& self) {
  return self.given.grid.is_valid() ? self.given.grid : tuple_of(self.config.grid);
}

nb::object block_of(const PyLaunchConfig& self) {
  return self.given.block.is_valid() ? self.given.block : tuple_of(self.config.block);
}

nb::object cluster_of(const PyLaunchConfig& self) {
  return self.given.cluster.is_valid() ? self.given.cluster : optional_tuple(self.config.cluster);
}

nb::object shmem_size_of(const PyLaunchConfig& self) {
  return self.given.shmem_size.is_valid() ? self.given.shmem_size : nb::object(nb::int_(self.config.shmem_size));
}

// Kept for the next time.
nb::object kept(nb::object& given, nb::object value) {
  given = value;
  return value;
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
    const std::string_view name = static_cast<const char*>(closure);
    if (value == nullptr) {  // as with cuda.core, where objects become None, and numbers stay
      if (name != "grid" && name != "block" && name != "cluster") {
        raise(PyExc_NotImplementedError, std::string(name) + " cannot be deleted");
      }
      value = Py_None;
    }
    const nb::ft_object_guard guard(self);
    auto& whole = self_as<PyLaunchConfig>(self);
    LaunchConfig config = whole.config;
    Given given = whole.given;
    Write(config, given, value);
    whole = with(config, std::move(given));
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

// All that it is: what equal ones have alike.
nb::tuple parts_of(const PyLaunchConfig& self) {
  nb::list parts;
  const bool fits = self.fits;
  parts.append(fits ? tuple_of(self.config.grid) : grid_of(self));
  parts.append(fits ? optional_tuple(self.config.cluster) : cluster_of(self));
  parts.append(fits ? tuple_of(self.config.block) : block_of(self));
  parts.append(shmem_size_of(self));
  parts.append(self.config.is_cooperative);
  parts.append(self.config.programmatic_stream_serialization);
  for (const Field& field : further_fields(self.config)) {
    parts.append(field.name);
    parts.append(field.value);
  }
  return nb::tuple(parts);
}

bool are_equal(const PyLaunchConfig& self, const PyLaunchConfig& other) {
  if (self.fits && other.fits) return self.config == other.config;
  return parts_of(self).equal(parts_of(other));
}

std::string repr_of_config(const PyLaunchConfig& self) {
  const LaunchConfig& config = self.config;
  const auto text = [](const nb::object& value) { return std::string(nb::repr(value).c_str()); };
  std::string all =
      "LaunchConfig(grid=" + text(grid_of(self)) + ", cluster=" + text(cluster_of(self)) +
      ", block=" + text(block_of(self)) + ", shmem_size=" + text(shmem_size_of(self)) +
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
        LaunchConfig config{
            .is_cooperative = truth(is_cooperative),
            .programmatic_stream_serialization = truth(serialization),
            .priority = optional_int(priority, "priority"),
            .preferred_cluster = preferred(preferred_cluster),
            .cluster_scheduling_policy = cluster_scheduling_policy(scheduling_policy),
            .programmatic_event = programmatic_event(event),
            .launch_completion_event = launch_completion_event(completion_event),
            .memory_sync_domain = memory_sync_domain(domain),
            .memory_sync_domain_map = memory_sync_domain_map(domain_map),
            .preferred_shared_memory_carveout = optional_int(carveout, "preferred_shared_memory_carveout"),
            .access_policy_window = access_policy_window(window)};
        Given given;
        if (!are_plain(grid, config.grid)) given.grid = dimensions(grid, "grid");
        if (!are_plain(block, config.block)) given.block = dimensions(block, "block");
        if (!cluster.is_none()) given.cluster = dimensions(cluster, "cluster");
        if (!shmem_size.is_none()) given.shmem_size = shared_bytes(shmem_size);
        new (self) PyLaunchConfig(with(config, std::move(given)));
      },
      nb::arg("grid") = nb::none(), nb::arg("cluster") = nb::none(), nb::arg("block") = nb::none(),
      nb::arg("shmem_size") = nb::none(), nb::arg("is_cooperative").none() = false,
      nb::arg("programmatic_stream_serialization").none() = false, nb::kw_only(), nb::arg("priority") = nb::none(),
      nb::arg("preferred_cluster") = nb::none(), nb::arg("cluster_scheduling_policy") = nb::none(),
      nb::arg("programmatic_event") = nb::none(), nb::arg("launch_completion_event") = nb::none(),
      nb::arg("memory_sync_domain") = nb::none(), nb::arg("memory_sync_domain_map") = nb::none(),
      nb::arg("preferred_shared_memory_carveout") = nb::none(), nb::arg("access_policy_window") = nb::none());
  // A field is what `read` gives and `write` does; a new value is checked with the others before it stands.
#define GIVEN_FIELD(name, read, write, doc)                                                      \
  field<[](PyLaunchConfig& self, const LaunchConfig& /*config*/) -> nb::object { return read; }, \
        [](LaunchConfig& /*config*/, Given& given, nb::handle value) { given.name = write; }>(cls, #name, doc);
#define FIELD(name, read, write, doc)                                                            \
  field<[](PyLaunchConfig& /*self*/, const LaunchConfig& config) -> nb::object { return read; }, \
        [](LaunchConfig& config, Given& /*given*/, nb::handle value) { config.name = write; }>(cls, #name, doc);
  GIVEN_FIELD(grid, kept(self.given.grid, grid_of(self)), assigned(value, "grid"),
              "How many blocks there are on each axis; with a cluster, how many clusters.")
  GIVEN_FIELD(block, kept(self.given.block, block_of(self)), assigned(value, "block"),
              "How many threads a block has on each axis.")
  GIVEN_FIELD(cluster, cluster_of(self), assigned(value, "cluster"),
              "How many blocks a cluster has on each axis; None: no clusters.")
  GIVEN_FIELD(shmem_size, shmem_size_of(self), shared_bytes(value), "Bytes of dynamic shared memory for each block.")
  FIELD(is_cooperative, nb::bool_(config.is_cooperative), truth(value),
        "Whether all blocks run at once, so that they can wait for each other.")
  FIELD(programmatic_stream_serialization, nb::bool_(config.programmatic_stream_serialization), truth(value),
        "Whether the kernel may begin before the one in front of it in the stream has ended.")
  FIELD(priority, optional_object(config.priority), optional_int(value, "priority"),
        "The kernel's priority; None: the stream's.")
  FIELD(preferred_cluster, optional_tuple(config.preferred_cluster), preferred(value),
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
#undef GIVEN_FIELD
  cls.def_static(
         "for_kernel", for_kernel, nb::arg("kernel"), nb::arg("n"), nb::arg("shmem_size") = 0,
         nb::arg("block_size_limit") = 0, nb::arg("device") = nb::none(),
         "A config with at least `n` threads in one dimension, in blocks of the size that fills the device best "
         "with this kernel (cuOccupancyMaxPotentialBlockSize). `block_size_limit` 0: none. The kernel has to "
         "check its index against n. Without `device`: for the current one.")
      .def("__eq__", are_equal, nb::is_operator())
      .def("__hash__", [](const PyLaunchConfig& self) { return nb::hash(parts_of(self)); })
      .def("__repr__", repr_of_config);
}

const LaunchConfig& PyLaunchConfig::of_launch() const {
  if (!fits) {
    LaunchConfig tried = config;
    put(tried, given);
  }
  return config;
}

}  // namespace cucore::python
