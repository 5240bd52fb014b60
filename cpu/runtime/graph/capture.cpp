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

CUresult Capture::begin(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                        const Nodes& dependencies) {
  if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  if (stream.kind() == Stream::Kind::Legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (stream.capture()) return CUDA_ERROR_ILLEGAL_STATE;
  const auto capture = std::make_shared<Capture>(stream, mode, std::move(graph));
  capture->join(stream, dependencies);
  active_captures().push_back(capture.get());
  active_count.fetch_add(1);
  return CUDA_SUCCESS;
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

CUresult Capture::end(Stream& stream, CUgraph* graph) {
  const std::shared_ptr<Capture> capture = stream.capture();
  if (graph) *graph = nullptr;
  if (!capture) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin_ != &stream) {
    capture->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  const bool is_own =
      capture->mode_ == CU_STREAM_CAPTURE_MODE_RELAXED || capture->thread_ == std::this_thread::get_id();
  const bool is_valid = is_own && capture->is_valid_;
  const bool is_whole = is_valid && capture->is_joined();
  const std::shared_ptr<Graph> made = capture->graph_;
  capture->finish();
  if (is_whole) {
    if (graph) *graph = made->handle();
    return CUDA_SUCCESS;
  }
  if (!made->is_owned()) made->end_handles();
  if (!is_own) return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;  // and the capture is over, as with drivers of GPUs
  return is_valid ? CUDA_ERROR_STREAM_CAPTURE_UNJOINED : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult Capture::add(Stream& stream, CUgraphNodeParams& parameters, std::span<const CUlaunchAttribute> attributes) {
  std::shared_ptr<const Payload> payload;
  CUresult result = read_parameters(stream.context(), *graph_, parameters, &payload);
  if (result != CUDA_SUCCESS) return result;
  if (std::holds_alternative<KernelPayload>(*payload)) {
    KernelPayload kernel = std::get<KernelPayload>(*payload);
    CUlaunchAttribute priority{};  // the stream's, unless the launch names one
    priority.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    priority.value.priority = stream.priority();
    if (stream.priority() != 0) kernel.attributes.push_back(priority);
    kernel.attributes.insert(kernel.attributes.end(), attributes.begin(), attributes.end());
    kernel.rebase();
    for (const CUlaunchAttribute& attribute : attributes) apply(attribute, &kernel.request);
    payload = std::make_shared<Payload>(std::move(kernel));
    const auto& made = std::get<KernelPayload>(*payload);
    result = check_launch(*made.function, made.request);
    if (result == CUDA_SUCCESS) result = check_cluster(*made.function, made.request);
    if (result != CUDA_SUCCESS) return result;
  }
  Nodes& heads = heads_[&stream];
  std::shared_ptr<GraphNode> node;
  result = graph_->add(std::move(payload), handles_of(heads), nullptr, &node);
  if (result == CUDA_SUCCESS) heads = {std::move(node)};
  return result;
}

CUresult Capture::record(Stream& stream, Event& event) {
  event.record_captured(shared_from_this(), heads_[&stream]);
  return CUDA_SUCCESS;
}

CUresult Capture::wait(Stream& stream, const Event& event) {
  const std::shared_ptr<Capture> own = stream.capture();
  const auto captured = event.captured();
  if (!captured) {
    if (!own) return CUDA_SUCCESS;
    own->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;  // recorded outside
  }
  const std::shared_ptr<Capture> capture = captured->capture.lock();
  if (!capture || !capture->heads_.contains(capture->origin_)) return CUDA_ERROR_CAPTURED_EVENT;  // it is over
  if (own && own != capture) {
    own->invalidate();
    capture->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (stream.kind() == Stream::Kind::Legacy) {
    capture->invalidate();
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  capture->join(stream, captured->nodes);
  return CUDA_SUCCESS;
}

const std::vector<CUgraphNode>& Capture::dependencies(Stream& stream) {
  listed_ = handles_of(heads_[&stream]);
  return listed_;
}

CUresult Capture::set_dependencies(Stream& stream, std::span<const CUgraphNode> nodes, bool adds) {
  Nodes found = adds ? heads_[&stream] : Nodes{};
  for (const CUgraphNode handle : nodes) {
    const auto node = find_graph_node(handle);
    if (!node || node->graph != graph_.get()) return CUDA_ERROR_INVALID_VALUE;
    add_unique(found, node);
  }
  heads_[&stream] = std::move(found);
  return CUDA_SUCCESS;
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

CUresult check_unsafe_call() {
  if (!is_anything_capturing() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const std::lock_guard lock(graph_mutex());
  CUresult result = CUDA_SUCCESS;
  for (Capture* const capture : active_captures()) {
    if (capture->mode_ == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
    const bool is_mine = capture->thread_ == std::this_thread::get_id();
    const bool is_everybodys =
        capture->mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!is_mine && !is_everybodys) continue;
    capture->invalidate();
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult check_legacy_use(const Stream& legacy) {
  const std::lock_guard lock(graph_mutex());
  CUresult result = CUDA_SUCCESS;
  for (Capture* const capture : active_captures())
    for (const auto& [stream, nodes] : capture->heads_)
      if (&stream->context() == &legacy.context() && stream->synchronises_with_legacy()) {
        capture->invalidate();
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
      }
  return result;
}

CUresult check_stream_use(const Stream& stream) {
  if (stream.kind() == Stream::Kind::Legacy) return check_legacy_use(stream);
  if (!stream.is_capturing()) return CUDA_SUCCESS;
  const std::lock_guard lock(graph_mutex());
  const auto capture = stream.capture();
  return !capture || capture->is_valid() ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult refuse_capture(Stream& stream) {
  const std::lock_guard lock(graph_mutex());
  if (const auto capture = stream.capture()) capture->invalidate();
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_node(Stream& stream, CUgraphNodeParams& parameters, std::span<const CUlaunchAttribute> attributes) {
  const std::lock_guard lock(graph_mutex());
  const auto capture = stream.capture();
  return capture ? capture->add(stream, parameters, attributes) : CUDA_ERROR_ILLEGAL_STATE;
}

CUstreamCaptureMode exchange_capture_mode(CUstreamCaptureMode mode) { return std::exchange(thread_mode, mode); }

}  // namespace cucore::cpu::runtime
