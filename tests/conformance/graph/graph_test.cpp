// Graphs: building, instantiating and launching them; what their nodes do.
#include "cucore/graph.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

using Ints = std::vector<std::int32_t>;

class graph : public testing::Test {
 protected:
  const Stream stream = device().create_stream();
  const Buffer ints = device().allocate(4 * 4, stream);
  GraphDefinition definition;

  void SetUp() override {
    ints.fill(std::int32_t{0}, stream);
    stream.sync();
  }
  void run(const Graph& executable) const {
    executable.launch(stream);
    stream.sync();
  }
  DevicePointer at(std::size_t i) const { return ints.handle() + 4 * i; }
  /// A kernel node that stores `value` at the i-th int.
  static KernelNode store(const GraphPoint& point, const Buffer& to, std::size_t i, int value) {
    return point.launch({}, kernel("_Z4echoPii"), reinterpret_cast<int*>(to.handle() + 4 * i), value);
  }
};

TEST_F(graph, nodes_run_after_what_they_depend_on) {
  const auto first = store(definition, ints, 0, 1);
  const auto second = store(first, ints, 0, 2);
  const auto copy = second.memcpy(at(1), at(0), 4);
  copy.memset(at(2), std::uint8_t{7}, 4);
  run(definition.instantiate());
  EXPECT_EQ(read<std::int32_t>(ints, stream), (Ints{2, 2, 0x07070707, 0}));
}

TEST_F(graph, one_definition_makes_many_graphs_that_are_launched_many_times) {
  store(definition, ints, 0, 5);
  const Graph one = definition.instantiate();
  const Graph other = definition.instantiate({.upload_stream = &stream});
  definition.close();
  one.upload(stream);
  one.launch(stream);
  run(one);
  EXPECT_EQ(read<std::int32_t>(ints, stream)[0], 5);
  ints.fill(std::int32_t{0}, stream);
  run(other);
  EXPECT_EQ(read<std::int32_t>(ints, stream)[0], 5);
}

TEST_F(graph, a_fill_has_rows_of_elements_of_one_two_or_four_bytes) {
  definition.memset(ints, std::uint16_t{0x1234}, 1, 2, 8);
  definition.memset(at(1), 1.0f, 1);
  run(definition.instantiate());
  EXPECT_EQ(read<std::int32_t>(ints, stream), (Ints{0x1234, 0x3f800000, 0x1234, 0}));
  EXPECT_TRUE(says(refusal([] { FillPattern::from_bytes(std::as_bytes(std::span("abc", 3))); }), "3"));
}

TEST_F(graph, memory_of_the_host_is_copied_from_where_it_is_said_to_be_the_hosts) {
  const Ints values{1, 2, 3, 4};
  Ints back(4);
  const auto in = definition.memcpy(ints, MemoryOperand::host(values.data()), 16);
  const auto out = in.memcpy(Buffer::from_handle(reinterpret_cast<DevicePointer>(back.data()), 16), ints,
                             16);  // not known to the driver
  EXPECT_TRUE(in.is_src_host());
  EXPECT_FALSE(in.is_dst_host());
  EXPECT_TRUE(out.is_dst_host());
  // The address alone counts as a device's, page-locked memory excepted.
  const Buffer locked = LegacyPinnedMemoryResource::create()->allocate(16, stream);
  EXPECT_TRUE(definition.memcpy(locked.handle(), at(0), 4).is_dst_host());
  run(definition.instantiate());
  EXPECT_EQ(back, values);
}

TEST_F(graph, callbacks_run_in_order_and_what_they_throw_is_recorded) {
  static std::string said;
  const auto before =
      set_release_failure_handler([](const Error& error, void*) noexcept { said = error.what(); }, nullptr);
  std::atomic<int> calls{0};
  const auto first = definition.callback([&] {
    ++calls;
    throw std::runtime_error("no such luck");
  });
  first.callback([](void* data) { *static_cast<std::atomic<int>*>(data) += 10; }, &calls);
  const Graph executable = definition.instantiate();
  EXPECT_FALSE(executable.last_callback_error().has_value());
  run(executable);
  set_release_failure_handler(before);
  EXPECT_EQ(calls, 11);
  EXPECT_TRUE(says(said, "no such luck", "callback"));
  ASSERT_TRUE(executable.last_callback_error().has_value());
  EXPECT_TRUE(says(executable.last_callback_error()->what(), "no such luck"));
  EXPECT_THROW(definition.callback(std::function<void()>()), ValueError);
  EXPECT_THROW(definition.callback(HostFunction{nullptr}, nullptr), ValueError);
}

TEST_F(graph, a_callback_that_reported_its_failure_itself_is_only_recorded) {
  const unsigned long reports = release_failures();
  GraphDefinition inner;
  inner.callback([] { throw CallbackFailure({.call = "mine", .message = "known"}); });
  definition.embed(inner);
  const Graph executable = definition.instantiate();
  run(executable);
  EXPECT_TRUE(says(executable.last_callback_error()->what(), "known"));
  EXPECT_EQ(release_failures(), reports);
}

TEST_F(graph, events_are_recorded_and_waited_for) {
  const Event event = device().create_event({.timing_enabled = true});
  const auto record = store(definition, ints, 0, 3).record(event);
  EXPECT_EQ(record.event(), event);
  EXPECT_TRUE(record.event().is_timing_enabled());
  GraphDefinition waiting;
  const auto wait = waiting.wait(event);
  EXPECT_EQ(wait.event(), event);
  wait.memcpy(at(1), at(0), 4);
  definition.instantiate().launch(stream);
  const Stream other = device().create_stream();
  waiting.instantiate().launch(other);
  other.sync();
  EXPECT_TRUE(event.is_done());
  EXPECT_EQ(read<std::int32_t>(ints, stream)[1], 3);
  EXPECT_TRUE(says(refusal([&] { definition.record(Event()); }), "closed"));
}

TEST_F(graph, a_child_graph_is_a_clone) {
  GraphDefinition child;
  const auto stored = store(child, ints, 0, 1);
  const auto node = definition.embed(child);
  store(node, ints, 1, 2);
  store(stored, ints, 0, 9);  // too late for the clone
  EXPECT_EQ(node.child_graph().size(), 1u);
  EXPECT_EQ(node.child_graph().nodes()[0].graph(), node.child_graph());
  EXPECT_NE(node.child_graph().nodes()[0], stored);
  EXPECT_EQ(node.child_graph(), node.child_graph());
  run(definition.instantiate());
  EXPECT_EQ(read<std::int32_t>(ints, stream), (Ints{1, 2, 0, 0}));
}

TEST_F(graph, a_child_that_cannot_be_cloned_leaves_nothing_behind) {
  GraphDefinition child;
  child.allocate(64);
  EXPECT_TRUE(says(refusal([&] { definition.embed(child); }), "cuGraphAddNode", "child graph"));
  EXPECT_EQ(definition.size(), 0u);
}

TEST_F(graph, a_clone_is_a_graph_of_its_own) {
  const auto original = store(definition, ints, 0, 1);
  original.callback([] {});
  const GraphDefinition copy = definition.clone();
  EXPECT_NE(copy, definition);
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_EQ(copy.edges().size(), 1u);
  original.set_arguments(reinterpret_cast<int*>(at(0)), 2);
  for (const GraphNode& node : copy.nodes()) {
    if (node.is<KernelNode>()) {
      EXPECT_EQ(node.as<KernelNode>().kernel(), kernel("_Z4echoPii"));
    }
  }
  definition.close();
  run(copy.instantiate());
  EXPECT_EQ(read<std::int32_t>(ints, stream)[0], 1);
}

TEST_F(graph, memory_of_the_graph_lives_between_its_nodes) {
  const auto memory = definition.allocate(16);
  EXPECT_NE(memory.dptr(), 0u);
  EXPECT_EQ(memory.bytesize(), 16u);
  EXPECT_EQ(memory.device_id(), 0);
  EXPECT_EQ(memory.memory_type(), GraphMemoryType::device);
  const auto filled = memory.memset(memory.dptr(), std::int32_t{6}, 4);
  const auto freed = filled.memcpy(ints, memory.dptr(), 16).deallocate(memory.dptr());
  EXPECT_EQ(freed.dptr(), memory.dptr());
  const Graph executable = definition.instantiate();
  run(executable);
  run(executable);
  EXPECT_EQ(read<std::int32_t>(ints, stream), (Ints{6, 6, 6, 6}));
  // The driver's rules for such graphs.
  EXPECT_TRUE(says(refusal([&] { filled.destroy(); }), "cuGraphDestroyNode", "allocation"));
  EXPECT_TRUE(filled.is_valid());
  EXPECT_TRUE(says(refusal([&] { definition.clone(); }), "cuGraphClone"));
  EXPECT_THROW(definition.deallocate(0), DriverError);
  EXPECT_THROW(definition.allocate(16, {.device = 1000}), ValueError);
}

TEST_F(graph, memory_that_a_launch_left_is_in_the_way_of_the_next) {
  definition.allocate(16);
  const Graph strict = definition.instantiate();
  run(strict);
  EXPECT_TRUE(says(refusal([&] { strict.launch(stream); }), "cuGraphLaunch", "auto_free_on_launch"));
}

TEST_F(graph, memory_that_a_launch_left_is_freed_by_the_next_if_asked_to) {
  definition.allocate(16);
  const Graph lenient = definition.instantiate({.auto_free_on_launch = true});
  run(lenient);
  run(lenient);
}

TEST_F(graph, conditions_choose_bodies) {
  const auto yes = definition.create_condition(1);
  const auto no = definition.create_condition(0);
  const auto two = definition.create_condition(2);
  const auto if_yes = definition.if_then(yes);
  EXPECT_EQ(if_yes.condition(), yes);
  EXPECT_EQ(if_yes.cond_type(), GraphConditionalType::if_);
  store(if_yes.branches()[0], ints, 0, 1);
  const auto if_no = if_yes.if_else(no);
  ASSERT_EQ(if_no.branches().size(), 2u);
  store(if_no.branches()[0], ints, 1, 1);
  store(if_no.branches()[1], ints, 1, 2);
  const auto chosen = if_no.switch_on(two, 3);
  for (std::size_t i = 0; i < 3; ++i) store(chosen.branches()[i], ints, 2, static_cast<int>(i) + 10);
  store(chosen.while_loop(definition.create_condition(0)).branches()[0], ints, 3, 1);  // never
  run(definition.instantiate());
  EXPECT_EQ(read<std::int32_t>(ints, stream), (Ints{1, 2, 12, 0}));
}

TEST_F(graph, conditions_belong_to_a_graph_and_are_to_be_used) {
  GraphDefinition other;
  const auto foreign = other.create_condition();
  EXPECT_THROW(definition.if_then(foreign), DriverError);
  EXPECT_THROW(definition.switch_on(definition.create_condition(), 0), DriverError);
  EXPECT_EQ(definition.size(), 0u);
  const std::string text = refusal([&] { definition.instantiate(); });
  EXPECT_TRUE(says(text, "condition", "instantiate"));
  EXPECT_THROW(definition.instantiate(), StateError);
}

TEST_F(graph, a_condition_has_one_node_and_a_body_no_callback) {
  const auto condition = definition.create_condition(1);
  const auto node = definition.if_then(condition);
  EXPECT_THROW(definition.while_loop(condition), DriverError);
  EXPECT_TRUE(says(refusal([&] { definition.clone(); }), "NOT_SUPPORTED", "conditional nodes cannot be cloned"));
  node.branches()[0].callback([] {});
  EXPECT_TRUE(says(refusal([&] { definition.instantiate(); }), "instantiated", "host callback", "body"));
}

TEST_F(graph, a_cycle_cannot_be_instantiated) {
  const auto first = definition.empty();
  const auto second = first.join({});
  first.add_pred(std::vector<GraphNode>{second});
  EXPECT_THROW(definition.instantiate(), StateError);
  EXPECT_TRUE(says(refusal([&] { definition.instantiate(); }), "cycle", "instantiate"));
  EXPECT_THROW(definition.sorted_nodes(), StateError);
}

TEST_F(graph, options_that_exclude_each_other_are_refused) {
  EXPECT_THROW(definition.instantiate({.auto_free_on_launch = true, .device_launch = true}), Error);
}

TEST_F(graph, the_dot_file_shows_what_is_asked_for) {
  store(definition, ints, 0, 1);
  const auto file = std::filesystem::temp_directory_path() / ("graph-" + std::to_string(getpid()) + ".dot");
  definition.debug_dot_print(file.string(), {.verbose = true});
  std::string text;
  std::getline(std::ifstream(file), text, '\0');
  std::filesystem::remove(file);
  EXPECT_TRUE(says(text, "digraph", "echo"));
  EXPECT_THROW(definition.debug_dot_print("/no/such/folder/graph.dot"), DriverError);
  EXPECT_EQ(GraphDebugPrintOptions{}.flags(), 0u);
  EXPECT_EQ((GraphDebugPrintOptions{.verbose = true, .conditional_node_params = true}).flags(), 0x8001u);
}

TEST_F(graph, nothing_of_a_launch_config_is_lost) {
  const Buffer count = device().allocate(4, stream);
  count.fill(std::uint32_t{0}, stream);
  LaunchConfig config{.grid = {2}, .block = {32}, .is_cooperative = true};
  config.access_policy_window = AccessPolicyWindow{.base = count.handle(), .num_bytes = 4};
  EXPECT_EQ(definition.launch(config, kernel("count_threads"), count).config(), config);
  run(definition.instantiate());
  EXPECT_EQ(read<std::uint32_t>(count, stream)[0], 64u);
  EXPECT_THROW(
      definition.launch({.grid = {1u << 22}, .block = {1024}, .is_cooperative = true}, kernel("count_threads"), count),
      ValueError);
}

TEST_F(graph, the_grid_counts_clusters_where_there_are_clusters) {
  if (device().compute_capability().major < 9) GTEST_SKIP() << "the device has no clusters";
  const Buffer count = device().allocate(4, stream);
  count.fill(std::uint32_t{0}, stream);
  const LaunchConfig config{.grid = {3}, .block = {32}, .cluster = Dim3{2}};
  const auto node = definition.launch(config, kernel("count_threads"), count);
  EXPECT_EQ(node.config(), config);
  run(definition.instantiate());
  EXPECT_EQ(read<std::uint32_t>(count, stream)[0], 3u * 2 * 32);
}

TEST_F(graph, dynamic_shared_memory_is_allowed_as_a_launch_allows_it) {
  const Buffer out = device().allocate(4, stream);
  const unsigned bytes = 60 * 1024;
  definition.launch({.block = {32}, .shmem_size = bytes}, kernel("touch_shared"), out, bytes);
  run(definition.instantiate());
}

TEST_F(graph, arguments_are_checked_as_a_launch_checks_them) {
  EXPECT_THROW(definition.launch({}, kernel("_Z4echoPii"), 1), TypeError);
  EXPECT_THROW(definition.launch({}, kernel("_Z4echoPii"), ints, 1.5f), TypeError);
  EXPECT_THROW(definition.launch({.grid = {0}}, kernel("no_parameters")), ValueError);
  EXPECT_THROW(definition.launch({}, Kernel()), StateError);
  EXPECT_TRUE(says(refusal([&] { definition.launch({.block = {4096}}, kernel("no_parameters")); }), "block", "4096"));
  EXPECT_EQ(definition.size(), 0u);
  const Kernel echo = kernel("_Z4echoPii");
  ArgumentPack pack(echo);
  pack.add_pointer(at(3));
  pack.add_integer(8);
  definition.launch({}, pack);
  run(definition.instantiate());
  EXPECT_EQ(read<std::int32_t>(ints, stream)[3], 8);
}

TEST_F(graph, the_threads_context_is_left_as_it_was) {
  Context::set_none_current();
  const auto node = store(definition, ints, 0, 1);
  node.memset(at(1), std::uint8_t{1}, 1);
  node.set_arguments(reinterpret_cast<int*>(at(0)), 2);
  definition.if_then(definition.create_condition(0));
  const Graph executable = definition.instantiate();
  executable[node].update(LaunchConfig{}, kernel("_Z4echoPii"), reinterpret_cast<int*>(at(0)), 3);
  run(executable);
  EXPECT_FALSE(Context::current());
}

TEST_F(graph, what_is_closed_refuses_to_work) {
  Graph executable = definition.instantiate();
  EXPECT_TRUE(executable);
  const Graph other = executable.share();
  executable.close();
  executable.close();
  EXPECT_EQ(executable.handle(), nullptr);
  EXPECT_THROW(executable.launch(stream), StateError);
  EXPECT_THROW(executable.upload(stream), StateError);
  EXPECT_THROW(executable.update(definition), StateError);
  run(other);
  const GraphDefinition view = definition.share();
  definition.close();
  definition.close();
  EXPECT_FALSE(definition);
  EXPECT_EQ(definition.handle(), nullptr);
  EXPECT_TRUE(says(refusal([&] { definition.empty(); }), "has been closed"));
  EXPECT_THROW(definition.instantiate(), StateError);
  EXPECT_THROW(definition.nodes(), StateError);
  view.empty();
  EXPECT_THROW(other.launch(Stream()), StateError);
}

}  // namespace
}  // namespace cucore::test
