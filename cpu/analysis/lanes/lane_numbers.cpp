// What follows from the numbers of a warp's lanes alone: where each of them accesses memory, and which of them come to
// an instruction. The part of lane_places.hpp that computes instead of comparing sums.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/analysis/lanes/lane_places.hpp"

namespace cucore::cpu::analysis {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr std::int64_t lanes_of_warp = 32;
constexpr std::uint32_t most_warps = 32;
constexpr std::int64_t most_in_range = std::int64_t{1} << 40;
constexpr unsigned most_steps = 16;  ///< branches and combined predicates that are followed

}  // namespace

// ---- values ---------------------------------------------------------------------------------------------------------

std::optional<std::int64_t> LanePlaces::value_for(std::uint32_t number, std::uint32_t thread) {
  if (assumed_ && number == assumed_->first) return assumed_->second;
  const Symbol& symbol = symbols_[number];
  if (symbol.axis >= 0 && shape_.is_known()) {
    const std::uint32_t rest = thread / shape_.x;
    return symbol.axis == 0 ? thread % shape_.x : symbol.axis == 1 ? rest % shape_.y : rest / shape_.y;
  }
  if (symbol.axis == 0) return thread;
  if (symbol.is_lane) return thread % lanes_of_warp;
  if (symbol.operands.size() != 2) return {};
  if (symbol.chosen_by) {
    const auto first = holds_for(*symbol.chosen_by, thread, most_steps);
    return first ? value_for(symbol.operands[*first ? 0 : 1], thread) : std::nullopt;
  }
  auto a = value_for(symbol.operands[0], thread), b = value_for(symbol.operands[1], thread);
  if (!a || !b) return {};
  if (symbol.is_of_words) a = static_cast<std::uint32_t>(*a), b = static_cast<std::uint32_t>(*b);
  const bool is_natural = *a >= 0 && *b >= 0;
  switch (symbol.opcode) {
    case Opcode::And:
      return *a & *b;
    case Opcode::Or:
      return *a | *b;
    case Opcode::Xor:
      return *a ^ *b;
    case Opcode::Mul:
    case Opcode::Mad:
      return times(*a, *b);
    case Opcode::Shl:
      return is_natural && *b < 32 ? std::optional(times(*a, std::int64_t{1} << *b)) : std::nullopt;
    case Opcode::Min:
      return is_natural ? std::optional(std::min(*a, *b)) : std::nullopt;
    case Opcode::Max:
      return is_natural ? std::optional(std::max(*a, *b)) : std::nullopt;
    case Opcode::Shr:
      return is_natural && *b < 63 ? std::optional(*a >> *b) : std::nullopt;
    case Opcode::Div:
      return is_natural && *b != 0 ? std::optional(*a / *b) : std::nullopt;
    case Opcode::Rem:
      return is_natural && *b != 0 ? std::optional(*a % *b) : std::nullopt;
    default:
      return {};
  }
}

std::optional<std::int64_t> LanePlaces::value_for(const LaneSum& sum, std::uint32_t thread) {
  auto value = static_cast<std::uint64_t>(sum.constant);
  for (const auto& [symbol, factor] : sum.terms) {
    const auto one = value_for(symbol, thread);
    if (!one) return {};
    value += static_cast<std::uint64_t>(*one) * static_cast<std::uint64_t>(factor);
  }
  return static_cast<std::int64_t>(value);
}

bool LanePlaces::Numbers::is_one_place() const {
  return std::ranges::all_of(places, [](const auto& of_warp) {
    return std::ranges::all_of(of_warp, [&](std::int64_t place) { return place == of_warp[0]; });
  });
}

/// `are_compared`: warps with each other.
std::optional<LanePlaces::Numbers> LanePlaces::numbers_of(const LaneSum& place, std::uint32_t warps,
                                                          bool are_compared) {
  Spread known = spread(place);
  LaneSum own = std::move(known.sum);
  Numbers numbers{.common = {}, .places = {}, .steps = known.steps, .counts = known.counts};
  const auto is_common = [&](const auto& term) {
    const Symbol& symbol = symbols_[term.first];
    const bool differs = are_compared && shape_.is_known() && symbol.is_of_row;
    return symbol.kind == Kind::Uniform && !differs && !value_for(term.first, 0);
  };
  std::ranges::copy_if(own.terms, std::back_inserter(numbers.common), is_common);
  std::erase_if(own.terms, is_common);
  for (std::uint32_t warp = 0; warp < warps; ++warp) {
    auto& places = numbers.places.emplace_back();
    for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
      const auto value = value_for(own, warp * 32 + lane);
      if (!value) return {};
      places[lane] = *value;
    }
  }
  return numbers;
}

// ---- columns --------------------------------------------------------------------------------------------------------

std::optional<std::pair<std::int64_t, std::int64_t>> LanePlaces::range_of(const LaneSum& sum) const {
  std::int64_t low = sum.constant, high = sum.constant;
  for (const auto& [symbol, factor] : sum.terms) {
    const Symbol& it = symbols_[symbol];
    if (!it.low || !it.high || *it.high > most_in_range || std::abs(factor) > most_in_range) return {};
    low += std::min(factor * *it.low, factor * *it.high);
    high += std::max(factor * *it.low, factor * *it.high);
    if (std::abs(low) > most_in_range || std::abs(high) > most_in_range) return {};
  }
  return std::pair{low, high};
}

/// Each lane has a column of its own, of an array whose rows are longer than a warp's: `counts[digit][t]`.
bool LanePlaces::keep_to_columns(const Access& store, const Access& load) const {
  if (shape_.has_rows()) return false;
  const std::int64_t column = lane_factor(store.place);
  if (column == 0 || column != lane_factor(load.place)) return false;
  std::int64_t row = 0;  // bytes: what else there is differs by multiples of them
  LaneSum within;
  for (const auto& [sum, sign] : {std::pair{&store.place, 1}, std::pair{&load.place, -1}}) {
    within.constant = plus(within.constant, times(sign, sum->constant));
    for (const auto& [symbol, factor] : sum->terms) {
      const Symbol& it = symbols_[symbol];
      const bool is_number = it.is_lane && it.operands.empty() && factor == column;
      const bool is_base = it.is_array && factor == 1;
      const auto reach = range_of({.terms = {{symbol, factor}}, .constant = 0});
      if (is_number || is_base) continue;
      if (reach && reach->first > -std::abs(column) && reach->second < std::abs(column))
        within.terms.emplace_back(symbol, times(sign, factor));
      else
        row = std::gcd(row, times(factor, it.multiple_of));
    }
  }
  const auto apart = range_of(within);
  if (row == 0 || !apart) return false;
  for (std::int64_t lane = 1 - lanes_of_warp; lane < lanes_of_warp; ++lane) {
    // They touch if a multiple of a row lies between these.
    const std::int64_t from = (column * lane) + apart->first - load.bytes + 1;
    const std::int64_t to = (column * lane) + apart->second + store.bytes - 1;
    const std::int64_t up = from >= 0 ? (from + row - 1) / row : -(-from / row);
    if (lane != 0 && up * row <= to) return false;
  }
  return true;
}

// ---- who comes there ------------------------------------------------------------------------------------------------

LanePlaces::LanesOfWarps LanePlaces::everybody() const {
  LanesOfWarps lanes{};
  for (std::uint32_t warp = 0; warp < most_warps; ++warp) {
    const std::uint32_t first = warp * lanes_of_warp;
    const std::uint32_t there = threads_ > first ? threads_ - first : 0;
    lanes[warp] = there < lanes_of_warp ? (1U << there) - 1 : ~0U;
  }
  return lanes;
}

std::optional<bool> LanePlaces::compares_for(const Instruction& setp, std::uint32_t at, std::uint32_t thread) {
  if (setp.operands.size() != 3 || !(ptx::is_integer(setp.type()) || ptx::is_bits(setp.type()))) return {};
  auto a = value_for(value_of(setp.operands[1], at), thread), b = value_for(value_of(setp.operands[2], at), thread);
  if (!a || !b) return {};
  const bool is_word = ptx::size_in_bytes(setp.type()) == 4;
  if (is_word && ptx::is_signed(setp.type())) a = static_cast<std::int32_t>(*a), b = static_cast<std::int32_t>(*b);
  if (is_word && !ptx::is_signed(setp.type())) a = static_cast<std::uint32_t>(*a), b = static_cast<std::uint32_t>(*b);
  if (setp.has(Modifier::Eq)) return *a == *b;
  if (setp.has(Modifier::Ne)) return *a != *b;
  if (!ptx::is_signed(setp.type()) && (*a < 0 || *b < 0)) return {};
  if (setp.has(Modifier::Lt) || setp.has(Modifier::Lo)) return *a < *b;
  if (setp.has(Modifier::Le) || setp.has(Modifier::Ls)) return *a <= *b;
  if (setp.has(Modifier::Gt) || setp.has(Modifier::Hi)) return *a > *b;
  if (setp.has(Modifier::Ge) || setp.has(Modifier::Hs)) return *a >= *b;
  return {};
}

/// The predicate that instruction `at` makes.
std::optional<bool> LanePlaces::holds_for(std::uint32_t at, std::uint32_t thread, unsigned depth) {
  const Instruction& i = function_.body[at];
  if (depth == 0 || i.operands[0].kind != Operand::Kind::Register) return {};
  if (i.opcode == Opcode::Setp) return compares_for(i, at, thread);
  const auto part = [&](std::size_t n) -> std::optional<bool> {
    if (i.operands[n].kind == Operand::Kind::Integer) return i.operands[n].integer != 0;
    if (i.operands[n].kind != Operand::Kind::Register) return {};
    const auto writer = writers_.only(i.operands[n].reg, at);
    return writer ? holds_for(*writer, thread, depth - 1) : std::nullopt;
  };
  const auto inverted = [](std::optional<bool> value, bool by) { return value ? std::optional(*value != by) : value; };
  switch (i.opcode) {
    case Opcode::Mov:
      return part(1);
    case Opcode::Not:
      return inverted(part(1), true);
    case Opcode::Xor: {
      const auto by = part(2);
      return by ? inverted(part(1), *by) : by;
    }
    case Opcode::And:
    case Opcode::Or: {
      const auto a = part(1), b = part(2);
      const bool decides = i.opcode == Opcode::Or;
      if (a == decides || b == decides) return decides;
      return a && b ? std::optional(!decides) : std::nullopt;
    }
    default:
      return {};
  }
}

/// Of a warp at most one: the one whose number is what is the same for all.
bool LanePlaces::holds_for_one(std::uint32_t at, bool holds) {
  const Instruction& setp = function_.body[at];
  const auto maker = [&](std::size_t n) -> std::optional<std::uint32_t> {
    if (n >= setp.operands.size() || setp.operands[n].kind != Operand::Kind::Register) return {};
    return writers_.only(setp.operands[n].reg, at);
  };
  // Of several conditions one is enough.
  if (setp.opcode == Opcode::And && holds)
    return std::ranges::any_of(std::array{maker(1), maker(2)}, [&](auto by) { return by && holds_for_one(*by, true); });
  if (setp.opcode != Opcode::Setp || setp.operands.size() != 3) return false;
  // A predicate that was made a number.
  if (const auto by = maker(1); by && function_.body[*by].opcode == Opcode::Selp) {
    const Instruction& chosen = function_.body[*by];
    const auto is = [&](const Operand& operand, std::uint64_t number) {
      return operand.kind == Operand::Kind::Integer && operand.integer == number;
    };
    const bool is_predicate = is(chosen.operands[1], 1) && is(chosen.operands[2], 0) && is(setp.operands[2], 0);
    const auto predicate =
        chosen.operands[3].kind == Operand::Kind::Register ? writers_.only(chosen.operands[3].reg, *by) : std::nullopt;
    if (is_predicate && predicate && (setp.has(Modifier::Ne) || setp.has(Modifier::Eq)))
      return holds_for_one(*predicate, holds == setp.has(Modifier::Ne));
  }
  if (!setp.has(holds ? Modifier::Eq : Modifier::Ne)) return false;
  const LaneSum a = value_of(setp.operands[1], at), b = value_of(setp.operands[2], at);
  if (!stays(a) || !stays(b)) return false;
  const auto one = numbers_of(a), other = numbers_of(b);
  if (!one || !other) return false;
  for (std::size_t warp = 0; warp < one->places.size(); ++warp) {
    std::vector<std::int64_t> numbers;
    for (std::size_t lane = 0; lane < lanes_of_warp; ++lane)
      numbers.push_back(one->of_warp(warp)[lane] - other->of_warp(warp)[lane]);
    std::ranges::sort(numbers);
    if (std::ranges::adjacent_find(numbers) != numbers.end()) return false;
  }
  return true;
}

/// Those for which the guard of `at` is not as it must be.
void LanePlaces::keep_away(LanesThere& running, std::uint32_t at, bool holds) {
  const ptx::Guard& guard = *function_.body[at].guard;
  const auto writer = writers_.only(guard.reg, at);
  const bool wanted = holds != guard.negated;
  if (!writer) {
    running.unknown.emplace_back(at, wanted);
    return;
  }
  const auto [found, is_new] = kept_away_.try_emplace(*writer);
  KeptAway& away = found->second;
  for (std::uint32_t thread = 0; is_new && thread < most_warps * lanes_of_warp; ++thread) {
    const auto value = holds_for(*writer, thread, most_steps);
    if (value) away.lanes[*value ? 0 : 1][thread / lanes_of_warp] |= 1U << thread % lanes_of_warp;
    away.is_known &= value.has_value();
    if (!value && thread == 0) break;  // of one thread as of all
  }
  for (std::uint32_t warp = 0; warp < most_warps; ++warp) running.may_come[warp] &= ~away.lanes[wanted ? 1 : 0][warp];
  if (away.is_known) return;
  running.unknown.emplace_back(*writer, wanted);
  running.is_one |= holds_for_one(*writer, wanted);
}

LanePlaces::LanesOfWarps LanePlaces::without_kept_away(const LanesThere& there) {
  LanesOfWarps lanes = there.may_come;
  for (const auto& [writer, wanted] : there.unknown) {
    for (std::uint32_t thread = 0; thread < threads_; ++thread) {
      const auto value = holds_for(writer, thread, most_steps);
      if (value && *value != wanted) lanes[thread / lanes_of_warp] &= ~(1U << thread % lanes_of_warp);
    }
  }
  return lanes;
}

LanePlaces::LanesThere LanePlaces::lanes_at(std::uint32_t instruction) {
  LanesThere running = lanes_in(flow_.block_at[instruction]);
  if (function_.body[instruction].guard) keep_away(running, instruction, true);
  return running;
}

const LanePlaces::LanesThere& LanePlaces::lanes_in(BlockId of) {
  const auto [found, is_new] = running_.try_emplace(of);
  if (!is_new) return found->second;
  LanesThere& there = found->second;
  there.may_come = everybody();
  // Each branch that all pass on their way, but for those whose ways all lead on.
  BlockId below = of;
  for (auto from = dominators_.before(of); from; below = *from, from = dominators_.before(*from)) {
    const PtxBlock& branch = flow_.blocks[*from];
    if (branch.end == branch.first || dominators_.leads_to(*from, below)) continue;
    const std::uint32_t last = branch.end - 1;
    const Instruction& way = function_.body[last];
    const bool is_branch = way.opcode == Opcode::Bra && way.guard && branch.successors[0] != branch.successors[1];
    const bool is_return = is_terminator(way.opcode) && way.guard && branch.successors.size() == 1;
    if (is_branch && writers_.sources(below).size() == 1 && below == branch.successors[0])
      keep_away(there, last, true);
    else if (is_branch && writers_.sources(below).size() == 1 && below == branch.successors[1])
      keep_away(there, last, false);
    else if (is_return)
      keep_away(there, last, false);
    else
      there.unknown.emplace_back(last, true);
  }
  return there;
}

}  // namespace cucore::cpu::analysis
