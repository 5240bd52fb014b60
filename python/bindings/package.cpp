// The Python package, as the extension sees it: a function that finds objects by name, and those found so far.
#include "python/bindings/package.hpp"

#include <string>

#include "python/bindings/python.hpp"

namespace cucore::python {

std::array<std::atomic<PyObject*>, package_names> package_objects{};

namespace {

constexpr std::array<const char*, package_names> names{
#define PACKAGE_NAME(name) #name,
#include "python/bindings/package.def"
};

std::atomic<PyObject*> finder{nullptr};

// `find(name)` gives the object; `known` has the names it takes, which must be those of package.def. A package that is
// imported again connects again.
void connect(nb::object find, nb::handle known) {
  const nb::set given(known);
  nb::set expected;
  for (const char* name : names) expected.add(nb::str(name));
  const nb::object unknown = given - expected;
  const nb::object lacking = expected - given;
  if (nb::len(unknown) != 0 || nb::len(lacking) != 0) {
    PyErr_Format(PyExc_ImportError,
                 "cucore and its extension are not of one version: the package has %R, which the extension does not "
                 "know, and lacks %R",
                 unknown.ptr(), lacking.ptr());
    throw nb::python_error();
  }
  for (std::atomic<PyObject*>& object : package_objects) object = nullptr;
  finder = find.release().ptr();
}

}  // namespace

nb::object find_in_package(Package name) {
  PyObject* const find = finder;
  if (find == nullptr) throw std::runtime_error("cucore._core is of no use by itself: import cucore");
  return nb::handle(find)(names[static_cast<std::size_t>(name)]);
}

nb::handle find_first(Package name) {
  PyObject* const found = find_in_package(name).release().ptr();
  PyObject* first = nullptr;  // another thread may have found it meanwhile
  if (package_objects[static_cast<std::size_t>(name)].compare_exchange_strong(first, found)) return found;
  Py_DECREF(found);
  return first;
}

nb::object accept_options(Package options_class, nb::handle options) {
  return from_package(Package::accept_options)(from_package(options_class), options);
}

void bind_package(nb::module_& module) {
  module.def("_connect", connect, nb::arg("find"), nb::arg("names"));
  // Names that are needed when nothing can be imported any more.
  module.def("_find_now", [](nb::handle wanted) {
    const nb::set chosen(wanted);
    for (std::size_t i = 0; i < package_names; ++i) {
      if (chosen.contains(nb::str(names[i]))) from_package(static_cast<Package>(i));
    }
  });
}

}  // namespace cucore::python
