// The fields of a Python options object that are set, which are few of many.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "python/bindings/python.hpp"

namespace cucore::python {

/// The attributes of an options object (a dataclass) that are not None, as they are now.
class SetFields {
 public:
  explicit SetFields(nb::handle options) {
    const auto all = nb::steal<nb::dict>(PyObject_GenericGetDict(options.ptr(), nullptr));
    if (!all.is_valid()) throw nb::python_error();
    set_.reserve(8);
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(all.ptr(), &at, &key, &value) != 0;) {
      if (value == Py_None || !PyUnicode_Check(key)) continue;
      Py_ssize_t size = 0;
      const char* name = PyUnicode_AsUTF8AndSize(key, &size);
      if (name == nullptr) throw nb::python_error();
      set_.emplace_back(std::string_view(name, static_cast<std::size_t>(size)), nb::borrow(value));
    }
  }

  const std::vector<std::pair<std::string_view, nb::object>>& all() const noexcept { return set_; }

  /// The field's value; invalid for None.
  nb::handle find(std::string_view name) const {
    for (const auto& [key, value] : set_) {
      if (key == name) return value;
    }
    return {};
  }

 private:
  std::vector<std::pair<std::string_view, nb::object>> set_;
};

}  // namespace cucore::python
