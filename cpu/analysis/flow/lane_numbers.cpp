// What follows from the numbers of a warp's lanes alone: where each of them accesses memory, and which of them come to
// an instruction. The part of lane_places.hpp that computes instead of comparing sums.
#include <algorithm>
#include <iterator>

#include "cpu/analysis/flow/lane_places.hpp"

namespace cucore::cpu::analysis {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;

namespace {

constexpr std::uint32_t lanes_of_warp = 32, most_warps = 32;
constexpr std::int64_t most_threads = 1024;
constexpr unsigned most_steps = 16;  ///< branches and combined predicates that are followed

}  // namespace

// ---- values ---------------------------------------------------------------------------------------------------------

std::optional<std::int64_t> LanePlaces::value_for(const Symbol& symbol, std::uint32_t thread) const {
  if (symbol.is_lane) return symbol.high == most_threads - 1 ? thread : thread % lanes_of_warp;
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

// ---- who comes there ------------------------------------------------------------------------------------------------

std::optional<bool> LanePlaces::compares_for(const Instruction& setp, std::uint32_t at, std::uint32_t thread) {
  if (setp.operands.size() != 3 || !ptx::is_integer(setp.type())) return {};
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

/// The instruction that a predicate's value at `at` comes from, if there is one for all ways there.
std::optional<std::uint32_t> LanePlaces::writer_of(ptx::RegisterId predicate, std::uint32_t at) const {
  const std::vector<std::uint32_t>& writers = writers_[predicate];
  const auto behind = std::lower_bound(writers.begin(), writers.end(), at);
  const bool is_only = writers.size() == 1;
  const bool is_near = behind != writers.begin() && *(behind - 1) >= flow_.blocks[flow_.block_at[at]].first;
  if (!is_only && !is_near) return {};
  const std::uint32_t writer = is_near ? *(behind - 1) : writers[0];
  return function_.body[writer].guard ? std::nullopt : std::optional(writer);
}

/// The predicate that instruction `at` makes.
std::optional<bool> LanePlaces::holds_for(std::uint32_t at, std::uint32_t thread, unsigned depth) {
  const Instruction& i = function_.body[at];
  if (depth == 0 || i.operands[0].kind != Operand::Kind::Register) return {};
  if (i.opcode == Opcode::Setp) return compares_for(i, at, thread);
  const bool combines = i.opcode == Opcode::And || i.opcode == Opcode::Or;
  if (!combines || i.operands[1].kind != Operand::Kind::Register || i.operands[2].kind != Operand::Kind::Register)
    return {};
  const auto part = [&](std::size_t n) -> std::optional<bool> {
    const auto writer = writer_of(i.operands[n].reg, at);
    return writer ? holds_for(*writer, thread, depth - 1) : std::nullopt;
  };
  const auto a = part(1), b = part(2);
  const bool decides = i.opcode == Opcode::Or;
  if (a == decides || b == decides) return decides;
  return a && b ? std::optional(!decides) : std::nullopt;
}

/// Those for which the guard of `at` is not as it must be.
void LanePlaces::keep_away(LanesOfWarps& running, std::uint32_t at, bool holds) {
  const ptx::Guard& guard = *function_.body[at].guard;
  const auto writer = writer_of(guard.reg, at);
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
  found->second.fill(~0U);
  if (sources_.empty()) {
    sources_.resize(flow_.blocks.size());
    for (BlockId block = 0; block < flow_.blocks.size(); ++block)
      for (const BlockId next : flow_.blocks[block].successors) sources_[next].push_back(block);
  }
  BlockId block = of;
  for (unsigned steps = 0; steps < most_steps && block != 0 && sources_[block].size() == 1; ++steps) {
    const BlockId from = sources_[block][0];
    const std::uint32_t last = flow_.blocks[from].end - 1;
    const bool branches = function_.body[last].opcode == Opcode::Bra && function_.body[last].guard;
    if (branches) keep_away(found->second, last, flow_.blocks[from].successors[0] == block);
    block = from;
  }
  return found->second;
}

}  // namespace cucore::cpu::analysis
