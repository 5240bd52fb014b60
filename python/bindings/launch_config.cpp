// LaunchConfig.
#include "python/bindings/launch_config.hpp"

#include <array>
#include <limits>

namespace cucore::python {
namespace {

unsigned extent(nb::handle value, const char* field) {
  const auto number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) {
    PyErr_Clear();
    throw nb::value_error(
        (std::string(field) + " must be an int or up to three ints, not " + nb::repr(value).c_str()).c_str());
  }
  int overflow = 0;
  const long long extent = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow < 0 || extent < 1) {
    throw nb::value_error(
        (std::string(field) + " must be >= 1 in every dimension, not " + nb::repr(value).c_str()).c_str());
  }
  if (overflow > 0 || extent > std::numeric_limits<unsigned>::max()) {
    throw nb::value_error((std::string(field) + " must be below 2**32, not " + nb::repr(value).c_str()).c_str());
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

std::optional<Dim3> cluster_dimensions(nb::handle value) {
  if (value.is_none()) return std::nullopt;
  return dimensions(value, "cluster");
}

std::size_t shared_bytes(nb::handle value) {
  if (value.is_none()) return 0;
  const auto number = nb::steal(PyNumber_Index(value.ptr()));
  if (!number.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long bytes = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || bytes < 0) {
    throw nb::value_error(
        (std::string("shmem_size must be a number of bytes, not ") + nb::repr(value).c_str()).c_str());
  }
  return static_cast<std::size_t>(bytes);
}

bool truth(nb::handle value) {
  const int result = PyObject_IsTrue(value.ptr());
  if (result < 0) throw nb::python_error();
  return result != 0;
}

nb::object tuple_of(const Dim3& extents) { return nb::make_tuple(extents.x, extents.y, extents.z); }

nb::object fields(const LaunchConfig& config) {
  return nb::make_tuple(tuple_of(config.grid), config.cluster ? tuple_of(*config.cluster) : nb::none(),
                        tuple_of(config.block), config.shmem_size, config.is_cooperative,
                        config.programmatic_stream_serialization);
}

}  // namespace

void bind_launch_config(nb::module_& module) {
  nb::class_<PyLaunchConfig>(module, "LaunchConfig", nb::is_weak_referenceable(),
                             "How to launch a kernel. With a cluster, `grid` counts clusters. What depends on the "
                             "device is checked by launch().")
      .def(
          "__init__",
          [](PyLaunchConfig* self, nb::handle grid, nb::handle cluster, nb::handle block, nb::handle shmem_size,
             nb::handle is_cooperative, nb::handle programmatic_stream_serialization) {
            const LaunchConfig config{.grid = dimensions(grid, "grid"),
                                      .block = dimensions(block, "block"),
                                      .cluster = cluster_dimensions(cluster),
                                      .shmem_size = shared_bytes(shmem_size),
                                      .is_cooperative = truth(is_cooperative),
                                      .programmatic_stream_serialization = truth(programmatic_stream_serialization)};
            new (self) PyLaunchConfig{config};
          },
          nb::arg("grid") = nb::none(), nb::arg("cluster") = nb::none(), nb::arg("block") = nb::none(),
          nb::arg("shmem_size") = nb::none(), nb::arg("is_cooperative") = false,
          nb::arg("programmatic_stream_serialization") = false)
      .def_prop_rw(
          "grid", [](const PyLaunchConfig& self) { return tuple_of(self.config.grid); },
          [](PyLaunchConfig& self, nb::handle value) { self.config.grid = dimensions(value, "grid"); })
      .def_prop_rw(
          "cluster",
          [](const PyLaunchConfig& self) {
            return self.config.cluster ? tuple_of(*self.config.cluster) : nb::object(nb::none());
          },
          [](PyLaunchConfig& self, nb::handle value) { self.config.cluster = cluster_dimensions(value); },
          nb::arg("value").none())
      .def_prop_rw(
          "block", [](const PyLaunchConfig& self) { return tuple_of(self.config.block); },
          [](PyLaunchConfig& self, nb::handle value) { self.config.block = dimensions(value, "block"); })
      .def_prop_rw(
          "shmem_size", [](const PyLaunchConfig& self) { return self.config.shmem_size; },
          [](PyLaunchConfig& self, nb::handle value) { self.config.shmem_size = shared_bytes(value); })
      .def_prop_rw(
          "is_cooperative", [](const PyLaunchConfig& self) { return self.config.is_cooperative; },
          [](PyLaunchConfig& self, nb::handle value) { self.config.is_cooperative = truth(value); })
      .def_prop_rw(
          "programmatic_stream_serialization",
          [](const PyLaunchConfig& self) { return self.config.programmatic_stream_serialization; },
          [](PyLaunchConfig& self, nb::handle value) { self.config.programmatic_stream_serialization = truth(value); })
      .def(
          "__eq__", [](const PyLaunchConfig& self, const PyLaunchConfig& other) { return self.config == other.config; },
          nb::is_operator())
      .def("__hash__", [](const PyLaunchConfig& self) { return nb::hash(fields(self.config)); })
      .def("__repr__", [](const PyLaunchConfig& self) {
        const LaunchConfig& config = self.config;
        const auto text = [](const nb::object& value) { return std::string(nb::repr(value).c_str()); };
        return "LaunchConfig(grid=" + text(tuple_of(config.grid)) +
               ", cluster=" + text(config.cluster ? tuple_of(*config.cluster) : nb::none()) +
               ", block=" + text(tuple_of(config.block)) + ", shmem_size=" + std::to_string(config.shmem_size) +
               ", is_cooperative=" + (config.is_cooperative ? "True" : "False") + ")";
      });
}

}  // namespace cucore::python
