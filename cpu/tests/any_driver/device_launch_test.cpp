// Kernels that launch kernels: orders, streams and events, completion, errors. The kernels are those of
// device_launch_kernels.cu, linked with CUDA's device runtime library: CUCORE_TEST_CUDADEVRT names it (libcudadevrt.a)
// for a GPU's driver; otherwise a stand-in is linked.
#include <algorithm>
#include <cstdlib>

#include "cpu/tests/api/driver.hpp"

namespace {

constexpr int invalid_configuration = 9;
constexpr int pending_count_exceeded = 69;
constexpr int invalid_value = 1;

/// An archive with a member of the library's name.
std::string library_stand_in() {
  std::string member = "cuda_device_runtime.o/0           0     0     644     0         `\n";
  return "!<arch>\n" + member;
}

struct Large {
  int values[32];
};

class DeviceLaunches : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    std::ifstream file(CUCORE_TEST_DATA "/any_driver/device_launch_kernels.ptx");
    std::string ptx((std::istreambuf_iterator<char>(file)), {});
    CUlinkState link = nullptr;
    ASSERT_OK(cuLinkCreate(0, nullptr, nullptr, &link));
    ASSERT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1, "kernels", 0, nullptr, nullptr));
    if (const char* const library = std::getenv("CUCORE_TEST_CUDADEVRT")) {
      ASSERT_OK(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, library, 0, nullptr, nullptr));
    } else {
      std::string stand_in = library_stand_in();
      ASSERT_OK(
          cuLinkAddData(link, CU_JIT_INPUT_LIBRARY, stand_in.data(), stand_in.size(), "library", 0, nullptr, nullptr));
    }
    void* image = nullptr;
    std::size_t size = 0;
    ASSERT_OK(cuLinkComplete(link, &image, &size));
    ASSERT_OK(cuModuleLoadData(&module, image));
    ASSERT_OK(cuLinkDestroy(link));
    ASSERT_OK(cuMemAlloc(&out_, word_count * 4));
    ASSERT_OK(cuMemsetD32(out_, 0, word_count));
  }
  void TearDown() override {
    if (out_) cuMemFree(out_);
    DriverTest::TearDown();
  }

  template <class T = int>
  std::vector<T> read(std::size_t count) {
    std::vector<T> words(count);
    EXPECT_OK(cuMemcpyDtoH(words.data(), out_, count * sizeof(T)));
    return words;
  }

  /// What was noted in order; 999 follows in the stream.
  std::vector<int> log_of(const char* name, unsigned int threads = 1) {
    EXPECT_OK(launch(kernel(name), 1, threads, nullptr, out_));
    EXPECT_OK(launch(kernel("leaf"), 1, 1, nullptr, out_, 999));
    EXPECT_OK(cuCtxSynchronize());
    const std::vector<int> words = read(128);
    return {words.begin() + 1, words.begin() + 1 + words[0]};
  }

  static constexpr std::size_t word_count = 1 << 16;
  CUdeviceptr out_ = 0;
};

using Noted = std::vector<int>;

TEST_F(DeviceLaunches, children_in_a_stream_run_in_order_and_before_what_follows_their_parent) {
  EXPECT_EQ((Noted{100, 0, 1, 2, 3, 4, 5, 999}), log_of("in_order"));
}

TEST_F(DeviceLaunches, a_child_is_complete_when_its_own_children_are) {
  EXPECT_EQ((Noted{10, 11, 20, 21, 999}), log_of("nested"));
}

TEST_F(DeviceLaunches, tail_launches_follow_all_else_one_after_the_other_each_to_its_end) {
  const Noted noted = log_of("tails");
  ASSERT_EQ(11U, noted.size());
  EXPECT_EQ(10, noted[0]);
  EXPECT_TRUE(std::is_permutation(noted.begin() + 1, noted.begin() + 3, Noted{20, 21}.begin()));
  EXPECT_EQ((Noted{22, 23}), Noted(noted.begin() + 3, noted.begin() + 5));
  EXPECT_TRUE(std::is_permutation(noted.begin() + 5, noted.begin() + 7, Noted{30, 31}.begin()));
  EXPECT_EQ((Noted{32, 33, 40, 999}), Noted(noted.begin() + 7, noted.end()));
}

TEST_F(DeviceLaunches, tails_of_tails_may_go_on_for_long) { EXPECT_EQ((Noted{0, 999}), log_of("long_chain")); }

TEST_F(DeviceLaunches, what_is_forgotten_is_complete_before_the_tail) {
  EXPECT_EQ((Noted{1, 2, 999}), log_of("forget"));
}

TEST_F(DeviceLaunches, a_stream_waits_for_an_event_of_another) {
  EXPECT_EQ((Noted{1, 2, 3, 999}), log_of("with_event"));
}

TEST_F(DeviceLaunches, the_threads_of_a_block_share_a_null_stream) {
  EXPECT_EQ((Noted{0, 1, 2, 999}), log_of("of_block", 64));
}

TEST_F(DeviceLaunches, children_see_what_their_parents_wrote_and_their_own_predecessors) {
  constexpr int width = 200, rows = 96;
  ASSERT_OK(launch(kernel("rows"), 1, rows, nullptr, out_, width));
  ASSERT_OK(cuCtxSynchronize());
  const std::vector<int> values = read(width * rows);
  for (int i = 0; i < width * rows; ++i) ASSERT_EQ(i / width + 3, values[static_cast<std::size_t>(i)]) << i;
}

TEST_F(DeviceLaunches, a_recursive_sort_sorts) {
  std::vector<int> values(2000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * 7919 % 2003);
  ASSERT_OK(cuMemcpyHtoD(out_, values.data(), values.size() * 4));
  ASSERT_OK(launch(kernel("quicksort"), 1, 1, nullptr, out_, 0, static_cast<int>(values.size()) - 1));
  ASSERT_OK(cuCtxSynchronize());
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, read(values.size()));
}

TEST_F(DeviceLaunches, a_parent_may_wait_for_what_it_forgot) {
  if (std::getenv("CUCORE_CPU_CHECK_SEED")) GTEST_SKIP() << "one after the other";
  ASSERT_OK(launch(kernel("waits_for_child"), 1, 1, nullptr, out_, out_ + 4));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{1, 1}), read(2));
}

TEST_F(DeviceLaunches, children_may_wait_for_each_other_as_many_as_a_gpu_runs_at_once) {
  if (std::getenv("CUCORE_CPU_CHECK_SEED")) GTEST_SKIP() << "one after the other";
  constexpr int most = 40;  // 128 grids are resident at once
  ASSERT_OK(launch(kernel("launches_some_that_meet"), 1, 1, nullptr, out_, most));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{most, most}), read(2));
}

TEST_F(DeviceLaunches, shapes_shared_memory_and_large_parameters_arrive_by_name_table_and_buffer) {
  Large large{};
  for (int i = 0; i < 32; ++i) large.values[i] = 1000 + i;
  ASSERT_OK(launch(kernel("shapes"), 1, 1, nullptr, out_, large));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{234, 432, 1023, 576, 121, 113, 1002, 6, 311, 511, 1004, 15, 0}), read(13));
}

TEST_F(DeviceLaunches, copies_and_fills_take_their_turn_in_a_stream) {
  ASSERT_OK(launch(kernel("copies"), 1, 1, nullptr, out_));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{0, 0, 0, 0}), read(4));
  ASSERT_OK(launch(kernel("copied"), 1, 1, nullptr, out_));
  ASSERT_OK(cuCtxSynchronize());
  std::vector<int> expected(64, 0x11111111);
  for (std::size_t i = 8; i < 24; ++i) expected[i] = static_cast<int>(i);
  for (const std::size_t row : {32U, 40U, 48U}) {
    expected[row] = expected[row + 1] = 0x22222222;
    expected[row + 2] = static_cast<int>(row) + 2;
  }
  EXPECT_EQ(expected, read(64));
}

TEST_F(DeviceLaunches, device_code_learns_of_the_device_its_kernels_and_errors) {
  ASSERT_OK(launch(kernel("facts"), 1, 1, nullptr, out_));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<long long>{0, 1024, 0, 0, 0, 2048, 0, 1024, 0, 1, 0, 7, 0, 'I'}), read<long long>(14));
}

TEST_F(DeviceLaunches, an_error_is_kept_until_it_is_asked_for) {
  ASSERT_OK(launch(kernel("errors"), 1, 1, nullptr, out_));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{invalid_configuration, invalid_configuration, 0, invalid_configuration, invalid_value,
                              invalid_value, 0}),
            read(7));
}

TEST_F(DeviceLaunches, more_than_may_be_pending_is_an_error) {
  ASSERT_OK(launch(kernel("too_many"), 1, 1, nullptr, out_, 5000));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{pending_count_exceeded, 2048, 2048}), read(3));
}

TEST_F(DeviceLaunches, the_limit_of_pending_launches_can_be_raised) {
  ASSERT_OK(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 6000));
  ASSERT_OK(launch(kernel("too_many"), 1, 1, nullptr, out_, 5000));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{0, 0, 5000}), read(3));
}

TEST_F(DeviceLaunches, launches_nest_as_deep_as_one_likes) {
  ASSERT_OK(launch(kernel("deep"), 1, 1, nullptr, out_, 0));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{100, 0}), read(2));
}

TEST_F(DeviceLaunches, a_fault_of_a_child_is_the_contexts_and_ends_a_parent_that_waits_for_it) {
  if (std::getenv("CUCORE_CPU_CHECK_SEED")) GTEST_SKIP() << "one after the other";
  ASSERT_OK(launch(kernel("parent_of_fault"), 1, 1, nullptr, out_));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

class DeviceGraphs : public DeviceLaunches {
 protected:
  /// Checks one kernel after the other.
  class Kernels {
   public:
    explicit Kernels(DeviceGraphs& test) : test_(test) { EXPECT_OK(cuGraphCreate(&graph_, 0)); }
    template <class... Arguments>
    Kernels& then(const char* name, Arguments... arguments) {
      void* pointers[] = {&arguments..., nullptr};
      CUDA_KERNEL_NODE_PARAMS parameters{};
      parameters.func = test_.kernel(name);
      parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
      parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
      parameters.kernelParams = pointers;
      CUgraphNode node = nullptr;
      EXPECT_OK(cuGraphAddKernelNode(&node, graph_, last_ ? &last_ : nullptr, last_ ? 1 : 0, &parameters));
      last_ = node;
      return *this;
    }
    CUgraphExec exec(unsigned long long flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) {
      CUgraphExec made = nullptr;
      EXPECT_OK(cuGraphInstantiate(&made, graph_, flags));
      if (flags != 0) {
        EXPECT_OK(cuGraphUpload(made, nullptr));
      }
      EXPECT_OK(cuGraphDestroy(graph_));
      return made;
    }

   private:
    DeviceGraphs& test_;
    CUgraph graph_ = nullptr;
    CUgraphNode last_ = nullptr;
  };

  Kernels kernels() { return Kernels(*this); }
  CUgraphExec marks(int what) { return kernels().then("leaf", out_, what).exec(); }

  /// What launching it noted; 999 follows in the stream.
  std::vector<int> log_of_graph(CUgraphExec graph) {
    EXPECT_OK(cuMemsetD32(out_, 0, 128));
    EXPECT_OK(cuGraphLaunch(graph, nullptr));
    EXPECT_OK(launch(kernel("leaf"), 1, 1, nullptr, out_, 999));
    EXPECT_OK(cuCtxSynchronize());
    const std::vector<int> words = read(128);
    return {words.begin() + 1, words.begin() + 1 + words[0]};
  }

  static constexpr unsigned long long forgotten = 2ull << 56, sibling = 3ull << 56;
};

TEST_F(DeviceGraphs, a_graph_that_was_forgotten_is_complete_before_what_follows) {
  for (const unsigned long long flags : {0ull, 0ull + CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH})
    EXPECT_EQ((Noted{1, 2, 999}),
              log_of_graph(kernels().then("launch_graph", out_, 1, marks(2), forgotten).exec(flags)));
}

TEST_F(DeviceGraphs, a_graph_without_nodes_is_none_for_the_device) {
  CUgraph empty = nullptr;
  CUgraphExec made = nullptr;
  ASSERT_OK(cuGraphCreate(&empty, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&made, empty, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
  EXPECT_OK(cuGraphDestroy(empty));
}

TEST_F(DeviceGraphs, tail_launches_follow_the_whole_graph_and_what_it_forgot) {
  const CUgraphExec launching =
      kernels().then("forget_and_tail", out_, marks(5), marks(6), marks(7)).then("leaf", out_, 4).exec();
  const Noted noted = log_of_graph(launching);
  ASSERT_EQ(6U, noted.size());
  EXPECT_TRUE(std::is_permutation(noted.begin(), noted.begin() + 3, Noted{0, 4, 5}.begin()));
  EXPECT_EQ((Noted{6, 7, 999}), Noted(noted.begin() + 3, noted.end()));
}

TEST_F(DeviceGraphs, a_graph_launches_itself_behind_itself) {
  const int count = 4;
  const CUdeviceptr left = out_ + 4 * 128;
  ASSERT_OK(cuMemcpyHtoD(left, &count, 4));
  EXPECT_EQ((Noted{4, 9, 3, 9, 2, 9, 1, 9, 999}),
            log_of_graph(kernels().then("relaunch", out_, left).then("leaf", out_, 9).exec()));
}

TEST_F(DeviceGraphs, a_sibling_does_not_delay_the_tail_but_the_stream) {
  const CUgraphExec inner = kernels().then("launch_graph", out_, 2, marks(3), sibling).exec();
  EXPECT_EQ((Noted{1, 2, 3, 999}), log_of_graph(kernels().then("launch_graph", out_, 1, inner, forgotten).exec()));
}

TEST_F(DeviceGraphs, only_graphs_made_for_it_are_launched_and_only_by_kernels_of_graphs) {
  const CUgraphExec of_host = kernels().then("leaf", out_, 2).exec(0);
  EXPECT_EQ((Noted{1, 1001, 999}), log_of_graph(kernels().then("launch_graph", out_, 1, of_host, forgotten).exec()));
  EXPECT_EQ((Noted{1, 1001, 999}), log_of_graph(kernels().then("launch_graph", out_, 1, marks(2), 0ull).exec()));
  EXPECT_OK(cuMemsetD32(out_, 0, 128));
  EXPECT_OK(launch(kernel("launch_graph"), 1, 1, nullptr, out_, 1, marks(2), forgotten));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ((std::vector<int>{2, 1, 1001}), read(3));
}

TEST_F(DeviceGraphs, a_kernel_knows_whether_its_graph_can_be_launched_by_device_code) {
  EXPECT_EQ((Noted{1, 999}), log_of_graph(kernels().then("is_in_device_graph", out_).exec()));
  EXPECT_EQ((Noted{0, 999}), log_of_graph(kernels().then("is_in_device_graph", out_).exec(0)));
  EXPECT_OK(cuMemsetD32(out_, 0, 128));
  EXPECT_EQ((Noted{0, 999}), log_of("is_in_device_graph"));
}

/// A graph of two kernels, of which the first changes the second.
class ChangedGraphs : public DeviceGraphs {
 protected:
  void SetUp() override {
    DeviceGraphs::SetUp();
    ASSERT_OK(cuGraphCreate(&graph_, 0));
    changed_ = add("note_shape", out_, 1);
    CUkernelNodeAttrValue wanted{};
    wanted.deviceUpdatableKernelNode.deviceUpdatable = 1;
    ASSERT_OK(cuGraphKernelNodeSetAttribute(changed_, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &wanted));
    handle_ = wanted.deviceUpdatableKernelNode.devNode;
    ASSERT_NE(nullptr, handle_);
  }
  void TearDown() override {
    if (graph_) cuGraphDestroy(graph_);
    DeviceGraphs::TearDown();
  }

  template <class... Arguments>
  CUgraphNode add(const char* name, Arguments... arguments) {
    void* pointers[] = {&arguments...};
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = kernel(name);
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = pointers;
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddKernelNode(&node, graph_, nullptr, 0, &parameters));
    return node;
  }
  CUgraphExec exec_with(CUgraphNode changes) {
    CUgraphExec made = nullptr;
    EXPECT_OK(cuGraphAddDependencies(graph_, &changes, &changed_, nullptr, 1));
    EXPECT_OK(cuGraphInstantiate(&made, graph_, 0));
    EXPECT_OK(cuGraphUpload(made, nullptr));
    return made;
  }

  CUgraph graph_ = nullptr;
  CUgraphNode changed_ = nullptr;
  CUgraphDeviceNode handle_ = nullptr;
};

TEST_F(ChangedGraphs, a_kernel_changes_the_grid_and_a_parameter_of_another) {
  const CUgraphExec graph = exec_with(add("change", out_, handle_, 3, 7, 1));
  EXPECT_EQ((Noted{0, 7123, 999}), log_of_graph(graph));
  EXPECT_EQ((Noted{0, 7123, 999}), log_of_graph(graph));
}

TEST_F(ChangedGraphs, a_kernel_keeps_another_from_running) {
  EXPECT_EQ((Noted{0, 999}), log_of_graph(exec_with(add("change", out_, handle_, 3, 7, 0))));
}

TEST_F(ChangedGraphs, several_changes_are_one_call) {
  const int mark = 8;
  const CUdeviceptr place = out_ + 4 * 128;
  ASSERT_OK(cuMemcpyHtoD(place, &mark, 4));
  EXPECT_EQ((Noted{0, 8315, 999}), log_of_graph(exec_with(add("change_at_once", out_, handle_, place))));
}

TEST_F(ChangedGraphs, a_node_that_kernels_change_stays_what_it_is) {
  CUkernelNodeAttrValue value{};
  const auto id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  EXPECT_OK(cuGraphKernelNodeGetAttribute(changed_, id, &value));
  EXPECT_EQ(handle_, value.deviceUpdatableKernelNode.devNode);
  value.deviceUpdatableKernelNode.deviceUpdatable = 0;
  EXPECT_NE(CUDA_SUCCESS, cuGraphKernelNodeSetAttribute(changed_, id, &value));
  EXPECT_NE(CUDA_SUCCESS, cuGraphDestroyNode(changed_));
  const CUgraphExec graph = exec_with(add("leaf", out_, 5));
  CUgraphExec second = nullptr;
  EXPECT_NE(CUDA_SUCCESS, cuGraphInstantiate(&second, graph_, 0));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_NE(CUDA_SUCCESS, cuGraphExecUpdate(graph, graph_, &info));
  EXPECT_EQ((Noted{5, 1111, 999}), log_of_graph(graph));
}

TEST_F(ChangedGraphs, a_captured_launch_becomes_such_a_node_and_others_cannot_be) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  attribute.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int what = 1;
  void* pointers[] = {&out_, &what};
  EXPECT_NE(CUDA_SUCCESS, cuLaunchKernelEx(&config, kernel("leaf"), pointers, nullptr));
  ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_OK(cuLaunchKernelEx(&config, kernel("leaf"), pointers, nullptr));
  CUgraph captured = nullptr;
  ASSERT_OK(cuStreamEndCapture(stream, &captured));
  EXPECT_NE(nullptr, attribute.value.deviceUpdatableKernelNode.devNode);
  EXPECT_OK(cuGraphDestroy(captured));
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(ChangedGraphs, wrong_changes_are_refused_to_the_kernel) {
  if (std::getenv("CUCORE_TEST_CUDADEVRT")) GTEST_SKIP() << "a GPU looks at none of this";
  EXPECT_EQ((Noted{1, 1, 1, 1111, 999}), log_of_graph(exec_with(add("change_wrongly", out_, handle_))));
}

}  // namespace
