// The one way from the extension into the Python package: its classes and functions by name (package.def), found by
// cucore/_seam.py, which connects itself when it is imported. The extension imports no module of the package.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace cucore::python {

enum class Package {
#define PACKAGE_NAME(name) name,
#include "python/bindings/package.def"
};

inline constexpr std::size_t package_names = 0
#define PACKAGE_NAME(name) +1
#include "python/bindings/package.def"
    ;

/// What has been found so far. References are never given back: they are needed until the process ends, and nothing
/// may be looked up while the interpreter finalizes.
extern std::array<std::atomic<PyObject*>, package_names> package_objects;

/// Asks the package. Throws what the import of its module raises, and RuntimeError before the package has connected.
nanobind::object find_in_package(Package name);

/// The same once: what was found is kept.
[[gnu::cold, gnu::noinline]] nanobind::handle find_first(Package name);

/// The package's class or function of that name; its module is imported when the first of its names is asked for.
inline nanobind::handle from_package(Package name) {
  PyObject* const known = package_objects[static_cast<std::size_t>(name)].load(std::memory_order_acquire);
  return known != nullptr ? nanobind::handle(known) : find_first(name);
}

/// The package's class of options applied to `options` (an instance, a dict or None).
nanobind::object accept_options(Package options_class, nanobind::handle options);

}  // namespace cucore::python
