// Graph nodes: identity, edges, destruction, updates in definitions and in executable graphs.
#include "cucore/graph_node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

using Nodes = std::vector<GraphNode>;

class graph_node : public testing::Test {
 protected:
  const Stream stream = device().create_stream();
  const Buffer ints = device().allocate(4 * 4, stream);
  GraphDefinition definition;

  void SetUp() override {
    ints.fill(std::int32_t{0}, stream);
    stream.sync();
  }
  int* at(std::size_t i) const { return reinterpret_cast<int*>(ints.handle() + 4 * i); }
  KernelNode store(std::size_t i, int value) const { return definition.launch({}, kernel("_Z4echoPii"), at(i), value); }
  std::vector<std::int32_t> run(const Graph& executable) const {
    executable.launch(stream);
    return read<std::int32_t>(ints, stream);
  }
  static bool has(const Nodes& nodes, const GraphNode& node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
  }
};

TEST_F(graph_node, what_the_driver_lists_are_the_nodes_that_were_added) {
  const auto first = definition.empty();
  const auto second = definition.callback([] {});
  const auto third = first.join({second});
  EXPECT_EQ(definition.size(), 3u);
  for (const GraphNode& node : {GraphNode(first), GraphNode(second), GraphNode(third)}) {
    EXPECT_TRUE(has(definition.nodes(), node));
    EXPECT_TRUE(definition.contains(node));
    EXPECT_EQ(node.graph(), definition);
  }
  EXPECT_EQ(definition.nodes()[0].identity(), first.identity());
  EXPECT_EQ(definition.edges().size(), 2u);
  EXPECT_EQ(definition.root_nodes().size(), 2u);
  EXPECT_EQ(definition.leaf_nodes(), Nodes{third});
  EXPECT_EQ(definition.sorted_nodes().back(), third);
  EXPECT_EQ(second.type(), GraphNodeType::host);
  EXPECT_THROW(second.as<KernelNode>(), TypeError);
  EXPECT_TRUE(second.as<HostCallbackNode>().function() != nullptr);
  EXPECT_FALSE(GraphDefinition().contains(first));
}

TEST_F(graph_node, edges_are_added_removed_and_assigned) {
  const auto a = definition.empty();
  const auto b = definition.empty();
  const auto c = definition.empty();
  c.add_pred(Nodes{a, b, a});
  c.add_pred(Nodes{a});  // is there
  EXPECT_EQ(c.pred().size(), 2u);
  EXPECT_EQ(a.succ(), Nodes{c});
  c.remove_pred(Nodes{a});
  c.remove_pred(Nodes{a});  // is not there
  EXPECT_EQ(c.pred(), Nodes{b});
  c.set_pred(Nodes{a});
  EXPECT_EQ(c.pred(), Nodes{a});
  EXPECT_TRUE(b.succ().empty());
  b.set_succ(Nodes{a, c});
  EXPECT_EQ(b.succ().size(), 2u);
  b.set_succ({});
  EXPECT_TRUE(b.succ().empty());
}

TEST_F(graph_node, edges_that_cannot_be_are_refused_and_leave_all_as_it_was) {
  GraphDefinition other;
  const auto foreign = other.empty();
  const auto a = definition.empty();
  const auto b = a.join({});
  const auto gone = definition.empty();
  gone.destroy();
  for (const GraphNode& end : {GraphNode(foreign), GraphNode(gone), GraphNode(b), GraphNode()}) {
    EXPECT_THROW(b.add_pred(Nodes{end}), DriverError);
    EXPECT_THROW(b.set_pred(Nodes{end}), DriverError);
    EXPECT_EQ(b.pred(), Nodes{a});
  }
  EXPECT_TRUE(says(refusal([&] { b.add_succ(Nodes{foreign}); }), "another graph"));
  EXPECT_TRUE(says(refusal([&] { definition.join({foreign}); }), "another graph"));
  EXPECT_EQ(definition.size(), 2u);
}

TEST_F(graph_node, a_destroyed_node_is_not_valid_and_tells_what_it_was) {
  const auto before = definition.empty();
  const auto node = before.memset(ints, std::int32_t{7}, 4);
  EXPECT_TRUE(node.is_valid());
  node.destroy();
  node.destroy();
  EXPECT_FALSE(node.is_valid());
  EXPECT_EQ(node.handle(), nullptr);
  EXPECT_EQ(node.type(), GraphNodeType::memset);
  EXPECT_EQ(node.value(), 7u);
  EXPECT_EQ(node.width(), 4u);
  EXPECT_TRUE(node.pred().empty());
  EXPECT_TRUE(before.succ().empty());
  EXPECT_THROW(node.update({.width = 2}), StateError);
  EXPECT_TRUE(says(refusal([&] { node.join({}); }), "no longer valid"));
  EXPECT_THROW(node.set_pred(Nodes{before}), StateError);
  EXPECT_EQ(definition.size(), 1u);
  // Whatever gets the handle next is another node.
  std::vector<GraphNode> more;
  for (int i = 0; i < 100; ++i) more.push_back(definition.empty());
  EXPECT_FALSE(node.is_valid());
  EXPECT_FALSE(has(more, node));
}

TEST_F(graph_node, what_a_destroyed_node_owned_goes_with_it) {
  GraphDefinition child;
  GraphDefinition grandchild;
  grandchild.empty();
  child.embed(grandchild);
  const auto node = definition.embed(child);
  const GraphDefinition view = node.child_graph();
  const GraphNode inner = view.nodes()[0];
  const GraphDefinition deep = inner.as<ChildGraphNode>().child_graph();
  const GraphNode deepest = deep.nodes()[0];
  const auto branch = definition.if_then(definition.create_condition(0)).branches()[0].share();
  EXPECT_TRUE(deepest.is_valid());
  node.destroy();
  EXPECT_FALSE(view.is_valid());
  EXPECT_EQ(view.handle(), nullptr);
  EXPECT_TRUE(view);
  EXPECT_FALSE(inner.is_valid());
  EXPECT_FALSE(deep.is_valid());
  EXPECT_FALSE(deepest.is_valid());
  EXPECT_TRUE(says(refusal([&] { view.empty(); }), "no longer valid"));
  EXPECT_EQ(view, view.share());
  EXPECT_TRUE(branch.is_valid());
  branch.empty();
}

TEST_F(graph_node, a_view_of_a_part_keeps_the_whole) {
  GraphDefinition child;
  child.launch({}, kernel("_Z4echoPii"), at(0), 4);
  const GraphDefinition part = definition.embed(child).child_graph();
  definition.close();
  child.close();
  EXPECT_EQ(part.size(), 1u);
  EXPECT_TRUE(part.nodes()[0].is_valid());
}

TEST_F(graph_node, updates_are_for_graphs_made_later) {
  const auto kernel_node = store(0, 1);
  const auto fill = definition.memset(ints.handle() + 4, std::int32_t{1}, 1);
  const auto copy = kernel_node.memcpy(ints.handle() + 8, ints.handle(), 4);
  const Graph before = definition.instantiate();
  kernel_node.set_arguments(at(0), 2);
  fill.update({.value = std::int32_t{2}});
  copy.update({.dst = ints.handle() + 12});
  EXPECT_EQ(fill.value(), 2u);
  EXPECT_EQ(fill.width(), 1u);
  EXPECT_EQ(copy.dst(), ints.handle() + 12);
  EXPECT_EQ(copy.src(), ints.handle());
  EXPECT_EQ(run(before), (std::vector<std::int32_t>{1, 1, 1, 0}));
  EXPECT_EQ(run(definition.instantiate()), (std::vector<std::int32_t>{2, 2, 1, 2}));
}

TEST_F(graph_node, a_kernel_node_keeps_what_an_update_leaves_out) {
  const Buffer count = device().allocate(4, stream);
  count.fill(std::uint32_t{0}, stream);
  const auto node = definition.launch({.grid = {2}, .block = {32}}, kernel("count_threads"), count);
  node.update({});
  node.update({.config = LaunchConfig{.grid = {3}, .block = {64}, .is_cooperative = true}});
  EXPECT_TRUE(node.config().is_cooperative);
  run(definition.instantiate());
  EXPECT_EQ(read<std::uint32_t>(count, stream)[0], 3u * 64);
  node.update({.config = LaunchConfig{.grid = {1}, .block = {32}}});
  EXPECT_EQ(node.config(), (LaunchConfig{.grid = {1}, .block = {32}}));
  run(definition.instantiate());
  EXPECT_EQ(read<std::uint32_t>(count, stream)[0], 3u * 64 + 32);
  EXPECT_TRUE(says(refusal([&] { node.update({.kernel = kernel("no_parameters")}); }), "arguments"));
  EXPECT_EQ(node.kernel(), kernel("count_threads"));
  node.update({.kernel = kernel("no_parameters"), .arguments = KernelArguments{}});
  EXPECT_EQ(node.kernel(), kernel("no_parameters"));
}

TEST_F(graph_node, clusters_survive_updates) {
  if (device().compute_capability().major < 9) GTEST_SKIP() << "the device has no clusters";
  const Buffer count = device().allocate(4, stream);
  count.fill(std::uint32_t{0}, stream);
  const auto node = definition.launch({.grid = {3}, .block = {32}}, kernel("count_threads"), count);
  node.update({.config = LaunchConfig{.grid = {2}, .block = {32}, .cluster = Dim3{4}}});
  const Graph executable = definition.instantiate();
  run(executable);
  EXPECT_EQ(read<std::uint32_t>(count, stream)[0], 2u * 4 * 32);
  executable[node].update(LaunchConfig{.grid = {1}, .block = {32}, .cluster = Dim3{4}}, kernel("count_threads"), count);
  run(executable);
  EXPECT_EQ(read<std::uint32_t>(count, stream)[0], 3u * 4 * 32);
  EXPECT_TRUE(says(refusal([&] {
                     executable[node].update(LaunchConfig{.grid = {1}, .block = {32}}, kernel("count_threads"), count);
                   }),
                   "attributes", "Graph::update"));
  node.update({.config = LaunchConfig{.grid = {1}, .block = {32}}});
  EXPECT_THROW(executable[node].update(LaunchConfig{.grid = {1}, .block = {32}}, kernel("count_threads"), count),
               StateError);
}

TEST_F(graph_node, a_failed_update_changes_nothing) {
  const auto kernel_node = store(0, 5);
  const auto fill = definition.memset(ints.handle() + 4, std::int32_t{6}, 1);
  EXPECT_THROW(kernel_node.update({.config = LaunchConfig{.block = {4096}}}), DriverError);
  EXPECT_THROW(kernel_node.update({.config = LaunchConfig{.block = {4096}, .is_cooperative = true}}), Error);
  EXPECT_EQ(kernel_node.config(), LaunchConfig{});
  EXPECT_THROW(fill.update({.width = 0}), DriverError);
  EXPECT_EQ(fill.width(), 1u);
  EXPECT_EQ(run(definition.instantiate()), (std::vector<std::int32_t>{5, 6, 0, 0}));
}

TEST_F(graph_node, events_and_callbacks_are_replaced) {
  const Event one = device().create_event();
  const Event other = device().create_event();
  const auto record = definition.record(one);
  record.update(other);
  EXPECT_EQ(record.event(), other);
  const auto wait = definition.wait(one);
  wait.update(other);
  EXPECT_EQ(wait.event(), other);
  std::atomic<int> called{0};
  const auto node = definition.callback([&] { called = 1; });
  const Graph before = definition.instantiate();
  node.update([&] { called = 2; });
  run(before);
  EXPECT_EQ(called, 1);
  run(definition.instantiate());
  EXPECT_EQ(called, 2);
  node.update([](void* data) { *static_cast<std::atomic<int>*>(data) = 3; }, &called);
  EXPECT_EQ(node.user_data(), &called);
  EXPECT_EQ(node.function(), nullptr);
  run(definition.instantiate());
  EXPECT_EQ(called, 3);
}

TEST_F(graph_node, a_child_is_replaced_by_another_clone) {
  GraphDefinition one;
  one.launch({}, kernel("_Z4echoPii"), at(0), 1);
  GraphDefinition two;
  two.launch({}, kernel("_Z4echoPii"), at(0), 2);
  const auto node = definition.embed(one);
  const GraphDefinition old = node.child_graph();
  node.update(two);
  EXPECT_FALSE(old.is_valid());
  EXPECT_TRUE(node.child_graph().is_valid());
  EXPECT_NE(node.child_graph(), old);
  EXPECT_EQ(run(definition.instantiate())[0], 2);
  EXPECT_THROW(node.update(definition), ValueError);
}

TEST_F(graph_node, views_in_an_executable_graph_change_that_alone) {
  const auto kernel_node = store(0, 1);
  const auto fill = definition.memset(ints.handle() + 4, std::int32_t{1}, 1);
  const auto copy = definition.memcpy(ints.handle() + 8, MemoryOperand::host("abc"), 4);
  std::atomic<int> called{0};
  const auto callback = definition.callback([&] { called = 1; });
  const Event event = device().create_event();
  const auto record = definition.record(device().create_event());
  Graph executable = definition.instantiate();
  executable[kernel_node].update(LaunchConfig{}, kernel("_Z4echoPii"), at(0), 2);
  executable[fill].update(ints.handle() + 4, std::int32_t{2}, 1);
  executable[copy].update(ints.handle() + 8, MemoryOperand::host("xyz"), 4);
  executable[callback].update([&] { called = 2; });
  executable[record].update(event);
  const auto is_xyz = [](std::int32_t value) { return std::string(reinterpret_cast<const char*>(&value)) == "xyz"; };
  auto values = run(executable);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[1], 2);
  EXPECT_TRUE(is_xyz(values[2]));
  EXPECT_EQ(called, 2);
  values = run(definition.instantiate());
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(called, 1);
  const auto view = executable[kernel_node];
  EXPECT_TRUE(view.is_enabled());
  view.disable();
  EXPECT_FALSE(view.is_enabled());
  EXPECT_EQ(run(executable)[0], 1);
  view.enable();
  EXPECT_EQ(run(executable)[0], 2);
  EXPECT_EQ(view.graph_handle(), executable.handle());
  executable.close();
  EXPECT_EQ(view.graph_handle(), nullptr);
  EXPECT_THROW(view.disable(), StateError);
  EXPECT_THROW(view.update(LaunchConfig{}, kernel("no_parameters")), StateError);
  EXPECT_THROW(executable[kernel_node], ValueError);
  const Graph again = definition.instantiate();
  kernel_node.destroy();
  EXPECT_THROW(again[kernel_node], ValueError);
}

TEST_F(graph_node, a_view_of_a_node_of_another_graph_is_refused_when_used) {
  const Graph executable = definition.instantiate();
  GraphDefinition other;
  const auto foreign = other.memset(ints, std::int32_t{1}, 1);
  EXPECT_TRUE(says(refusal([&] { executable[foreign].disable(); }), "cuGraphNodeSetEnabled", "definition"));
  EXPECT_THROW(executable[foreign].update(ints, std::int32_t{1}, 1), DriverError);
}

TEST_F(graph_node, a_child_in_an_executable_graph_takes_another_ones_parameters) {
  GraphDefinition one;
  one.launch({}, kernel("_Z4echoPii"), at(0), 1);
  const auto node = definition.embed(one);
  const Graph executable = definition.instantiate();
  {
    GraphDefinition two;
    two.launch({}, kernel("_Z4echoPii"), at(0), 2);
    executable[node].update(two);
  }
  EXPECT_EQ(run(executable)[0], 2);
  GraphDefinition unlike;
  EXPECT_THROW(executable[node].update(unlike), DriverError);
  EXPECT_EQ(run(executable)[0], 2);
}

TEST_F(graph_node, a_whole_graph_takes_the_parameters_of_one_like_it) {
  store(0, 1);
  const Graph executable = definition.instantiate();
  GraphDefinition like;
  like.launch({}, kernel("_Z4echoPii"), at(0), 2);
  executable.update(like);
  EXPECT_EQ(run(executable)[0], 2);
  GraphDefinition unlike;
  const auto fill = unlike.memset(ints, std::int32_t{9}, 4);
  const GraphUpdateResult result = executable.try_update(unlike);
  EXPECT_FALSE(result);
  EXPECT_EQ(result.reason, GraphUpdateReason::node_type_changed);
  EXPECT_EQ(result.reason_name, "CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED");
  EXPECT_TRUE(says(refusal([&] { executable.update(unlike); }), "cuGraphExecUpdate",
                   "CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED"));
  EXPECT_EQ(run(executable)[0], 2);
  fill.join({});
  EXPECT_EQ(executable.try_update(unlike).reason, GraphUpdateReason::topology_changed);
  EXPECT_TRUE(executable.try_update(like));
}

}  // namespace
}  // namespace cucore::test
