// Linker, as the Python face wraps it (cucore/_linker.py).
#include "cucore/linker.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <unordered_map>

#include "python/bindings/code/code.hpp"
#include "python/bindings/compile/kernel_statistics.hpp"
#include "python/bindings/compile/set_fields.hpp"

namespace cucore::python {
namespace {

// The fields of a Python LinkerOptions, read one at a time.
class LinkerFields : SetFields {
 public:
  using SetFields::SetFields;

  void read_name(std::string& field) const {
    std::optional<std::string> name;
    read("name", name);
    if (name) field = std::move(*name);
  }

  void read(const char* name, std::optional<bool>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    const int truth = PyObject_IsTrue(value.ptr());
    if (truth < 0) throw nb::python_error();
    field = truth != 0;
  }

  void read(const char* name, std::optional<int>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    const auto index = nb::steal(PyNumber_Index(number_of_text(value).ptr()));
    if (!index.is_valid() || PyBool_Check(value.ptr()) != 0) {  // linkers refuse "True", which is no number to them
      PyErr_Clear();
      wrong_type(name, value, "an int or None");
    }
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow != 0 || number != static_cast<int>(number)) {
      throw nb::value_error(
          (std::string("LinkerOptions.") + name + "=" + nb::repr(value).c_str() + ": does not fit into 32 bits")
              .c_str());
    }
    field = static_cast<int>(number);
  }

  void read(const char* name, std::optional<std::string>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    field = printed(value, name);
  }

  // A str is one element.
  void read(const char* name, std::vector<std::string>& field) const {
    const nb::handle value = find(name);
    if (!value.is_valid()) return;
    constexpr const char* allowed = "a str, a sequence of str, or None";
    if (PyUnicode_Check(value.ptr())) {
      field.push_back(text_of(value, name));
      return;
    }
    if (PyBytes_Check(value.ptr()) || PySequence_Check(value.ptr()) == 0) wrong_type(name, value, allowed);
    for (const nb::handle item : nb::iter(value)) field.push_back(printed(item, name));
  }

  using SetFields::all;

 private:
  static std::string printed(nb::handle value, const char* name) {
    if (PyUnicode_Check(value.ptr())) return text_of(value, name);
    const nb::object text = nb::steal(PyObject_Str(value.ptr()));
    if (!text.is_valid()) throw nb::python_error();
    return text_of(text, name);
  }

  [[noreturn]] static void wrong_type(const char* name, nb::handle value, const char* allowed) {
    throw nb::type_error(
        (std::string("LinkerOptions.") + name + "=" + nb::repr(value).c_str() + ": must be " + allowed).c_str());
  }
};

LinkerOptions linker_options(nb::handle options) {
  using Reader = void (*)(const LinkerFields&, LinkerOptions&);
  static const std::unordered_map<std::string_view, Reader> readers = {
#define NAME(value, what) {"name", [](const LinkerFields& fields, LinkerOptions& to) { fields.read_name(to.name); }},
#define OPTION(member, ...) \
  {#member, [](const LinkerFields& fields, LinkerOptions& to) { fields.read(#member, to.member); }},
#include "cucore/detail/linker_options.def"
  };
  LinkerOptions result;
  const LinkerFields fields(options);
  for (const auto& [name, value] : fields.all()) {
    if (const auto reader = readers.find(name); reader != readers.end()) reader->second(fields, result);
  }
  return result;
}

nb::object link(const Linker& linker, const std::string& target, ProgramCache* cache) {
  ObjectCode code = without_gil([&] { return linker.link(CodeType(target), {.cache = cache}); });
  return nb::cast(new_object_code(std::move(code)));
}

const char* word(LinkerBackend backend) { return backend == LinkerBackend::nvjitlink ? "nvJitLink" : "driver"; }

}  // namespace

void bind_linker(nb::module_& module) {
  nb::class_<Linker>(module, "_Linker")
      .def("__init__",
           [](Linker* self, const nb::list& codes, nb::handle options) {
             std::vector<ObjectCode> inputs;
             for (const nb::handle code : codes) inputs.push_back(nb::cast<const PyObjectCode&>(code).core());
             LinkerOptions wanted = linker_options(options);
             without_gil([&] { new (self) Linker(inputs, std::move(wanted)); });
           })
      .def("link", link, nb::arg("target"), nb::arg("cache").none())
      .def("kernel_statistics", [](const Linker& self) { return statistics_list(self.kernel_statistics()); })
      .def("error_log", [](const Linker& self) { return text_object(self.error_log()); })
      .def("info_log", [](const Linker& self) { return text_object(self.info_log()); })
      .def("handle",
           [](const Linker& self) {
             return static_cast<std::uint64_t>(
                 reinterpret_cast<std::uintptr_t>(without_gil([&] { return self.handle(); })));
           })
      .def("close", [](Linker& self) { without_gil([&] { self.close(); }); })
      .def_prop_ro("is_closed", [](const Linker& self) { return !self; });
  module.def("_linker_flags", [](nb::handle options) {
    LinkerOptions wanted = linker_options(options);
    if (!wanted.arch.has_value()) wanted.arch = without_gil([] { return resolve_arch({}); });
    nb::list result;
    for (const std::string& flag : nvjitlink_flags(wanted)) result.append(nb::bytes(flag.data(), flag.size()));
    return result;
  });
  module.def("_ignored_linker_options", [](nb::handle options) {
    return ignored_options(linker_options(options), without_gil([] { return Linker::which_backend(); }));
  });
  // Which linker there is, and why it is not nvJitLink.
  module.def("_linker_backend", [] {
    return without_gil(
        [] { return std::pair(std::string(word(Linker::which_backend())), Linker::why_not_nvjitlink()); });
  });
}

}  // namespace cucore::python
