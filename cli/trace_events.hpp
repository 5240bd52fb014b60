// Reading a timeline: the Chrome trace events of a file (docs/tracing.md), whoever wrote them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace cucore::cli {

struct TraceEvent {
  char phase = 0;
  std::string name, category;
  double process = 0, thread = 0;
  double at = 0, duration = 0;  ///< microseconds
  std::string id;
  std::vector<std::pair<std::string, std::string>> arguments;  ///< values of any kind as text

  const std::string* argument(const std::string& wanted) const;
};

/// The events of `path`, in the order of the file. One that was cut off, since its process was killed, ends with the
/// last whole event. @throws std::runtime_error the file cannot be read, or is no trace: what is wrong, and where
std::vector<TraceEvent> read_trace(const std::string& path);

}  // namespace cucore::cli
