// What cp.reduce.async.bulk.tensor does with one element: the type of the elements is the tensor map's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/codegen/tensor_map_contents.hpp"

namespace cucore::cpu::codegen {

enum class Reduction : std::uint32_t { Add, Min, Max, Inc, Dec, And, Or, Xor };

/// Whether elements can be combined so: halves, bfloats and floats are added, integers
/// of 32 and 64 bits have all but Inc and Dec, which are those of unsigned words.
bool can_combine(TensorElement type, Reduction operation);

/// Combines the element at `element` with the one at `operand`, atomically.
void combine(std::byte* element, const std::byte* operand, TensorElement type, Reduction operation);

}  // namespace cucore::cpu::codegen
