// Which matrix instructions there are, and which lane holds which element: see matrix_form.hpp.
#include "cpu/analysis/instructions/matrix_form.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/analysis/instructions/not_supported.hpp"

namespace cucore::cpu::analysis {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;
using M = ptx::Modifier;

Element matrix_element(Type type) {
  switch (type) {
    case Type::F16:
      return Element::F16;
    case Type::Bf16:
      return Element::Bf16;
    case Type::Tf32:
      return Element::Tf32;
    case Type::F32:
      return Element::F32;
    case Type::F64:
      return Element::F64;
    case Type::E4m3:
      return Element::E4m3;
    case Type::E5m2:
      return Element::E5m2;
    case Type::S8:
      return Element::S8;
    case Type::U8:
      return Element::U8;
    case Type::S4:
      return Element::S4;
    case Type::U4:
      return Element::U4;
    case Type::B1:
      return Element::B1;
    case Type::S32:
      return Element::S32;
    default:
      return Element::None;
  }
}

namespace {

struct Shape {
  std::uint8_t m, n;
  std::uint16_t k;
  bool operator==(const Shape&) const = default;
};

std::optional<Shape> shape_of(const Instruction& i) {
  static constexpr std::pair<M, Shape> shapes[] = {
      {M::M8n8k4, {8, 8, 4}},     {M::M8n8k16, {8, 8, 16}},     {M::M8n8k32, {8, 8, 32}},
      {M::M8n8k128, {8, 8, 128}}, {M::M8n32k16, {8, 32, 16}},   {M::M16n16k16, {16, 16, 16}},
      {M::M16n16k8, {16, 16, 8}}, {M::M32n8k16, {32, 8, 16}},   {M::M16n8k4, {16, 8, 4}},
      {M::M16n8k8, {16, 8, 8}},   {M::M16n8k16, {16, 8, 16}},   {M::M16n8k32, {16, 8, 32}},
      {M::M16n8k64, {16, 8, 64}}, {M::M16n8k128, {16, 8, 128}}, {M::M16n8k256, {16, 8, 256}},
  };
  for (const auto& [modifier, shape] : shapes) {
    if (i.has(modifier)) return shape;
  }
  return {};
}

/// Elements that may be multiplied with each other.
enum class Factors : std::uint8_t { Half, Brain, Tensor, Double, Eight, Bytes, Nibbles, Bits };

Factors factors_of(Element element) {
  switch (element) {
    case Element::F16:
      return Factors::Half;
    case Element::Bf16:
      return Factors::Brain;
    case Element::Tf32:
      return Factors::Tensor;
    case Element::F64:
      return Factors::Double;
    case Element::E4m3:
    case Element::E5m2:
      return Factors::Eight;
    case Element::S8:
    case Element::U8:
      return Factors::Bytes;
    case Element::S4:
    case Element::U4:
      return Factors::Nibbles;
    default:
      return Factors::Bits;
  }
}

enum class Family : std::uint8_t { Mma, Sparse, Wmma };

struct Known {
  Family family;
  Factors factors;
  std::initializer_list<Shape> shapes;
};

bool is_known(Family family, Factors factors, const Shape& shape) {
  static const Known known[] = {
      {Family::Mma, Factors::Half, {{8, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
      {Family::Mma, Factors::Brain, {{16, 8, 8}, {16, 8, 16}}},
      {Family::Mma, Factors::Tensor, {{16, 8, 4}, {16, 8, 8}}},
      {Family::Mma, Factors::Double, {{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}}},
      {Family::Mma, Factors::Eight, {{16, 8, 16}, {16, 8, 32}}},
      {Family::Mma, Factors::Bytes, {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}}},
      {Family::Mma, Factors::Nibbles, {{8, 8, 32}, {16, 8, 32}, {16, 8, 64}}},
      {Family::Mma, Factors::Bits, {{8, 8, 128}, {16, 8, 128}, {16, 8, 256}}},
      {Family::Sparse, Factors::Half, {{16, 8, 16}, {16, 8, 32}}},
      {Family::Sparse, Factors::Brain, {{16, 8, 16}, {16, 8, 32}}},
      {Family::Sparse, Factors::Tensor, {{16, 8, 8}, {16, 8, 16}}},
      {Family::Sparse, Factors::Eight, {{16, 8, 64}}},
      {Family::Sparse, Factors::Bytes, {{16, 8, 32}, {16, 8, 64}}},
      {Family::Sparse, Factors::Nibbles, {{16, 8, 64}, {16, 8, 128}}},
      {Family::Wmma, Factors::Half, {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}},
      {Family::Wmma, Factors::Brain, {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}},
      {Family::Wmma, Factors::Tensor, {{16, 16, 8}}},
      {Family::Wmma, Factors::Double, {{8, 8, 4}}},
      {Family::Wmma, Factors::Bytes, {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}}},
      {Family::Wmma, Factors::Nibbles, {{8, 8, 32}}},
      {Family::Wmma, Factors::Bits, {{8, 8, 128}}},
  };
  return std::any_of(std::begin(known), std::end(known), [&](const Known& row) {
    return row.family == family && row.factors == factors &&
           std::find(row.shapes.begin(), row.shapes.end(), shape) != row.shapes.end();
  });
}

bool accumulates_in(Factors factors, bool is_wmma, Element c, Element d) {
  const auto is_single_or_half = [](Element e) { return e == Element::F32 || e == Element::F16; };
  switch (factors) {
    case Factors::Half:
      return is_single_or_half(c) && is_single_or_half(d);
    case Factors::Eight:
      return is_single_or_half(c) && c == d && !is_wmma;
    case Factors::Brain:
    case Factors::Tensor:
      return c == Element::F32 && d == Element::F32;
    case Factors::Double:
      return c == Element::F64 && d == Element::F64;
    default:
      return c == Element::S32 && d == Element::S32;
  }
}

constexpr std::uint32_t lanes = 32;

/// 32-bit registers of a lane (64-bit ones of F64) that `elements` elements fill.
std::uint32_t registers_for(Element element, std::uint32_t elements) {
  return element == Element::F64 ? elements : elements * bits_of(element) / 32;
}

/// wmma gives halves eight registers in A and B of any shape.
std::uint32_t registers_of(const MatrixForm& form, MatrixRole role, Element element, bool is_wmma) {
  if (is_wmma && element == Element::F16 && role != MatrixRole::Accumulator) return 8;
  return registers_for(element, elements_of(form, role));
}

std::uint8_t two(Element low, Element high) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(low) | static_cast<unsigned>(high) << 4);
}

/// The layouts of A and B: `.row.col` for all but wmma and m8n8k4 of halves. As flags of `form`.
Result<std::uint8_t> read_layouts(const Instruction& i, bool is_free, const MatrixForm& form) {
  std::vector<bool> is_row;
  for (M modifier : i.modifiers) {
    if (modifier == M::Row || modifier == M::Col) is_row.push_back(modifier == M::Row);
  }
  if (is_row.size() != 2) return not_supported("needs two layouts");
  if (!is_free && (!is_row[0] || is_row[1])) return not_supported("layouts other than .row.col");
  if (!form.has(MatrixForm::by_quads)) return std::uint8_t{0};
  return static_cast<std::uint8_t>((is_row[0] ? 0 : MatrixForm::a_columns) | (is_row[1] ? MatrixForm::b_rows : 0));
}

}  // namespace

std::size_t registers_in(const ptx::Operand& operand) {
  return operand.kind == ptx::Operand::Kind::Vector ? operand.elements.size() : 1;
}

std::uint32_t elements_of(const MatrixForm& form, MatrixRole role) {
  const std::uint32_t rows = role == MatrixRole::B ? form.k : form.m;
  const std::uint32_t columns = role == MatrixRole::A ? form.stored_k() : form.n;
  return rows * columns / (form.has(MatrixForm::by_quads) ? 8 : lanes);
}

namespace {

Place place_by_quads(const MatrixForm& form, MatrixRole role, Element element, std::uint32_t lane,
                     std::uint32_t index) {
  const std::uint32_t high = lane >= 16 ? 4 : 0;
  const std::uint32_t own = lane % 4 + high;
  switch (role) {
    case MatrixRole::A:
      return form.has(MatrixForm::a_columns) ? Place{index + high, lane % 4} : Place{own, index};
    case MatrixRole::B:
      return form.has(MatrixForm::b_rows) ? Place{lane % 4, index + high} : Place{index, own};
    default:
      if (element == Element::F16) return {own, index};
      return {(lane & 1) + (index & 2) + high, (index & 4) + (lane & 2) + (index & 1)};
  }
}

}  // namespace

Place place_of(const MatrixForm& form, MatrixRole role, Element element, std::uint32_t lane, std::uint32_t index) {
  if (form.has(MatrixForm::by_quads)) return place_by_quads(form, role, element, lane, index);
  const std::uint32_t group = lane / 4;
  const std::uint32_t own = lane % 4;
  const std::uint32_t packed = role == MatrixRole::Accumulator ? 2 : std::max(1U, 32 / bits_of(element));
  const std::uint32_t part = index / packed;  // 8 rows or columns by 4 * packed elements along the other direction
  const std::uint32_t along = own * packed + index % packed;
  if (role == MatrixRole::B) {
    const std::uint32_t steps = form.k / (4 * packed);
    return {along + 4 * packed * (part % steps), group + 8 * (part / steps)};
  }
  const std::uint32_t bands = form.m / 8U;
  return {group + 8 * (part % bands), along + 4 * packed * (part / bands)};
}

namespace {

/// Bits of metadata for a row of A: two for each stored element, pair of 4-bit elements or half of a tf32.
std::uint32_t metadata_of_row(const MatrixForm& form) {
  const unsigned bits = bits_of(form.a());
  return 2 * form.stored_k() * (bits == 32 ? 2 : 1) / (bits == 4 ? 2 : 1);
}

/// How many of four lanes in a row bring metadata: for row `lane / 4` and the one eight below.
std::uint32_t lanes_with_metadata(const MatrixForm& form) { return metadata_of_row(form) / 16; }

}  // namespace

std::uint32_t row_of_sparse(const MatrixForm& form, std::uint32_t row, std::uint32_t column,
                            const std::uint32_t* metadata) {
  const unsigned bits = bits_of(form.a());
  // Of elements of 16 bits and more a word has 16 bits of a row and then 16 of the one eight below; of smaller ones two
  // lanes have 32 bits of one of these rows each.
  const std::uint32_t piece = bits >= 16 ? 16 : 32;
  const std::uint32_t at = 2 * (bits == 32 ? 2 * column : bits == 4 ? column / 2 : column);
  const std::uint32_t below = row / 8;
  const std::uint32_t lane =
      row % 8 * 4 + form.selector * lanes_with_metadata(form) + (bits >= 16 ? at / piece : 2 * (at / piece) + below);
  const std::uint32_t index = metadata[lane] >> (at % piece + (bits >= 16 ? 16 * below : 0)) & 3;
  switch (bits) {
    case 32:  // one of two: the first of two indices of halves
      return column * 2 + index / 2;
    case 4:  // two of four pairs
      return column / 4 * 8 + index * 2 + column % 2;
    default:  // two of four
      return column / 2 * 4 + index;
  }
}

Result<MatrixForm> read_matrix_form(const Instruction& i) {
  MatrixForm form;
  const bool is_wmma = i.opcode == ptx::Opcode::Wmma;
  if (!i.has(M::Sync) || !i.has(M::Aligned)) return not_supported("needs .sync.aligned");
  const bool is_sparse = i.has(M::Sp) || i.has(M::SpOrderedMetadata);
  const auto shape = shape_of(i);
  if (!shape) return not_supported("shape");
  const bool types_of_accumulators_alone = is_wmma && i.types.size() == 2;
  if (!types_of_accumulators_alone && i.types.size() != 4) return not_supported("number of types");
  const Element d = matrix_element(i.types.front());
  const Element c = matrix_element(i.types.back());
  const Element a = types_of_accumulators_alone ? Element::F16 : matrix_element(i.types[1]);
  const Element b = types_of_accumulators_alone ? Element::F16 : matrix_element(i.types[2]);
  if (a == Element::None || a == Element::S32 || a == Element::F32) return not_supported("type of A");
  const Factors factors = factors_of(a);
  if (factors_of(b) != factors || b == Element::S32 || b == Element::None)
    return not_supported("types of A and B together");
  const Family family = is_wmma ? Family::Wmma : is_sparse ? Family::Sparse : Family::Mma;
  if (!is_known(family, factors, *shape)) return not_supported("shape with these types");
  if (!accumulates_in(factors, is_wmma, c, d)) return not_supported("type of the accumulators");

  form.m = shape->m;
  form.n = shape->n;
  form.k = shape->k;
  form.factors = two(a, b);
  form.accumulators = two(c, d);
  if (is_sparse) form.flags |= MatrixForm::is_sparse;
  const bool by_quads = !is_wmma && factors == Factors::Half && *shape == Shape{8, 8, 4};
  if (by_quads) form.flags |= MatrixForm::by_quads;
  if (!is_wmma && !by_quads && factors == Factors::Half && c != d)
    return not_supported("accumulators of different types");
  const bool counts = i.has(M::Popc);
  if (counts != (factors == Factors::Bits) || (counts && i.has(M::Xor) == i.has(M::And)))
    return not_supported("operation");
  if (i.has(M::And)) form.flags |= MatrixForm::ands;
  const bool is_directed = i.has(M::Rz) || i.has(M::Rm) || i.has(M::Rp);
  if (i.has(M::Rn) + i.has(M::Rz) + i.has(M::Rm) + i.has(M::Rp) > 1) return not_supported("several roundings");
  if ((is_directed || i.has(M::Rn)) && factors != Factors::Double) return not_supported("a rounding with these types");
  if (i.has(M::Rz)) form.flags |= MatrixForm::rounds_to_zero;
  if (i.has(M::Rm)) form.flags |= MatrixForm::rounds_down;
  if (i.has(M::Rp)) form.flags |= MatrixForm::rounds_up;
  if (i.has(M::Satfinite)) {
    if (factors != Factors::Bytes && factors != Factors::Nibbles) return not_supported(".satfinite with these types");
    form.flags |= MatrixForm::saturates;
  }
  Result<std::uint8_t> layouts = read_layouts(i, by_quads || (is_wmma && bits_of(a) >= 8), form);
  if (!layouts) return std::move(layouts).failure();
  form.flags |= *layouts;

  if (i.operands.size() != (is_sparse ? 6U : 4U)) return not_supported("operands");
  if (is_sparse) {
    const Operand& selector = i.operands[5];
    if (selector.kind != Operand::Kind::Integer || selector.integer >= 4 / lanes_with_metadata(form))
      return not_supported("sparsity selector");
    form.selector = static_cast<std::uint8_t>(selector.integer);
  }
  const std::array<std::uint32_t, 4> expected{
      registers_of(form, MatrixRole::Accumulator, d, is_wmma), registers_of(form, MatrixRole::A, a, is_wmma),
      registers_of(form, MatrixRole::B, b, is_wmma), registers_of(form, MatrixRole::Accumulator, c, is_wmma)};
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (registers_in(i.operands[n]) != expected[n]) return not_supported("number of registers");
  }
  return form;
}

Result<FragmentForm> read_fragment_form(const Instruction& i) {
  FragmentForm form;
  const bool loads = i.has(M::Load);
  if (!i.has(M::Sync) || !i.has(M::Aligned)) return not_supported("needs .sync.aligned");
  const auto shape = shape_of(i);
  if (!shape) return not_supported("shape");
  if (i.types.size() != 1) return not_supported("number of types");
  if (i.has(M::Row) == i.has(M::Col)) return not_supported("needs one layout");
  if (i.vector_width != 1) return not_supported("vector width");
  for (ptx::Space space : i.spaces) {
    if (space != ptx::Space::Generic && space != ptx::Space::Global && space != ptx::Space::Shared)
      return not_supported("state space");
  }
  form.m = shape->m;
  form.n = shape->n;
  form.k = shape->k;
  form.element = matrix_element(i.type());
  form.is_column_major = i.has(M::Col) ? 1 : 0;
  if (i.has(M::A) && loads) {
    form.role = MatrixRole::A;
  } else if (i.has(M::B) && loads) {
    form.role = MatrixRole::B;
  } else if (i.has(loads ? M::C : M::D)) {
    form.role = MatrixRole::Accumulator;
  } else {
    return not_supported("form");
  }

  const Element element = form.element;
  if (element == Element::None) return not_supported("type");
  if (form.role != MatrixRole::Accumulator) {
    if (element == Element::S32 || element == Element::F32 || !is_known(Family::Wmma, factors_of(element), *shape))
      return not_supported("shape with this type");
    if (bits_of(element) < 8 && (form.role == MatrixRole::A) == (form.is_column_major != 0))
      return not_supported("layout");
  } else {
    static constexpr Factors all[] = {Factors::Half,  Factors::Brain,   Factors::Tensor, Factors::Double,
                                      Factors::Bytes, Factors::Nibbles, Factors::Bits};
    if (std::none_of(std::begin(all), std::end(all), [&](Factors factors) {
          return is_known(Family::Wmma, factors, *shape) && accumulates_in(factors, true, element, element);
        }))
      return not_supported("shape with this type");
  }
  MatrixForm whole;
  whole.m = form.m;
  whole.n = form.n;
  whole.k = form.k;
  form.registers = static_cast<std::uint8_t>(registers_of(whole, form.role, element, true));
  if (i.operands.size() != 2 && i.operands.size() != 3) return not_supported("operands");
  if (registers_in(i.operands[loads ? 0 : 1]) != form.registers) return not_supported("number of registers");
  return form;
}

}  // namespace cucore::cpu::analysis
