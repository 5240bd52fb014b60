// Sizes, addresses and handles as Python gives them: anything with __index__ or __int__. A float is cut off, as int()
// and cuda.core do.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace cucore::python {

/// Whether the object's type has __index__ or __int__; text has neither.
bool is_number(nanobind::handle object) noexcept;

/// The Python int that such an object is; null, with no exception set, for anything else.
nanobind::object whole_number(nanobind::handle object);

/// Whether it has elements, such as an array of NumPy's: no number, though its type has __int__.
bool is_array(nanobind::handle object) noexcept;

/// The number of a Device, a Buffer or another object with a device_id, or of the object itself. Throws what its
/// device_id raises, TypeError naming `what`, OverflowError.
int device_number(nanobind::handle object, const char* what);

/// An int-like object as an unsigned number. Throws TypeError naming `what`, OverflowError.
std::uint64_t unsigned_number(nanobind::handle object, const char* what);

/// The same, as a parameter of a bound function: nanobind's own integers raise TypeError for a negative or too large
/// number, where Python's functions raise OverflowError.
struct Unsigned {
  std::uint64_t value = 0;
  operator std::uint64_t() const noexcept { return value; }
};

/// The same for a number that may be negative, of the range of int.
struct Int {
  int value = 0;
  operator int() const noexcept { return value; }
};

/// An int-like object as an int. Throws TypeError naming `what`, OverflowError.
int int_number(nanobind::handle object, const char* what);

/// The number as one of 32 bits. Throws OverflowError naming `what`.
std::uint32_t unsigned_of_32_bits(Unsigned number, const char* what);

}  // namespace cucore::python

namespace nanobind::detail {

template <>
struct type_caster<cucore::python::Unsigned> {
  NB_TYPE_CASTER(cucore::python::Unsigned, const_name("int"))
  bool from_python(handle source, std::uint8_t, cleanup_list*) {
    if (!cucore::python::is_number(source)) return false;
    value.value = cucore::python::unsigned_number(source, "it");
    return true;
  }
};

template <>
struct type_caster<cucore::python::Int> {
  NB_TYPE_CASTER(cucore::python::Int, const_name("int"))
  bool from_python(handle source, std::uint8_t, cleanup_list*) {
    if (!cucore::python::is_number(source)) return false;
    value.value = cucore::python::int_number(source, "it");
    return true;
  }
};

}  // namespace nanobind::detail
