// What a traced process's devices did and when: a span for each launch, copy and fill, a mark for each event.
//
// A span lies between two events of ours, recorded before and after the work on its stream, and is written once both
// have passed: looked at when later calls are traced, and at the end. Nothing waits for the device. The driver's clock
// is tied to the host's once per context. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "src/driver/table.hpp"
#include "src/driver/trace_file.hpp"

namespace cucore::driver::trace {

class Spans {
 public:
  Spans(const Table& driver, File& file) : driver_(driver), file_(file) {}

  /// How a context's event times are turned into the host's.
  struct Clock {
    CUcontext context = nullptr;
    int process = 0;  ///< what stands for the device in the trace
    CUevent base = nullptr;
    Nanoseconds base_at = 0;
    std::vector<CUevent> spare;
  };
  /// Work whose first event is recorded, and its last is not yet.
  struct Open {
    Clock* clock = nullptr;  ///< null: not measured (a capturing stream, a failed context, too much pending)
    CUevent first = nullptr;
  };

  /// From a call to what the device did.
  struct Arrow {
    std::uint64_t id = 0;  ///< 0: none
    Nanoseconds from = 0;
  };

  Open begin(CUstream stream);
  void end(const Open& open, CUstream stream, std::string name, Arrow arrow, const Arguments& arguments,
           bool succeeded);
  /// A moment: an event recorded by the program.
  void mark(CUstream stream, std::string name, const Arguments& arguments);

  /// Writes what has ended; looks at few streams.
  void collect() noexcept;
  /// Writes what ends before `deadline`, and gives up the rest. Returns how many spans were not measured in all.
  std::uint64_t finish(Nanoseconds deadline) noexcept;

 private:
  struct Span {
    CUevent first = nullptr;
    CUevent last = nullptr;  ///< null: a mark
    std::string name;
    Arrow arrow;
    Arguments arguments;
  };
  struct Lane {
    Clock* clock = nullptr;
    Place place;
    std::deque<Span> pending;
  };
  using LaneKey = std::tuple<CUcontext, CUstream, int>;

  Clock* clock_of_current_context();
  CUevent take_event(Clock& clock);
  CUevent record(Clock& clock, CUstream stream);
  Lane& lane_of(Clock& clock, CUstream stream);
  void enqueue(Clock& clock, CUstream stream, Span span);
  bool write_first(Lane& lane);
  void discard_first(Lane& lane);

  const Table& driver_;
  File& file_;
  std::mutex mutex_;
  std::map<CUcontext, std::unique_ptr<Clock>> clocks_;
  std::map<LaneKey, Lane> lanes_;
  std::vector<Lane*> order_;
  std::size_t next_lane_ = 0;
  std::size_t pending_ = 0;
  std::uint64_t not_measured_ = 0;
};

/// The calling thread in the trace.
int thread_number() noexcept;

}  // namespace cucore::driver::trace
