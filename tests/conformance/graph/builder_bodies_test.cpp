// GraphBuilder: bodies of conditional nodes.
#include <gtest/gtest.h>

#include "cucore/graph_builder.hpp"
#include "tests/conformance/graph/capture_bench.hpp"

namespace cucore::test {
namespace {

class graph_builder_conditions : public testing::Test {
 protected:
  void SetUp() override {
    if (driver_info().version < 12080) GTEST_SKIP() << "conditional nodes of all kinds came with CUDA 12.8";
  }
  Bench bench;
};

TEST_F(graph_builder_conditions, choose_by_their_value) {
  for (const unsigned value : {0u, 1u, 5u}) {
    bench.put(0);
    GraphBuilder builder(bench.stream);
    builder.begin_building();
    const GraphCondition condition = builder.create_condition(value);
    auto [then, otherwise] = builder.if_else(condition);
    EXPECT_EQ(then.kind(), GraphBuilderKind::conditional_body);
    then.begin_building();
    bench.buffer.fill(std::uint8_t{1}, then);
    then.end_building();
    otherwise.begin_building();
    bench.buffer.fill(std::uint8_t{2}, otherwise);
    otherwise.end_building();
    builder.end_building();
    EXPECT_EQ(bench.after(builder.complete()), value != 0 ? 1u : 2u);
    EXPECT_TRUE(says(refusal([&] { then.complete(); }), "part of its parent's graph"));
    EXPECT_EQ(then.graph_definition().size(), 1u);
  }
}

TEST_F(graph_builder_conditions, switch_among_bodies_captured_or_made_by_hand) {
  for (const unsigned value : {0u, 1u, 2u, 3u}) {
    bench.put(9);
    GraphBuilder builder(bench.stream);
    builder.begin_building();
    bench.buffer.fill(std::uint8_t{8}, builder);
    auto cases = builder.switch_on(builder.create_condition(value), 3);
    ASSERT_EQ(cases.size(), 3u);
    for (std::uint8_t i = 0; i < 2; ++i) {
      cases[i].begin_building();
      bench.buffer.fill(i, cases[i]);
      cases[i].end_building();
    }
    cases[2].graph_definition().memset(bench.buffer, std::uint8_t{2}, 8);
    builder.end_building();
    EXPECT_EQ(bench.after(builder.complete()), value < 3 ? value : 8u);
  }
}

TEST_F(graph_builder_conditions, come_after_what_was_captured_and_before_what_follows) {
  const Buffer other = device().allocate(8, bench.stream);
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  auto forks = builder.split(2);
  bench.buffer.fill(std::uint8_t{1}, forks[0]);
  other.fill(std::uint8_t{3}, builder);
  GraphBuilder::join(builder, forks[0]);
  GraphBuilder body = builder.if_then(builder.create_condition(1));
  body.begin_building();
  auto inner = body.split(2);
  bench.buffer.copy_from(other, inner[0]);
  GraphBuilder::join(inner[0], body);
  GraphBuilder deeper = body.if_then(body.create_condition(0));
  deeper.begin_building();
  bench.buffer.fill(std::uint8_t{7}, deeper);
  deeper.end_building();
  body.end_building();
  builder.callback([] {});
  builder.end_building();
  EXPECT_EQ(bench.after(builder.complete()), 3u);
  const GraphDefinition definition = builder.graph_definition();
  EXPECT_EQ(definition.leaf_nodes().size(), 1u);
  EXPECT_EQ(definition.leaf_nodes()[0].pred()[0].type(), GraphNodeType::conditional);
  EXPECT_EQ(definition.leaf_nodes()[0].pred()[0].pred().size(), 2u);
}

TEST_F(graph_builder_conditions, bodies_end_before_their_parent) {
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  GraphBuilder body = builder.if_then(builder.create_condition(1));
  body.begin_building();
  bench.buffer.fill(std::uint8_t{1}, body);
  EXPECT_TRUE(says(refusal([&] { builder.end_building(); }), "still being captured"));
  body.end_building();
  EXPECT_EQ(bench.after(builder.end_building().complete()), 1u);
}

TEST_F(graph_builder_conditions, bodies_that_go_end_their_captures) {
  const unsigned long failures = release_failures();
  GraphBuilder builder(bench.stream);
  builder.begin_building();
  {
    GraphBuilder body = builder.if_then(builder.create_condition(1));
    body.begin_building();
    bench.buffer.fill(std::uint8_t{1}, body);
  }
  EXPECT_EQ(bench.after(builder.end_building().complete()), 1u);  // what it captured until then is the body
  GraphBuilder another(bench.stream);
  another.begin_building();
  GraphBuilder inside = another.if_then(another.create_condition(1));
  inside.begin_building();
  another.close();  // with the body still being captured
  EXPECT_FALSE(inside.is_building());
  bench.put(1);
  EXPECT_EQ(release_failures(), failures);
}

// NVIDIA's drivers may crash when the parent's capture is ended then.
void check_parent_of_invalidated_body() {
  const Stream lost = device().create_stream();
  GraphBuilder builder(lost);
  builder.begin_building();
  GraphBuilder body = builder.if_then(builder.create_condition(1));
  body.begin_building();
  invalidate(body.stream());
  EXPECT_TRUE(says(refusal([&] { builder.end_building(); }), "body of a conditional node", "invalidated"));
  EXPECT_THROW(body.end_building(), DriverError);
  EXPECT_TRUE(says(refusal([&] { builder.end_building(); }), "invalidated"));
  const unsigned long failures = release_failures();
  builder.close();
  EXPECT_EQ(release_failures(), failures + 1);  // it says that something stays
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

// In a process of its own, which the capture that stays would keep from waiting for its context.
TEST_F(graph_builder_conditions, invalidated_bodies_keep_their_parent_from_ending) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(check_parent_of_invalidated_body(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace cucore::test
