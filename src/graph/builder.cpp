// GraphBuilder.
#include "cucore/graph_builder.hpp"

#include <algorithm>
#include <utility>

#include "cucore/context.hpp"
#include "cucore/device.hpp"
#include "cucore/error.hpp"
#include "src/device/create.hpp"
#include "src/device/stream_state.hpp"
#include "src/driver/table.hpp"
#include "src/error/closed.hpp"
#include "src/graph/capture_state.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/release_report.hpp"

namespace cucore {

using detail::CaptureState;
using Phase = CaptureState::Phase;

namespace {

// A new stream like `stream`, for work that may run at the same time. Nothing is recorded on it yet.
Stream stream_beside(const Stream& stream) {
  const detail::RelaxedCaptureScope relaxed;
  const Context context = stream.context();
  return detail::create_stream(context.state(), {.nonblocking = true, .priority = stream.priority()});
}

GraphDefinition definition_of(const CaptureState& capture) { return {capture.hierarchy, capture.graph}; }

[[noreturn]] void refuse_not_ended(const char* call) {
  throw StateError(
      {.call = call, .message = "the GraphBuilder has not finished building", .hint = "call end_building() first"});
}

// The ended graph. @throws StateError there is none
GraphDefinition ended_definition(const CaptureState& capture, const char* call) {
  if (capture.phase != Phase::ended) refuse_not_ended(call);
  if (capture.is_spoiled) {
    throw StateError({.call = call,
                      .message = "the capture of this GraphBuilder failed and left no graph",
                      .hint = "start again with another builder"});
  }
  return definition_of(capture);
}

}  // namespace

GraphBuilder::GraphBuilder(const Stream& stream) {
  detail::open_stream(stream.state(), "create_graph_builder");
  stream_ = stream.share();
  capture_ = std::make_shared<CaptureState>();
  capture_->stream = stream.share();
}

GraphBuilder::GraphBuilder(GraphBuilderKind kind, Stream stream, std::shared_ptr<CaptureState> capture) noexcept
    : kind_(kind), stream_(std::move(stream)), capture_(std::move(capture)) {}

GraphBuilder& GraphBuilder::operator=(GraphBuilder&& other) noexcept {
  if (this != &other) {
    const GraphBuilder dropped(kind_, std::move(stream_), std::move(capture_));
    kind_ = other.kind_;
    stream_ = std::move(other.stream_);
    capture_ = std::move(other.capture_);
  }
  return *this;
}

GraphBuilder::~GraphBuilder() {
  if (capture_ == nullptr || is_join_required()) return;
  const driver::CUresult code = capture_->abort();
  if (code != driver::CUDA_SUCCESS) detail::report_release_failure(code, "cuStreamEndCapture", stream_.handle());
}

CaptureState& GraphBuilder::open(const char* call) const {
  if (capture_ == nullptr) detail::refuse_closed("GraphBuilder", call);
  return *capture_;
}

CaptureState& GraphBuilder::capturing(const char* call) const {
  CaptureState& capture = open(call);
  if (capture.phase != Phase::capturing) {
    throw StateError({.call = std::string("GraphBuilder::") + call,
                      .message = "the GraphBuilder is not building",
                      .hint = "call begin_building() first, and end_building() last"});
  }
  return capture;
}

GraphBuilder::operator const Stream&() const {
  open("stream");
  return stream_;
}

bool GraphBuilder::is_building() const {
  if (open("is_building").phase != Phase::capturing) return false;
  const CaptureStatus status = stream_.capture_status();
  if (status == CaptureStatus::invalidated) {
    throw StateError({.call = "GraphBuilder::is_building",
                      .message = "the capture was invalidated by an earlier error",
                      .hint = "end_building() ends it and reports what the driver says"});
  }
  return status == CaptureStatus::active;
}

bool GraphBuilder::has_ended() const { return open("has_ended").phase == Phase::ended; }

GraphBuilder& GraphBuilder::begin_building(CaptureMode mode) {
  CaptureState& capture = open("begin_building");
  if (is_join_required() || capture.phase != Phase::not_started) {
    const bool ended = capture.phase == Phase::ended;
    throw StateError({.call = "GraphBuilder::begin_building",
                      .message = ended ? "Cannot resume: the GraphBuilder has finished building"
                                       : "the GraphBuilder is building already",
                      .hint = ended ? "make another builder, or add to graph_definition()" : ""});
  }
  if (mode != CaptureMode::global && mode != CaptureMode::thread_local_ && mode != CaptureMode::relaxed) {
    throw ValueError({.call = "GraphBuilder::begin_building", .message = "there is no such mode of capture"});
  }
  if (capture.is_body) detail::open_graph(definition_of(capture), "GraphBuilder::begin_building");
  try {
    capture.begin(static_cast<int>(mode));
  } catch (...) {
    capture.abort();
    throw;
  }
  return *this;
}

GraphBuilder& GraphBuilder::end_building() {
  open("end_building");
  if (is_join_required()) {
    throw DriverError({.call = "GraphBuilder::end_building",
                       .code = 903,
                       .code_name = "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
                       .message = "a forked GraphBuilder does not end the capture",
                       .hint = "join() it, and call end_building() of the builder that began"});
  }
  capturing("end_building").end();
  return *this;
}

Graph GraphBuilder::complete(const GraphCompleteOptions& options) const {
  constexpr const char* call = "GraphBuilder::complete";
  const CaptureState& capture = open("complete");
  if (kind_ == GraphBuilderKind::conditional_body) {
    throw StateError({.call = call,
                      .message = "the body of a conditional node is part of its parent's graph",
                      .hint = "complete() the parent"});
  }
  if (is_join_required()) refuse_not_ended(call);
  return ended_definition(capture, call).instantiate(options);
}

Graph GraphBuilder::complete() const { return complete({}); }

GraphDefinition GraphBuilder::graph_definition() const {
  constexpr const char* call = "GraphBuilder::graph_definition";
  const CaptureState& capture = open("graph_definition");
  if (is_join_required()) {
    throw StateError({.call = call,
                      .message = "a forked GraphBuilder has no graph of its own",
                      .hint = "ask the builder that began the capture"});
  }
  if (capture.phase == Phase::not_started && capture.is_body) return definition_of(capture);
  return ended_definition(capture, call);
}

void GraphBuilder::debug_dot_print(const std::string& path, const GraphDebugPrintOptions& options) const {
  constexpr const char* call = "GraphBuilder::debug_dot_print";
  const CaptureState& capture = open("debug_dot_print");
  if (is_join_required()) refuse_not_ended(call);
  ended_definition(capture, call).debug_dot_print(path, options);
}

std::vector<GraphBuilder> GraphBuilder::split(std::size_t count) {
  open("split");
  if (count < 2) {
    throw ValueError({.call = "GraphBuilder::split",
                      .message = "cannot split into " + std::to_string(count) + ": this builder is one of them",
                      .hint = "split into 2 or more"});
  }
  capturing("split");
  std::vector<GraphBuilder> forks;
  forks.reserve(count - 1);
  const Event here = stream_.record();
  try {
    while (forks.size() + 1 < count) {
      forks.push_back(GraphBuilder(GraphBuilderKind::forked, stream_beside(stream_), capture_));
      forks.back().stream_.wait(here);
    }
  } catch (...) {
    // Those that are part of the capture come back to it.
    for (const GraphBuilder& fork : forks) {
      try {
        stream_.wait(fork.stream_);
      } catch (const Error&) {
        // It was not, or the capture is invalid; ending it will report that.
      }
    }
    throw;
  }
  return forks;
}

GraphBuilder& GraphBuilder::join(std::span<GraphBuilder* const> builders) {
  const auto refuse = [](std::string message) {
    throw ValueError({.call = "GraphBuilder::join", .message = std::move(message)});
  };
  if (builders.size() < 2) refuse("at least two builders are needed, and not " + std::to_string(builders.size()));
  GraphBuilder* root = nullptr;
  for (std::size_t i = 0; i < builders.size(); ++i) {
    GraphBuilder* const builder = builders[i];
    builder->capturing("join");
    const auto before = builders.first(i);
    if (std::find(before.begin(), before.end(), builder) != before.end()) refuse("a builder is given twice");
    if (builder->is_join_required()) continue;
    if (root != nullptr) refuse("several of the builders are not forked; only forked ones can be joined into another");
    root = builder;
  }
  if (root == nullptr) root = builders.front();
  // Each is closed once it has been waited for. After a failure all are: a stream left in a capture that nobody joins
  // would be unusable.
  const struct CloseAll {
    std::span<GraphBuilder* const> builders;
    GraphBuilder* root;
    ~CloseAll() {
      for (GraphBuilder* const builder : builders) {
        if (builder != root) *builder = GraphBuilder();
      }
    }
  } close_all{builders, root};
  for (GraphBuilder* const builder : builders) {
    if (builder != root) root->stream_.wait(builder->stream_);
  }
  return *root;
}

// Adds a node as a capture would: after what the stream's next work would depend on, which then depends on it alone.
template <class Add>
auto GraphBuilder::add(const char* call, Add&& add_node) {
  const CaptureState& capture = capturing(call);
  const detail::StreamState& stream_state = *stream_.state();
  detail::ContextScope scope(context_handle(stream_state));  // nodes are made for the current context
  const detail::CaptureInfo info = detail::capture_info(stream_, call);
  const GraphDefinition graph = definition_of(capture);
  std::vector<GraphNode> dependencies;
  {
    const std::scoped_lock lock(capture.hierarchy->mutex);
    for (const driver::CUgraphNode handle : info.dependencies) {
      dependencies.emplace_back(capture.hierarchy, detail::node_of(*capture.hierarchy, capture.graph, handle));
    }
  }
  auto node = dependencies.empty() ? add_node(static_cast<const GraphPoint&>(graph))
                                   : add_node(static_cast<const GraphPoint&>(dependencies.front()));
  if (dependencies.size() > 1) node.add_pred(std::span<const GraphNode>(dependencies).subspan(1));
  driver::CUgraphNode handle = node.handle();
  driver::check(driver::table().cuStreamUpdateCaptureDependencies(stream_state.handle, &handle, nullptr, 1,
                                                                  driver::CU_STREAM_SET_CAPTURE_DEPENDENCIES),
                "cuStreamUpdateCaptureDependencies", [&] { return describe(stream_state); });
  scope.restore();
  return node;
}

GraphCondition GraphBuilder::create_condition(std::optional<unsigned> default_value) const {
  const CaptureState& capture = capturing("create_condition");
  detail::ContextScope scope(context_handle(*stream_.state()));
  detail::capture_info(stream_, "GraphBuilder::create_condition");
  const GraphCondition condition = definition_of(capture).create_condition(default_value);
  scope.restore();
  return condition;
}

std::vector<GraphBuilder> GraphBuilder::bodies(const ConditionalNode& node) {
  std::vector<GraphBuilder> builders;
  for (const GraphDefinition& branch : node.branches()) {
    auto body = std::make_shared<CaptureState>();
    body->is_body = true;
    body->hierarchy = branch.hierarchy();
    body->graph = branch.graph_state();
    body->stream = stream_beside(stream_);
    capture_->bodies.push_back(body);
    Stream stream = body->stream.share();
    builders.push_back(GraphBuilder(GraphBuilderKind::conditional_body, std::move(stream), std::move(body)));
  }
  return builders;
}

GraphBuilder GraphBuilder::if_then(const GraphCondition& condition) {
  return std::move(bodies(add("if_then", [&](const GraphPoint& at) { return at.if_then(condition); })).front());
}

std::pair<GraphBuilder, GraphBuilder> GraphBuilder::if_else(const GraphCondition& condition) {
  auto both = bodies(add("if_else", [&](const GraphPoint& at) { return at.if_else(condition); }));
  return {std::move(both[0]), std::move(both[1])};
}

GraphBuilder GraphBuilder::while_loop(const GraphCondition& condition) {
  return std::move(bodies(add("while_loop", [&](const GraphPoint& at) { return at.while_loop(condition); })).front());
}

std::vector<GraphBuilder> GraphBuilder::switch_on(const GraphCondition& condition, unsigned count) {
  return bodies(add("switch_on", [&](const GraphPoint& at) { return at.switch_on(condition, count); }));
}

void GraphBuilder::embed(const GraphBuilder& child) {
  const auto refuse = [](const char* message, const char* hint) {
    throw ValueError({.call = "GraphBuilder::embed", .message = message, .hint = hint});
  };
  const CaptureState& source = child.open("embed");
  if (open("embed").phase != Phase::capturing) {
    refuse("the GraphBuilder is not building", "call begin_building() first");
  }
  if (child.is_join_required() || source.phase != Phase::ended || source.is_spoiled) {
    refuse("the child has not finished building", "call end_building() of the child first");
  }
  embed(definition_of(source));
}

void GraphBuilder::embed(const GraphDefinition& child) {
  add("embed", [&](const GraphPoint& at) { return at.embed(child); });
}

void GraphBuilder::callback(std::function<void()> function) {
  add("callback", [&](const GraphPoint& at) { return at.callback(std::move(function)); });
}

void GraphBuilder::callback(HostFunction function, void* user_data, std::shared_ptr<const void> owner) {
  add("callback", [&](const GraphPoint& at) { return at.callback(function, user_data, std::move(owner)); });
}

void GraphBuilder::retain(std::shared_ptr<const void> owner) const {
  const CaptureState& capture = capturing("retain");
  detail::safe_point();
  detail::Retention retention({std::move(owner), nullptr});
  const std::scoped_lock lock(capture.hierarchy->mutex);
  retention.attach(detail::open_graph(definition_of(capture), "GraphBuilder::retain").handle);
}

void GraphBuilder::close() {
  if (capture_ == nullptr) return;
  const auto capture = std::move(capture_);
  capture_ = nullptr;
  Stream stream = std::move(stream_);
  if (is_join_required()) return;
  const driver::CUresult code = capture->abort();
  driver::check(
      code, "cuStreamEndCapture", [&] { return describe(*stream.state()); },
      "close the builder in the thread that began the capture");
}

GraphBuilder Stream::create_graph_builder() const { return GraphBuilder(*this); }

GraphBuilder Device::create_graph_builder() const { return GraphBuilder(create_stream()); }

}  // namespace cucore
