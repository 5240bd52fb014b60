// Properties of classes written in Python that cost no more than one of C: their answer is kept in a slot.
#include "python/bindings/slots.hpp"

namespace cucore::python {

void replace_property(nb::handle type, const std::string& name, ::getter read, void* closure) {
  const nb::object doc = nb::getattr(type.attr(name.c_str()), "__doc__", nb::none());
  PyObject* const spelled = PyUnicode_InternFromString(name.c_str());
  auto* const definition = new PyGetSetDef;  // for ever, as the class
  *definition = {PyUnicode_AsUTF8(spelled), read, nullptr,
                 doc.is_none() ? nullptr : PyUnicode_AsUTF8(nb::object(doc).release().ptr()), closure};
  const auto made = nb::steal(PyDescr_NewGetSet(reinterpret_cast<PyTypeObject*>(type.ptr()), definition));
  // Past a __setattr__ of the class's metaclass.
  if (!made.is_valid() || PyType_Type.tp_setattro(type.ptr(), spelled, made.ptr()) != 0) throw nb::python_error();
}

namespace {

// A property that is asked for once: the answer is kept in a slot of its own.
struct KeptProperty {
  Slot slot;
  PyObject* ask = nullptr;  // for ever
};

PyObject* read_kept(PyObject* self, void* closure) noexcept {
  return answered([&]() -> nb::object {
    const auto& property = *static_cast<const KeptProperty*>(closure);
    const auto known = property.slot.get(self);
    if (known.is_valid()) return nb::borrow(known);
    auto value = nb::steal(PyObject_CallOneArg(property.ask, self));
    if (!value.is_valid()) throw nb::python_error();
    property.slot.set(self, value);
    return value;
  });
}

}  // namespace

void keep_property(nb::handle type, const std::string& name, const std::string& slot) {
  const nb::object ask = type.attr(name.c_str()).attr("fget");
  auto* const kept = new KeptProperty{Slot(type, slot.c_str()), nb::object(ask).release().ptr()};  // for ever
  replace_property(type, name, read_kept, kept);
}

void bind_slots(nb::module_& module) {
  module.def("_keep_property", keep_property, nb::arg("type"), nb::arg("name"), nb::arg("slot"),
             "The property of a class, which has been defined in Python, from now on keeps its answer in the slot.");
}

}  // namespace cucore::python
