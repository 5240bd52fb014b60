// What in a place changes from one step of a loop to the next, and by what: see lane_places.hpp.
#include <algorithm>
#include <numeric>

#include "cpu/analysis/lanes/lane_places.hpp"

namespace cucore::cpu::analysis {

using ptx::Opcode;
using ptx::RegisterId;

namespace {

bool multiplies(Opcode opcode) {
  return opcode == Opcode::Shl || opcode == Opcode::Shr || opcode == Opcode::Mul || opcode == Opcode::Mad ||
         opcode == Opcode::Div || opcode == Opcode::Xor;
}

}  // namespace

bool LanePlaces::depends(std::uint32_t symbol, std::uint32_t on, unsigned depth) const {
  if (symbol == on) return true;
  if (depth == 0) return false;
  const auto& arguments = symbols_[symbol].arguments;
  return std::any_of(arguments.begin(), arguments.end(), [&](auto a) { return depends(a, on, depth - 1); });
}

const LanePlaces::Counter& LanePlaces::counter(std::uint32_t symbol) {
  const auto [found, is_new] = counters_.try_emplace(symbol);
  if (!is_new) return found->second;
  Counter made{.start = {}, .step = 0, .counts = true, .doubles = false};
  bool has_one_start = true;
  const RegisterId reg = *symbols_[symbol].joined;
  for (const std::uint32_t writer : writers_.last(reg)) {
    const LaneSum value = function_.body[writer].guard ? joined(reg) : value_of_result(writer);
    if (function_.body[writer].guard) has_one_start = false;
    const auto itself =
        std::find_if(value.terms.begin(), value.terms.end(), [&](auto& t) { return t.first == symbol; });
    const auto follows = [&](const auto& term) { return term.first != symbol && depends(term.first, symbol, 4); };
    if (std::any_of(value.terms.begin(), value.terms.end(), follows) ||
        (itself != value.terms.end() && itself->second != 1)) {
      made.doubles = true;
    } else if (itself != value.terms.end()) {
      const LaneSum step = without(value, symbol_of(symbol));
      if (is_constant(step)) made.step = std::gcd(made.step, step.constant);
      for (const auto& term : step.terms) made.counts &= symbols_[term.first].kind == Kind::Uniform;
    } else if (!made.start) {
      made.start = value;
    } else {
      has_one_start &= *made.start == value;
    }
  }
  if (!has_one_start || made.doubles) made.start.reset();
  made.counts &= made.start.has_value();
  return counters_[symbol] = std::move(made);
}

/// A number that is doubled or halved from step to step, as the distances of trees and networks are.
std::set<std::uint32_t> LanePlaces::steps_in(const LaneSum& sum) {
  std::set<std::uint32_t> steps, seen;
  std::vector<std::uint32_t> left;
  for (const auto& [symbol, factor] : sum.terms) left.push_back(symbol);
  while (!left.empty()) {
    const std::uint32_t symbol = left.back();
    left.pop_back();
    if (!seen.insert(symbol).second) continue;
    if (symbols_[symbol].joined && counter(symbol).doubles) steps.insert(symbol);
    left.insert(left.end(), symbols_[symbol].arguments.begin(), symbols_[symbol].arguments.end());
  }
  return steps;
}

bool LanePlaces::is_from_memory(const LaneSum& place) const {
  return std::ranges::any_of(place.terms, [&](const auto& term) { return symbols_[term.first].kind == Kind::Data; });
}

bool LanePlaces::are_of_one_round(const LaneSum& a, const LaneSum& b) const { return stays(without(a, b)); }

bool LanePlaces::stays(const LaneSum& sum) const {
  return std::ranges::none_of(sum.terms, [&](const auto& term) { return symbols_[term.first].joined.has_value(); });
}

bool LanePlaces::is_power_step(std::uint32_t symbol) {
  if (symbols_[symbol].joined) return counter(symbol).doubles;
  if (!multiplies(symbols_[symbol].opcode)) return false;
  const std::vector<std::uint32_t> arguments = symbols_[symbol].arguments;
  return std::any_of(arguments.begin(), arguments.end(),
                     [&](auto a) { return symbols_[a].joined && counter(a).doubles; });
}

/// With what counters start from in their place.
LanePlaces::Spread LanePlaces::spread(LaneSum sum) {
  Spread result{.sum = std::move(sum), .steps = 0, .counts = false};
  for (unsigned rounds = 0; rounds < 8; ++rounds) {
    const auto counted = std::find_if(result.sum.terms.begin(), result.sum.terms.end(), [&](const auto& term) {
      return symbols_[term.first].joined && counter(term.first).counts;
    });
    if (counted == result.sum.terms.end()) break;
    const auto [symbol, factor] = *counted;
    const Counter& by = counter(symbol);
    result.counts = true;
    result.steps = std::gcd(result.steps, times(by.step, factor));
    result.sum = added(without(result.sum, multiplied(symbol_of(symbol), factor)), multiplied(*by.start, factor));
  }
  return result;
}

}  // namespace cucore::cpu::analysis
