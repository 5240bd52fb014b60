// Capture: what becomes a node, how streams join, and what a capture forbids, with the driver's codes.
#include <thread>

#include "cpu/tests/api/driver.hpp"

namespace {

class Captures : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  }
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_OK(cuStreamBeginCapture(stream, mode));
  }
  CUstreamCaptureStatus status() {
    CUstreamCaptureStatus answer = CU_STREAM_CAPTURE_STATUS_NONE;
    EXPECT_OK(cuStreamIsCapturing(stream, &answer));
    return answer;
  }

  CUstream stream = nullptr, other = nullptr;
  CUevent event = nullptr;
  CUgraph graph = nullptr;
};

TEST_F(Captures, captured_work_runs_when_the_graph_is_launched) {
  int* const out = device_array<int>(1);
  begin();
  ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out, 5));
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(0, *out);
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
  ASSERT_OK(cuGraphLaunch(executable, stream));
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(5, *out);
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(Captures, a_stream_joins_by_waiting_for_a_captured_event) {
  int* const out = device_array<int>(1);
  begin();
  ASSERT_OK(cuEventRecord(event, stream));
  ASSERT_OK(cuStreamWaitEvent(other, event, 0));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, other, out, 5));
  ASSERT_OK(cuEventRecord(event, other));
  ASSERT_OK(cuStreamWaitEvent(stream, event, 0));
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  size_t count = 0;
  ASSERT_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQ(1u, count);
}

// As an H100's driver of CUDA 13.0 has it.
TEST_F(Captures, launching_a_graph_is_refused_and_ends_the_capture) {
  int* const out = device_array<int>(1);
  begin();
  ASSERT_OK(launch(kernel("set_to"), 1, 1, stream, out, 5));
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  CUgraphExec inner = nullptr;
  ASSERT_OK(cuGraphInstantiate(&inner, graph, 0));

  begin();
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphLaunch(inner, stream));
  CUgraph nothing = nullptr;
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &nothing));
  EXPECT_EQ(0, out[0]);
  EXPECT_OK(cuGraphExecDestroy(inner));
}

TEST_F(Captures, allocating_and_freeing_no_bytes_captures_nothing) {
  begin();
  CUdeviceptr memory = 77;
  ASSERT_OK(cuMemAllocAsync(&memory, 0, stream));
  EXPECT_EQ(0u, memory);
  EXPECT_OK(cuMemFreeAsync(memory, stream));
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  size_t nodes = 1;
  ASSERT_OK(cuGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(0u, nodes);
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(Captures, asking_whether_the_legacy_stream_captures_ends_no_capture) {
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    for (const CUstream legacy : {CUstream{}, CU_STREAM_LEGACY}) {
      CUstream blocking = nullptr;
      ASSERT_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
      ASSERT_OK(cuStreamBeginCapture(blocking, mode));
      CUstreamCaptureStatus answer = CU_STREAM_CAPTURE_STATUS_NONE;
      cuuint64_t id = 0;
      EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuStreamIsCapturing(legacy, &answer));
      EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                cuStreamGetCaptureInfo_v3(legacy, &answer, &id, nullptr, nullptr, nullptr, nullptr));
      ASSERT_OK(cuStreamIsCapturing(blocking, &answer));
      EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_ACTIVE, answer);
      ASSERT_OK(cuStreamEndCapture(blocking, &graph));
      EXPECT_OK(cuGraphDestroy(graph));
      EXPECT_OK(cuStreamDestroy(blocking));
    }
  }
}

TEST_F(Captures, a_captured_kernel_has_the_priority_of_its_stream_and_may_keep_it) {
  int* const out = device_array<int>(1);
  const CUfunction set_to = kernel("set_to");
  int least = 0, greatest = 0;
  ASSERT_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  const auto capture = [&](int priority) {
    CUstream on = nullptr;
    EXPECT_OK(cuStreamCreateWithPriority(&on, CU_STREAM_NON_BLOCKING, priority));
    EXPECT_OK(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_OK(launch(set_to, 1, 1, on, out, 5));
    CUgraph made = nullptr;
    EXPECT_OK(cuStreamEndCapture(on, &made));
    EXPECT_OK(cuStreamDestroy(on));
    return made;
  };
  graph = capture(greatest);
  const CUgraph lower = capture(least);
  CUgraphNode node = nullptr;
  size_t count = 1;
  ASSERT_OK(cuGraphGetNodes(graph, &node, &count));
  CUlaunchAttributeValue value{};
  ASSERT_OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT_EQ(greatest, value.priority);
  CUgraphExec by_stream = nullptr, by_node = nullptr;
  ASSERT_OK(cuGraphInstantiate(&by_stream, graph, 0));
  ASSERT_OK(cuGraphInstantiate(&by_node, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_OK(cuGraphExecUpdate(by_stream, lower, &info));
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(by_node, lower, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, info.result);
}

TEST_F(Captures, a_fork_that_does_not_come_back_is_unjoined) {
  int* const out = device_array<int>(1);
  begin();
  ASSERT_OK(cuEventRecord(event, stream));
  ASSERT_OK(cuStreamWaitEvent(other, event, 0));
  ASSERT_OK(launch(kernel("set_to"), 1, 1, other, out, 5));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(nullptr, graph);
}

TEST_F(Captures, waiting_for_a_capturing_stream_makes_the_capture_invalid) {
  begin();
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_INVALIDATED, status());
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status());
}

// As an H100 has it (driver 580).
TEST_F(Captures, a_refused_launch_and_a_question_about_a_captured_event_end_the_capture) {
  begin();
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, launch(kernel("count_up"), 1, 1025, stream, CUdeviceptr{0}));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  begin();
  ASSERT_OK(cuEventRecord(event, stream));
  EXPECT_EQ(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
}

TEST_F(Captures, of_an_event_in_a_capture_that_is_over_there_is_nothing_to_ask) {
  float milliseconds = 0;
  begin();
  ASSERT_OK(cuEventRecord(event, stream));
  ASSERT_OK(cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventQuery(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventSynchronize(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventElapsedTime(&milliseconds, event, event));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuStreamWaitEvent(stream, event, 0));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(Captures, of_an_event_in_a_capture_that_is_invalid_there_is_nothing_to_ask) {
  float milliseconds = 0;
  begin();
  ASSERT_OK(cuEventRecord(event, stream));
  EXPECT_EQ(CUDA_ERROR_CAPTURED_EVENT, cuEventQuery(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventSynchronize(event));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventQuery(event));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuEventElapsedTime(&milliseconds, event, event));
  EXPECT_OK(cuEventRecord(event, stream));
  EXPECT_OK(cuEventSynchronize(event)) << "another record is another one";
}

TEST_F(Captures, an_event_from_outside_is_isolated) {
  ASSERT_OK(cuEventRecord(event, other));
  begin();
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, cuStreamWaitEvent(stream, event, 0));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
}

TEST_F(Captures, allocating_is_forbidden_unless_the_mode_is_relaxed) {
  CUdeviceptr memory = 0;
  begin();
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&memory, 16));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_OK(cuMemAlloc(&memory, 16));
  EXPECT_OK(cuStreamEndCapture(stream, &graph));
}

TEST_F(Captures, the_legacy_stream_neither_captures_nor_is_used_beside_a_blocking_one) {
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUstream blocking = nullptr;
  ASSERT_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  ASSERT_OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cuEventRecord(event, CU_STREAM_LEGACY));
  EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(blocking, &graph));
}

TEST_F(Captures, ending_in_another_thread_is_refused_and_ends_the_capture) {
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
    begin(mode);
    std::thread([&] {
      EXPECT_OK(cuCtxSetCurrent(context));
      EXPECT_EQ(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, cuStreamEndCapture(stream, &graph));
    }).join();
    EXPECT_EQ(nullptr, graph);
    EXPECT_EQ(CU_STREAM_CAPTURE_STATUS_NONE, status());
    EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &graph));
    EXPECT_OK(cuCtxSynchronize());
  }
}

TEST_F(Captures, ending_what_never_began_is_an_illegal_state) {
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE, cuStreamEndCapture(stream, &graph));
  begin();
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_STATE, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(cuStreamEndCapture(stream, &graph));
}

}  // namespace
