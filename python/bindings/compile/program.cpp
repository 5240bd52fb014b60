// Program, as the Python face wraps it (cucore/_program.py).
#include "cucore/program.hpp"

#include <nanobind/stl/vector.h>

#include "python/bindings/code/code.hpp"
#include "python/bindings/compile/kernel_statistics.hpp"
#include "python/bindings/compile/program_options.hpp"
#include "python/bindings/slots.hpp"

namespace cucore::python {
namespace {

const char* word(CacheResult result) {
  switch (result) {
    case CacheResult::not_used:
      return "not used";
    case CacheResult::hit:
      return "hit";
    case CacheResult::shared:
      return "shared";
    case CacheResult::miss:
      return "miss";
    case CacheResult::uncacheable:
      return "uncacheable";
  }
  return "";
}

nb::dict report_dict(const CompileReport& report) {
  nb::dict result;
  result["log"] = text_object(report.log);
  result["cache"] = word(report.cache);
  result["cache_why"] = text_object(report.cache_why);
  result["cache_key"] = report.cache_key;
  return result;
}

// A tuple (ObjectCode, report) for Python.
nb::object compile(const Program& program, const std::string& target, const std::vector<std::string>& names,
                   ProgramCache* cache) {
  CompileReport report;
  ObjectCode code =
      without_gil([&] { return program.compile(CodeType(target), names, {.cache = cache, .report = &report}); });
  nb::object mapping = mapping_object(code, names);
  return nb::make_tuple(nb::cast(new_object_code(std::move(code), std::move(mapping))), report_dict(report));
}

nb::object pch_status(const Program& program) {
  const auto status = program.pch_status();
  if (!status.has_value()) return nb::none();
  const char* const word = *status == PchStatus::created         ? "created"
                           : *status == PchStatus::not_attempted ? "not_attempted"
                                                                 : "failed";
  return from_package(Package::PCHStatusType)(word);
}

// Properties of the class in Python (cucore/_program.py), which has the Program in a slot.
struct ReadOfProgram {
  Slot slot;
  nb::object (*read)(const Program&);
};

PyObject* read_of_program(PyObject* self, void* closure) noexcept {
  return answered([&] {
    const auto& property = *static_cast<const ReadOfProgram*>(closure);
    const auto core = property.slot.get(self);
    if (!core.is_valid()) throw nb::type_error("the object was made by __new__ alone and has nothing in it");
    return property.read(*nb::inst_ptr<Program>(core));
  });
}

nb::object is_program_closed(const Program& program) { return python_value(!program); }

void set_program_class(nb::handle type) {
  const Slot slot(type, "_program");
  replace_property(type, "is_closed", read_of_program, new ReadOfProgram{slot, is_program_closed});  // for ever
  replace_property(type, "pch_status", read_of_program, new ReadOfProgram{slot, pch_status});
}

}  // namespace

void bind_program(nb::module_& module) {
  auto cls = nb::class_<Program>(module, "_Program");
  getter<Program, [](const Program& self) { return !self; }>(cls, "is_closed", nullptr);
  module.def("_set_program_class", set_program_class, nb::arg("type"),
             "To be called once with the class Program, some of whose properties then are the extension's.");
  cls.def("__init__",
          [](Program* self, nb::handle code, const std::string& code_type, nb::handle options) {
            ProgramOptions wanted = program_options(options);
            const std::string source = text_of(code, "code");
            without_gil([&] { new (self) Program(source, SourceType(code_type), std::move(wanted)); });
          })
      .def("compile", compile, nb::arg("target"), nb::arg("names"), nb::arg("cache").none())
      .def("cache_key",
           [](const Program& self, const std::string& target, const std::vector<std::string>& names) {
             const auto key = without_gil([&] { return self.cache_key(CodeType(target), names); });
             return nb::make_tuple(key->hex, text_object(key->uncacheable));
           })
      .def(
          "result",
          [](const Program& self, const std::string& target, nb::handle bytes, nb::handle symbol_mapping) {
            const CodeType type = self.options().archs.empty() ? CodeType(target) : CodeType(CodeType::fatbin);
            return object_code(type, bytes, self.options().name, symbol_mapping);
          },
          nb::arg("target"), nb::arg("bytes"), nb::arg("symbol_mapping").none())
      .def_prop_ro("backend", [](const Program& self) { return std::string(self.backend()); })
      .def_prop_ro("handle",
                   [](const Program& self) {
                     return reinterpret_cast<std::uintptr_t>(without_gil([&] { return self.handle(); }));
                   })
      .def("cancel", [](Program& self) { self.cancel(); })
      .def("close", [](Program& self) { without_gil([&] { self.close(); }); });

  module.def("_parse_diagnostics", [](nb::handle log) {
    nb::list messages;
    const nb::handle make = from_package(Package::Diagnostic);
    for (const Diagnostic& d : parse_diagnostics(text_of(log, "log"))) {
      messages.append(make(text_object(d.file), d.line, d.column, text_object(severity_name(d.severity)), d.number,
                           text_object(d.text), text_object(d.context)));
    }
    return messages;
  });
  module.def("_parse_kernel_statistics",
             [](nb::handle log) { return statistics_list(parse_kernel_statistics(text_of(log, "log"))); });
  module.def("_compile_key", [](nb::handle source, const std::string& code_type, nb::handle options,
                                const std::string& target, const std::vector<std::string>& names) {
    const ProgramOptions wanted = program_options(options);
    const std::string code = text_of(source, "code");
    const CompileKey key =
        without_gil([&] { return make_compile_key(code, SourceType(code_type), wanted, CodeType(target), names); });
    nb::list parts;
    for (const auto& [label, digest] : key.parts) {
      parts.append(nb::make_tuple(text_object(label), text_object(digest)));
    }
    return nb::make_tuple(key.hex, text_object(key.uncacheable), parts);
  });
}

}  // namespace cucore::python
