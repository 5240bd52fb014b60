// Additions to the functions of the module, made when all are bound.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace cucore::python {

/// Processes all functions in the module and its classes so far; may be called again: their errors become one sentence.
void adopt_functions(nanobind::handle module);

/// What a bound function tries first, past nanobind's way with arguments: the result, or null. Null without an
/// exception: these arguments are not of the kind that it is for, and the function is called as ever. `names` are of
/// the keywords, whose values follow the `count` positional arguments; null if there are none.
using Shortcut = PyObject* (*)(PyObject* const* arguments, std::size_t count, PyObject* names);

/// The call of a function with that shortcut.
template <Shortcut shortcut>
struct ShortcutCall {
  static inline vectorcallfunc otherwise = nullptr;
  static PyObject* call(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) {
    PyObject* const result = shortcut(arguments, static_cast<std::size_t>(PyVectorcall_NARGS(count)), names);
    if (result != nullptr || PyErr_Occurred() != nullptr) return result;
    return otherwise(function, arguments, count, names);
  }
};

/// Has adopt_functions() give the function that call.
void plan_call(nanobind::object function, vectorcallfunc call, vectorcallfunc* otherwise);

/// The same for the function of a class that has this name. What does not depend on the shortcut stays: its signature,
/// docstring and errors.
template <Shortcut shortcut>
void add_shortcut(nanobind::handle cls, const char* name) {
  using Call = ShortcutCall<shortcut>;
  plan_call(cls.attr(name), Call::call, &Call::otherwise);
}

void bind_callables(nanobind::module_& module);

}  // namespace cucore::python
