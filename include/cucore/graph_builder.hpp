// GraphBuilder: graphs by stream capture. What is given to the builder's stream is recorded instead of run.
//
//   cucore::GraphBuilder builder = stream.create_graph_builder();
//   builder.begin_building();
//   cucore::launch(builder, config, kernel, x, n);                     // wherever a Stream goes
//   std::vector<cucore::GraphBuilder> forks = builder.split(2);        // one more
//   cucore::launch(forks[0], config, kernel, y, n);
//   cucore::GraphBuilder::join(builder, forks[0]);
//   builder.end_building();
//   cucore::Graph graph = builder.complete();
//
// Kinds: primary builders own the graph that they capture. Forked ones, from split(), capture into the same graph on a
// stream of their own until they are joined. The builders of conditional bodies, from if_then() and the like, capture
// into a graph that a node of their parent owns, between their own begin_building() and end_building(), which comes
// before that of their parent.
// Lifetime of operands: what captured operations use (kernels, buffers) must live as long as an executable graph may
// run. retain() keeps things alive with the graph, and callback() does by itself.
// Captures that an error invalidated: end_building() ends them and throws, and the builder has no graph then. A builder
// that is destroyed ends the capture that it began, and its stream can be used again.
// Ownership: move-only. Closed: after close(), and when moved from; everything but close() throws StateError.
// Thread-safety: none. A capture in another mode than relaxed must be ended in the thread that began it; ended in
// another thread, it leaves no graph.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cucore/export.hpp"
#include "cucore/graph.hpp"
#include "cucore/graph_definition.hpp"
#include "cucore/graph_node.hpp"
#include "cucore/stream.hpp"

namespace cucore {

namespace detail {
struct CaptureState;
}

/// Where calls that could disturb a capture, such as cuMemAlloc, are refused while it is going on.
enum class CaptureMode { global = 0, thread_local_ = 1, relaxed = 2 };

enum class GraphBuilderKind { primary, forked, conditional_body };

class CUCORE_API GraphBuilder {
 public:
  /// The closed builder.
  GraphBuilder() noexcept = default;
  /// Captures on `stream`, which it shares. Stream::create_graph_builder() does the same.
  /// @throws StateError the stream is closed
  explicit GraphBuilder(const Stream& stream);
  GraphBuilder(GraphBuilder&& other) noexcept = default;
  GraphBuilder& operator=(GraphBuilder&& other) noexcept;
  /// Ends a capture that this builder began, and drops it; a failure goes to the release failure handler.
  ~GraphBuilder();

  explicit operator bool() const noexcept { return capture_ != nullptr; }
  GraphBuilderKind kind() const noexcept { return kind_; }
  /// The stream that captures; closed if the builder is.
  const Stream& stream() const noexcept { return stream_; }
  /// A builder goes wherever a stream goes. @throws StateError closed
  operator const Stream&() const;
  /// Whether it is from split(), and so has to be joined.
  bool is_join_required() const noexcept { return kind_ == GraphBuilderKind::forked; }
  /// Whether it is capturing; asks the driver. @throws StateError the capture was invalidated
  bool is_building() const;

  /// Whether the capture is over, with a graph or without.
  bool has_ended() const;

  /// Begins the capture. @throws StateError it has begun already, or has ended  @throws DriverError
  GraphBuilder& begin_building(CaptureMode mode = CaptureMode::relaxed);
  /// Ends the capture. @throws StateError nothing is captured, forked, or a conditional body is not ended or was
  /// invalidated  @throws DriverError the capture was invalidated, or has unjoined forks: it is over, without a graph
  GraphBuilder& end_building();
  /// Makes an executable graph, as often as wanted. @throws StateError not ended, not a primary builder, or as
  /// GraphDefinition::instantiate()
  Graph complete(const GraphCompleteOptions& options) const;
  Graph complete() const;
  /// A view of the captured graph, which outlives the builder. Bodies have one before their capture too, to be filled
  /// by hand. @throws StateError forked, capturing, or nothing is captured yet
  GraphDefinition graph_definition() const;
  /// Writes the ended graph in the DOT language. @throws StateError not ended
  void debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options = {}) const;

  /// Makes builders that go on from here beside this one: `count - 1` of them. @throws ValueError `count` < 2
  /// @throws StateError not capturing
  std::vector<GraphBuilder> split(std::size_t count);
  /// Lets the first builder that is not forked, or else the first, wait for all others, closes the others, and returns
  /// it. If that fails, the others are closed all the same. @throws ValueError fewer than two, one twice, or several
  /// that are not forked
  /// @throws StateError one is closed or not capturing
  static GraphBuilder& join(std::span<GraphBuilder* const> builders);
  template <class... Builders>
    requires(std::is_same_v<Builders, GraphBuilder> && ...)
  static GraphBuilder& join(GraphBuilder& first, Builders&... others) {
    GraphBuilder* const all[] = {&first, &others...};
    return join(std::span<GraphBuilder* const>(all));
  }

  /// A value for conditional nodes of the graph; with `default_value` it is set to that before each launch.
  GraphCondition create_condition(std::optional<unsigned> default_value = std::nullopt) const;
  /// Conditional nodes after what was captured so far: builders for their bodies. @throws StateError not capturing
  GraphBuilder if_then(const GraphCondition& condition);
  /// Two bodies: for a condition that is not 0, and for one that is 0 (CUDA 12.8).
  std::pair<GraphBuilder, GraphBuilder> if_else(const GraphCondition& condition);
  GraphBuilder while_loop(const GraphCondition& condition);
  /// The condition is the index of the body that runs; beyond the last, none runs (CUDA 12.8).
  std::vector<GraphBuilder> switch_on(const GraphCondition& condition, unsigned count);
  /// Adds a clone of the ended child's graph as one node. @throws ValueError the child is not ended, or this is not
  /// capturing
  void embed(const GraphBuilder& child);
  /// The same for a graph made by hand.
  void embed(const GraphDefinition& child);
  /// As GraphPoint::callback(). @throws StateError not capturing
  void callback(std::function<void()> function);
  void callback(HostFunction function, void* user_data, std::shared_ptr<const void> owner = nullptr);
  /// Keeps `owner` alive with the graph and all that is made from it. @throws StateError not capturing
  void retain(std::shared_ptr<const void> owner) const;

  /// Ends a capture that this builder began, and drops it and the stream. Closing twice is allowed.
  /// @throws DriverError the capture could not be ended, as in another thread than it began in
  void close();

 private:
  GraphBuilder(GraphBuilderKind kind, Stream stream, std::shared_ptr<detail::CaptureState> capture) noexcept;
  detail::CaptureState& open(const char* call) const;
  detail::CaptureState& capturing(const char* call) const;
  template <class Add>
  auto add(const char* call, Add&& add_node);
  std::vector<GraphBuilder> bodies(const ConditionalNode& node);

  GraphBuilderKind kind_ = GraphBuilderKind::primary;
  Stream stream_;
  std::shared_ptr<detail::CaptureState> capture_;  ///< null: closed
};

/// Captures for the life of the scope: begins at once, ends with end(), and closes the builder if that is not reached.
class CUCORE_API CaptureScope {
 public:
  explicit CaptureScope(GraphBuilder& builder, CaptureMode mode = CaptureMode::relaxed) : builder_(&builder) {
    builder.begin_building(mode);
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
  ~CaptureScope() {
    if (builder_ != nullptr) *builder_ = GraphBuilder();
  }
  /// @throws as GraphBuilder::end_building()
  void end() {
    builder_->end_building();
    builder_ = nullptr;
  }

 private:
  GraphBuilder* builder_;
};

}  // namespace cucore
