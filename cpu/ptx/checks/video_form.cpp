// Selectors and forms of video instructions: see video_form.hpp.
#include "cpu/ptx/checks/video_form.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "cpu/ptx/checks/operand_checks.hpp"

namespace cucore::cpu::ptx {

using M = Modifier;
using O = Opcode;

bool is_video(O opcode) { return opcode >= O::Vabsdiff && opcode <= O::Vsub4 && opcode != O::Vote; }

namespace {

bool is_pairs(O opcode) {
  return opcode == O::Vadd2 || opcode == O::Vsub2 || opcode == O::Vavrg2 || opcode == O::Vabsdiff2 ||
         opcode == O::Vmin2 || opcode == O::Vmax2 || opcode == O::Vset2;
}

bool is_quads(O opcode) {
  return opcode == O::Vadd4 || opcode == O::Vsub4 || opcode == O::Vavrg4 || opcode == O::Vabsdiff4 ||
         opcode == O::Vmin4 || opcode == O::Vmax4 || opcode == O::Vset4;
}

bool compares(O opcode) { return opcode == O::Vset || opcode == O::Vset2 || opcode == O::Vset4; }

/// `b0`..`b3`, `h0`, `h1`, or nothing: all of a register
Result<BitRange> read_part(std::string_view selector) {
  if (selector.empty()) return BitRange{};
  const bool is_byte = selector[0] == 'b';
  const unsigned number = selector.size() == 2 ? static_cast<unsigned>(selector[1] - '0') : 4;
  if (number >= (is_byte ? 4U : 2U)) return invalid("cannot have selector ." + std::string(selector));
  const unsigned width = is_byte ? 8 : 16;
  return BitRange{static_cast<std::uint8_t>(width * number), static_cast<std::uint8_t>(width)};
}

/// `h10`, `b7531`: of each lane, the highest first, an element of b:a.
Result<std::array<BitRange, 4>> read_lanes(std::string_view selector, unsigned lanes, unsigned first) {
  const unsigned width = 32 / lanes;
  std::array<BitRange, 4> ranges;
  if (!selector.empty() && (selector.size() != lanes + 1 || selector[0] != (lanes == 2 ? 'h' : 'b')))
    return invalid("cannot have selector ." + std::string(selector));
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const unsigned element = selector.empty() ? first + lane : static_cast<unsigned>(selector[lanes - lane] - '0');
    if (element >= 2 * lanes) return invalid("cannot have selector ." + std::string(selector));
    ranges[lane] = {static_cast<std::uint8_t>(width * element), static_cast<std::uint8_t>(width)};
  }
  return ranges;
}

/// `h10`, `b310`: lanes of the result, the highest first
Result<std::uint8_t> read_mask(std::string_view selector, unsigned lanes) {
  if (selector.empty()) return static_cast<std::uint8_t>((1U << lanes) - 1);
  unsigned mask = 0;
  bool is_valid = selector[0] == (lanes == 2 ? 'h' : 'b');
  for (std::size_t n = 1; n < selector.size(); ++n) {
    const auto lane = static_cast<unsigned>(selector[n] - '0');
    is_valid = is_valid && lane < lanes && (n == 1 || selector[n] < selector[n - 1]);
    mask |= 1U << lane;
  }
  if (!is_valid) return invalid("cannot have mask ." + std::string(selector));
  return static_cast<std::uint8_t>(mask);
}

unsigned count(const Instruction& i, std::initializer_list<M> modifiers) {
  unsigned found = 0;
  for (M modifier : modifiers) found += i.has(modifier) ? 1 : 0;
  return found;
}

Result<void> check_spelling(const Instruction& i) {
  if (i.types.size() != (compares(i.opcode) ? 2U : 3U))
    return invalid(std::string("needs ") + (compares(i.opcode) ? "two" : "three") + " types");
  const bool shifts = i.opcode == O::Vshl || i.opcode == O::Vshr;
  if (shifts && i.types[2] != Type::U32) return invalid("needs an amount of type '.u32'");
  if (count(i, {M::Clamp, M::Wrap}) != (shifts ? 1U : 0U)) return invalid("needs '.clamp' or '.wrap'");
  const unsigned comparisons = count(i, {M::Eq, M::Ne, M::Lt, M::Le, M::Gt, M::Ge});
  if (comparisons != (compares(i.opcode) ? 1U : 0U)) return invalid("needs a comparison such as '.eq'");
  if (count(i, {M::Add, M::Min, M::Max}) > 1) return invalid("has modifiers that exclude each other");
  if (count(i, {M::Shr7, M::Shr15}) > 1) return invalid("has modifiers that exclude each other");
  return {};
}

Result<void> check_negations(const Instruction& i) {
  unsigned negated = 0;
  for (const Operand& operand : i.operands) negated += operand.negated ? 1 : 0;
  if (i.has(M::Po) && negated != 0) return invalid("cannot negate an operand of '.po'");
  const bool both = i.operands[3].negated && i.operands[1].negated != i.operands[2].negated;
  if (both) return invalid("cannot negate both the product and the summand");
  return {};
}

}  // namespace

Result<VideoForm> read_video_form(const Instruction& i) {
  VideoForm form;
  if (Result<void> met = check_spelling(i); !met) return std::move(met).failure();
  form.lanes = is_quads(i.opcode) ? 4 : is_pairs(i.opcode) ? 2 : 1;
  const std::string_view to = i.operands[0].selector;
  const std::size_t sources = i.operands.size() - 1;
  if (sources > 2 && !i.operands[3].selector.empty()) return invalid("cannot select a part of its third source");
  if (form.lanes == 1) {
    Result<BitRange> parts[] = {read_part(to), read_part(i.operands[1].selector), read_part(i.operands[2].selector)};
    for (Result<BitRange>& part : parts) {
      if (!part) return std::move(part).failure();
    }
    form.to = *parts[0];
    form.a[0] = *parts[1];
    form.b[0] = *parts[2];
    form.is_merged = !to.empty();
    const bool combines = i.has(M::Add) || i.has(M::Min) || i.has(M::Max);
    if (combines && form.is_merged) return invalid("cannot select a part of a result that a second operation takes");
    if ((combines || form.is_merged || i.opcode == O::Vmad) && sources != 3) return invalid("needs a third source");
    if (i.opcode == O::Vmad) {
      if (form.is_merged) return invalid("cannot select a part of its result");
      if (Result<void> met = check_negations(i); !met) return std::move(met).failure();
    }
    return form;
  }
  for (const Operand& operand : i.operands) {
    if (operand.kind != Operand::Kind::Register) return invalid("takes registers only");
  }
  if (i.has(M::Add) && i.has(M::Sat)) return invalid("cannot have both '.sat' and '.add'");
  Result<std::uint8_t> mask = read_mask(to, form.lanes);
  if (!mask) return std::move(mask).failure();
  Result<std::array<BitRange, 4>> a = read_lanes(i.operands[1].selector, form.lanes, 0);
  if (!a) return std::move(a).failure();
  Result<std::array<BitRange, 4>> b = read_lanes(i.operands[2].selector, form.lanes, form.lanes);
  if (!b) return std::move(b).failure();
  form.mask = *mask;
  form.a = *a;
  form.b = *b;
  return form;
}

}  // namespace cucore::cpu::ptx
