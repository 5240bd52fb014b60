// Arithmetic of sums of symbols: see lane_sum.hpp.
#include "cpu/analysis/lanes/lane_sum.hpp"

#include <tuple>

namespace cucore::cpu::analysis {

LaneSum constant_of(std::int64_t value) { return {.terms = {}, .constant = value}; }

LaneSum symbol_of(std::uint32_t symbol) { return {.terms = {{symbol, 1}}, .constant = 0}; }

LaneSum multiplied(LaneSum sum, std::int64_t by) {
  if (by == 0) return {};
  for (auto& [symbol, factor] : sum.terms) factor = times(factor, by);
  std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
  sum.constant = times(sum.constant, by);
  return sum;
}

LaneSum added(const LaneSum& a, const LaneSum& b) {
  LaneSum sum;
  sum.constant = plus(a.constant, b.constant);
  auto one = a.terms.begin();
  auto other = b.terms.begin();
  while (one != a.terms.end() || other != b.terms.end()) {
    if (other == b.terms.end() || (one != a.terms.end() && one->first < other->first)) {
      sum.terms.push_back(*one++);
    } else if (one == a.terms.end() || other->first < one->first) {
      sum.terms.push_back(*other++);
    } else {
      const std::int64_t factor = plus(one->second, other->second);
      if (factor != 0) sum.terms.emplace_back(one->first, factor);
      ++one;
      ++other;
    }
  }
  return sum;
}

LaneSum without(const LaneSum& a, const LaneSum& b) { return added(a, multiplied(b, -1)); }

bool LaneSum::operator<(const LaneSum& other) const {
  return std::tie(terms, constant) < std::tie(other.terms, other.constant);
}

}  // namespace cucore::cpu::analysis
