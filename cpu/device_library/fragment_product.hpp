// Products of a warp's fragments in vectors of binary64, for the kinds that most kernels are made of: matrix_unit does
// the others element by element.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/analysis/instructions/matrix_form.hpp"

namespace cucore::cpu::device_library {

/// Dense ones: of halves, bf16, tf32 and floats of eight bits with sums in binary32 or halves, and of integers of eight
/// bits.
bool has_fragment_product(const analysis::MatrixForm& form);

/// d = a * b + c as matrix_unit has it. An array has a register of all 32 lanes, then the next.
using FragmentProduct = void (*)(const analysis::MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b,
                                 const std::uint32_t* c, std::uint32_t* d);

/// The ways in which this processor can do it, the fastest first. All give the same bits.
std::vector<FragmentProduct> fragment_products();

/// The fastest.
void multiply_in_vectors(const analysis::MatrixForm& form, const std::uint32_t* a, const std::uint32_t* b,
                         const std::uint32_t* c, std::uint32_t* d);

/// The values of the elements in 16 bytes: halves, bf16, tf32 and what has eight bits.
void numbers_in_chunk(analysis::Element element, const void* chunk, double* numbers);

}  // namespace cucore::cpu::device_library
