// What the module's functions have beyond nanobind's: one sentence for arguments that do not fit, and a signature for
// inspect.signature(), which the package makes from their docstrings.
#include "python/bindings/callables.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "python/bindings/python.hpp"

namespace cucore::python {
namespace {

// nanobind has a few ways to call a function; each function uses one of them.
constexpr std::size_t most_ways = 8;
std::array<vectorcallfunc, most_ways> ways{};

// "wait(self, *events) cannot be called with (cucore._core.Stream, str)", of what nanobind says in several lines.
std::string in_one_sentence(std::string_view told) {
  constexpr std::string_view wrong = "(): incompatible function arguments.";
  constexpr std::string_view invoked = "Invoked with types: ";
  const std::size_t name = told.find(wrong);
  const std::size_t given = told.find(invoked);
  if (name == std::string_view::npos || given == std::string_view::npos) return {};
  std::string forms;
  for (std::size_t line = told.find("\n    "); line < given; line = told.find("\n    ", line + 1)) {
    std::string_view form = told.substr(line + 1, told.find('\n', line + 1) - line - 1);
    form = form.substr(form.find(". ") + 2);
    form = form.substr(0, form.rfind(" -> "));
    forms += (forms.empty() ? "" : " or ") + std::string(form);
  }
  std::string types(told.substr(given + invoked.size()));
  while (!types.empty() && types.back() == '\n') types.pop_back();
  return forms + " cannot be called with (" + types + ")";
}

[[gnu::cold]] void reword() {
  if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) return;
  nb::python_error error;
  const std::string sentence = in_one_sentence(nb::str(error.value()).c_str());
  if (sentence.empty()) {
    error.restore();
  } else {
    PyErr_SetString(PyExc_TypeError, sentence.c_str());
  }
}

template <std::size_t way>
PyObject* call(PyObject* function, PyObject* const* arguments, std::size_t count, PyObject* names) {
  PyObject* const result = ways[way](function, arguments, count, names);
  if (result == nullptr) reword();
  return result;
}

template <std::size_t... way>
constexpr std::array<vectorcallfunc, most_ways> calls_of(std::index_sequence<way...>) {
  return {call<way>...};
}
constexpr std::array<vectorcallfunc, most_ways> calls = calls_of(std::make_index_sequence<most_ways>());

// Shortcuts that wait for adopt_functions(), and the calls of all that it has made.
struct PlannedCall {
  nb::object function;
  vectorcallfunc call;
  vectorcallfunc* otherwise;
};
std::vector<PlannedCall> planned_calls;
std::vector<vectorcallfunc> shortcut_calls;

vectorcallfunc& call_of(nb::handle function) {
  auto* const place = reinterpret_cast<char*>(function.ptr()) + Py_TYPE(function.ptr())->tp_vectorcall_offset;
  return *reinterpret_cast<vectorcallfunc*>(place);
}

bool is_function(nb::handle object) {
  const std::string_view type = Py_TYPE(object.ptr())->tp_name;
  return type == "nanobind.nb_func" || type == "nanobind.nb_method";
}

void adopt_function(nb::handle function) {
  vectorcallfunc& used = call_of(function);
  if (std::find(shortcut_calls.begin(), shortcut_calls.end(), used) != shortcut_calls.end()) return;
  for (std::size_t way = 0; way < most_ways; ++way) {
    if (used == calls[way]) return;
    if (ways[way] == nullptr) ways[way] = used;
    if (ways[way] == used) {
      used = calls[way];
      return;
    }
  }
}

void adopt(nb::handle object) {
  if (is_function(object)) return adopt_function(object);
  if (PyType_Check(object.ptr()) != 0) {
    for (const nb::handle member : nb::list(object.attr("__dict__").attr("values")())) {
      if (PyType_Check(member.ptr()) == 0) adopt(member);
    }
    return;
  }
  for (const char* part : {"fget", "fset", "__func__"}) {
    if (nb::hasattr(object, part)) adopt(object.attr(part));
  }
}

}  // namespace

void adopt_functions(nb::handle module) {
  for (const nb::handle member : nb::list(module.attr("__dict__").attr("values")())) {
    if (is_function(member) || PyType_Check(member.ptr()) != 0) adopt(member);
  }
  for (const PlannedCall& planned : planned_calls) {
    *planned.otherwise = std::exchange(call_of(planned.function), planned.call);
    shortcut_calls.push_back(planned.call);
  }
  planned_calls.clear();
}

void plan_call(nb::object function, vectorcallfunc call, vectorcallfunc* otherwise) {
  planned_calls.push_back({std::move(function), call, otherwise});
}

void bind_callables(nb::module_& module) {
  adopt_functions(module);
  // The functions' classes are nanobind's, and cannot be changed from Python.
  module.def("_set_signature", [](nb::handle of, nb::handle property) {
    auto* const type = reinterpret_cast<PyTypeObject*>(of.ptr());
    if (PyDict_SetItemString(type->tp_dict, "__signature__", property.ptr()) != 0) throw nb::python_error();
    PyType_Modified(type);
  });
}

}  // namespace cucore::python
