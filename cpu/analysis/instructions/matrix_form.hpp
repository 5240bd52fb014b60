// What a matrix instruction (mma, wmma) says of its matrices: shape, elements, and which lane holds which of them.
//
// The fragments of mma are those of the PTX ISA. Those of wmma are this device's own, which the ISA allows: where an
// mma of the same elements exists they continue its pattern, so that one rule serves both.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cpu/error/result.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

enum class Element : std::uint8_t { None, F16, Bf16, Tf32, F32, F64, E4m3, E5m2, S8, U8, S4, U4, B1, S32 };
enum class MatrixRole : std::uint8_t { A, B, Accumulator };

constexpr unsigned bits_of(Element element) {
  switch (element) {
    case Element::F64:
      return 64;
    case Element::F16:
    case Element::Bf16:
      return 16;
    case Element::E4m3:
    case Element::E5m2:
    case Element::S8:
    case Element::U8:
      return 8;
    case Element::S4:
    case Element::U4:
      return 4;
    case Element::B1:
      return 1;
    default:
      return 32;
  }
}

/// None for types that are not elements of matrices.
Element matrix_element(ptx::Type type);

constexpr bool is_integer(Element element) { return element >= Element::S8; }

/// A multiplication d = a * b + c. 64 bits, which is how generated code hands it to the run-time.
struct MatrixForm {
  static constexpr std::uint8_t saturates = 1;   ///< .satfinite
  static constexpr std::uint8_t ands = 2;        ///< .and.popc instead of .xor.popc, of B1
  static constexpr std::uint8_t a_columns = 4;   ///< of by_quads: A in column-major fragments
  static constexpr std::uint8_t b_rows = 8;      ///< of by_quads: B in row-major fragments
  static constexpr std::uint8_t by_quads = 16;   ///< m8n8k4 of halves: four products, each by eight lanes
  static constexpr std::uint8_t is_sparse = 32;  ///< half of A's elements, and metadata that says which

  // Roundings of F64 other than to the nearest.
  static constexpr std::uint8_t rounds_to_zero = 64;
  static constexpr std::uint8_t rounds_down = 128;
  static constexpr std::uint8_t rounds_up = rounds_to_zero | rounds_down;

  std::uint8_t m = 0, n = 0;
  std::uint16_t k = 0;
  std::uint8_t factors = 0;       ///< elements of A, and of B in the high half
  std::uint8_t accumulators = 0;  ///< elements of C, and of D in the high half
  std::uint8_t flags = 0;
  std::uint8_t selector = 0;  ///< of is_sparse: which lanes bring the metadata

  /// Columns of A in registers.
  std::uint32_t stored_k() const { return has(is_sparse) ? k / 2U : k; }
  /// 0 to the nearest, or one of rounds_...
  std::uint8_t rounding() const { return flags & rounds_up; }
  Element a() const { return static_cast<Element>(factors & 15); }
  Element b() const { return static_cast<Element>(factors >> 4); }
  Element c() const { return static_cast<Element>(accumulators & 15); }
  Element d() const { return static_cast<Element>(accumulators >> 4); }
  bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
  std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(*this); }
};
static_assert(sizeof(MatrixForm) == 8);

/// One matrix in memory that wmma.load or wmma.store moves; 64 bits as well.
struct FragmentForm {
  std::uint8_t m = 0, n = 0;
  std::uint16_t k = 0;
  Element element = Element::None;
  MatrixRole role = MatrixRole::A;
  std::uint8_t is_column_major = 0;
  std::uint8_t registers = 0;  ///< of a lane: more than the elements need hold copies of them

  std::uint32_t rows() const { return role == MatrixRole::B ? k : m; }
  std::uint32_t columns() const { return role == MatrixRole::A ? k : n; }
  std::uint64_t bits() const { return std::bit_cast<std::uint64_t>(*this); }
};
static_assert(sizeof(FragmentForm) == 8);

struct Place {
  std::uint32_t row, column;
};

/// Registers that an operand names: those of a vector, or one.
std::size_t registers_in(const ptx::Operand& operand);

/// Elements that a lane holds of a matrix, copies aside.
std::uint32_t elements_of(const MatrixForm& form, MatrixRole role);
/// Where element `index` of a lane's registers lies in its matrix. For by_quads the matrix is that of the lane's quads.
Place place_of(const MatrixForm& form, MatrixRole role, Element element, std::uint32_t lane, std::uint32_t index);

/// Which row of B element `column` of a stored row of A belongs to, by the metadata of the warp's lanes.
std::uint32_t row_of_sparse(const MatrixForm& form, std::uint32_t row, std::uint32_t column,
                            const std::uint32_t* metadata);

/// Of an mma or wmma.mma. A failure names what is not supported.
Result<MatrixForm> read_matrix_form(const ptx::Instruction& i);
/// Of a wmma.load or wmma.store, likewise.
Result<FragmentForm> read_fragment_form(const ptx::Instruction& i);

}  // namespace cucore::cpu::analysis
