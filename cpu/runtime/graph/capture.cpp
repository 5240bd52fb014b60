// Stream capture: see capture.hpp.
#include "cpu/runtime/graph/capture.hpp"

#include <algorithm>
#include <set>

#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/event.hpp"
#include "cpu/runtime/objects/stream.hpp"

namespace cucore::cpu::runtime {

namespace {

std::atomic<std::uint64_t> next_capture_id{1};
std::atomic<int> active_count{0};
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

std::vector<Capture*>& active_captures() {
  static auto* all = new std::vector<Capture*>;
  return *all;
}

void add_unique(Capture::Nodes& nodes, const std::shared_ptr<GraphNode>& node) {
  if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(node);
}

std::vector<CUgraphNode> handles_of(const Capture::Nodes& nodes) {
  std::vector<CUgraphNode> handles;
  for (const auto& node : nodes) handles.push_back(node->handle);
  return handles;
}

}  // namespace

Capture::Capture(Stream& origin, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph)
    : id_(next_capture_id.fetch_add(1)),
      origin_(&origin),
      mode_(mode),
      thread_(std::this_thread::get_id()),
      graph_(std::move(graph)) {}

Result<void> Capture::begin(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                            const Nodes& dependencies) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) return ErrorCode::InvalidValue;
  if (stream.kind() == Stream::Kind::Legacy) return ErrorCode::StreamCaptureUnsupported;
  if (stream.capture()) return ErrorCode::IllegalState;
  const auto capture = std::make_shared<Capture>(stream, mode, std::move(graph));
  capture->join(stream, dependencies);
  active_captures().push_back(capture.get());
  active_count.fetch_add(1);
  return {};
}

void Capture::join(Stream& stream, const Nodes& nodes) {
  stream.set_capture(shared_from_this());
  for (const auto& node : nodes) add_unique(heads_[&stream], node);
  heads_.try_emplace(&stream);
}

void Capture::finish() {
  const auto keep = shared_from_this();
  for (const auto& [stream, nodes] : heads_) stream->set_capture(nullptr);
  heads_.clear();
  invalidate();  // to the events that it recorded
  std::erase(active_captures(), this);
  active_count.fetch_sub(1);
}

bool Capture::is_joined() const {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> next;
  for (const auto& node : heads_.at(origin_)) next.push_back(node.get());
  while (!next.empty()) {
    const GraphNode* const node = next.back();
    next.pop_back();
    if (!reached.insert(node).second) continue;
    for (const auto& edge : node->dependencies) next.push_back(edge.node);
  }
  const auto are_reached = [&](const Nodes& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](const auto& node) { return reached.contains(node.get()); });
  };
  return are_reached(left_) &&
         std::all_of(heads_.begin(), heads_.end(), [&](const auto& head) { return are_reached(head.second); });
}

Result<CUgraph> Capture::end(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture();
  if (!capture) return ErrorCode::IllegalState;
  if (capture->origin_ != &stream) {
    capture->invalidate();
    return ErrorCode::StreamCaptureUnmatched;
  }
  const bool is_own =
      capture->mode_ == CU_STREAM_CAPTURE_MODE_RELAXED || capture->thread_ == std::this_thread::get_id();
  const bool is_valid = is_own && capture->is_valid();
  const bool is_whole = is_valid && capture->is_joined();
  const std::shared_ptr<Graph> made = capture->graph_;
  capture->finish();
  if (is_whole) return made->handle();
  if (!made->is_owned()) made->end_handles();
  if (!is_own) return ErrorCode::StreamCaptureWrongThread;  // and the capture is over, as with drivers of GPUs
  return is_valid ? ErrorCode::StreamCaptureUnjoined : ErrorCode::StreamCaptureInvalidated;
}

Result<void> Capture::add(Stream& stream, CUgraphNodeParams& parameters, std::span<CUlaunchAttribute> attributes) {
  Result<std::shared_ptr<const Payload>> read = read_parameters(stream.context(), *graph_, parameters);
  if (!read) return std::move(read).failure();
  std::shared_ptr<const Payload> payload = *std::move(read);
  if (std::holds_alternative<KernelPayload>(*payload)) {
    KernelPayload kernel = std::get<KernelPayload>(*payload);
    CUlaunchAttribute priority{};  // the stream's, unless the launch names one
    priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    priority.value.priority = stream.priority();
    if (stream.priority() != 0) kernel.attributes.push_back(priority);
    for (CUlaunchAttribute& attribute : attributes) {
      if (attribute.id != CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) continue;
      if (Result<void> made = make_updatable(attribute, &kernel); !made) return made;
    }
    kernel.attributes.insert(kernel.attributes.end(), attributes.begin(), attributes.end());
    kernel.rebase();
    for (const CUlaunchAttribute& attribute : attributes) apply(attribute, &kernel.request);
    payload = std::make_shared<Payload>(std::move(kernel));
    const auto& made = std::get<KernelPayload>(*payload);
    if (Result<void> checked = check_launch(*made.function, made.request); !checked) return checked;
    if (Result<void> checked = check_cluster(*made.function, made.request); !checked) return checked;
  }
  Nodes& heads = heads_[&stream];
  Result<std::shared_ptr<GraphNode>> node = graph_->add(std::move(payload), handles_of(heads), nullptr);
  if (!node) return std::move(node).failure();
  heads = {*std::move(node)};
  return {};
}

Result<void> Capture::record(Stream& stream, Event& event) {
  event.record_captured({weak_from_this(), is_valid_, heads_[&stream]});
  return {};
}

Result<void> Capture::wait(Stream& stream, const Event& event) {
  const std::shared_ptr<Capture> own = stream.capture();
  const auto captured = event.captured();
  if (!captured) {
    if (!own) return {};
    own->invalidate();
    return ErrorCode::StreamCaptureIsolation;  // recorded outside
  }
  const std::shared_ptr<Capture> capture = captured->capture.lock();
  if (!capture || !capture->heads_.contains(capture->origin_)) return ErrorCode::InvalidValue;  // it is over
  if (own && own != capture) {
    own->invalidate();
    capture->invalidate();
    return ErrorCode::StreamCaptureMerge;
  }
  if (stream.kind() == Stream::Kind::Legacy) {
    capture->invalidate();
    return ErrorCode::StreamCaptureImplicit;
  }
  capture->join(stream, captured->nodes);
  return {};
}

const std::vector<CUgraphNode>& Capture::dependencies(Stream& stream) {
  listed_ = handles_of(heads_[&stream]);
  return listed_;
}

Result<void> Capture::set_dependencies(Stream& stream, std::span<const CUgraphNode> nodes, bool adds) {
  Nodes found = adds ? heads_[&stream] : Nodes{};
  for (const CUgraphNode handle : nodes) {
    const auto node = find_graph_node(handle);
    if (!node || node->graph != graph_.get()) return ErrorCode::InvalidValue;
    add_unique(found, node);
  }
  heads_[&stream] = std::move(found);
  return {};
}

void Capture::abandon(Stream& stream) {
  const std::lock_guard lock(graph_mutex());
  if (const auto capture = stream.capture()) capture->leave(stream);
}

void Capture::leave(Stream& stream) {
  if (&stream == origin_) {
    invalidate();
    if (!graph_->is_owned()) graph_->end_handles();
    return finish();
  }
  for (const auto& node : heads_[&stream]) add_unique(left_, node);
  heads_.erase(&stream);
  stream.set_capture(nullptr);
}

bool is_anything_capturing() { return active_count.load(std::memory_order_relaxed) > 0; }

Result<void> check_unsafe_call() {
  if (!is_anything_capturing() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return {};
  const std::lock_guard lock(graph_mutex());
  Result<void> result;
  for (Capture* const capture : active_captures()) {
    if (capture->mode_ == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
    const bool is_mine = capture->thread_ == std::this_thread::get_id();
    const bool is_everybodys =
        capture->mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!is_mine && !is_everybodys) continue;
    capture->invalidate();
    result = ErrorCode::StreamCaptureUnsupported;
  }
  return result;
}

bool Capture::forbids(const Stream& legacy) const {
  return std::any_of(heads_.begin(), heads_.end(), [&](const auto& head) {
    const Stream& stream = *head.first;
    return &stream.context() == &legacy.context() && stream.synchronises_with_legacy();
  });
}

bool is_forbidden(const Stream& legacy) {
  const std::lock_guard lock(graph_mutex());
  return std::any_of(active_captures().begin(), active_captures().end(),
                     [&](const Capture* capture) { return capture->forbids(legacy); });
}

Result<void> check_legacy_use(const Stream& legacy) {
  const std::lock_guard lock(graph_mutex());
  Result<void> result;
  for (Capture* const capture : active_captures()) {
    if (!capture->forbids(legacy)) continue;
    capture->invalidate();
    result = ErrorCode::StreamCaptureImplicit;
  }
  return result;
}

Result<void> check_stream_use(const Stream& stream) {
  if (stream.kind() == Stream::Kind::Legacy) return check_legacy_use(stream);
  if (!stream.is_capturing()) return {};
  const std::lock_guard lock(graph_mutex());
  const auto capture = stream.capture();
  return !capture || capture->is_valid() ? Result<void>() : ErrorCode::StreamCaptureInvalidated;
}

Result<void> refuse_capture(Stream& stream) {
  const std::lock_guard lock(graph_mutex());
  if (const auto capture = stream.capture()) capture->invalidate();
  return ErrorCode::StreamCaptureUnsupported;
}

Result<void> capture_node(Stream& stream, CUgraphNodeParams& parameters, std::span<CUlaunchAttribute> attributes) {
  const std::lock_guard lock(graph_mutex());
  const auto capture = stream.capture();
  if (!capture) return ErrorCode::IllegalState;
  Result<void> added = capture->add(stream, parameters, attributes);
  if (!added && parameters.type == CU_GRAPH_NODE_TYPE_KERNEL) capture->invalidate();
  return added;
}

CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode) { return std::exchange(thread_mode, mode); }

}  // namespace cucore::cpu::runtime
