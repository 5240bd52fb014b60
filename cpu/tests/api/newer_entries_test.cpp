// What CUDA 13.1 to 13.5 added to the driver: who graphs and nodes are, the parameters of nodes and kernels, copies
// with attributes, and the properties of pools.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "cpu/api/cuda_13_5.hpp"
#include "cpu/tests/api/driver.hpp"

namespace {

class NewerEntries : public DriverTest {
 protected:
  CUgraph make_graph() {
    CUgraph graph = nullptr;
    EXPECT_OK(cuGraphCreate(&graph, 0));
    return graph;
  }
  static unsigned int id_of(CUgraph graph) {
    unsigned int id = 0;
    EXPECT_OK(cuGraphGetId(graph, &id));
    return id;
  }
};

TEST_F(NewerEntries, graphs_nodes_and_executable_graphs_have_numbers_of_their_own) {
  CUgraph graph = make_graph();
  CUgraph other = make_graph();
  EXPECT_NE(id_of(graph), id_of(other));
  CUgraphNode child = nullptr;
  CUgraphNode inner = nullptr;
  ASSERT_OK(cuGraphAddEmptyNode(&inner, other, nullptr, 0));
  ASSERT_OK(cuGraphAddChildGraphNode(&child, graph, nullptr, 0, other));
  CUgraph embedded = nullptr;
  ASSERT_OK(cuGraphChildGraphNodeGetGraph(child, &embedded));
  std::size_t count = 1;
  CUgraphNode copy = nullptr;
  ASSERT_OK(cuGraphGetNodes(embedded, &copy, &count));
  CUgraph containing = nullptr;
  EXPECT_OK(cuGraphNodeGetContainingGraph(copy, &containing));
  EXPECT_EQ(embedded, containing);
  EXPECT_OK(cuGraphNodeGetContainingGraph(child, &containing));
  EXPECT_EQ(graph, containing);
  unsigned int local[2] = {};
  unsigned long long tools[2] = {};
  EXPECT_OK(cuGraphNodeGetLocalId(inner, &local[0]));
  EXPECT_OK(cuGraphNodeGetLocalId(child, &local[1]));
  EXPECT_OK(cuGraphNodeGetToolsId(inner, &tools[0]));
  EXPECT_OK(cuGraphNodeGetToolsId(child, &tools[1]));
  EXPECT_NE(local[0], local[1]);
  EXPECT_NE(tools[0], tools[1]);
  const std::string path = testing::TempDir() + "cucore-newer-entries.dot";
  ASSERT_OK(cuGraphDebugDotPrint(graph, path.c_str(), 0));
  std::ifstream file(path);
  const std::string dot(std::istreambuf_iterator<char>(file), {});
  const std::string name = "graph_" + std::to_string(id_of(graph)) + "_node_" + std::to_string(local[1]);
  EXPECT_NE(std::string::npos, dot.find(name)) << name << " in " << dot;
  EXPECT_NE(std::string::npos, dot.find("graph_" + std::to_string(id_of(embedded)) + "_node_")) << dot;
  std::remove(path.c_str());
  CUgraphExec executable = nullptr;
  ASSERT_OK(cuGraphInstantiate(&executable, graph, 0));
  unsigned int id = 0;
  EXPECT_OK(cuGraphExecGetId(executable, &id));
  EXPECT_NE(id_of(graph), id);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphGetId(graph, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetLocalId(garbage<CUgraphNode>(), &id));
  EXPECT_OK(cuGraphExecDestroy(executable));
  EXPECT_OK(cuGraphDestroy(other));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(NewerEntries, a_node_of_any_type_gives_its_parameters) {
  CUgraph graph = make_graph();
  CUgraphConditionalHandle handle = 0;
  ASSERT_OK(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams given{};
  given.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  given.conditional.handle = handle;
  given.conditional.type = CU_GRAPH_COND_TYPE_SWITCH;
  given.conditional.size = 3;
  given.conditional.ctx = context;
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddNode_v3(&node, graph, nullptr, nullptr, 0, &given));
  CUgraphNodeParams seen{};
  ASSERT_OK(cuGraphNodeGetParams(node, &seen));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_CONDITIONAL, seen.type);
  EXPECT_EQ(handle, seen.conditional.handle);
  EXPECT_EQ(CU_GRAPH_COND_TYPE_SWITCH, seen.conditional.type);
  ASSERT_EQ(3u, seen.conditional.size);
  EXPECT_EQ(given.conditional.phGraph_out[2], seen.conditional.phGraph_out[2]);
  int memory = 0;
  CUgraphNodeParams host{};
  host.type = CU_GRAPH_NODE_TYPE_HOST;
  host.host.fn = [](void*) {};
  host.host.userData = &memory;
  ASSERT_OK(cuGraphAddNode_v3(&node, graph, nullptr, nullptr, 0, &host));
  host.host.userData = &graph;
  ASSERT_OK(cuGraphNodeSetParams_v2(node, &host));
  ASSERT_OK(cuGraphNodeGetParams(node, &seen));
  EXPECT_EQ(CU_GRAPH_NODE_TYPE_HOST, seen.type);
  EXPECT_EQ(&graph, seen.host.userData);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetParams(node, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetParams(garbage<CUgraphNode>(), &seen));
  EXPECT_OK(cuGraphDestroy(graph));
}

TEST_F(NewerEntries, functions_and_kernels_count_their_parameters) {
  std::size_t count = 0;
  EXPECT_OK(cuFuncGetParamCount(kernel("mixed"), &count));
  EXPECT_EQ(4u, count);
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, kernels_ptx().c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel found = nullptr;
  ASSERT_OK(cuLibraryGetKernel(&found, library, "different_barriers"));
  EXPECT_OK(cuKernelGetParamCount(found, &count));
  EXPECT_EQ(0u, count);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuKernelGetParamCount(found, nullptr));
  EXPECT_OK(cuLibraryUnload(library));
}

TEST_F(NewerEntries, a_copy_reads_its_source_when_its_attributes_say) {
  int* const to = device_array<int>(4);
  int source[4] = {1, 2, 3, 4};
  int* locked = nullptr;  // a source that is waited for by nobody
  ASSERT_OK(cuMemAllocHost(reinterpret_cast<void**>(&locked), sizeof *locked));
  const auto target = reinterpret_cast<CUdeviceptr>(to);
  const auto from = reinterpret_cast<CUdeviceptr>(source);
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  int go = 0;
  const auto hold = [](void* flag) { std::atomic_ref<int>(*static_cast<int*>(flag)).wait(0); };
  ASSERT_OK(cuLaunchHostFunc_v2(stream, hold, &go, cucore::cpu::api::host_task_spin_wait));
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  EXPECT_OK(cuMemcpyWithAttributesAsync(target, from, sizeof(int), &attributes, stream));
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  EXPECT_OK(
      cuMemcpyWithAttributesAsync(target + 4, reinterpret_cast<CUdeviceptr>(locked), sizeof(int), &attributes, stream));
  CUDA_MEMCPY3D_BATCH_OP shape{};
  shape.src.type = shape.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
  shape.src.op.ptr.ptr = from + 8;
  shape.dst.op.ptr.ptr = target + 8;
  shape.extent = {2 * sizeof(int), 1, 1};
  shape.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
  EXPECT_OK(cuMemcpy3DWithAttributesAsync(&shape, 0, stream));
  std::fill_n(source, 4, 9);
  *locked = 9;
  std::atomic_ref<int>(go).store(1);
  std::atomic_ref<int>(go).notify_all();
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ((std::vector<int>{1, 9, 3, 4}), std::vector<int>(to, to + 4));
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyWithAttributesAsync(target, from, 4, &attributes, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpyWithAttributesAsync(target, from, 4, nullptr, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemcpy3DWithAttributesAsync(&shape, 1, stream));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchHostFunc_v2(stream, hold, &go, 2));
  EXPECT_OK(cuMemFreeHost(locked));
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(NewerEntries, a_stream_and_a_descriptor_know_multiprocessors_and_work_queues) {
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, 0));
  CUdevResource whole{};
  CUdevResource own{};
  ASSERT_OK(cuDeviceGetDevResource(0, &whole, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_OK(cuStreamGetDevResource(stream, &own, CU_DEV_RESOURCE_TYPE_SM));
  EXPECT_EQ(whole.sm.smCount, own.sm.smCount);
  const auto queue = unknown<CUdevResourceType>(cucore::cpu::api::resource_workqueue);
  EXPECT_EQ(CUDA_ERROR_INVALID_RESOURCE_TYPE, cuStreamGetDevResource(stream, &own, queue));
  CUdevResource both[2] = {whole, {}};
  ASSERT_OK(cuCtxGetDevResource(context, &both[1], queue));
  CUdevResourceDesc description = nullptr;
  EXPECT_OK(cuDevResourceGenerateDesc(&description, both, 2));
  CUgreenCtx green = nullptr;
  EXPECT_OK(cuGreenCtxCreate(&green, description, 0, 0)) << "without a default stream, as from 13.1 on";
  EXPECT_OK(cuGreenCtxDestroy(green));
  EXPECT_OK(cuStreamDestroy(stream));
}

TEST_F(NewerEntries, a_pool_tells_what_it_was_made_with) {
  CUmemPoolProps given = shareable_pool();
  given.maxSize = 1 << 24;
  CUmemoryPool pool = nullptr;
  ASSERT_OK(cuMemPoolCreate(&pool, &given));
  const auto ask = [pool](int attribute) {
    std::uint64_t value = 0;
    EXPECT_OK(cuMemPoolGetAttribute(pool, unknown<CUmemPool_attribute>(attribute), &value));
    return value;
  };
  EXPECT_EQ(CU_MEM_ALLOCATION_TYPE_PINNED, static_cast<int>(ask(9)));
  EXPECT_EQ(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, static_cast<int>(ask(10)));
  EXPECT_EQ(0, static_cast<int>(ask(11)));
  EXPECT_EQ(CU_MEM_LOCATION_TYPE_DEVICE, static_cast<int>(ask(12)));
  EXPECT_EQ(std::uint64_t{1} << 24, ask(13));
  std::uint64_t none = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemPoolGetAttribute(pool, unknown<CUmemPool_attribute>(16), &none));
  EXPECT_OK(cuMemPoolDestroy(pool));
}

}  // namespace
