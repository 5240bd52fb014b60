// OpaqueArray and MipmappedArray as Python objects, for the other texture bindings.
#pragma once

#include <string>
#include <vector>

#include "cucore/device.hpp"
#include "cucore/opaque_array.hpp"
#include "python/bindings/wrappers.hpp"

namespace cucore::python {

/// A member of cucore.typing.ArrayFormatType.
nb::object format_object(ArrayFormat format);
/// The name of that member, for a repr: "FLOAT32".
std::string format_name(ArrayFormat format);

/// A wrapper with what stays to be read when the array is closed.
template <class T>
struct Described : Wrapper<T> {
  explicit Described(T array)
      : Wrapper<T>(std::move(array)),
        shape(this->value().shape()),
        format(this->value().format()),
        num_channels(this->value().num_channels()),
        is_surface_load_store(this->value().is_surface_load_store()),
        device(this->value().device().ordinal()) {}
  Described(Described&&) noexcept = default;
  ~Described() { this->drop_value(); }

  std::size_t element_bytes() const { return format_bytes(format) * num_channels; }
  std::size_t size_bytes() const {
    std::size_t size = element_bytes();
    for (const std::size_t extent : shape) size *= extent;
    return size;
  }

  std::vector<std::size_t> shape;
  ArrayFormat format;
  unsigned num_channels;
  bool is_surface_load_store;
  int device;
};

struct PyOpaqueArray : Described<OpaqueArray> {
  using Described::Described;
};

struct PyMipmappedArray : Described<MipmappedArray> {
  explicit PyMipmappedArray(MipmappedArray array)
      : Described(std::move(array)), num_levels(this->value().num_levels()) {}
  unsigned num_levels;
};

}  // namespace cucore::python
