// Which wgmma instructions there are, and how their matrices lie in shared memory: see warpgroup_form.hpp.
#include "cpu/analysis/instructions/warpgroup_form.hpp"

#include <array>
#include <cstddef>

#include "cpu/analysis/instructions/not_supported.hpp"

namespace cucore::cpu::analysis {

using ptx::Instruction;
using ptx::Operand;
using M = ptx::Modifier;

namespace {

constexpr std::array<std::uint16_t, 5> depths{8, 16, 32, 64, 256};

/// Shapes follow each other in modifiers.def: all depths of n = 8, all of n = 16, and so on.
bool read_shape(const Instruction& i, WarpgroupForm& form) {
  constexpr auto first = static_cast<std::size_t>(M::M64n8k8);
  static_assert(static_cast<std::size_t>(M::M64n256k256) - first == 32 * depths.size() - 1);
  for (M modifier : i.modifiers) {
    const std::size_t number = static_cast<std::size_t>(modifier) - first;
    if (static_cast<std::size_t>(modifier) < first || number >= 32 * depths.size()) continue;
    form.n = static_cast<std::uint16_t>(8 * (number / depths.size() + 1));
    form.k = depths[number % depths.size()];
    return true;
  }
  return false;
}

bool is_eight_bit_float(Element element) { return element == Element::E4m3 || element == Element::E5m2; }
bool is_byte(Element element) { return element == Element::S8 || element == Element::U8; }

bool can_be_multiplied(Element a, Element b) {
  if (is_eight_bit_float(a)) return is_eight_bit_float(b);
  if (is_byte(a)) return is_byte(b);
  return a == b && (a == Element::F16 || a == Element::Bf16 || a == Element::Tf32 || a == Element::B1);
}

bool accumulates_in(Element a, Element d) {
  if (is_integer(a)) return d == Element::S32;
  return d == Element::F32 || (d == Element::F16 && (a == Element::F16 || is_eight_bit_float(a)));
}

/// An immediate with two values, the first of which means that the flag is not set.
bool read_choice(const Operand& operand, std::uint64_t unset, std::uint64_t set, std::uint8_t flag,
                 WarpgroupForm& form) {
  if (operand.kind != Operand::Kind::Integer || (operand.integer != unset && operand.integer != set)) return false;
  if (operand.integer == set) form.flags |= flag;
  return true;
}

}  // namespace

MatrixForm WarpgroupForm::of_warp() const {
  MatrixForm form;
  form.m = 16;
  form.n = 8;
  form.k = k;
  form.factors = factors;
  if (has(is_sparse)) form.flags = MatrixForm::is_sparse;
  form.selector = selector;
  return form;
}

Result<WarpgroupForm> read_warpgroup_form(const Instruction& i) {
  WarpgroupForm form;
  if (!i.has(M::Sync) || !i.has(M::Aligned)) return not_supported("needs .sync.aligned");
  if (!read_shape(i, form)) return not_supported("shape");
  if (i.types.size() != 3) return not_supported("number of types");
  const Element a = matrix_element(i.types[1]);
  const Element b = matrix_element(i.types[2]);
  form.d = matrix_element(i.types[0]);
  form.factors = static_cast<std::uint8_t>(static_cast<unsigned>(a) | static_cast<unsigned>(b) << 4);
  if (!can_be_multiplied(a, b)) return not_supported("types of A and B together");
  if (!accumulates_in(a, form.d)) return not_supported("type of the accumulators");
  const bool is_sparse = i.has(M::Sp);
  if (is_sparse) form.flags |= WarpgroupForm::is_sparse;
  if (form.stored_k() * bits_of(a) != 256 || (is_sparse && a == Element::B1))
    return not_supported("shape with these types");
  if (is_integer(a) && form.n > 24 && form.n % 16 != 0) return not_supported("shape with these types");
  if ((a == Element::B1) != (i.has(M::And) && i.has(M::Popc))) return not_supported("operation");
  if (i.has(M::Satfinite)) {
    if (!is_byte(a)) return not_supported(".satfinite with these types");
    form.flags |= WarpgroupForm::saturates;
  }

  std::size_t at = 3;
  if (i.operands.size() < 4) return not_supported("operands");
  if (i.operands[1].kind != Operand::Kind::Vector) form.flags |= WarpgroupForm::a_in_shared;
  if (is_sparse) {
    const Operand* const selector = i.operands.size() > 5 ? &i.operands[4] : nullptr;
    const std::uint64_t selectors = bits_of(a) == 8 ? 1 : 2;
    if (selector == nullptr || selector->kind != Operand::Kind::Integer || selector->integer >= selectors)
      return not_supported("sparsity selector");
    form.selector = static_cast<std::uint8_t>(selector->integer);
    at = 5;
  }
  ++at;  // whether the accumulators count
  const bool can_be_transposed = bits_of(a) == 16;
  const bool names_a = can_be_transposed && form.has(WarpgroupForm::a_in_shared);
  const std::size_t choices = (is_integer(a) ? 0U : 2U) + (can_be_transposed ? 1U : 0U) + (names_a ? 1U : 0U);
  if (i.operands.size() != at + choices) return not_supported("operands");
  constexpr std::uint64_t minus = ~std::uint64_t{0};
  if (!is_integer(a) && (!read_choice(i.operands[at], 1, minus, WarpgroupForm::negates_a, form) ||
                         !read_choice(i.operands[at + 1], 1, minus, WarpgroupForm::negates_b, form)))
    return not_supported("scale of A or B");
  if (names_a && !read_choice(i.operands[at + 2], 0, 1, WarpgroupForm::a_columns, form))
    return not_supported("transposition of A");
  if (can_be_transposed && !read_choice(i.operands.back(), 0, 1, WarpgroupForm::b_rows, form))
    return not_supported("transposition of B");
  if (registers_in(i.operands[0]) != form.n / (form.d == Element::F16 ? 4U : 2U))
    return not_supported("number of registers");
  if (!form.has(WarpgroupForm::a_in_shared) && registers_in(i.operands[1]) != 4)
    return not_supported("number of registers");
  return form;
}

namespace {

constexpr std::uint32_t chunk_bytes = 16;
constexpr std::uint32_t core_rows = 8;
constexpr std::uint32_t shared_addresses = 1 << 18;  ///< that a descriptor can name

}  // namespace

SharedMatrix::SharedMatrix(std::uint64_t descriptor, std::uint32_t window, bool is_transposed, unsigned bits,
                           std::uint32_t across, std::uint32_t along)
    : start_(static_cast<std::uint32_t>(descriptor & 0x3fff) * chunk_bytes),
      leading_(static_cast<std::uint32_t>(descriptor >> 16 & 0x3fff) * chunk_bytes),
      stride_(static_cast<std::uint32_t>(descriptor >> 32 & 0x3fff) * chunk_bytes),
      swizzled_bytes_(0),
      base_(static_cast<std::uint32_t>(descriptor >> 49 & 7)),
      window_(window),
      across_(across),
      chunks_along_(along * bits / (8 * chunk_bytes)),
      is_transposed_(is_transposed) {
  constexpr std::array<std::uint32_t, 4> swizzles{0, 128, 64, 32};
  swizzled_bytes_ = swizzles[descriptor >> 62];
}

std::uint32_t SharedMatrix::offset_of(std::uint32_t across, std::uint32_t chunk_along) const {
  const std::uint32_t in_core = across % core_rows;
  const std::uint32_t core = across / core_rows;
  std::uint32_t offset = 0;
  if (swizzled_bytes_ == 0) {
    // Core matrices of 128 consecutive bytes; the two distances change their meaning with the direction.
    offset = in_core * chunk_bytes +
             (is_transposed_ ? core * leading_ + chunk_along * stride_ : core * stride_ + chunk_along * leading_);
  } else {
    // Lines as long as the swizzle, eight of which repeat at a distance of `stride`; what is longer goes on `leading`
    // further.
    const std::uint32_t chunks = swizzled_bytes_ / chunk_bytes;
    offset = in_core * swizzled_bytes_ + core * stride_ + chunk_along % chunks * chunk_bytes +
             chunk_along / chunks * leading_;
  }
  offset = (start_ - window_ + offset) % shared_addresses;
  const std::uint32_t exchanged = swizzled_bytes_ == 0 ? 0 : swizzled_bytes_ / chunk_bytes - 1;
  return offset ^ ((offset / 128 - base_) & exchanged) * chunk_bytes;
}

}  // namespace cucore::cpu::analysis
