// Graphs made node by node: structure, parameters, executables and what may be changed in them, user objects.
#include <array>
#include <tuple>

#include "cpu/tests/api/driver.hpp"

namespace {

class Graphs : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_OK(cuGraphCreate(&graph, 0));
  }
  CUgraphNode empty(const std::vector<CUgraphNode>& after = {}) {
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddEmptyNode(&node, graph, after.data(), after.size()));
    return node;
  }
  CUgraphNode set(int* out, int value, const std::vector<CUgraphNode>& after = {}) {
    void* arguments[] = {&out, &value};
    const CUDA_KERNEL_NODE_PARAMS parameters = kernel_node(arguments);
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters));
    return node;
  }
  CUDA_KERNEL_NODE_PARAMS kernel_node(void** arguments) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = kernel("set_to");
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = arguments;
    return parameters;
  }
  CUgraphExec instantiate() {
    CUgraphExec executable = nullptr;
    EXPECT_OK(cuGraphInstantiate(&executable, graph, 0));
    return executable;
  }
  void run(CUgraphExec executable) {
    ASSERT_OK(cuGraphLaunch(executable, stream));
    ASSERT_OK(cuStreamSynchronize(stream));
  }

  CUstream stream = nullptr;
  CUgraph graph = nullptr;
};

TEST_F(Graphs, nodes_run_behind_what_they_depend_on) {
  int* const out = device_array<int>(1);
  set(out, 2, {set(out, 1)});
  run(instantiate());
  EXPECT_EQ(2, *out);
}

TEST_F(Graphs, a_cycle_is_an_invalid_structure) {
  const CUgraphNode first = empty();
  const CUgraphNode second = empty({first});
  ASSERT_OK(cuGraphAddDependencies(graph, &second, &first, nullptr, 1));
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
  CUgraphExec executable = nullptr;
  EXPECT_NE(CUDA_SUCCESS, cuGraphInstantiateWithParams(&executable, graph, &parameters));
  EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, parameters.result_out);
}

TEST_F(Graphs, an_edge_to_itself_or_given_twice_is_refused) {
  const CUgraphNode first = empty();
  const CUgraphNode second = empty({first});
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &first, &first, nullptr, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphAddDependencies(graph, &first, &second, nullptr, 1));
}

TEST_F(Graphs, new_parameters_of_an_executable_leave_the_definition_alone) {
  int* const out = device_array<int>(1);
  const CUgraphNode node = set(out, 1);
  const CUgraphExec executable = instantiate();
  int* pointer = out;
  int value = 8;
  void* arguments[] = {&pointer, &value};
  const CUDA_KERNEL_NODE_PARAMS parameters = kernel_node(arguments);
  ASSERT_OK(cuGraphExecKernelNodeSetParams(executable, node, &parameters));
  run(executable);
  EXPECT_EQ(8, *out);
  CUDA_KERNEL_NODE_PARAMS kept{};
  ASSERT_OK(cuGraphKernelNodeGetParams(node, &kept));
  EXPECT_EQ(1, *static_cast<int*>(kept.kernelParams[1]));
}

TEST_F(Graphs, an_update_of_another_shape_is_refused_with_the_reason) {
  int* const out = device_array<int>(1);
  set(out, 1);
  const CUgraphExec executable = instantiate();
  CUgraph larger = nullptr;
  ASSERT_OK(cuGraphClone(&larger, graph));
  CUgraphNode further = nullptr;
  ASSERT_OK(cuGraphAddEmptyNode(&further, larger, nullptr, 0));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, larger, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, info.result);
}

TEST_F(Graphs, an_executable_fill_keeps_its_rows_and_its_memory) {
  const auto fill = [](void* out, size_t width, size_t height, size_t pitch) {
    CUDA_MEMSET_NODE_PARAMS parameters{};
    parameters.dst = reinterpret_cast<CUdeviceptr>(out);
    parameters.value = 7;
    parameters.elementSize = 1;
    parameters.width = width;
    parameters.height = height;
    parameters.pitch = pitch;
    return parameters;
  };
  const auto add = [&](const CUDA_MEMSET_NODE_PARAMS& parameters) {
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &parameters, context));
    return node;
  };
  const auto change = [&](CUgraphExec executable, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS& parameters) {
    return cuGraphExecMemsetNodeSetParams(executable, node, &parameters, context);
  };
  int* const out = device_array<int>(64);
  void* host = nullptr;
  ASSERT_OK(cuMemHostAlloc(&host, 256, 0));
  const CUgraphNode one_row = add(fill(out, 16, 1, 0));
  const CUgraphNode rows = add(fill(out, 16, 2, 32));
  const CUgraphExec executable = instantiate();
  EXPECT_OK(change(executable, one_row, fill(out + 1, 32, 1, 0)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, change(executable, one_row, fill(out, 16, 2, 32))) << "more rows";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, change(executable, one_row, fill(host, 16, 1, 0))) << "the host's memory";
  EXPECT_OK(change(executable, rows, fill(out + 1, 16, 2, 32)));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, change(executable, rows, fill(out, 8, 2, 32))) << "shorter rows";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, change(executable, rows, fill(out, 16, 2, 64))) << "rows further apart";
  CUgraph other = nullptr;
  ASSERT_OK(cuGraphClone(&other, graph));
  CUgraphNode found = nullptr;
  ASSERT_OK(cuGraphNodeFindInClone(&found, rows, other));
  const CUDA_MEMSET_NODE_PARAMS shorter = fill(out, 8, 2, 32);
  ASSERT_OK(cuGraphMemsetNodeSetParams(found, &shorter));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, other, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, info.result);
  EXPECT_EQ(found, info.errorNode);
  run(executable);
  EXPECT_EQ(0x07070707, out[4]);
  EXPECT_OK(cuMemFreeHost(host));
}

TEST_F(Graphs, an_executable_copy_keeps_the_memory_it_is_between_and_stays_in_one_row) {
  int* const there = device_array<int>(64);
  void* host = nullptr;
  ASSERT_OK(cuMemHostAlloc(&host, 256, 0));
  CUDA_MEMCPY3D up{};
  up.srcMemoryType = CU_MEMORYTYPE_HOST;
  up.srcHost = host;
  up.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  up.dstDevice = reinterpret_cast<CUdeviceptr>(there);
  up.WidthInBytes = 16;
  up.Height = up.Depth = 1;
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &up, context));
  const CUgraphExec executable = instantiate();
  CUDA_MEMCPY3D changed = up;
  changed.dstDevice += 16;
  changed.WidthInBytes = 32;
  EXPECT_OK(cuGraphExecMemcpyNodeSetParams(executable, node, &changed, context));
  CUDA_MEMCPY3D inside = up;
  inside.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  inside.srcDevice = up.dstDevice + 64;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(executable, node, &inside, context));
  inside.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(executable, node, &inside, context));
  CUDA_MEMCPY3D rows = up;
  rows.srcPitch = rows.dstPitch = 32;
  rows.Height = 2;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphExecMemcpyNodeSetParams(executable, node, &rows, context));
  static_cast<int*>(host)[4] = 9;
  run(executable);
  EXPECT_EQ(9, there[8]);
  EXPECT_OK(cuMemFreeHost(host));
}

TEST_F(Graphs, an_update_does_not_make_a_kernel_cooperative) {
  int* const out = device_array<int>(1);
  const CUgraphNode node = set(out, 1);
  const CUgraphExec executable = instantiate();
  CUlaunchAttributeValue value{};
  value.cooperative = 1;
  ASSERT_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
  CUgraphExecUpdateResultInfo info{};
  EXPECT_EQ(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(executable, graph, &info));
  EXPECT_EQ(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, info.result);
}

TEST_F(Graphs, a_disabled_node_does_nothing) {
  int* const out = device_array<int>(1);
  const CUgraphNode node = set(out, 1);
  const CUgraphExec executable = instantiate();
  ASSERT_OK(cuGraphNodeSetEnabled(executable, node, 0));
  run(executable);
  EXPECT_EQ(0, *out);
}

TEST_F(Graphs, an_allocation_that_outlives_its_launch_blocks_the_next) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  parameters.bytesize = 64;
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &parameters));
  CUgraph copy = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&copy, graph));
  const CUgraphExec executable = instantiate();
  run(executable);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(executable, stream));
  ASSERT_OK(cuMemFreeAsync(parameters.dptr, stream));
  run(executable);
  EXPECT_OK(cuMemFree(parameters.dptr));
}

TEST_F(Graphs, a_destroyed_node_is_gone_with_its_edges) {
  const CUgraphNode first = empty();
  const CUgraphNode second = empty({first});
  ASSERT_OK(cuGraphDestroyNode(first));
  size_t count = 1;
  ASSERT_OK(cuGraphNodeGetDependencies(second, nullptr, nullptr, &count));
  EXPECT_EQ(0u, count);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphDestroyNode(first));
}

TEST_F(Graphs, a_user_object_ends_with_its_last_holder) {
  int ended = 0;
  CUuserObject object = nullptr;
  ASSERT_OK(cuUserObjectCreate(
      &object, &ended, [](void* count) { ++*static_cast<int*>(count); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  ASSERT_OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  empty();
  const CUgraphExec executable = instantiate();
  ASSERT_OK(cuGraphDestroy(graph));
  EXPECT_EQ(0, ended);
  ASSERT_OK(cuGraphExecDestroy(executable));
  EXPECT_EQ(1, ended);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 1));
}

TEST_F(Graphs, an_executable_graph_holds_what_its_child_graphs_hold) {
  int ended = 0;
  CUuserObject object = nullptr;
  ASSERT_OK(cuUserObjectCreate(
      &object, &ended, [](void* count) { ++*static_cast<int*>(count); }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CUgraph child = nullptr;
  ASSERT_OK(cuGraphCreate(&child, 0));
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  const CUgraphExec before = instantiate();
  ASSERT_OK(cuGraphRetainUserObject(child, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  ASSERT_OK(cuGraphExecChildGraphNodeSetParams(before, node, child));  // takes references of its own
  CUgraph embedded = nullptr;
  ASSERT_OK(cuGraphChildGraphNodeGetGraph(node, &embedded));
  ASSERT_OK(cuGraphRetainUserObject(embedded, object, 1, 0));
  const CUgraphExec after = instantiate();
  ASSERT_OK(cuGraphReleaseUserObject(embedded, object, 1));
  ASSERT_OK(cuGraphDestroy(child));
  ASSERT_OK(cuGraphDestroy(graph));
  ASSERT_OK(cuGraphExecDestroy(before));
  EXPECT_EQ(0, ended);
  ASSERT_OK(cuGraphExecDestroy(after));
  EXPECT_EQ(1, ended);
}

/// In chunks of 32 MiB: used, its highest, reserved, its highest.
std::array<cuuint64_t, 4> graph_memory_of(CUdevice device) {
  std::array<cuuint64_t, 4> counted{};
  const CUgraphMem_attribute all[] = {CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH,
                                      CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH};
  for (std::size_t i = 0; i < counted.size(); ++i) {
    EXPECT_OK(cuDeviceGetGraphMemAttribute(device, all[i], &counted[i]));
    counted[i] >>= 25;
  }
  return counted;
}

// The numbers are those of an H100 (driver 580).
TEST_F(Graphs, memory_of_graphs_counts_from_the_first_launch_to_a_trim) {
  using Counted = std::array<cuuint64_t, 4>;
  cuuint64_t none = 0;
  for (const auto& [size, used, reserved] :
       {std::tuple{1u, 1u, 1u}, std::tuple{1000u, 1u, 1u}, std::tuple{40u << 20, 3u, 4u}}) {
    ASSERT_OK(cuDeviceGraphMemTrim(device));
    for (const CUgraphMem_attribute mark : {CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH})
      ASSERT_OK(cuDeviceSetGraphMemAttribute(device, mark, &none));
    ASSERT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUdeviceptr kept = 0;
    CUdeviceptr freed = 0;
    ASSERT_OK(cuMemAllocAsync(&kept, size, stream));
    ASSERT_OK(cuMemAllocAsync(&freed, size, stream));
    ASSERT_OK(cuMemFreeAsync(freed, stream));
    CUgraph captured = nullptr;
    ASSERT_OK(cuStreamEndCapture(stream, &captured));
    CUgraphExec executable = nullptr;
    ASSERT_OK(cuGraphInstantiate(&executable, captured, 0));
    EXPECT_EQ((Counted{}), graph_memory_of(device));
    ASSERT_OK(cuGraphLaunch(executable, stream));
    ASSERT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ((Counted{used, used, reserved, reserved}), graph_memory_of(device));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(executable, stream)) << "what it allocates is not freed";
    ASSERT_OK(cuMemFreeAsync(kept, stream));
    ASSERT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ((Counted{used, used, reserved, reserved}), graph_memory_of(device));
    ASSERT_OK(cuDeviceGraphMemTrim(device));
    EXPECT_EQ((Counted{0, used, 0, reserved}), graph_memory_of(device));
    EXPECT_OK(cuGraphExecDestroy(executable));
    EXPECT_OK(cuGraphDestroy(captured));
  }
}

}  // namespace
