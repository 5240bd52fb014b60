// What a timeline comes to: times by kernel, copy, call, compile and range.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "cli/trace_events.hpp"

namespace cucore::cli {

/// All slices of one name. Times in microseconds.
struct TraceTotal {
  std::string name;
  std::size_t calls = 0;
  double total = 0, least = 0, most = 0;
  double bytes = 0;              ///< of copies and fills
  double occupancy_percent = 0;  ///< of kernels, the mean; 0: not known
  std::set<std::string> forms;   ///< of kernels on the CPU device

  double mean() const { return calls == 0 ? 0 : total / static_cast<double>(calls); }
};

struct TraceSummary {
  double length = 0;  ///< from the first event to the last
  /// What took longest comes first.
  std::vector<TraceTotal> kernels, copies, other_work, compiles, calls, ranges;
};

TraceSummary summary_of(const std::vector<TraceEvent>& events);

std::string in_words(const TraceSummary& summary);
std::string as_json(const TraceSummary& summary);

}  // namespace cucore::cli
