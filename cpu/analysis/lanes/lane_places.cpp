// Where the accesses of lanes lie: see lane_places.hpp.
#include "cpu/analysis/lanes/lane_places.hpp"

#include <algorithm>

namespace cucore::cpu::analysis {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;
using ptx::Space;

namespace {

constexpr std::int64_t lanes = 32;
constexpr unsigned deepest = 200;  ///< operations of an address that are followed

}  // namespace

LanePlaces::LanePlaces(const ptx::Module& module, const ptx::Function& function, const ControlFlow& flow,
                       const BlockShape& shape)
    : module_(module),
      function_(function),
      flow_(flow),
      writers_(function, flow),
      dominators_(function, flow),
      shape_(shape),
      kinds_(function.registers.size(), Kind::Uniform),
      of_rows_(function.registers.size(), false) {
  if (shape.is_known()) threads_ = std::min(threads_, shape.threads());
  for (const auto& most : {function_.directives.reqntid, function_.directives.maxntid})
    if (most[0]) threads_ = std::min(threads_, *most[0] * most[1].value_or(1) * most[2].value_or(1));
  find_kinds();
}

// ---- what depends on the lane, and what on memory -------------------------------------------------------------------

LanePlaces::Kind LanePlaces::kind_of(const Operand& operand) const {
  if (operand.kind == Operand::Kind::Special) {
    const std::string_view name = operand.special.name;
    const bool is_of_lane = name == "%laneid" || name.starts_with("%lanemask") || name == "%tid";
    const std::int32_t most_axis = name == "%tid" && shape_.has_rows() ? 2 : 0;
    return is_of_lane && operand.special.axis <= most_axis ? Kind::Varied : Kind::Uniform;
  }
  Kind kind = Kind::Uniform;
  for_each_register(operand, [&](RegisterId reg) { kind = std::max(kind, kinds_[reg]); });
  return kind;
}

LanePlaces::Kind LanePlaces::kind_of_result(const Instruction& i) const {
  Kind kind = i.guard ? kinds_[i.guard->reg] : Kind::Uniform;
  for (std::size_t n = 1; n < i.operands.size(); ++n) kind = std::max(kind, kind_of(i.operands[n]));
  switch (i.opcode) {
    case Opcode::Vote:
    case Opcode::Activemask:
    case Opcode::Redux:
      return Kind::Uniform;
    case Opcode::Shfl:
    case Opcode::Atom:
    case Opcode::Match:
      return Kind::Data;
    case Opcode::Ld:
    case Opcode::Ldu:
      // What functions are given may be each lane's own.
      if (i.space() == Space::Param && !function_.is_entry) return std::max(kind, Kind::Varied);
      return kind == Kind::Uniform && i.space() != Space::Local ? Kind::Uniform : Kind::Data;
    default:
      return kind;
  }
}

bool LanePlaces::is_of_row(const Operand& operand) const {
  if (operand.kind == Operand::Kind::Special)
    return operand.special.name == "%warpid" || (operand.special.name == "%tid" && operand.special.axis > 0);
  bool found = false;
  for_each_register(operand, [&](RegisterId reg) { found |= of_rows_[reg]; });
  return found;
}

bool LanePlaces::is_of_row(const Instruction& i) const {
  if (i.opcode == Opcode::Vote || i.opcode == Opcode::Activemask || i.opcode == Opcode::Redux) return true;
  if (i.guard && of_rows_[i.guard->reg]) return true;
  return std::any_of(i.operands.begin() + 1, i.operands.end(), [&](const Operand& each) { return is_of_row(each); });
}

void LanePlaces::find_kinds() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Instruction& instruction : function_.body) {
      if (!writes_first_operand(instruction)) continue;
      const Kind kind = kind_of_result(instruction);
      const bool of_row = is_of_row(instruction);
      if (kind == Kind::Uniform && !of_row) continue;
      for_each_register(instruction.operands[0], [&](RegisterId reg) {
        changed |= kinds_[reg] < kind || (of_row && !of_rows_[reg]);
        kinds_[reg] = std::max(kinds_[reg], kind);
        of_rows_[reg] = of_rows_[reg] || of_row;
      });
    }
  }
}

// ---- sums -----------------------------------------------------------------------------------------------------------

std::uint32_t LanePlaces::add_symbol(Symbol symbol) {
  symbols_.push_back(std::move(symbol));
  return static_cast<std::uint32_t>(symbols_.size() - 1);
}

/// The symbol of that name, made if there is none.
std::uint32_t LanePlaces::named(std::vector<std::int64_t> key, const Symbol& symbol) {
  const auto [found, is_new] = names_.try_emplace(std::move(key), static_cast<std::uint32_t>(symbols_.size()));
  if (is_new) add_symbol(symbol);
  return found->second;
}

LaneSum LanePlaces::special(const ptx::SpecialRegister& special) {
  const std::uint32_t extents[] = {shape_.x, shape_.y, shape_.z};
  if (special.name == "%ntid" && shape_.is_known() && special.axis < 3) return constant_of(extents[special.axis]);
  std::vector<std::int64_t> key{0, special.axis, special.index};
  key.insert(key.end(), special.name.begin(), special.name.end());
  Symbol symbol;
  symbol.is_of_row = special.name == "%warpid";
  if (special.name == "%tid" && special.axis < 3) {
    symbol.axis = special.axis;
    symbol.is_of_row = special.axis > 0;
    symbol.is_lane = special.axis == 0;
    symbol.low = 0;
    symbol.high = (shape_.is_known() ? extents[special.axis] : threads_) - 1;
    if (special.axis == 0 || shape_.has_rows()) symbol.kind = Kind::Varied;
  }
  if (special.name == "%laneid") {
    symbol.is_lane = true;
    symbol.kind = Kind::Varied;
    symbol.low = 0;
    symbol.high = lanes - 1;
  }
  symbol.is_width = special.name == "%ntid" && special.axis == 0;
  if (special.name.starts_with("%lanemask")) symbol.kind = Kind::Varied;
  return symbol_of(named(std::move(key), symbol));
}

LaneSum LanePlaces::value_of(const Operand& operand, std::uint32_t at) {
  switch (operand.kind) {
    case Operand::Kind::Integer: {
      const ptx::Type type = function_.body[at].type();
      const bool is_word = (ptx::is_integer(type) || ptx::is_bits(type)) && ptx::size_in_bytes(type) == 4;
      // -1 and 0xffffffff are one number.
      return constant_of(is_word ? static_cast<std::int32_t>(operand.integer)
                                 : static_cast<std::int64_t>(operand.integer));
    }
    case Operand::Kind::Special:
      return special(operand.special);
    case Operand::Kind::Variable: {
      Symbol variable;
      const bool is_of_function = operand.scope == Operand::Scope::Function;
      const ptx::Variable& named_one = (is_of_function ? function_.variables : module_.variables)[operand.variable];
      const bool is_own = is_of_function && named_one.space == Space::Local;
      variable.is_array = !is_own;
      if (named_one.space == Space::Shared) variable.shared_bytes = named_one.size;
      variable.kind = is_own ? Kind::Data : Kind::Uniform;
      const auto symbol = named({1, static_cast<std::int64_t>(operand.scope), operand.variable}, variable);
      return added(symbol_of(symbol), constant_of(operand.offset));
    }
    case Operand::Kind::Address:
      return added(value_of(operand.elements[0], at), constant_of(operand.offset));
    case Operand::Kind::Register:
      if (operand.component < 0) return value_of_register(operand.reg, at);
      [[fallthrough]];
    default: {
      Symbol unknown;
      unknown.kind = kind_of(operand);
      unknown.is_of_row = is_of_row(operand);
      return symbol_of(add_symbol(unknown));
    }
  }
}

LaneSum LanePlaces::value_of_register(RegisterId reg, std::uint32_t at) {
  const auto writer = depth_ > deepest ? std::nullopt : writers_.only(reg, at);
  return writer ? value_of_result(*writer) : joined(reg);
}

LaneSum LanePlaces::joined(RegisterId reg) {
  Symbol symbol;
  symbol.kind = kinds_[reg];
  symbol.is_of_row = of_rows_[reg];
  symbol.joined = reg;
  return symbol_of(named({2, reg}, symbol));
}

LaneSum LanePlaces::value_of_result(std::uint32_t instruction) {
  if (const auto found = results_.find(instruction); found != results_.end()) return found->second;
  // A register that only ever follows from itself.
  Symbol itself;
  itself.kind = kind_of_result(function_.body[instruction]);
  itself.is_of_row = is_of_row(function_.body[instruction]);
  results_[instruction] = symbol_of(add_symbol(itself));
  ++depth_;
  LaneSum result = computed(instruction);
  --depth_;
  return results_[instruction] = std::move(result);
}

LaneSum LanePlaces::computed(std::uint32_t at) {
  const Instruction& i = function_.body[at];
  const auto operand = [&](std::size_t n) { return value_of(i.operands[n], at); };
  Symbol itself;
  itself.kind = kind_of_result(i);
  itself.is_of_row = is_of_row(i);
  const auto unknown = [&] { return symbol_of(named({3, at}, itself)); };
  const bool is_whole = i.vector_width == 1 && i.operands[0].kind == Operand::Kind::Register && !i.guard;
  if (!is_whole || (i.opcode != Opcode::Ld && !ptx::is_integer(i.type()) && !ptx::is_bits(i.type()))) return unknown();
  const std::size_t count = i.operands.size();
  switch (i.opcode) {
    case Opcode::Mov:
    case Opcode::Cvt:
    case Opcode::Cvta:
      return count == 2 ? operand(1) : unknown();
    case Opcode::Add:
      return added(operand(1), operand(2));
    case Opcode::Sub:
      return without(operand(1), operand(2));
    case Opcode::Neg:
      return multiplied(operand(1), -1);
    case Opcode::Not:
      return without(constant_of(-1), operand(1));
    case Opcode::Bmsk: {
      const LaneSum from = operand(1), bits = operand(2);
      const bool is_known = is_constant(from) && is_constant(bits) && from.constant >= 0 && bits.constant >= 0 &&
                            from.constant + bits.constant < 32;
      return is_known ? constant_of(((std::int64_t{1} << bits.constant) - 1) << from.constant) : unknown();
    }
    case Opcode::Shl: {
      const LaneSum by = operand(2);
      if (is_constant(by) && by.constant >= 0 && by.constant < 63)
        return multiplied(operand(1), std::int64_t{1} << by.constant);
      return opaque(i, {operand(1), by});
    }
    case Opcode::Mul:
    case Opcode::Mad: {
      if (i.has(Modifier::Hi)) return unknown();
      const LaneSum a = operand(1), b = operand(2);
      const LaneSum product = is_constant(b)   ? multiplied(a, b.constant)
                              : is_constant(a) ? multiplied(b, a.constant)
                                               : opaque(i, {a, b});
      return i.opcode == Opcode::Mul ? product : added(product, operand(3));
    }
    case Opcode::Ld: {
      const bool is_parameter = i.space() == Space::Param && function_.is_entry;
      if (is_parameter && i.operands[1].elements[0].kind == Operand::Kind::Variable) {
        itself.is_array = ptx::size_in_bytes(i.type()) == 8;
        return symbol_of(named({4, i.operands[1].elements[0].variable, i.operands[1].offset}, itself));
      }
      itself.is_array = itself.kind == Kind::Uniform && ptx::size_in_bytes(i.type()) == 8;
      return unknown();
    }
    case Opcode::Selp: {
      if (i.operands[3].kind != Operand::Kind::Register) return unknown();
      const auto by = writers_.only(i.operands[3].reg, at);
      if (!by) return unknown();
      itself.chosen_by = by;
      itself.operands = {operand(1), operand(2)};
      if (itself.operands[0] == itself.operands[1]) return itself.operands[0];
      return symbol_of(named({3, at}, itself));
    }
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Shr:
    case Opcode::Rem:
    case Opcode::Div:
    case Opcode::Min:
    case Opcode::Max:
      return count == 3 ? opaque(i, {operand(1), operand(2)}) : unknown();
    default:
      return unknown();
  }
}

std::int64_t LanePlaces::lane_factor(const LaneSum& sum) const {
  std::int64_t factor = 0;
  for (const auto& [symbol, times_it] : sum.terms)
    if (symbols_[symbol].is_lane) factor = plus(factor, times_it);
  return factor;
}

/// The result of an operation that is not a sum, the same wherever it is computed from the same.
LaneSum LanePlaces::opaque(const Instruction& i, std::vector<LaneSum> arguments) {
  const bool is_symmetric = i.opcode == Opcode::And || i.opcode == Opcode::Or || i.opcode == Opcode::Xor;
  if (is_symmetric && is_constant(arguments[0])) std::swap(arguments[0], arguments[1]);
  Symbol symbol{.operands = arguments};
  std::vector<std::int64_t> key{5, static_cast<std::int64_t>(i.opcode)};
  bool is_plain_number = true;  // of the thread, but for what is the same for its warp
  for (const LaneSum& argument : arguments) {
    key.push_back(static_cast<std::int64_t>(argument.terms.size()));
    for (const auto& [term, factor] : argument.terms) {
      key.insert(key.end(), {term, factor});
      symbol.arguments.push_back(term);
      symbol.kind = std::max(symbol.kind, symbols_[term].kind);
      symbol.is_of_row |= symbols_[term].is_of_row;
      is_plain_number &= symbols_[term].is_lane || symbols_[term].kind == Kind::Uniform;
    }
    key.push_back(argument.constant);
  }
  symbol.opcode = i.opcode;
  symbol.is_of_words = ptx::size_in_bytes(i.type()) == 4 && !ptx::is_signed(i.type());
  key.push_back(symbol.is_of_words ? 1 : 0);
  const LaneSum& by = arguments.back();
  is_plain_number &= is_constant(by) && lane_factor(arguments[0]) == 1 && !shape_.has_rows();
  const std::int64_t number = by.constant;
  const auto is_width = [&](const LaneSum& sum) {
    return sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].second == 1 &&
           symbols_[sum.terms[0].first].is_width;
  };
  // Blocks are whole warps wide, or of one row; who numbers threads across those takes them for whole warps.
  const bool is_product = i.opcode == Opcode::Mul || i.opcode == Opcode::Mad;
  if (is_product && (is_width(arguments[0]) || is_width(arguments[1]))) symbol.multiple_of = lanes;
  if (i.opcode == Opcode::Or && is_constant(by)) return added(arguments[0], by);  // of bits that are not there
  if (i.opcode == Opcode::And && is_constant(by) && number >= 0) symbol.low = 0, symbol.high = number;
  if (i.opcode == Opcode::And && is_constant(by) && number != 0) symbol.multiple_of = number & -number;
  if (const auto range = range_of(arguments[0]);
      range && range->first >= 0 && i.opcode == Opcode::Shr && is_constant(by) && number >= 0 && number < 63)
    symbol.low = range->first >> number, symbol.high = range->second >> number;
  if (i.opcode == Opcode::Rem && is_constant(by) && number > 0) symbol.low = 0, symbol.high = number - 1;
  if (is_plain_number) {
    // Turned by a number of lanes they are others'.
    const bool is_straight =
        arguments[0].constant % lanes == 0 && std::ranges::all_of(arguments[0].terms, [&](auto& t) {
          return symbols_[t.first].is_lane || times(t.second, symbols_[t.first].multiple_of) % lanes == 0;
        });
    const bool is_lane =
        (i.opcode == Opcode::And && number == lanes - 1) || (i.opcode == Opcode::Rem && number == lanes);
    symbol.is_lane = is_lane && is_straight;
    const bool is_of_warp = (i.opcode == Opcode::Shr && number >= 5) ||
                            (i.opcode == Opcode::Div && number % lanes == 0) ||
                            (i.opcode == Opcode::And && number != 0 && number % lanes == 0);
    if (is_of_warp && is_straight) symbol.kind = Kind::Uniform;
  }
  return symbol_of(named(std::move(key), symbol));
}

LaneSum LanePlaces::place_of(std::uint32_t instruction) {
  const Instruction& i = function_.body[instruction];
  return value_of(i.operands[i.opcode == Opcode::St ? 0 : 1], instruction);
}

}  // namespace cucore::cpu::analysis
