// Matrices between memory and the registers of a whole warp, in pieces as long as they lie together on both sides:
// matrix_unit does what is left element by element. An array has a register of all 32 lanes, then the next.
#pragma once

#include <cstdint>

#include "cpu/analysis/instructions/matrix_form.hpp"

namespace cucore::cpu::device_library {

/// wmma.load and wmma.store, with a stride in elements that all lanes share. False: of elements smaller than a byte,
/// and nothing was done.
bool load_in_pieces(const analysis::FragmentForm& form, const void* from, std::uint32_t stride, void* registers);
bool store_in_pieces(const analysis::FragmentForm& form, void* to, std::uint32_t stride, const void* registers);

/// ldmatrix and stmatrix of 8x8 matrices of 16 bits: `rows` has the address of each lane's row.
void load_rows_of_warp(std::uint32_t matrices, bool transposes, const void* const* rows, std::uint32_t* registers);
void store_rows_of_warp(std::uint32_t matrices, bool transposes, void* const* rows, const std::uint32_t* registers);

}  // namespace cucore::cpu::device_library
