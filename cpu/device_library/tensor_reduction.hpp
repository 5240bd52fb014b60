// What cp.reduce.async.bulk.tensor does with one element: the type of the elements is the tensor map's.
#pragma once

#include <cstddef>

#include "cpu/abi/reduction.hpp"
#include "cpu/abi/tensor_map_contents.hpp"

namespace cucore::cpu::device_library {

/// Whether elements can be combined by this operation, as on an H200: floats of 32 and 64 bits are added, halves and
/// bfloats have Min and Max as well. Integers of 32 and 64 bits have all but Inc and Dec, which are those of unsigned
/// words; signed ones of 64 bits have Min and Max alone.
bool can_combine(TensorElement type, Reduction operation);

/// Combines the element at `element` with the one at `operand`, atomically. Every NaN becomes the type's canonical one,
/// but F64's, where the operand's stays, or else the element's; Min and Max take the number and have -0 below +0.
void combine(std::byte* element, const std::byte* operand, TensorElement type, Reduction operation);

}  // namespace cucore::cpu::device_library
