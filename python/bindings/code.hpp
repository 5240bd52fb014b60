// Compiled code and kernels as Python objects.
#pragma once

#include "cucore/kernel.hpp"
#include "cucore/object_code.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {

/// An ObjectCode and what Python gave for its code: bytes, bytearray, or the path of a file as str.
struct PyObjectCode {
  PyObjectCode(ObjectCode wrapped, nb::object what) : code(std::move(wrapped)), given(std::move(what)) {}
  Owned<ObjectCode> code;
  nb::object given;
};

struct PyKernel {
  explicit PyKernel(Kernel wrapped) : kernel(std::move(wrapped)) {}
  Owned<Kernel> kernel;
};

/// An ObjectCode whose `code` is a new bytes object.
PyObjectCode* new_object_code(ObjectCode code);

}  // namespace cucore::python
