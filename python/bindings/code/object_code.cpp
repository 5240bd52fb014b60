// ObjectCode.
#include "cucore/object_code.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <filesystem>

#include "python/bindings/code/code.hpp"
#include "python/bindings/memory/memory.hpp"

namespace cucore::python {
namespace {

nb::bytes bytes_object(std::string_view bytes) { return nb::bytes(bytes.data(), bytes.size()); }

SymbolMapping mapping_of(nb::handle mapping) {
  SymbolMapping result;
  if (mapping.is_none()) return result;
  if (!PyDict_Check(mapping.ptr())) {
    throw nb::type_error(
        (std::string("symbol_mapping must be a dict or None, not ") + Py_TYPE(mapping.ptr())->tp_name).c_str());
  }
  for (const auto& [key, value] : nb::borrow<nb::dict>(mapping)) {
    result.insert_or_assign(text_of(key, "a name in symbol_mapping"), text_of(value, "a symbol in symbol_mapping"));
  }
  return result;
}

nb::object copy_of(nb::handle dict) {
  auto copy = nb::steal(PyDict_Copy(dict.ptr()));
  if (!copy.is_valid()) throw nb::python_error();
  return copy;
}

}  // namespace

const ObjectCode& PyObjectCode::core() const {
  if (is_code) return *code;
  if (PyUnicode_Check(given.ptr())) ObjectCode::from_file(code->code_type(), {});
  throw nb::type_error(
      (std::string("code must be bytes or bytearray (the code itself), or str or os.PathLike (the path "
                   "of a file), not ") +
       Py_TYPE(given.ptr())->tp_name)
          .c_str());
}

PyObjectCode object_code(CodeType type, nb::handle module, const std::string& name, nb::handle symbol_mapping) {
  SymbolMapping mapping = mapping_of(symbol_mapping);
  nb::object shown_mapping;
  if (!symbol_mapping.is_none()) shown_mapping = copy_of(symbol_mapping);
  if (PyBytes_Check(module.ptr())) {
    const std::string_view bytes(PyBytes_AS_STRING(module.ptr()),
                                 static_cast<std::size_t>(PyBytes_GET_SIZE(module.ptr())));
    return {ObjectCode::from_bytes(type, bytes, name, std::move(mapping)), nb::borrow(module), shown_mapping};
  }
  if (PyByteArray_Check(module.ptr())) {
    const nb::ft_object_guard unchanged(module);
    const std::string_view bytes(PyByteArray_AS_STRING(module.ptr()),
                                 static_cast<std::size_t>(PyByteArray_GET_SIZE(module.ptr())));
    return {ObjectCode::from_bytes(type, bytes, name, std::move(mapping)), nb::borrow(module), shown_mapping};
  }
  if (PyMemoryView_Check(module.ptr())) {
    const auto copied = nb::steal<nb::bytes>(PyBytes_FromObject(module.ptr()));
    if (!copied.is_valid()) throw nb::python_error();
    return {ObjectCode::from_bytes(type, std::string_view(copied.c_str(), copied.size()), name, std::move(mapping)),
            nb::borrow(module), shown_mapping};
  }
  const bool empty = PyUnicode_Check(module.ptr()) && PyUnicode_GET_LENGTH(module.ptr()) == 0;
  if (empty || (!PyUnicode_Check(module.ptr()) && !nb::hasattr(module, "__fspath__"))) {
    PyObjectCode none(ObjectCode::from_bytes(type, std::string_view(), name, std::move(mapping)), nb::borrow(module),
                      shown_mapping);
    none.is_code = false;
    return none;
  }
  const std::string native = path_of(module);
  auto shown = nb::steal(PyUnicode_DecodeFSDefaultAndSize(native.data(), static_cast<Py_ssize_t>(native.size())));
  if (!shown.is_valid()) throw nb::python_error();
  return {ObjectCode::from_file(type, std::filesystem::path(native), name, std::move(mapping)), std::move(shown),
          shown_mapping};
}

namespace {

// (code type, architecture), as Python shows the images of code.
nb::tuple image_tuple(const CodeImage& image) {
  return nb::make_tuple(std::string(image.type.name()),
                        image.arch.empty() ? nb::none() : nb::object(nb::str(image.arch.c_str())));
}

// A sequence of ObjectCodes, or a dict from architecture to ObjectCode.
PyObjectCode from_images(nb::handle images, const std::string& name, nb::handle symbol_mapping) {
  SymbolMapping mapping = mapping_of(symbol_mapping);
  std::vector<std::pair<std::string, ObjectCode>> parts;
  const auto add = [&](std::string arch, nb::handle part) {
    if (!nb::isinstance<PyObjectCode>(part)) {
      throw nb::type_error((std::string("from_images takes ObjectCodes, not ") + Py_TYPE(part.ptr())->tp_name).c_str());
    }
    parts.emplace_back(std::move(arch), nb::cast<const PyObjectCode&>(part).core());
  };
  if (PyDict_Check(images.ptr())) {
    for (const auto& [arch, part] : nb::borrow<nb::dict>(images)) add(text_of(arch, "an architecture"), part);
  } else {
    for (const nb::handle part : nb::iter(images)) add({}, part);
  }
  ObjectCode code = without_gil([&] {
    std::vector<ArchitectureCode> given;
    for (const auto& [arch, part] : parts) given.push_back({.arch = arch, .code = part});
    return ObjectCode::from_images(given, name, std::move(mapping));
  });
  nb::object shown_mapping;
  if (!symbol_mapping.is_none()) shown_mapping = copy_of(symbol_mapping);
  return new_object_code(std::move(code), std::move(shown_mapping));
}

template <class Class>
void bind_factory(Class& cls, const char* function, CodeType type, const char* doc) {
  cls.def_static(
      function,
      [type](nb::handle module, const std::string& name, nb::handle symbol_mapping) {
        return object_code(type, module, name, symbol_mapping);
      },
      nb::arg("module").none(), nb::kw_only(), nb::arg("name") = "", nb::arg("symbol_mapping") = nb::none(), doc);
}

// serialize() as bytes. For code of usual size this is faster than releasing the GIL.
nb::bytes serialized(const PyObjectCode& self) {
  constexpr std::size_t quick = std::size_t{1} << 16;
  const ObjectCode code = self.held();
  if (code.path().empty() && code.code().size() < quick) return bytes_object(code.serialize());
  return bytes_object(without_gil([&] { return code.serialize(); }));
}

const nb::object& mapping_shown(PyObjectCode& self) {
  if (!self.mapping.is_valid()) self.mapping = mapping_object(*self.code);
  return self.mapping;
}

// (function, arguments) for pickle, which compares the function with what its module has just now. The mapping, if the
// code alone would show another.
nb::tuple reduced(PyObjectCode& self) {
  const nb::object& mapping = mapping_shown(self);
  const nb::dict plain = mapping_object(self.core());
  const bool same = nb::list(mapping.attr("items")()).equal(nb::list(plain.attr("items")()));
  const nb::object make = find_in_package(Package::unpickle_object_code);
  if (same) return nb::make_tuple(make, nb::make_tuple(serialized(self)));
  return nb::make_tuple(make, nb::make_tuple(serialized(self), copy_of(mapping)));
}

nb::object global_variable(nb::handle self, nb::handle name) {
  const ObjectCode code = nb::cast<const PyObjectCode&>(self).held();
  const std::string symbol = text_of(name, "name");
  const GlobalVariable variable = without_gil([&] { return code.get_global(symbol); });
  return nb::cast(new PyBuffer(Buffer::from_handle(variable.address, variable.size, keep_alive(self))),
                  nb::rv_policy::take_ownership);
}

const nb::object& code_given(PyObjectCode& self) {
  if (!self.given.is_valid()) self.given = bytes_object(self.core().code());
  return self.given;
}

// The word for it, as one object for ever.
nb::object name_of(CodeType type) {
  static const auto names = [] {
    std::array<PyObject*, 6> made{};
    for (unsigned i = 0; i < made.size(); ++i) {
      made[i] = PyUnicode_InternFromString(std::string(CodeType(static_cast<CodeType::Value>(i)).name()).c_str());
    }
    return made;
  }();
  return nb::borrow(names[type.value()]);
}

std::string describe(const PyObjectCode& self) {
  const ObjectCode& code = self.core();
  std::string text = "<ObjectCode";
  if (code.is_loaded()) text += " handle=" + hex(code.handle());
  return text + " code_type='" + std::string(code.code_type().name()) + "'>";
}

}  // namespace

PyObjectCode new_object_code(ObjectCode code, nb::object mapping) {
  nb::object given;
  if (!code.path().empty()) given = nb::str(code.path().c_str());
  return {std::move(code), std::move(given), std::move(mapping)};
}

nb::dict mapping_object(const ObjectCode& code, const std::vector<std::string>& names) {
  nb::dict shown;
  const SymbolMapping& mapping = code.symbol_mapping();
  for (const std::string& name : names) {
    const auto found = mapping.find(name);
    if (found != mapping.end()) shown[text_object(name)] = bytes_object(found->second);
  }
  for (const auto& [name, symbol] : mapping) {
    const nb::object key = text_object(name);
    if (!shown.contains(key)) shown[key] = bytes_object(symbol);
  }
  return shown;
}

void bind_object_code(nb::module_& module) {
  auto cls = nb::class_<PyObjectCode>(
      module, "ObjectCode", nb::is_weak_referenceable(),
      "Compiled code: bytes, what kind they are, a name, and how C++ names map to symbols. Loaded by the first use "
      "that needs the driver. Program.compile() and the from_ methods make one.");
  forbid_construction<PyObjectCode>(
      cls,
      "ObjectCode cannot be instantiated directly: use Program.compile() or ObjectCode.from_cubin(), from_ptx(), "
      "from_ltoir(), from_fatbin(), from_object(), from_library()");
  bind_factory(cls, "from_cubin", CodeType::cubin, "From a cubin: bytes, or the path of a file.");
  bind_factory(cls, "from_ptx", CodeType::ptx, "From PTX: bytes, or the path of a file.");
  bind_factory(cls, "from_ltoir", CodeType::ltoir, "From LTO-IR, for the linker: bytes, or the path of a file.");
  bind_factory(cls, "from_fatbin", CodeType::fatbin, "From a fatbin: bytes, or the path of a file.");
  bind_factory(cls, "from_object", CodeType::object, "From an object file, for the linker: bytes, or a path.");
  bind_factory(cls, "from_library", CodeType::library, "From a static library, for the linker: bytes, or a path.");
  cls.def_static(
      "from_images", from_images, nb::arg("images"), nb::kw_only(), nb::arg("name") = "",
      nb::arg("symbol_mapping") = nb::none(),
      "Code for several architectures in one object (a fatbin): ObjectCodes with cubins or PTX, in a sequence "
      "or a dict by architecture. The PTX a cubin carries is the fallback for devices no cubin is for.");
  getter<PyObjectCode, code_given>(cls, "code",
                                   "The code as it was given: bytes or bytearray, or the path of its file.");
  getter<PyObjectCode, [](const PyObjectCode& self) { return name_of(self.code->code_type()); }>(
      cls, "code_type", "\"ptx\", \"cubin\", \"ltoir\", \"fatbin\", \"object\" or \"library\".");
  getter<PyObjectCode, [](const PyObjectCode& self) { return std::string_view(self.code->name()); }>(
      cls, "name", "Its name, for messages.");
  getter<PyObjectCode, [](PyObjectCode& self) { return copy_of(mapping_shown(self)); }>(
      cls, "symbol_mapping",
      "A copy of the mapping from name expressions to symbols, which are bytes; or of what was given as such.");
  cls.def_prop_ro(
         "ptx",
         [](const PyObjectCode& self) -> nb::object {
           const ObjectCode code = self.held();
           const auto ptx = without_gil([&] { return code.ptx(); });
           return ptx.has_value() ? text_object(*ptx) : nb::none();
         },
         "The PTX as str: the code itself, or what a cubin carries; None if there is none.")
      .def_prop_ro(
          "images",
          [](const PyObjectCode& self) {
            const ObjectCode code = self.held();
            nb::list result;
            for (const CodeImage& image : without_gil([&] { return code.images(); })) result.append(image_tuple(image));
            return result;
          },
          "What is in it, as (code type, architecture): the images of a fat binary, a cubin and the PTX it carries, or "
          "PTX.")
      .def_prop_ro(
          "loaded_image",
          [](const PyObjectCode& self) -> nb::object {
            const auto image = self.core().loaded_image();
            return image.has_value() ? nb::object(image_tuple(*image)) : nb::none();
          },
          "The image that was loaded, as (code type, architecture); None before, and where the driver chooses.")
      .def_prop_ro(
          "kernels",
          [](const PyObjectCode& self) {
            const ObjectCode code = self.held();
            return without_gil([&] { return code.kernel_names(); });
          },
          "Symbols of the kernels, read from the PTX or, where there is none, from a binary.")
      .def_prop_ro(
          "is_loaded", [](const PyObjectCode& self) { return self.core().is_loaded(); },
          "Whether the driver has it. Never loads.")
      .def_prop_ro(
          "handle",
          [](const PyObjectCode& self) -> nb::object {
            if (finalizing()) return nb::none();
            const ObjectCode code = self.held();
            return handle_object(Package::CUlibrary, without_gil([&] { return code.handle(); }));
          },
          "The driver's handle (CUlibrary). Loads.")
      .def(
          "get_module",
          [](const PyObjectCode& self) {
            const ObjectCode code = self.held();
            try {
              return handle_object(Package::CUmodule, without_gil([&] { return code.get_module(); }));
            } catch (const StateError& error) {
              if (code.code_type().is_loadable()) throw;
              raise(from_package(Package::CUDAInvalidImageError),
                    std::string("CUDA_ERROR_INVALID_IMAGE: ") + error.what());
            }
          },
          "The driver's module of the current context (CUmodule), for calls that know no libraries. Loads.")
      .def(
          "load",
          [](const PyObjectCode& self) {
            const ObjectCode code = self.held();
            without_gil([&] { code.load(); });
          },
          "Loads now, if that has not happened.")
      .def(
          "get_kernel",
          [](const PyObjectCode& self, nb::handle name) {
            Py_ssize_t size = 0;
            const char* const utf8 =
                PyUnicode_Check(name.ptr()) != 0 ? PyUnicode_AsUTF8AndSize(name.ptr(), &size) : nullptr;
            if (utf8 != nullptr) {
              Kernel known = detail::known_kernel(self.core(), {utf8, static_cast<std::size_t>(size)});
              if (known) return new_object<PyKernel>(std::move(known));
            }
            PyErr_Clear();  // text_of() reports the error in the text again
            const ObjectCode code = self.held();
            const std::string symbol = text_of(name, "name");
            return new_object<PyKernel>(without_gil([&] { return code.get_kernel(symbol); }));
          },
          nb::arg("name").none(),
          "The kernel of that name: a name expression given to compile(), a symbol, or its name in C++. Loads.")
      .def("get_global", global_variable, nb::arg("name").none(),
           "A __device__ or __constant__ variable on the current device, as a Buffer. Loads.")
      .def("serialize", serialized, "Type, name, mapping and bytes in cucore's own format, with version and checksum.")
      .def_static(
          "deserialize",
          [](const nb::bytes& data) {
            return new_object_code(ObjectCode::deserialize(std::string_view(data.c_str(), data.size())));
          },
          nb::arg("data"), "The object that serialize() was called on, not loaded. Bad bytes raise ValueError.")
      .def(
          "save",
          [](const PyObjectCode& self, nb::handle path) {
            const ObjectCode code = self.held();
            const std::filesystem::path file = path_of(path);
            without_gil([&] { code.save(file); });
          },
          nb::arg("path"), "serialize() into a file, which is replaced whole or not at all.")
      .def_static(
          "from_saved",
          [](nb::handle path) {
            const std::filesystem::path file = path_of(path);
            return new_object_code(without_gil([&] { return ObjectCode::from_saved(file); }));
          },
          nb::arg("path"), "The object that was saved in that file, not loaded. Bad contents raise ValueError.")
      .def(
          "__eq__", [](const PyObjectCode& self, const PyObjectCode& other) { return self.core() == other.core(); },
          nb::is_operator())
      .def("__hash__", [](const PyObjectCode& self) { return self.core().identity_hash() >> 1; })
      .def("__repr__", describe)
      .def("_show_mapping", [](PyObjectCode& self, const nb::dict& mapping) { self.mapping = copy_of(mapping); })
      .def("__reduce__", reduced, nb::lock_self());
}

}  // namespace cucore::python
