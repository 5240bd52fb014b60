// Conditional nodes: what their conditions and bodies may be, as an H200's driver answers.
#include "cpu/tests/api/driver.hpp"

namespace {

class ConditionalNodes : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuGraphCreate(&graph, 0));
    ASSERT_OK(cuGraphConditionalHandleCreate(&condition, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  }
  CUresult add_conditional() {
    CUgraphNodeParams given{};
    given.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    given.conditional.handle = condition;
    given.conditional.type = CU_GRAPH_COND_TYPE_IF;
    given.conditional.size = 1;
    given.conditional.ctx = context;
    CUgraphNode node = nullptr;
    const CUresult result = cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &given);
    if (result == CUDA_SUCCESS) body = given.conditional.phGraph_out[0];
    return result;
  }
  static CUgraphNode callback(CUgraph in) {
    CUDA_HOST_NODE_PARAMS host{};
    host.fn = [](void*) {};
    CUgraphNode node = nullptr;
    EXPECT_OK(cuGraphAddHostNode(&node, in, nullptr, 0, &host));
    return node;
  }
  void expect_refused(CUgraphNode because_of) {
    CUgraphExec executable = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters{};
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiateWithParams(&executable, graph, &parameters));
    EXPECT_EQ(CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, parameters.result_out);
    EXPECT_EQ(because_of, parameters.hErrNode_out);
  }

  CUgraph graph = nullptr, body = nullptr;
  CUgraphConditionalHandle condition = 0;
};

TEST_F(ConditionalNodes, a_condition_has_one_node) {
  ASSERT_OK(add_conditional());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add_conditional());
}

TEST_F(ConditionalNodes, a_graph_with_a_condition_is_not_cloned) {
  CUgraph copy = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&copy, graph));
}

TEST_F(ConditionalNodes, a_body_calls_nothing_on_the_host) {
  ASSERT_OK(add_conditional());
  expect_refused(callback(body));
}

TEST_F(ConditionalNodes, a_child_graph_in_a_body_calls_nothing_on_the_host) {
  ASSERT_OK(add_conditional());
  CUgraph child = nullptr, embedded = nullptr;
  ASSERT_OK(cuGraphCreate(&child, 0));
  callback(child);
  CUgraphNode node = nullptr;
  ASSERT_OK(cuGraphAddChildGraphNode(&node, body, nullptr, 0, child));
  ASSERT_OK(cuGraphChildGraphNodeGetGraph(node, &embedded));
  CUgraphNode inner = nullptr;
  size_t count = 1;
  ASSERT_OK(cuGraphGetNodes(embedded, &inner, &count));
  expect_refused(inner);
}

TEST_F(ConditionalNodes, there_is_one_executable_graph_at_a_time) {
  ASSERT_OK(add_conditional());
  CUgraphExec first = nullptr, second = nullptr;
  ASSERT_OK(cuGraphInstantiate(&first, graph, 0));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph, 0));
  ASSERT_OK(cuGraphExecDestroy(first));
  EXPECT_OK(cuGraphInstantiate(&second, graph, 0));
  EXPECT_OK(cuGraphExecDestroy(second));
}

}  // namespace
