// ProgramOptions of Python as the core's: every field by its name.
#include "python/bindings/program_options.hpp"

#include <nanobind/stl/vector.h>

namespace cucore::python {
namespace {

[[noreturn]] void wrong_type(const char* name, nb::handle value, const char* allowed) {
  throw nb::type_error(
      (std::string("ProgramOptions.") + name + "=" + nb::repr(value).c_str() + ": must be " + allowed).c_str());
}

// The fields of one options object that are not None: few of many.
class Fields {
 public:
  explicit Fields(nb::handle options) {
    const auto all = nb::steal<nb::dict>(PyObject_GenericGetDict(options.ptr(), nullptr));
    if (!all.is_valid()) throw nb::python_error();
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

  void read(const char* name, std::optional<bool>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    const int truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) throw nb::python_error();
    field = truth != 0;
  }

  void read(const char* name, std::optional<int>& field) const {
    if (const nb::handle value = find(name); value.is_valid()) field = number(name, value);
  }

  void read(const char* name, std::optional<std::string>& field) const {
    if (const nb::handle value = find(name); value.is_valid()) field = text(name, value, "a str or None");
  }

  void read(const char* name, std::vector<std::string>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    constexpr const char* allowed = "a str, a sequence of str, or None";
    if (is_text(value)) {
      field.push_back(text(name, value, allowed));
      return;
    }
    for (const nb::object& item : items(name, value, allowed)) field.push_back(text(name, item, allowed));
  }

  void read(const char* name, std::vector<int>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    if (PyLong_Check(value.ptr())) {
      field.push_back(number(name, value));
      return;
    }
    for (const nb::object& item : items(name, value, "an int, a sequence of ints, or None")) {
      field.push_back(number(name, item));
    }
  }

  // A path, or whether times are wanted in the log.
  void read_time(std::optional<std::variant<bool, std::string>>& field) const {
    const nb::handle value = find("time");
    if (!value.is_valid()) return;
    if (PyBool_Check(value.ptr())) {
      field = value.ptr() == Py_True;
    } else {
      field = text("time", value, "the path of a file, True (PTX source: times in the log), or None");
    }
  }

  // One architecture, or a sequence of them.
  void read_arch(std::optional<std::string>& one, std::vector<std::string>& several) const {
    const nb::handle value = find("arch");
    if (!value.is_valid() || is_text(value)) {
      read("arch", one);
      return;
    }
    read("arch", several);
    if (several.empty()) wrong_type("arch", value, "a str, a sequence with at least one str, or None");
  }

  // Pairs of texts: extra_sources and headers.
  void read_pairs(const char* name, std::vector<std::pair<std::string, std::string>>& field) const {
    auto value = nb::borrow(find(name));
    if (!value.is_valid()) return;
    if (PyDict_Check(value.ptr())) value = nb::borrow<nb::dict>(value).items();
    constexpr const char* allowed = "(name, text) pairs, or None";
    for (const nb::object& item : items(name, value, allowed)) {
      if (!PyTuple_Check(item.ptr()) || PyTuple_GET_SIZE(item.ptr()) != 2) wrong_type(name, item, allowed);
      field.emplace_back(text(name, item[0], allowed), source(name, item[1]));
    }
  }

  // "NAME", "NAME=VALUE", (NAME, VALUE), or a sequence of those.
  void read_macros(std::vector<std::string>& field) const {
    if (const nb::handle value = find("define_macro"); value.is_valid()) add_macro(value, field);
  }

 private:
  static bool is_text(nb::handle value) { return PyUnicode_Check(value.ptr()) || nb::hasattr(value, "__fspath__"); }

  static std::string text(const char* name, nb::handle value, const char* allowed) {
    if (PyUnicode_Check(value.ptr())) return text_of(value, name);
    if (!nb::hasattr(value, "__fspath__")) wrong_type(name, value, allowed);
    const nb::object path = nb::steal(PyOS_FSPath(value.ptr()));
    if (!path.is_valid()) throw nb::python_error();
    return text_of(path, name);
  }

  static std::string source(const char* name, nb::handle value) {
    if (PyByteArray_Check(value.ptr())) {
      return {PyByteArray_AS_STRING(value.ptr()), static_cast<std::size_t>(PyByteArray_GET_SIZE(value.ptr()))};
    }
    return text_of(value, name);
  }

  static int number(const char* name, nb::handle value) {
    const auto index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) {
      PyErr_Clear();
      wrong_type(name, value, "an int");
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
      wrong_type(name, value, allowed);
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

  // The field's value; invalid for None.
  nb::handle find(std::string_view name) const {
    for (const auto& [key, value] : set_) {
      if (key == name) return value;
    }
    return {};
  }

  std::vector<std::pair<std::string_view, nb::object>> set_;
};

}  // namespace

ProgramOptions program_options(nb::handle options, bool macros) {
  ProgramOptions result;
  const Fields fields(options);
  std::optional<std::string> name;
  fields.read("name", name);
  if (name.has_value()) result.name = *name;
  fields.read_arch(result.arch, result.archs);
#define READ(field) fields.read(#field, result.field);
  READ(relocatable_device_code)
  READ(extensible_whole_program)
  READ(debug)
  READ(lineinfo)
  READ(device_code_optimize)
  READ(ptxas_options)
  READ(max_register_count)
  READ(ftz)
  READ(prec_sqrt)
  READ(prec_div)
  READ(fma)
  READ(use_fast_math)
  READ(extra_device_vectorization)
  READ(link_time_optimization)
  READ(gen_opt_lto)
  READ(undefine_macro)
  READ(include_path)
  READ(use_bundled_headers)
  READ(pre_include)
  READ(no_source_include)
  READ(std)
  READ(builtin_move_forward)
  READ(builtin_initializer_list)
  READ(disable_warnings)
  READ(restrict)
  READ(device_as_default_execution_space)
  READ(device_int128)
  READ(optimization_info)
  READ(no_display_error_number)
  READ(diag_error)
  READ(diag_suppress)
  READ(diag_warn)
  READ(brief_diagnostics)
  READ(split_compile)
  READ(fdevice_syntax_only)
  READ(minimal)
  READ(no_cache)
  READ(fdevice_time_trace)
  READ(device_float128)
  READ(frandom_seed)
  READ(ofast_compile)
  READ(pch)
  READ(create_pch)
  READ(use_pch)
  READ(pch_dir)
  READ(pch_verbose)
  READ(pch_messages)
  READ(instantiate_templates_in_pch)
  READ(use_libdevice)
  READ(numba_debug)
  READ(toolkit_headers)
  READ(embed_ptx)
#undef READ
  fields.read_time(result.time);
  fields.read_pairs("extra_sources", result.extra_sources);
  fields.read_pairs("headers", result.headers);
  if (macros) fields.read_macros(result.define_macro);
  return result;
}

void bind_program_options(nb::module_& module) {
  module.def("_check_program_options", [](nb::handle options) { validate(program_options(options, false)); });
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
