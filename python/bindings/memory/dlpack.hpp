// DLPack (capsules of versions 0.x, unversioned, and of 1.x): what exporting buffers and views has in common.
#pragma once

#include <dlpack/dlpack.h>

#include "cucore/strided_layout.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python::dlpack {

constexpr DLPackVersion newest_version{.major = DLPACK_MAJOR_VERSION, .minor = DLPACK_MINOR_VERSION};

/// The kind of a capsule that holds a Managed: the name it has, and the one it gets once it is consumed.
template <class Managed>
struct Capsule;
template <>
struct Capsule<DLManagedTensor> {
  static constexpr const char* name = "dltensor";
  static constexpr const char* used_name = "used_dltensor";
};
template <>
struct Capsule<DLManagedTensorVersioned> {
  static constexpr const char* name = "dltensor_versioned";
  static constexpr const char* used_name = "used_dltensor_versioned";
};

/// A capsule around `managed`, which is deleted with it if nobody consumes it.
template <class Managed>
nb::object make_capsule(Managed* managed) {
  auto capsule = nb::steal(PyCapsule_New(managed, Capsule<Managed>::name, [](PyObject* unused) {
    if (PyCapsule_IsValid(unused, Capsule<Managed>::name) == 0) return;  // a consumer took it and renamed it
    auto* left = static_cast<Managed*>(PyCapsule_GetPointer(unused, Capsule<Managed>::name));
    left->deleter(left);
  }));
  if (!capsule.is_valid()) throw nb::python_error();
  return capsule;
}

/// A tensor of another library: its capsule, which is consumed and gives it back when it goes, and what it says. Throws
/// ValueError for elements that are no whole bytes.
struct Taken {
  nb::object tensor;
  const DLTensor& described;
  bool readonly;
};
Taken take(nb::handle capsule);

/// The layout of the tensor in a capsule that was taken.
StridedLayout layout_of_taken(nb::handle capsule);

/// Where a Buffer's memory is. Throws BufferError.
DLDevice device_of_buffer(nb::handle buffer);

/// Whether the consumer takes versioned capsules. Raises TypeError or BufferError for what is no version.
bool wants_version_1(nb::handle max_version);

/// What __dlpack__() refuses whatever it exports: TypeError for arguments of other types, BufferError for a copy.
void check_request(nb::handle stream, nb::handle device, nb::handle copy);

[[noreturn]] void raise_buffer_error(const char* message);

}  // namespace cucore::python::dlpack
