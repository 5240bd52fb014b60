// The values of floating-point elements of matrices and tensors, and the nearest pattern of a value.
#pragma once

#include <cstdint>

#include "cpu/codegen/matrix_form.hpp"

namespace cucore::cpu::codegen {

double to_real(Element element, std::uint64_t pattern);
/// Of F16, Bf16, F32 and F64; every NaN is the canonical one of its type (F64's stay).
std::uint64_t from_real(Element element, double value);

}  // namespace cucore::cpu::codegen
