// Captures: see capture_state.hpp.
#include "src/graph/capture_state.hpp"

#include <atomic>
#include <utility>

#include "cucore/error.hpp"
#include "src/device/stream_state.hpp"
#include "src/driver/table.hpp"
#include "src/graph/callbacks.hpp"
#include "src/handles/context_scope.hpp"
#include "src/handles/release_report.hpp"

namespace cucore::detail {
namespace {

driver::CUresult status_of(const driver::Table& table, driver::CUstream stream, int& status) noexcept {
  status = driver::CU_STREAM_CAPTURE_STATUS_NONE;
  return table.cuStreamIsCapturing(stream, &status);
}

// Whether the stream still captures, even if invalidated. If the driver cannot tell, assume that it does.
bool is_going_on(const driver::Table& table, driver::CUstream stream) noexcept {
  int status = 0;
  return status_of(table, stream, status) != driver::CUDA_SUCCESS || status != driver::CU_STREAM_CAPTURE_STATUS_NONE;
}

bool is_invalidated(driver::CUstream stream) noexcept {
  int status = 0;
  return status_of(driver::table(), stream, status) == driver::CUDA_SUCCESS &&
         status == driver::CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

// Of a graph that the driver owns until the capture has ended.
std::shared_ptr<GraphHierarchy> hierarchy_of(driver::CUgraph graph) {
  auto hierarchy = std::make_shared<GraphHierarchy>();
  hierarchy->errors = std::make_shared<CallbackErrors>();
  hierarchy->root = hierarchy->graph(graph);
  return hierarchy;
}

}  // namespace

CaptureInfo capture_info(const Stream& stream, const char* call) {
  const StreamState& state = *stream.state();
  CaptureInfo info;
  int status = driver::CU_STREAM_CAPTURE_STATUS_NONE;
  const driver::CUgraphNode* dependencies = nullptr;
  const driver::CUgraphEdgeData* edges = nullptr;  // asked for, or a query of edges that have data would be refused
  std::size_t count = 0;
  driver::check(driver::table().cuStreamGetCaptureInfo(state.handle, &status, nullptr, &info.graph, &dependencies,
                                                       &edges, &count),
                "cuStreamGetCaptureInfo", [&] { return describe(state); });
  if (status != driver::CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    const bool invalidated = status == driver::CU_STREAM_CAPTURE_STATUS_INVALIDATED;
    throw StateError(
        {.call = call,
         .message =
             "the capture in " + describe(state) + (invalidated ? " was invalidated by an earlier error" : " is over"),
         .hint = invalidated ? "end it, which reports what the driver says, and start again with a new builder"
                             : "end captures of builders with end_building() only"});
  }
  info.dependencies.assign(dependencies, dependencies + count);
  return info;
}

void CaptureState::begin(int mode) {
  const StreamState& stream_state = *stream.state();
  ContextScope scope(context_handle(stream_state));
  if (is_body) {
    driver::check(
        driver::table().cuStreamBeginCaptureToGraph(stream_state.handle, graph->handle, nullptr, nullptr, 0, mode),
        "cuStreamBeginCaptureToGraph", [&] { return describe(stream_state) + " into the body of a conditional node"; });
    phase = Phase::capturing;
  } else {
    driver::check(driver::table().cuStreamBeginCapture(stream_state.handle, mode), "cuStreamBeginCapture",
                  [&] { return describe(stream_state); });
    phase = Phase::capturing;  // before what may fail: from here on the capture has to be ended, whatever happens
    hierarchy = hierarchy_of(capture_info(stream, "GraphBuilder::begin_building").graph);
    graph = hierarchy->root;
  }
  scope.restore();
}

// A body, at any depth, whose capture went wrong.
const CaptureState* CaptureState::spoiled_body() const {
  for (const auto& body : bodies) {
    if (body->is_spoiled) return body.get();
    if (body->phase == Phase::capturing && is_invalidated(body->stream.handle())) return body.get();
    if (const CaptureState* const inner = body->spoiled_body()) return inner;
  }
  return nullptr;
}

void CaptureState::end() {
  constexpr const char* call = "GraphBuilder::end_building";
  const StreamState& stream_state = *stream.state();
  ContextScope scope(context_handle(stream_state));
  // Drivers may crash when such a capture is ended: what is in it refers to a graph that is gone.
  if (spoiled_body() != nullptr) {
    throw StateError({.call = call,
                      .message =
                          "the capture of the body of a conditional node in this graph was invalidated, and with "
                          "it this one, which cannot be ended any more",
                      .hint = "close this builder and start again with another stream"});
  }
  for (const auto& body : bodies) {
    if (body->phase == Phase::capturing) {
      throw StateError({.call = call,
                        .message = "the body of a conditional node in this graph is still being captured",
                        .hint = "call end_building() of the body's builder first"});
    }
  }
  const driver::Table& table = driver::table();
  driver::CUgraph made = nullptr;
  const driver::CUresult code = table.cuStreamEndCapture(stream_state.handle, &made);
  if (code != driver::CUDA_SUCCESS) {
    if (!is_going_on(table, stream_state.handle)) {
      phase = Phase::ended;
      is_spoiled = true;
      drop_graph();
    }
    driver::fail(code, "cuStreamEndCapture", "the capture in " + describe(stream_state),
                 phase == Phase::ended ? "the capture is over and left no graph: start again with a new builder"
                                       : "the capture goes on: end it in the thread that began it");
  }
  phase = Phase::ended;
  if (!is_body) hierarchy->owned = OwningHandle<GraphTraits>(made);
  scope.restore();
}

namespace {

// Kept until the process ends and not destroyed then, in a list, so that leak checkers find it.
struct LeftAlone {
  Stream stream;
  std::shared_ptr<GraphHierarchy> hierarchy;
  const LeftAlone* before;
};
std::atomic<const LeftAlone*> left_alone{nullptr};

}  // namespace

// Ending it may crash the driver, and so may destroying the stream in the middle of it.
void CaptureState::leave_alone() noexcept {
  phase = Phase::ended;
  is_spoiled = true;
  try {
    report_release_failure(StateError(
        {.call = "GraphBuilder::close",
         .message = "the capture in " + describe(*stream.state()) + " is left as it is, and what belongs to it stays " +
                    "until the process ends: the capture of the body of a conditional node in it was invalidated"}));
    auto* const kept = new LeftAlone{std::move(stream), std::move(hierarchy), left_alone.load()};
    while (!left_alone.compare_exchange_weak(kept->before, kept)) {
    }
  } catch (...) {
    // No memory to report it, or to keep it.
  }
}

driver::CUresult CaptureState::abort() noexcept {
  if (phase != Phase::capturing) return driver::CUDA_SUCCESS;
  const driver::Table* const table = driver::table_for_release();
  if (table == nullptr) return driver::CUDA_SUCCESS;
  for (const auto& body : bodies) body->abort();
  if (spoiled_body() != nullptr) {
    leave_alone();
    return driver::CUDA_SUCCESS;
  }
  const StreamState& stream_state = *stream.state();
  const ReleaseScope scope(*table, stream_state.context == nullptr ? nullptr : stream_state.context->handle);
  driver::CUgraph made = nullptr;
  const driver::CUresult code = table->cuStreamEndCapture(stream_state.handle, &made);
  if (code != driver::CUDA_SUCCESS && is_going_on(*table, stream_state.handle)) return code;
  phase = Phase::ended;
  is_spoiled = code != driver::CUDA_SUCCESS;
  drop_graph();
  const OwningHandle<GraphTraits> dropped(is_body ? nullptr : made);
  return driver::CUDA_SUCCESS;
}

// The graph is destroyed, or will be: views of it are no longer valid. A body's graph stays with its node.
void CaptureState::drop_graph() noexcept {
  const auto of = std::exchange(hierarchy, nullptr);
  const auto dropped = std::exchange(graph, nullptr);
  if (is_body || of == nullptr) return;
  try {
    NodeState owner;  // as if a node that owned it were destroyed
    owner.parameters = ChildParameters{dropped};
    LetGo let_go;
    const std::scoped_lock lock(of->mutex);
    let_go.reserve(owner);
    invalidate(*of, owner, let_go);
  } catch (...) {
    // No memory to release in order: the states are released with the last view.
  }
}

}  // namespace cucore::detail
