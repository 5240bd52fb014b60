// DLPack's C ABI (versions 0.x, unversioned, and 1.x), and what exporting buffers and views has in common.
#pragma once

#include <cstdint>

#include "python/bindings/python.hpp"

namespace cucore::python::dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
  std::int32_t type;
  std::int32_t id;
};

struct DataType {
  std::uint8_t code;  // 0 signed integer, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

struct ManagedTensor {
  Tensor tensor;
  void* manager;
  void (*deleter)(ManagedTensor*);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct ManagedTensorVersioned {
  Version version;
  void* manager;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};

constexpr Version newest_version{.major = 1, .minor = 3};
constexpr std::uint64_t read_only = 1;  ///< of ManagedTensorVersioned::flags

/// The kind of a capsule that holds a Managed: the name it has, and the one it gets once it is consumed.
template <class Managed>
struct Capsule;
template <>
struct Capsule<ManagedTensor> {
  static constexpr const char* name = "dltensor";
  static constexpr const char* used_name = "used_dltensor";
};
template <>
struct Capsule<ManagedTensorVersioned> {
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

/// Whether the consumer takes versioned capsules. Raises BufferError for what is no version.
bool wants_version_1(nb::handle max_version);

[[noreturn]] void raise_buffer_error(const char* message);

}  // namespace cucore::python::dlpack
