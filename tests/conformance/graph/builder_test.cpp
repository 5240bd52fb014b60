// GraphBuilder: graphs by capture; and memory of graphs.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cucore/graph_builder.hpp"
#include "tests/conformance/graph/capture_bench.hpp"

namespace cucore::test {
namespace {

TEST(graph_builder, records_instead_of_running) {
  const Bench bench;
  GraphBuilder builder = bench.stream.create_graph_builder();
  EXPECT_EQ(builder.kind(), GraphBuilderKind::primary);
  EXPECT_EQ(builder.stream(), bench.stream);
  EXPECT_FALSE(builder.is_join_required());
  EXPECT_FALSE(builder.is_building());
  builder.begin_building();
  EXPECT_TRUE(builder.is_building());
  EXPECT_EQ(bench.stream.capture_status(), CaptureStatus::active);
  bench.buffer.fill(std::uint8_t{7}, builder);
  builder.end_building();
  EXPECT_FALSE(builder.is_building());
  EXPECT_TRUE(builder.has_ended());
  EXPECT_EQ(bench.first(), 0u);
  const Graph graph = builder.complete();
  EXPECT_EQ(bench.after(graph), 7u);
  bench.put(0);
  EXPECT_EQ(bench.after(builder.complete({.use_node_priority = true})), 7u);
  builder.close();
  bench.put(0);
  EXPECT_EQ(bench.after(graph), 7u);  // independent of the builder
}

TEST(graph_builder, takes_kernels) {
  Bench bench;
  GraphBuilder builder = device().create_graph_builder();
  builder.begin_building(CaptureMode::thread_local_);
  launch(builder, {.grid = {2}, .block = {32}}, kernel("count_threads"), bench.buffer);
  launch(builder, {.grid = {1}, .block = {8}}, kernel("count_threads"), bench.buffer);
  const Graph graph = builder.end_building().complete();
  EXPECT_EQ(bench.after(graph), 72u);
  EXPECT_EQ(bench.after(graph), 144u);
}

TEST(graph_builder, has_an_order_of_calls) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  const auto refused = [&](auto call, auto... words) { EXPECT_TRUE(says(refusal(call), words...)); };
  refused([&] { builder.end_building(); }, "not building", "begin_building()");
  refused([&] { builder.complete(); }, "not finished building");
  refused([&] { builder.graph_definition(); }, "not finished building");
  refused([&] { builder.debug_dot_print("/dev/null"); }, "not finished building");
  refused([&] { builder.split(2); }, "not building");
  refused([&] { builder.create_condition(); }, "not building");
  refused([&] { builder.callback([] {}); }, "not building");
  refused([&] { builder.retain(nullptr); }, "not building");
  refused([&] { builder.begin_building(static_cast<CaptureMode>(3)); }, "no such mode");
  builder.begin_building();
  refused([&] { builder.begin_building(); }, "building already");
  refused([&] { builder.complete(); }, "not finished building");
  refused([&] { builder.graph_definition(); }, "not finished building");
  refused([&] { builder.split(1); }, "split into 1");
  builder.end_building();
  refused([&] { builder.begin_building(); }, "Cannot resume");
  refused([&] { builder.end_building(); }, "not building");
}

TEST(graph_builder, closed_refuses) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.close();
  builder.close();
  EXPECT_FALSE(builder);
  EXPECT_FALSE(builder.stream());
  const auto refused = [&](auto call) { EXPECT_TRUE(says(refusal(call), "has been closed")); };
  refused([&] { builder.begin_building(); });
  refused([&] { builder.end_building(); });
  refused([&] { builder.complete(); });
  refused([&] { builder.is_building(); });
  refused([&] { bench.buffer.fill(std::uint8_t{1}, builder); });
  refused([&] { GraphBuilder().split(2); });
  refused([&] { GraphBuilder other(Stream{}); });
  GraphBuilder moved(bench.stream);
  const GraphBuilder to = std::move(moved);
  refused([&] { moved.begin_building(); });
  EXPECT_TRUE(static_cast<bool>(to));
}

TEST(graph_builder, leaves_the_definition_to_edit) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  bench.buffer.fill(std::uint8_t{1}, builder);
  GraphDefinition definition = builder.end_building().graph_definition();
  EXPECT_EQ(builder.graph_definition(), definition);
  ASSERT_EQ(definition.size(), 1u);
  definition.leaf_nodes()[0].memset(bench.buffer, std::uint8_t{5}, 8);
  EXPECT_EQ(bench.after(builder.complete()), 5u);  // later completions have it
  builder.close();
  EXPECT_EQ(definition.size(), 2u);  // and it outlives the builder
  EXPECT_EQ(bench.after(definition.instantiate()), 5u);
}

TEST(graph_builder, forks_and_joins) {
  const Bench bench;
  const Buffer other = device().allocate(8, bench.stream);
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  bench.buffer.fill(std::uint8_t{1}, builder);
  {
    auto forks = builder.split(3);
    ASSERT_EQ(forks.size(), 2u);
    for (GraphBuilder& fork : forks) {
      EXPECT_EQ(fork.kind(), GraphBuilderKind::forked);
      EXPECT_TRUE(fork.is_join_required());
      EXPECT_TRUE(fork.is_building());
      EXPECT_NE(fork.stream(), builder.stream());
      EXPECT_TRUE(says(refusal([&] { fork.begin_building(); }), "building already"));
      EXPECT_TRUE(says(refusal([&] { fork.end_building(); }), "forked"));
      EXPECT_TRUE(says(refusal([&] { fork.complete(); }), "not finished building"));
      EXPECT_TRUE(says(refusal([&] { fork.graph_definition(); }), "no graph of its own"));
    }
    auto more = forks[0].split(2);
    other.copy_from(bench.buffer, more[0]);
    EXPECT_EQ(&GraphBuilder::join(more[0], forks[0]), &more[0]);  // all forked: the first
    EXPECT_FALSE(forks[0]);
    EXPECT_EQ(&GraphBuilder::join(forks[1], builder, more[0]), &builder);  // else the one that is not
    EXPECT_FALSE(forks[1]);
    EXPECT_FALSE(more[0]);
  }
  bench.buffer.fill(std::uint8_t{9}, builder);
  builder.end_building();
  EXPECT_EQ(builder.graph_definition().size(), 3u);
  builder.complete().launch(bench.stream);
  EXPECT_EQ(read<std::uint8_t>(other, bench.stream)[7], 1u);
  EXPECT_EQ(bench.first(), 9u);
}

TEST(graph_builder, joins_only_what_belongs_together) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  GraphBuilder other = device().create_graph_builder();
  const auto refused = [&](auto call, const char* words) { EXPECT_TRUE(says(refusal(call), words)); };
  builder.begin_building();
  refused([&] { GraphBuilder::join(builder); }, "at least two");
  refused([&] { GraphBuilder::join(builder, builder); }, "given twice");
  refused([&] { GraphBuilder::join(builder, other); }, "not building");
  other.begin_building();
  refused([&] { GraphBuilder::join(builder, other); }, "not forked");
  auto forks = builder.split(2);
  refused([&] { GraphBuilder::join(builder, forks[0], forks[0]); }, "given twice");
  GraphBuilder::join(builder, forks[0]);
  refused([&] { GraphBuilder::join(builder, forks[0]); }, "has been closed");
  EXPECT_TRUE(builder.is_building());
  EXPECT_TRUE(other.is_building());
}

TEST(graph_builder, closes_the_forks_that_a_failed_join_did_not_reach) {
  const unsigned long failures = release_failures();
  const Bench bench;
  {
    GraphBuilder builder(bench.stream);
    GraphBuilder stranger = device().create_graph_builder();
    builder.begin_building();
    stranger.begin_building();
    auto forks = builder.split(3);
    auto strange = stranger.split(2);
    // The second is of another capture: the driver merges no two.
    EXPECT_THROW(GraphBuilder::join(builder, forks[0], strange[0], forks[1]), DriverError);
    EXPECT_FALSE(forks[0]);
    EXPECT_FALSE(forks[1]);
    EXPECT_FALSE(strange[0]);
    EXPECT_TRUE(static_cast<bool>(builder));
    EXPECT_THROW(builder.end_building(), DriverError);
  }
  bench.put(3);
  EXPECT_EQ(bench.first(), 3u);
  EXPECT_EQ(release_failures(), failures);
}

TEST(graph_builder, says_that_forks_were_not_joined) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  auto forks = builder.split(2);
  bench.buffer.fill(std::uint8_t{1}, forks[0]);
  EXPECT_TRUE(says(refusal([&] { builder.end_building(); }), "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "left no graph"));
  EXPECT_TRUE(says(refusal([&] { builder.complete(); }), "failed and left no graph"));
  EXPECT_FALSE(forks[0].is_building());
  forks.clear();
  bench.put(2);
  EXPECT_EQ(bench.first(), 2u);
}

TEST(graph_builder, ends_an_invalidated_capture_and_says_so) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  bench.buffer.fill(std::uint8_t{1}, builder);
  invalidate(bench.stream);
  EXPECT_TRUE(says(refusal([&] { builder.is_building(); }), "invalidated", "end_building()"));
  EXPECT_TRUE(says(refusal([&] { builder.callback([] {}); }), "invalidated"));
  EXPECT_TRUE(says(refusal([&] { builder.end_building(); }), "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "no graph"));
  EXPECT_TRUE(builder.has_ended());
  EXPECT_FALSE(builder.is_building());
  EXPECT_TRUE(says(refusal([&] { builder.complete(); }), "left no graph"));
  EXPECT_TRUE(says(refusal([&] { builder.graph_definition(); }), "left no graph"));
  EXPECT_TRUE(says(refusal([&] { builder.end_building(); }), "not building"));
  builder.close();
  bench.put(4);  // the stream is a stream again
  EXPECT_EQ(bench.first(), 4u);
}

TEST(graph_builder, that_goes_lets_its_stream_go) {
  const unsigned long failures = release_failures();
  const Bench bench;
  for (const bool broken : {false, true}) {
    GraphBuilder builder(bench.stream);
    builder.begin_building(CaptureMode::global);
    bench.buffer.fill(std::uint8_t{1}, builder);
    auto forks = builder.split(2);
    bench.buffer.fill(std::uint8_t{2}, forks[0]);
    if (broken) invalidate(bench.stream);
    builder = GraphBuilder();
    EXPECT_EQ(bench.stream.capture_status(), CaptureStatus::none);
  }
  {
    GraphBuilder builder(bench.stream);
    builder.begin_building();
    builder.close();
  }
  bench.put(6);
  EXPECT_EQ(bench.first(), 6u);
  EXPECT_EQ(release_failures(), failures);
}

TEST(graph_builder, ended_in_another_thread_leaves_nothing_of_a_capture_that_is_not_relaxed) {
  Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building(CaptureMode::thread_local_);
  bench.buffer.fill(std::uint8_t{3}, builder);
  std::thread([&] {
    EXPECT_TRUE(says(refusal([&] { builder.end_building(); }), "WRONG_THREAD", "another thread", "is over"));
  }).join();
  EXPECT_FALSE(builder.is_building());
  EXPECT_THROW(builder.end_building(), StateError);
  EXPECT_EQ(bench.stream.capture_status(), CaptureStatus::none);
  bench.put(4);
  EXPECT_EQ(bench.first(), 4u);
}

TEST(graph_builder, cannot_capture_the_legacy_stream) {
  device().set_current();
  GraphBuilder builder(Stream::legacy_default());
  EXPECT_TRUE(says(refusal([&] { builder.begin_building(); }), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "legacy"));
  EXPECT_FALSE(builder.is_building());
}

TEST(graph_builder, calls_back_in_order) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  std::atomic<int> calls{0};
  std::atomic<unsigned> seen{0};
  const Buffer pinned = LegacyPinnedMemoryResource::create()->allocate(8, bench.stream);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(pinned.handle());
  auto owner = std::make_shared<int>(0);
  const std::weak_ptr<int> kept = owner;
  bench.buffer.fill(std::uint8_t{6}, builder);
  pinned.copy_from(bench.buffer, builder);
  builder.callback([&calls, &seen, bytes, held = std::move(owner)] {
    ++calls;
    seen = *bytes;
  });
  builder.callback([](void* count) { *static_cast<std::atomic<int>*>(count) += 10; }, &calls);
  bench.buffer.fill(std::uint8_t{8}, builder);
  Graph graph = builder.end_building().complete();
  EXPECT_EQ(builder.graph_definition().edges().size(), 4u);  // one after the other
  builder.close();
  EXPECT_EQ(bench.after(graph), 8u);
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(seen, 6u);
  EXPECT_FALSE(kept.expired());  // with the executable
  bench.stream.sync();
  graph.close();
}

TEST(graph_builder, calls_back_after_all_that_was_joined) {
  const Bench bench;
  const Buffer other = device().allocate(8, bench.stream);
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  auto forks = builder.split(2);
  bench.buffer.fill(std::uint8_t{1}, forks[0]);
  other.fill(std::uint8_t{1}, builder);
  GraphBuilder::join(builder, forks[0]);
  builder.callback([] {});
  const GraphDefinition definition = builder.end_building().graph_definition();
  ASSERT_EQ(definition.leaf_nodes().size(), 1u);
  EXPECT_EQ(definition.leaf_nodes()[0].type(), GraphNodeType::host);
  EXPECT_EQ(definition.leaf_nodes()[0].pred().size(), 2u);
}

TEST(graph_builder, embeds_a_clone) {
  const Bench bench;
  GraphBuilder child = device().create_graph_builder();
  GraphBuilder builder(bench.stream);
  const auto refused = [&](const char* words) {
    EXPECT_THROW(builder.embed(child), ValueError);
    EXPECT_TRUE(says(refusal([&] { builder.embed(child); }), words));
  };
  refused("is not building");
  builder.begin_building();
  refused("has not finished building");
  child.begin_building();
  bench.buffer.fill(std::uint8_t{4}, child);
  refused("has not finished building");
  child.end_building();
  bench.buffer.fill(std::uint8_t{1}, builder);
  builder.embed(child);
  child.close();
  const Graph graph = builder.end_building().complete();
  EXPECT_EQ(bench.after(graph), 4u);
  const GraphDefinition definition = builder.graph_definition();
  EXPECT_EQ(definition.size(), 2u);
  EXPECT_EQ(definition.leaf_nodes()[0].type(), GraphNodeType::graph);
}

TEST(graph_builder, retains_what_it_is_told) {
  const Bench bench;
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> kept = owner;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  bench.buffer.fill(std::uint8_t{1}, builder);
  builder.retain(std::move(owner));
  Graph graph = builder.end_building().complete();
  builder.close();
  EXPECT_FALSE(kept.expired());
  bench.after(graph);
  graph.close();
  while (!kept.expired()) release_deferred();  // the driver lets go on a thread of its own, soon
}

TEST(graph_builder, dropped_graphs_take_their_views_with_them) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  GraphBuilder body = builder.if_then(builder.create_condition(1));
  const GraphDefinition inside = body.graph_definition();
  EXPECT_TRUE(inside.is_valid());
  builder.close();
  EXPECT_FALSE(inside.is_valid());
  EXPECT_TRUE(says(refusal([&] { body.begin_building(); }), "no longer valid"));
}

TEST(graph_builder, writes_dot) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  bench.buffer.fill(std::uint8_t{1}, builder);
  builder.end_building();
  const auto path = std::filesystem::temp_directory_path() / "cucore_graph_builder_test.dot";
  builder.debug_dot_print(path.string(), {.verbose = true});
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("digraph"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(capture_scope, ends_or_aborts) {
  const Bench bench;
  GraphBuilder builder(bench.stream);
  {
    CaptureScope scope(builder);
    bench.buffer.fill(std::uint8_t{2}, builder);
    scope.end();
  }
  EXPECT_EQ(bench.after(builder.complete()), 2u);
  GraphBuilder failing(bench.stream);
  EXPECT_THROW(
      {
        CaptureScope scope(failing, CaptureMode::global);
        throw 1;
      },
      int);
  EXPECT_FALSE(failing);
  bench.put(1);
}

TEST(graph_memory, is_allocated_by_the_graph) {
  if (!device().properties().memory_pools_supported()) GTEST_SKIP() << "the device has no pools";
  const Bench bench;
  const auto memory = GraphMemoryResource::of(device());
  EXPECT_EQ(memory, GraphMemoryResource::of(Device(0)));
  EXPECT_TRUE(says(refusal([&] { memory->allocate(8, bench.stream); }), "non-capturing stream"));
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  EXPECT_TRUE(says(refusal([&] { device().allocate(8, builder); }), "capturing", "GraphMemoryResource"));
  Buffer scratch = memory->allocate(8, builder);
  scratch.fill(std::uint8_t{5}, builder);
  bench.buffer.copy_from(scratch, builder);
  scratch.close();
  const Graph graph = builder.end_building().complete();
  EXPECT_EQ(bench.after(graph), 5u);
  bench.put(0);
  EXPECT_EQ(bench.after(graph), 5u);
  EXPECT_GT(memory->attributes().used_mem_high, 0u);
  EXPECT_EQ(builder.graph_definition().size(), 4u);
}

TEST(graph_memory, refuses_an_invalidated_capture) {
  if (!device().properties().memory_pools_supported()) GTEST_SKIP() << "the device has no pools";
  const Bench bench;
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  invalidate(bench.stream);
  EXPECT_TRUE(says(refusal([&] { GraphMemoryResource::of(device())->allocate(8, builder); }), "invalidated"));
  EXPECT_TRUE(says(refusal([&] { device().allocate(8, builder); }), "captur"));
}

}  // namespace
}  // namespace cucore::test
