// What follows from the numbers of a warp's lanes alone: where each of them accesses memory, and which of them come to
// an instruction. The part of lane_places.hpp that computes instead of comparing sums.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "cpu/analysis/flow/lane_places.hpp"
#include "cpu/analysis/flow/reach.hpp"

namespace cucore::cpu::analysis {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Space;

namespace {

constexpr std::int64_t lanes_of_warp = 32;
constexpr std::uint32_t most_warps = 32;
constexpr std::int64_t most_in_range = std::int64_t{1} << 40;
constexpr unsigned most_steps = 16;  ///< branches and combined predicates that are followed

}  // namespace

// ---- values ---------------------------------------------------------------------------------------------------------

std::optional<std::int64_t> LanePlaces::value_for(const Symbol& symbol, std::uint32_t thread) const {
  const bool is_on_x = symbol.is_lane && symbol.high == most_threads - 1;
  if (is_on_x) return row_ != 0 ? thread % row_ : thread;
  if (symbol.is_lane && (row_ == 0 || symbol.operands.empty())) return thread % lanes_of_warp;
  if (symbol.is_row && row_ != 0) return thread / row_;
  if (symbol.operands.size() != 2) return {};
  const auto a = value_for(symbol.operands[0], thread), b = value_for(symbol.operands[1], thread);
  if (!a || !b) return {};
  const bool is_natural = *a >= 0 && *b >= 0;
  switch (symbol.opcode) {
    case Opcode::And:
      return *a & *b;
    case Opcode::Or:
      return *a | *b;
    case Opcode::Xor:
      return *a ^ *b;
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

std::optional<std::int64_t> LanePlaces::value_for(const LaneSum& sum, std::uint32_t thread) const {
  auto value = static_cast<std::uint64_t>(sum.constant);
  for (const auto& [symbol, factor] : sum.terms) {
    const auto one = value_for(symbols_[symbol], thread);
    if (!one) return {};
    value += static_cast<std::uint64_t>(*one) * static_cast<std::uint64_t>(factor);
  }
  return static_cast<std::int64_t>(value);
}

std::optional<LanePlaces::Numbers> LanePlaces::numbers_of(const LaneSum& place) {
  LaneSum own = spread(place).sum;
  Numbers numbers{};
  const auto is_common = [&](const auto& term) { return symbols_[term.first].kind == Kind::Uniform; };
  std::ranges::copy_if(own.terms, std::back_inserter(numbers.common), is_common);
  std::erase_if(own.terms, is_common);
  for (std::uint32_t lane = 0; lane < lanes_of_warp; ++lane) {
    const auto value = value_for(own, lane);
    if (!value) return {};
    numbers.places[lane] = *value;
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

// ---- the shape of the block -----------------------------------------------------------------------------------------

/// What the kernel's accesses of its shared arrays say of the blocks that it is made for: nobody accesses what lies
/// beyond an array, and rows that all threads store do not overlap.
void LanePlaces::learn_shape() {
  for (const auto& most : {function_.directives.reqntid, function_.directives.maxntid})
    if (most[0]) threads_ = std::min(threads_, *most[0] * most[1].value_or(1) * most[2].value_or(1));
  std::int64_t on_x = most_threads, pitch = lanes_of_warp;
  for (std::uint32_t i = 0; i < function_.body.size(); ++i) {
    const Instruction& access = function_.body[i];
    const bool accesses = access.opcode == Opcode::Ld || access.opcode == Opcode::St;
    if (!accesses || access.space() != Space::Shared || access.guard) continue;
    if (all_come_to(flow_.block_at[i])) on_x = std::min(on_x, threads_on_x(i));
    if (access.opcode == Opcode::St) pitch = std::min(pitch, threads_in_row(i));
  }
  const bool has_rows = std::ranges::any_of(function_.body, [](const Instruction& i) {
    return std::ranges::any_of(i.operands, [](const Operand& operand) {
      return operand.kind == Operand::Kind::Special && operand.special.name == "%tid" && operand.special.axis != 0;
    });
  });
  // Of more than a warp, whole ones.
  if (!has_rows && on_x > lanes_of_warp) on_x -= on_x % lanes_of_warp;
  if (!has_rows) threads_ = std::min(threads_, static_cast<std::uint32_t>(on_x));
  running_.clear();  // those of all threads
  pitch = std::min(pitch, on_x);
  if (!has_rows || pitch >= lanes_of_warp) return;
  // Numbers on y differ in a warp.
  row_ = std::bit_floor(static_cast<std::uint32_t>(pitch));
  symbols_.clear();
  names_.clear();
  results_.clear();
  counters_.clear();
  kept_away_.clear();
  find_kinds();
}

/// All threads of a block run it: the first one, and those with barriers if no thread leaves early.
bool LanePlaces::all_come_to(BlockId block) const {
  if (block == 0) return true;
  const auto leaves = [](const Instruction& i) { return i.opcode == Opcode::Ret || i.opcode == Opcode::Exit; };
  const auto first = function_.body.begin() + flow_.blocks[block].first;
  const auto end = function_.body.begin() + flow_.blocks[block].end;
  return std::any_of(first, end, [](const Instruction& i) { return is_block_barrier(i) && !i.guard; }) &&
         std::ranges::count_if(function_.body, leaves) <= 1;
}

LanePlaces::OfBlock LanePlaces::in_block(const LaneSum& place) const {
  OfBlock parts{};
  for (const auto& [symbol, factor] : place.terms) {
    const Symbol& it = symbols_[symbol];
    if (it.is_lane && it.operands.empty() && it.high == most_threads - 1)
      parts.on_x = factor;
    else if (it.is_row)
      parts.on_y = factor;
    else if (it.bytes != 0 && factor == 1 && parts.bytes == 0)
      parts.bytes = static_cast<std::int64_t>(it.bytes);
    else
      parts.has_more = true;
  }
  return parts;
}

/// At most so many, if all threads come to the access.
std::int64_t LanePlaces::threads_on_x(std::uint32_t access) {
  const Instruction& i = function_.body[access];
  const LaneSum place = place_of(access);
  const OfBlock parts = in_block(place);
  const std::int64_t room =
      parts.bytes - place.constant - static_cast<std::int64_t>(ptx::size_in_bytes(i.type()) * i.vector_width);
  const bool is_known = parts.bytes != 0 && parts.on_x > 0 && parts.on_y == 0 && !parts.has_more && room >= 0;
  return is_known ? std::min(room / parts.on_x + 1, most_threads) : most_threads;
}

/// At most so many, or as many as a warp has.
std::int64_t LanePlaces::threads_in_row(std::uint32_t store) {
  const OfBlock parts = in_block(place_of(store));
  if (parts.on_x <= 0 || parts.on_y % parts.on_x != 0) return lanes_of_warp;
  const std::int64_t pitch = std::abs(parts.on_y / parts.on_x);
  return pitch >= 2 && pitch < lanes_of_warp && lanes_at(store) == everybody() ? pitch : lanes_of_warp;
}

LanePlaces::LanesOfWarps LanePlaces::everybody() const {
  LanesOfWarps lanes{};
  for (std::uint32_t warp = 0; warp < most_warps; ++warp) {
    const std::uint32_t first = warp * lanes_of_warp;
    const std::uint32_t there = threads_ > first ? threads_ - first : 0;
    lanes[warp] = there < lanes_of_warp ? (1U << there) - 1 : ~0U;
  }
  return lanes;
}

// ---- who comes there ------------------------------------------------------------------------------------------------

std::optional<bool> LanePlaces::compares_for(const Instruction& setp, std::uint32_t at, std::uint32_t thread) {
  if (setp.operands.size() != 3 || !(ptx::is_integer(setp.type()) || ptx::is_bits(setp.type()))) return {};
  const auto a = value_for(value_of(setp.operands[1], at), thread),
             b = value_for(value_of(setp.operands[2], at), thread);
  if (!a || !b) return {};
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

/// Those for which the guard of `at` is not as it must be.
void LanePlaces::keep_away(LanesOfWarps& running, std::uint32_t at, bool holds) {
  const ptx::Guard& guard = *function_.body[at].guard;
  const auto writer = writers_.only(guard.reg, at);
  if (!writer) return;
  const auto [found, is_new] = kept_away_.try_emplace(*writer);
  for (std::uint32_t thread = 0; is_new && thread < most_warps * lanes_of_warp; ++thread) {
    const auto value = holds_for(*writer, thread, most_steps);
    if (!value && thread == 0) break;  // of one thread as of all
    if (value) found->second[*value ? 0 : 1][thread / lanes_of_warp] |= 1U << thread % lanes_of_warp;
  }
  const LanesOfWarps& away = found->second[holds != guard.negated ? 1 : 0];
  for (std::uint32_t warp = 0; warp < most_warps; ++warp) running[warp] &= ~away[warp];
}

LanePlaces::LanesOfWarps LanePlaces::lanes_at(std::uint32_t instruction) {
  LanesOfWarps running = lanes_in(flow_.block_at[instruction]);
  if (function_.body[instruction].guard) keep_away(running, instruction, true);
  return running;
}

const LanePlaces::LanesOfWarps& LanePlaces::lanes_in(BlockId of) {
  const auto [found, is_new] = running_.try_emplace(of);
  if (!is_new) return found->second;
  found->second = everybody();
  BlockId block = of;
  for (unsigned steps = 0; steps < most_steps && block != 0 && writers_.sources(block).size() == 1; ++steps) {
    const BlockId from = writers_.sources(block)[0];
    const std::uint32_t last = flow_.blocks[from].end - 1;
    const bool branches = function_.body[last].opcode == Opcode::Bra && function_.body[last].guard;
    if (branches) keep_away(found->second, last, flow_.blocks[from].successors[0] == block);
    block = from;
  }
  return found->second;
}

}  // namespace cucore::cpu::analysis
