// What a wgmma.mma_async says of its matrices, and where one of them lies in shared memory.
//
// Of a product of 64 rows each warp of the warpgroup holds 16, in the fragments of mma.
#pragma once

#include <bit>
#include <cstdint>

#include "cpu/analysis/instructions/matrix_form.hpp"
#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// A multiplication d = a * b + d by a warpgroup. 64 bits, which is how generated code hands it to the run-time.
struct WarpgroupForm {
  static constexpr std::uint8_t a_in_shared = 1;  ///< a descriptor instead of registers
  static constexpr std::uint8_t a_columns = 2;    ///< A lies in shared memory column by column (.m-major)
  static constexpr std::uint8_t b_rows = 4;       ///< B lies there row by row (n-major)
  static constexpr std::uint8_t negates_a = 8;
  static constexpr std::uint8_t negates_b = 16;
  static constexpr std::uint8_t saturates = 32;  ///< .satfinite
  static constexpr std::uint8_t is_sparse = 64;  ///< half of A's elements, and metadata that says which
  static constexpr std::uint32_t m = 64;

  std::uint16_t n = 0, k = 0;
  std::uint8_t factors = 0;  ///< elements of A, and of B in the high half
  Element d = Element::None;
  std::uint8_t flags = 0;
  std::uint8_t selector = 0;  ///< of is_sparse: which lanes bring the metadata

  Element a() const { return static_cast<Element>(factors & 15); }
  Element b() const { return static_cast<Element>(factors >> 4); }
  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  /// Columns of A that are stored.
  std::uint32_t stored_k() const { return has(is_sparse) ? k / 2U : k; }
  /// What a warp holds of A and of the accumulators: a matrix of 16 rows, whose columns beyond the eighth continue it.
  MatrixForm of_warp() const;
  std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(*this); }
};
static_assert(sizeof(WarpgroupForm) == 8);

/// Of a wgmma.mma_async. A failure names what is not supported.
Result<WarpgroupForm> read_warpgroup_form(const ptx::Instruction& i);

/// A matrix in shared memory, by its 64-bit descriptor, in chunks of 16 bytes.
///
/// "Along" is the direction in which the elements of a chunk follow each other: K, or for a transposed matrix M or N;
/// "across" is the other one. Eight chunks across, one below the other, are a core matrix.
class SharedMatrix {
 public:
  /// `across`, `along`: elements in each direction; `window`: the shared address at which the block's memory begins.
  SharedMatrix(std::uint64_t descriptor, std::uint32_t window, bool is_transposed, unsigned bits, std::uint32_t across,
               std::uint32_t along);

  std::uint32_t chunks() const { return across_ * chunks_along_; }
  std::uint32_t chunks_along() const { return chunks_along_; }
  /// Where a chunk lies in the block's memory.
  std::uint32_t offset_of(std::uint32_t across, std::uint32_t chunk_along) const;

 private:
  std::uint32_t start_, leading_, stride_, swizzled_bytes_, base_, window_;
  std::uint32_t across_, chunks_along_;
  bool is_transposed_;
};

}  // namespace cucore::cpu::analysis
