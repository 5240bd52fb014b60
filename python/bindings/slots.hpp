// Slots of classes written in Python (__slots__), read and filled from C: an object's own field for each name.
#pragma once

#include "python/bindings/python.hpp"

#include <structmember.h>

namespace cucore::python {

/// A slot of a class of the package, which does not change once the class is made.
class Slot {
 public:
  Slot() = default;
  /// Throws TypeError if the class has no slot of that name.
  Slot(nb::handle type, const char* name) {
    const nb::object descriptor = type.attr(name);
    if (Py_TYPE(descriptor.ptr()) != &PyMemberDescr_Type) {
      throw nb::type_error((std::string(name) + " is no slot of " + nb::repr(type).c_str()).c_str());
    }
    member_ = reinterpret_cast<PyMemberDescrObject*>(descriptor.ptr())->d_member;
  }

  /// What is in it; invalid if nothing was put there. On a Python without a GIL another thread may replace it.
#ifdef Py_GIL_DISABLED
  nb::object get(PyObject* object) const {
    auto value = nb::steal(PyMember_GetOne(reinterpret_cast<const char*>(object), member_));
    if (!value.is_valid()) PyErr_Clear();
    return value;
  }
#else
  nb::handle get(PyObject* object) const noexcept { return *place(object); }
#endif

  void set(PyObject* object, nb::handle value) const {
    if (PyMember_SetOne(reinterpret_cast<char*>(object), member_, value.ptr()) != 0) throw nb::python_error();
  }
  /// The same for a new object that nobody else has.
  void put(PyObject* object, nb::object value) const noexcept { *place(object) = value.release().ptr(); }

 private:
  PyObject** place(PyObject* object) const noexcept {
    return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + member_->offset);
  }

  PyMemberDef* member_ = nullptr;
};

/// The property `name` of a class, which has been defined in Python, is read by `read` from now on; its docstring
/// stays.
void replace_property(nb::handle type, const std::string& name, ::getter read, void* closure);

/// The same: it keeps its answer in the slot.
void keep_property(nb::handle type, const std::string& name, const std::string& slot);

}  // namespace cucore::python
