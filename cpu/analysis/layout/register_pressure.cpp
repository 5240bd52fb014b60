// Estimates the registers that a function needs: see register_pressure.hpp.
#include "cpu/analysis/layout/register_pressure.hpp"

#include <algorithm>
#include <vector>

namespace cucore::cpu::analysis {
namespace {

using ptx::Operand;
using ptx::RegisterId;

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

/// The instructions between which a register is live, both included.
struct Interval {
  std::uint32_t first = nowhere;
  std::uint32_t last = 0;
};

using Intervals = std::vector<Interval>;

void note(Intervals& intervals, RegisterId reg, std::uint32_t at) {
  intervals[reg].first = std::min(intervals[reg].first, at);
  intervals[reg].last = std::max(intervals[reg].last, at);
}

/// From a label to a branch back to it, in the order of the labels.
std::vector<Interval> loops_of(const ptx::Function& function) {
  std::vector<Interval> loops;
  for (std::uint32_t at = 0; at < function.body.size(); ++at) {
    for (const Operand& operand : function.body[at].operands) {
      if (operand.kind != Operand::Kind::Label) continue;
      const std::uint32_t target = function.labels[operand.label].instruction;
      if (target <= at) loops.push_back({target, at});
    }
  }
  std::sort(loops.begin(), loops.end(), [](const Interval& a, const Interval& b) { return a.first < b.first; });
  return loops;
}

/// What is set before a loop and used in it lives until the loop's end, for the next iteration.
void carry_through(const std::vector<Interval>& loops, Interval& value) {
  const auto after = [](std::uint32_t at, const Interval& loop) { return at < loop.first; };
  for (auto loop = std::upper_bound(loops.begin(), loops.end(), value.first, after);
       loop != loops.end() && loop->first <= value.last; ++loop)
    value.last = std::max(value.last, loop->last);
}

std::uint32_t registers_of(const ptx::Register& reg) {
  if (reg.type == ptx::Type::Pred) return 0;
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(ptx::size_in_bytes(reg.type)) / 4) * reg.vector_width;
}

}  // namespace

std::uint32_t register_pressure(const ptx::Function& function) {
  const auto length = static_cast<std::uint32_t>(function.body.size());
  Intervals intervals(function.registers.size());
  for (std::uint32_t at = 0; at < length; ++at) {
    for (const Operand& operand : function.body[at].operands)
      for_each_register(operand, [&](RegisterId reg) { note(intervals, reg, at); });
  }
  const std::vector<Interval> loops = loops_of(function);
  for (Interval& interval : intervals) carry_through(loops, interval);
  std::vector<std::int64_t> change(length + 1, 0);
  for (std::size_t reg = 0; reg < intervals.size(); ++reg) {
    if (intervals[reg].first == nowhere) continue;
    const std::uint32_t size = registers_of(function.registers[reg]);
    change[intervals[reg].first] += size;
    change[intervals[reg].last] -= size;  // the last instruction can write its result there
  }
  std::int64_t live = 0;
  std::int64_t most = 1;
  for (const std::int64_t step : change) most = std::max(most, live += step);
  return static_cast<std::uint32_t>(most);
}

}  // namespace cucore::cpu::analysis
