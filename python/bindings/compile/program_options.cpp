// ProgramOptions of Python as the core's: every field by its name.
#include "python/bindings/compile/program_options.hpp"

#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "python/bindings/compile/set_fields.hpp"

namespace cucore::python {
namespace {

[[noreturn]] void wrong_option_type(const char* name, nb::handle value, const char* allowed) {
  throw nb::type_error(
      (std::string("ProgramOptions.") + name + "=" + nb::repr(value).c_str() + ": must be " + allowed).c_str());
}

// The fields of one options object. read_... are the kinds of program_options.def.
class Fields : SetFields {
 public:
  using SetFields::SetFields;

  void read_name(std::string& field) const {
    if (const nb::handle value = find("name"); value.is_valid()) field = path("name", value, "a str or None");
  }

  void read_toggle(const char* name, std::optional<bool>& field) const { read_boolean(name, field); }
  void read_boolean(const char* name, std::optional<bool>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    const int truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) throw nb::python_error();
    field = truth != 0;
  }

  void read_number(const char* name, std::optional<int>& field) const {
    if (const nb::handle value = find(name); value.is_valid()) field = number(name, value);
  }

  void read_path(const char* name, std::optional<std::string>& field) const {
    const nb::handle value = find(name);
    if (value.is_valid() && !is_no_path(value)) field = text(name, value);
  }
  void read_text(const char* name, std::optional<std::string>& field) const {
    if (const nb::handle value = find(name); value.is_valid()) field = text(name, value);
  }

  void read_paths(const char* name, std::vector<std::string>& field) const {
    if (!is_no_path(find(name))) read_texts(name, field);
  }
  void read_texts(const char* name, std::vector<std::string>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid() || value.ptr() == Py_False) return;
    constexpr const char* allowed = "a str, a sequence of str, or None";
    if (is_text(value)) {
      field.push_back(text(name, value));
      return;
    }
    for (const nb::object& item : items(name, value, allowed)) field.push_back(text(name, item));
  }

  void read_numbers(const char* name, std::vector<int>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    const bool is_one = PyIndex_Check(value.ptr()) != 0 && PySequence_Check(value.ptr()) == 0;  // NumPy's numbers too
    if (is_one || PyUnicode_Check(value.ptr())) {
      field.push_back(number(name, value));
      return;
    }
    for (const nb::object& item : items(name, value, "an int, a sequence of ints, or None")) {
      field.push_back(number(name, item));
    }
  }

  void read_path_or_true(const char* name, std::optional<std::variant<bool, std::string>>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid() || is_no_path(value)) return;
    if (PyBool_Check(value.ptr())) {
      field = value.ptr() == Py_True;
    } else {
      field = text(name, value);
    }
  }

  // One architecture; a sequence of them is for the next line of the table.
  void read_architecture(const char* name, std::optional<std::string>& one) const {
    if (const nb::handle value = find(name); value.is_valid() && !is_several(value)) one = text(name, value);
  }
  void read_architectures(const char*, std::vector<std::string>& several) const {
    const nb::handle value = find("arch");
    if (!value.is_valid() || !is_several(value)) return;
    read_texts("arch", several);
    if (several.empty()) wrong_option_type("arch", value, "a str, a sequence with at least one str, or None");
  }

  void read_modules(const char* name, std::vector<std::pair<std::string, std::string>>& field) const {
    read_headers(name, field);
  }
  void read_headers(const char* name, std::vector<std::pair<std::string, std::string>>& field) const {
    auto value = nb::borrow(find(name));
    if (!value.is_valid()) return;
    if (PyDict_Check(value.ptr())) value = nb::borrow<nb::dict>(value).items();
    constexpr const char* allowed = "(name, text) pairs, or None";
    for (const nb::object& item : items(name, value, allowed)) {
      if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2) wrong_option_type(name, item, allowed);
      field.emplace_back(path(name, item[0], allowed), source(name, item[1]));
    }
  }

  // "NAME", "NAME=VALUE", (NAME, VALUE), or a sequence of those.
  void read_macros(const char* name, std::vector<std::string>& field) const {
    if (const nb::handle value = find(name); value.is_valid()) add_macro(value, field);
  }

  using SetFields::all;

 private:
  // False and "" say that there is none.
  static bool is_no_path(nb::handle value) {
    return value.ptr() == Py_False ||
           (value.is_valid() && PyUnicode_Check(value.ptr()) && PyUnicode_GET_LENGTH(value.ptr()) == 0);
  }
  static bool is_text(nb::handle value) { return PyUnicode_Check(value.ptr()) || nb::hasattr(value, "__fspath__"); }

  // Not what only looks like a sequence: bytes are one word, which no compiler knows.
  static bool is_several(nb::handle value) {
    return !is_text(value) && !PyBytes_Check(value.ptr()) && PySequence_Check(value.ptr()) != 0;
  }

  static std::string path(const char* name, nb::handle value, const char* allowed) {
    if (PyUnicode_Check(value.ptr())) return text_of(value, name);
    if (!nb::hasattr(value, "__fspath__")) wrong_option_type(name, value, allowed);
    const nb::object path = nb::steal(PyOS_FSPath(value.ptr()));
    if (!path.is_valid()) throw nb::python_error();
    return text_of(path, name);
  }

  // As Python prints it: 17 is "17".
  static std::string text(const char* name, nb::handle value) {
    if (is_text(value)) return path(name, value, "");
    const nb::object printed = nb::steal(PyObject_Str(value.ptr()));
    if (!printed.is_valid()) throw nb::python_error();
    return text_of(printed, name);
  }

  static std::string source(const char* name, nb::handle value) {
    if (PyByteArray_Check(value.ptr())) {
      return {PyByteArray_AS_STRING(value.ptr()), static_cast<std::size_t>(PyByteArray_GET_SIZE(value.ptr()))};
    }
    return text_of(value, name);
  }

  static int number(const char* name, nb::handle value) {
    const auto index = nb::steal(PyNumber_Index(number_of_text(value).ptr()));
    if (!index.is_valid() || PyBool_Check(value.ptr()) != 0) {  // compilers refuse "True", which is no number to them
      PyErr_Clear();
      wrong_option_type(name, value, "an int");
    }
    int overflow = 0;
    const long long result = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow != 0 || result != static_cast<int>(result)) {
      throw nb::value_error(
          (std::string("ProgramOptions.") + name + "=" + nb::repr(value).c_str() + ": does not fit into 32 bits")
              .c_str());
    }
    return static_cast<int>(result);
  }

  static std::vector<nb::object> items(const char* name, nb::handle value, const char* allowed) {
    if (is_text(value) || PyBytes_Check(value.ptr()) || PySequence_Check(value.ptr()) == 0) {
      wrong_option_type(name, value, allowed);
    }
    const auto sequence = nb::steal<nb::tuple>(PySequence_Tuple(value.ptr()));
    if (!sequence.is_valid()) throw nb::python_error();
    std::vector<nb::object> result;
    for (const nb::handle item : sequence) result.push_back(nb::borrow(item));
    return result;
  }

  [[noreturn]] static void wrong_macro(nb::handle value) {
    throw std::runtime_error(
        std::string("Expected define_macro to be a str, a (name, value) pair of str, or a list of those, not ") +
        nb::repr(value).c_str());
  }

  static void add_macro(nb::handle value, std::vector<std::string>& field) {
    if (PyUnicode_Check(value.ptr())) {
      field.push_back(text_of(value, "define_macro"));
      return;
    }
    if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr())) wrong_macro(value);
    const auto parts = nb::steal<nb::tuple>(PySequence_Tuple(value.ptr()));
    bool nested = PyList_Check(value.ptr());
    for (const nb::handle part : parts) nested = nested || PyTuple_Check(part.ptr()) || PyList_Check(part.ptr());
    if (nested) {
      for (const nb::handle part : parts) add_macro(part, field);
      return;
    }
    if (parts.size() != 2 || !PyUnicode_Check(nb::object(parts[0]).ptr()) ||
        !PyUnicode_Check(nb::object(parts[1]).ptr())) {
      wrong_macro(value);
    }
    field.push_back(text_of(parts[0], "define_macro") + "=" + text_of(parts[1], "define_macro"));
  }
};

}  // namespace

ProgramOptions program_options(nb::handle options) {
  // Few of many fields are set: those alone are read. `archs` is the field arch too.
  using Reader = void (*)(const Fields&, ProgramOptions&);
  static const std::unordered_map<std::string_view, Reader> readers = {
#define NAME(value, what) {"name", [](const Fields& fields, ProgramOptions& to) { fields.read_name(to.name); }},
#define OPTION(member, kind, ...) \
  {#member, [](const Fields& fields, ProgramOptions& to) { fields.read_##kind(#member, to.member); }},
#include "cucore/detail/program_options.def"
  };
  ProgramOptions result;
  const Fields fields(options);
  for (const auto& [name, value] : fields.all()) {
    const auto reader = readers.find(name);
    if (reader == readers.end()) continue;  // an attribute of the program's own
    reader->second(fields, result);
    if (name == "arch") fields.read_architectures("archs", result.archs);
  }
  return result;
}

void bind_program_options(nb::module_& module) {
  const auto as_bytes = [](const std::vector<std::string>& flags) {
    nb::list result;
    for (const std::string& flag : flags) result.append(nb::bytes(flag.data(), flag.size()));
    return result;
  };
  const auto code_type = [](const std::string& target) {
    return target.empty() ? std::nullopt : std::optional<CodeType>(CodeType(target));
  };
  module.def("_nvrtc_flags", [=](nb::handle options, const std::string& target) {
    ProgramOptions wanted = program_options(options);
    if (wanted.archs.empty()) wanted.arch = without_gil([&] { return resolve_arch(wanted); });
    return as_bytes(nvrtc_flags(wanted, code_type(target)));
  });
  module.def("_nvvm_flags", [=](nb::handle options, const std::string& target) {
    ProgramOptions wanted = program_options(options);
    if (wanted.archs.empty()) wanted.arch = without_gil([&] { return resolve_arch(wanted); });
    return as_bytes(nvvm_flags(wanted, code_type(target)));
  });
}

}  // namespace cucore::python
