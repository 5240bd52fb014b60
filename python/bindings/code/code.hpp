// Compiled code and kernels as Python objects.
#pragma once

#include "cucore/bindings/fast_path.hpp"
#include "cucore/kernel.hpp"
#include "cucore/object_code.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {

/// Code that was not loaded is only memory. A thread that is loading it holds a copy of its own.
template <>
inline bool may_call_driver_at_end(const ObjectCode& code) noexcept {
  return code.is_loaded();
}

/// An ObjectCode and what Python gave for its code: bytes, bytearray, or the path of a file as str; nothing until it is
/// asked for if the code is from elsewhere. The same of its symbol mapping: the core's is sorted, Python's is as it was
/// given, or in the order of the name expressions.
struct PyObjectCode {
  PyObjectCode(ObjectCode wrapped, nb::object what, nb::object names = {})
      : code(std::move(wrapped)), given(std::move(what)), mapping(std::move(names)) {}
  /// The code. Throws TypeError, or the error of an empty path, where what was given is none: as with cuda.core the
  /// first use finds that out.
  const ObjectCode& core() const;
  /// Another owner of it, for work without the GIL, during which this object may go.
  ObjectCode held() const { return core(); }
  Owned<ObjectCode> code;  ///< for its type, its name and its mapping
  nb::object given;
  nb::object mapping;  ///< a dict that is never changed, or nothing yet
  bool is_code = true;
};

struct PyKernel {
  explicit PyKernel(Kernel wrapped) : plan(detail::plan_of(wrapped)), kernel(std::move(wrapped)) {}
  const detail::KernelPlan* plan;  ///< the kernel's
  Owned<Kernel> kernel;
  nb::object attributes;  ///< what the property of this name gives, once it was asked for
  nb::object occupancy;   ///< the same
};

/// An ObjectCode of what Python gives: bytes, bytearray, or the path of a file; a dict or None. Anything else is kept
/// for core() to refuse.
PyObjectCode object_code(CodeType type, nb::handle module, const std::string& name, nb::handle symbol_mapping);

/// An ObjectCode that is not from Python; its bytes become an object of Python when `code` is asked for.
PyObjectCode new_object_code(ObjectCode code, nb::object mapping = {});

/// The code's mapping as Python shows it: symbols are bytes. In the order of `names`, then in that of the alphabet.
nb::dict mapping_object(const ObjectCode& code, const std::vector<std::string>& names = {});

}  // namespace cucore::python
