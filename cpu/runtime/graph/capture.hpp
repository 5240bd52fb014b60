// Stream capture: work given to a capturing stream becomes nodes of a graph. Streams join a capture by waiting for an
// event recorded in it. Callers hold graph_mutex().
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "cpu/error/result.hpp"
#include "cpu/runtime/graph/graph.hpp"

namespace cucore::cpu::runtime {

class Event;
class Stream;

class Capture : public std::enable_shared_from_this<Capture> {
 public:
  using Nodes = std::vector<std::shared_ptr<GraphNode>>;

  Capture(Stream& origin, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph);

  std::uint64_t id() const { return id_; }
  Graph& graph() const { return *graph_; }
  bool is_valid() const { return *is_valid_; }
  void invalidate() { *is_valid_ = false; }

  static Result<void> begin(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                            const Nodes& dependencies);
  static Result<CUgraph> end(Stream& stream);

  /// The node becomes what later work of `stream` depends on.
  Result<void> add(Stream& stream, CUgraphNodeParams& parameters, std::span<CUlaunchAttribute> attributes = {});
  Result<void> record(Stream& stream, Event& event);
  /// `stream` waits for an event of a capture, which it joins if it captures nothing yet.
  static Result<void> wait(Stream& stream, const Event& event);

  /// What the next node of `stream` will depend on, as arrays that live until that changes.
  const std::vector<CUgraphNode>& dependencies(Stream& stream);
  Result<void> set_dependencies(Stream& stream, std::span<const CUgraphNode> nodes, bool adds);
  /// Whether one of its streams synchronises with this legacy stream, which must not be used then.
  bool forbids(const Stream& legacy) const;
  /// For the end of a stream in the middle of its capture: fatal for the origin, and for others unless the origin waits
  /// for them. Takes graph_mutex() itself.
  static void abandon(Stream& stream);

 private:
  void leave(Stream& stream);
  void join(Stream& stream, const Nodes& nodes);
  bool is_joined() const;
  void finish();
  friend Result<void> check_unsafe_call();

  const std::uint64_t id_;
  Stream* const origin_;
  const CUstreamCaptureMode mode_;
  const std::thread::id thread_;
  const std::shared_ptr<Graph> graph_;
  const std::shared_ptr<bool> is_valid_ = std::make_shared<bool>(true);  ///< shared with the events that it recorded
  std::map<Stream*, Nodes> heads_;                                       ///< what each stream's next node depends on
  Nodes left_;  ///< heads of streams that were destroyed meanwhile
  std::vector<CUgraphNode> listed_;
};

/// Whether there is any capture at all: one load, for calls that a capture may forbid.
bool is_anything_capturing();
/// StreamCaptureUnsupported if this thread may not make a call that could wait for a capture, such as cuMemAlloc; the
/// captures that the call would break become invalid.
Result<void> check_unsafe_call();
/// Whether a capture forbids the use of the legacy stream. Invalidates none.
bool is_forbidden(const Stream& legacy);
/// StreamCaptureImplicit, and the captures are invalid, if the legacy stream is used while they forbid it.
Result<void> check_legacy_use(const Stream& legacy);
/// Fails if a stream may not be used now: by the legacy rule, or because of an invalid capture of its own.
Result<void> check_stream_use(const Stream& stream);
/// The answer to a call that a capturing stream cannot take: StreamCaptureUnsupported, and the capture is invalid.
Result<void> refuse_capture(Stream& stream);
/// The call becomes a node of the stream's capture.
Result<void> capture_node(Stream& stream, CUgraphNodeParams& parameters, std::span<CUlaunchAttribute> attributes = {});
CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode);

}  // namespace cucore::cpu::runtime
