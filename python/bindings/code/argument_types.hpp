// Scalars of NumPy, ml_dtypes and ctypes: what C++ value each stands for, and where its bytes are.
#pragma once

#include <cstddef>

#include "cucore/kernel.hpp"
#include "python/bindings/python.hpp"

namespace cucore::python {

struct ScalarType {
  /// Where a scalar's bytes are found.
  enum class Storage : unsigned char {
    buffer,   ///< by the buffer protocol
    inlined,  ///< in the object, right behind its header (NumPy's scalars)
    pointed,  ///< behind the pointer that follows the header (ctypes)
    method    ///< by tobytes() (scalars of NumPy's extensions)
  };
  PyTypeObject* type = nullptr;
  std::size_t size = 0;  ///< 0: whatever the object has (structures)
  ParameterKind kind = ParameterKind::unknown;
  Storage storage = Storage::buffer;
};

/// The scalar type of an object of `type`, or null. Imports nothing: only libraries that somebody has imported can have
/// made the object. Lock-free; the answer lives as long as the process.
const ScalarType* find_scalar_type(PyTypeObject* type);

/// The same if it is known by now: runs no Python code.
const ScalarType* known_scalar_type(const PyTypeObject* type) noexcept;

}  // namespace cucore::python
