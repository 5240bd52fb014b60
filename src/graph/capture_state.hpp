// CaptureState: a capture that builders share: the one that begins and ends it, and the forked ones in between.
#pragma once

#include <memory>
#include <vector>

#include "cucore/stream.hpp"
#include "src/driver/abi_graphs.hpp"
#include "src/graph/state.hpp"

namespace cucore::detail {

struct CaptureState {
  enum class Phase { not_started, capturing, ended };

  CaptureState() = default;
  CaptureState(const CaptureState&) = delete;
  CaptureState& operator=(const CaptureState&) = delete;

  Phase phase = Phase::not_started;
  /// Ended without a graph: an error had invalidated the capture, or forked builders were not joined.
  bool is_spoiled = false;
  bool is_body = false;
  Stream stream;                              ///< where it begins and ends
  std::shared_ptr<GraphHierarchy> hierarchy;  ///< null: a primary capture before its begin, or one that failed
  std::shared_ptr<GraphState> graph;
  std::vector<std::shared_ptr<CaptureState>> bodies;  ///< of conditional nodes in it

  /// Begins it. @throws DriverError
  void begin(int mode);
  /// Ends it; the graph is the hierarchy's then. @throws StateError the body of a node prevents it  @throws DriverError
  void end();
  /// Ends it and drops the graph; returns the driver's error if it still captures afterwards. A capture that cannot be
  /// ended safely is left as it is for ever.
  driver::CUresult abort() noexcept;

 private:
  const CaptureState* spoiled_body() const;
  void drop_graph() noexcept;
  void leave_alone() noexcept;
};

/// What the stream captures, and where. @throws DriverError  @throws StateError nothing, or invalidated
struct CaptureInfo {
  driver::CUgraph graph = nullptr;
  std::vector<driver::CUgraphNode> dependencies;  ///< of the next node
};
CaptureInfo capture_info(const Stream& stream, const char* call);

}  // namespace cucore::detail
