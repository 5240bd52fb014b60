// What generated code calls for matrix instructions. Every lane of a warp passes its registers; the last one to arrive
// does the work of all.
#pragma once

#include <cstdint>

#include "cpu/abi/kernel_abi.hpp"

namespace cucore::cpu::device_library::matrix_unit {

/// d = a * b + c in the fragments of `form` (a MatrixForm). Products of floats are exact and summed in binary64, then
/// rounded once; those of binary64 are fused one after the other, in order of k. `metadata`: this lane's, if A is
/// sparse.
void multiply(ThreadState* thread, std::uint64_t form, const void* a, const void* b, const void* c, void* d,
              std::uint32_t metadata);

/// wmma.load and wmma.store of `form` (a FragmentForm); `stride` in elements.
void load(ThreadState* thread, std::uint64_t form, const void* from, std::uint32_t stride, void* registers);
void store(ThreadState* thread, std::uint64_t form, void* to, std::uint32_t stride, const void* registers);

/// ldmatrix and stmatrix of 8x8 matrices of 16 bits: `row` is the address of the row that this lane names.
void load_rows(ThreadState* thread, std::uint32_t matrices, std::uint32_t transposes, const void* row,
               std::uint32_t* registers);
void store_rows(ThreadState* thread, std::uint32_t matrices, std::uint32_t transposes, void* row,
                const std::uint32_t* registers);
/// movmatrix.trans
std::uint32_t transpose(ThreadState* thread, std::uint32_t value);

/// The same for all lanes of a warp at once, of which `here` names those that take part. An array has a register of all
/// lanes, then the next.
void multiply_fragments(std::uint64_t form, std::uint32_t here, const void* a, const void* b, const void* c,
                        const std::uint32_t* metadata, void* d);
/// In code whose numbers are checked: behind all lanes' metadata stands, for all of them, the PTX line. `first`: the
/// warp's first thread.
void multiply_checked_fragments(std::uint64_t form, std::uint32_t here, const void* a, const void* b, const void* c,
                                const std::uint32_t* metadata, void* d, const BlockState* block, std::uint32_t first);
void load_fragments(std::uint64_t form, std::uint32_t here, const void* const* from, const std::uint32_t* strides,
                    void* registers);
void store_fragments(std::uint64_t form, std::uint32_t here, void* const* to, const std::uint32_t* strides,
                     const void* registers);
/// `form`: the number of matrices, and 256 if they are transposed.
void load_fragment_rows(std::uint64_t form, std::uint32_t here, const void* const* rows, std::uint32_t* registers);
void store_fragment_rows(std::uint64_t form, std::uint32_t here, void* const* rows, const std::uint32_t* registers);
void transpose_fragments(std::uint64_t form, std::uint32_t here, const std::uint32_t* values, std::uint32_t* results);

}  // namespace cucore::cpu::device_library::matrix_unit
