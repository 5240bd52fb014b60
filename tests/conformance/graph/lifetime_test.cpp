// Graphs: what keeps what alive, and what is let go when, from whatever thread.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "cucore/deferred_release.hpp"
#include "cucore/graph.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

/// Something to keep alive, and to see the end of.
struct Watched {
  std::shared_ptr<int> owner = std::make_shared<int>(0);
  std::weak_ptr<int> watch = owner;
  std::shared_ptr<int> give() { return std::move(owner); }
  bool is_kept() const {
    release_deferred();
    return !watch.expired();
  }
  /// The driver lets go on a thread of its own, soon.
  void wait_until_let_go() const {
    while (is_kept()) std::this_thread::yield();
  }
};

/// A callback that holds the launches it is in until it is told to let them go on.
struct Gate {
  std::promise<void> promise;
  std::shared_future<void> open = promise.get_future().share();
  std::function<void()> wait() const {
    return [open = open] { open.wait(); };
  }
};

class graph_lifetime : public testing::Test {
 protected:
  const Stream stream = device().create_stream();
  GraphDefinition definition;
  void run(const Graph& executable) const {
    executable.launch(stream);
    stream.sync();
  }
  /// A buffer in memory that is freed elsewhere, seen by the end of `watched`.
  static Buffer buffer(const Buffer& memory, Watched& watched) {
    return Buffer::from_handle(memory.handle(), memory.size(), watched.give());
  }
};

TEST_F(graph_lifetime, a_buffer_may_be_closed_while_a_graph_uses_its_memory) {
  Watched argument, source, filled;
  const Buffer memory = device().allocate(16, stream);
  Buffer a = buffer(memory, argument);
  Buffer b = buffer(memory, source);
  Buffer c = buffer(memory, filled);
  definition.launch({}, kernel("_Z4echoPii"), a, 1);
  definition.memcpy(memory.handle() + 8, b, 4);
  definition.memset(c, std::uint8_t{0}, 4);
  a.close();
  b.close();
  c.close();
  EXPECT_TRUE(argument.is_kept() && source.is_kept() && filled.is_kept());
  Graph executable = definition.instantiate();
  definition.close();
  run(executable);
  EXPECT_TRUE(argument.is_kept() && source.is_kept() && filled.is_kept());
  executable.close();
  argument.wait_until_let_go();
  source.wait_until_let_go();
  filled.wait_until_let_go();
  EXPECT_THROW(GraphDefinition().memset(a, std::uint8_t{0}, 4), ValueError);
}

TEST_F(graph_lifetime, an_allocation_is_freed_when_no_graph_needs_it) {
  const auto pool = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{});
  Buffer memory = pool->allocate(16, stream);
  definition.memset(memory, std::uint8_t{1}, 16);
  memory.close();
  stream.sync();
  EXPECT_GE(pool->attributes().used_mem_current, 16u);
  Graph executable = definition.instantiate();
  definition.close();
  run(executable);
  EXPECT_GE(pool->attributes().used_mem_current, 16u);
  executable.close();
  while (pool->attributes().used_mem_current != 0) {
    release_deferred();
    stream.sync();
  }
}

TEST_F(graph_lifetime, what_an_update_replaces_is_kept_for_the_graphs_that_were_made_before) {
  Watched before, after;
  const auto node = definition.callback([held = before.give()] { ++*held; });
  Graph executable = definition.instantiate();
  node.update([held = after.give()] {});
  EXPECT_TRUE(before.is_kept());
  run(executable);
  EXPECT_EQ(*before.watch.lock(), 1);
  executable.close();
  before.wait_until_let_go();
  EXPECT_TRUE(after.is_kept());
  node.destroy();
  after.wait_until_let_go();
}

TEST_F(graph_lifetime, an_update_that_fails_keeps_the_old_and_lets_the_new_go) {
  Watched old_one, new_one;
  const Buffer memory = device().allocate(16, stream);
  const auto node = definition.memset(buffer(memory, old_one), std::uint8_t{1}, 16);
  EXPECT_THROW(node.update({.dst = MemoryOperand(memory.handle(), new_one.give()), .width = 0}), DriverError);
  new_one.wait_until_let_go();
  EXPECT_TRUE(old_one.is_kept());
  EXPECT_TRUE(node.dst_owner() != nullptr);
  // And so with a node that is not added at all.
  Watched refused;
  EXPECT_THROW(definition.memset(MemoryOperand(memory.handle(), refused.give()), std::uint8_t{1}, 0), DriverError);
  refused.wait_until_let_go();
  EXPECT_EQ(definition.size(), 1u);
}

TEST_F(graph_lifetime, what_an_update_leaves_out_stays_kept) {
  Watched dst, src, other;
  const Buffer memory = device().allocate(16, stream);
  const auto node = definition.memcpy(buffer(memory, dst), MemoryOperand(memory.handle() + 8, src.give()), 4);
  node.update({.size = 8});
  EXPECT_TRUE(dst.is_kept() && src.is_kept());
  node.update({.src = MemoryOperand(memory.handle() + 8, other.give())});
  src.wait_until_let_go();
  EXPECT_TRUE(dst.is_kept() && other.is_kept());
  node.update({.src = memory.handle() + 8});
  other.wait_until_let_go();
  EXPECT_EQ(node.src_owner(), nullptr);
}

TEST_F(graph_lifetime, a_launch_on_its_way_keeps_what_it_uses) {
  Watched used;
  Gate gate;
  definition.callback(gate.wait()).callback([held = used.give()] { ++*held; });
  Graph executable = definition.instantiate();
  executable.launch(stream);
  definition.close();
  executable.close();
  EXPECT_TRUE(used.is_kept());
  gate.promise.set_value();
  stream.sync();
  used.wait_until_let_go();
}

TEST_F(graph_lifetime, views_keep_what_they_replaced_until_the_whole_graph_is_updated) {
  Watched defined, first, second;
  Gate gate;
  const auto waits = definition.callback(gate.wait());
  const auto node = waits.callback([held = defined.give()] {});
  Graph executable = definition.instantiate();
  executable[node].update([held = first.give()] {});
  executable.launch(stream);
  executable[node].update([held = second.give()] {});
  EXPECT_TRUE(first.is_kept() && second.is_kept() && defined.is_kept());
  gate.promise.set_value();
  stream.sync();
  EXPECT_TRUE(first.is_kept());
  executable.update(definition);
  first.wait_until_let_go();
  second.wait_until_let_go();
  EXPECT_TRUE(defined.is_kept());
  Watched third;
  executable[node].update([held = third.give()] {});
  executable.close();
  third.wait_until_let_go();
}

TEST_F(graph_lifetime, an_update_from_a_view_that_fails_keeps_nothing) {
  Watched refused;
  const Buffer memory = device().allocate(16, stream);
  const auto node = definition.memset(memory, std::uint8_t{1}, 16);
  const Graph executable = definition.instantiate();
  EXPECT_THROW(executable[node].update(MemoryOperand(memory.handle(), refused.give()), std::uint8_t{1}, 0),
               DriverError);
  refused.wait_until_let_go();
}

TEST_F(graph_lifetime, a_whole_update_takes_over_what_the_source_keeps) {
  Watched old_one, new_one;
  definition.callback([held = old_one.give()] {});
  Graph executable = definition.instantiate();
  definition.close();
  {
    GraphDefinition source;
    source.callback([held = new_one.give()] { ++*held; });
    executable.update(source);
  }
  old_one.wait_until_let_go();
  run(executable);
  EXPECT_EQ(*new_one.watch.lock(), 1);
  GraphDefinition unlike;
  unlike.empty();
  EXPECT_THROW(executable.update(unlike), DriverError);
  EXPECT_TRUE(new_one.is_kept());
  executable.close();
  new_one.wait_until_let_go();
}

TEST_F(graph_lifetime, clones_and_embedded_graphs_keep_their_own_references) {
  Watched held_by_all, given_to_child;
  GraphDefinition child;
  const auto in_child = child.callback([held = held_by_all.give()] {});
  GraphDefinition copy = child.clone();
  const auto node = definition.embed(child);
  in_child.update([held = given_to_child.give()] {});
  child.close();
  in_child.destroy();
  EXPECT_TRUE(held_by_all.is_kept());
  copy.close();
  Graph executable = definition.instantiate();
  node.destroy();
  EXPECT_TRUE(held_by_all.is_kept());
  run(executable);
  executable.close();
  held_by_all.wait_until_let_go();
}

TEST_F(graph_lifetime, bodies_keep_what_they_use) {
  Watched used;
  const Buffer memory = device().allocate(16, stream);
  definition.if_then(definition.create_condition(1)).branches()[0].memset(buffer(memory, used), std::uint8_t{5}, 16);
  Graph executable = definition.instantiate();
  definition.close();
  EXPECT_TRUE(used.is_kept());
  run(executable);
  EXPECT_EQ(read<std::uint8_t>(memory, stream)[0], 5);
  executable.close();
  used.wait_until_let_go();
}

TEST_F(graph_lifetime, a_kernel_node_keeps_its_code_loaded) {
  const Buffer out = device().allocate(4, stream);
  {
    const ObjectCode code = ObjectCode::from_ptx(kernels_ptx(), "of a node");
    definition.launch({}, code.get_kernel("_Z4echoPii"), out, 3);
  }
  Graph executable = definition.instantiate();
  definition.close();
  run(executable);
  EXPECT_EQ(read<std::int32_t>(out, stream)[0], 3);
}

TEST_F(graph_lifetime, last_references_may_go_in_any_threads) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t rounds = 20;
  std::atomic<int> calls{0};
  std::vector<std::weak_ptr<int>> watches(threads * rounds);
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      const Stream own = device().create_stream();
      for (std::size_t i = 0; i < rounds; ++i) {
        Watched used;
        watches[t * rounds + i] = used.watch;
        auto own_definition = std::make_unique<GraphDefinition>();
        own_definition->callback([&calls, held = used.give()] { ++calls; });
        auto executable = std::make_unique<Graph>(own_definition->instantiate());
        executable->launch(own);
        std::thread other([moved = std::move(executable)]() mutable { moved.reset(); });
        own_definition.reset();
        other.join();
      }
      own.sync();
    });
  }
  for (auto& thread : all) thread.join();
  EXPECT_EQ(calls, static_cast<int>(threads * rounds));
  for (const auto& watch : watches) {
    while (!watch.expired()) release_deferred();
  }
}

TEST_F(graph_lifetime, an_owner_may_itself_own_a_graph) {
  Watched innermost;
  {
    auto inner = std::make_shared<GraphDefinition>();
    inner->callback([held = innermost.give()] {});
    auto inner_graph = std::make_shared<Graph>(inner->instantiate());
    definition.callback([inner, inner_graph] {});
  }
  EXPECT_TRUE(innermost.is_kept());
  definition.close();
  innermost.wait_until_let_go();
}

TEST_F(graph_lifetime, a_safe_point_is_asked_for_once) {
  static std::atomic<int> asked{0};
  static std::atomic<bool> answer{true};
  asked = 0;
  const SafePointHook before = set_safe_point_hook([]() noexcept {
    ++asked;
    return answer.load();
  });
  release_deferred();
  Watched one, other;
  Gate gate;
  definition.callback(gate.wait()).callback([held = one.give()] {}).callback([held = other.give()] {});
  {
    Graph executable = definition.instantiate();
    executable.launch(stream);
    definition.close();
  }
  gate.promise.set_value();
  // Without a safe point of this thread's: the driver lets go, and only asks.
  while (!stream.is_done()) std::this_thread::yield();
  while (asked == 0) std::this_thread::yield();
  one.wait_until_let_go();
  other.wait_until_let_go();
  set_safe_point_hook(before);
  EXPECT_GE(asked, 1);
  EXPECT_LE(asked, 4);  // one for each thing at most
}

}  // namespace
}  // namespace cucore::test
