// Event pools and timers.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(event_pool, lends_an_idle_event_again) {
  const auto pool = EventPool::create(device().context());
  EventHandle first = nullptr;
  {
    const PooledEvent event = pool->get();
    first = event->handle();
    EXPECT_EQ(pool->idle(), 0u);
  }
  EXPECT_EQ(pool->idle(), 1u);
  EXPECT_EQ(pool->get()->handle(), first);
}

TEST(event_pool, keeps_the_kinds_apart) {
  const auto pool = EventPool::create(device().context());
  {
    const PooledEvent event = pool->get();
  }
  const PooledEvent timed = pool->get({.timing_enabled = true, .blocking_sync = true});
  EXPECT_TRUE(timed->is_timing_enabled());
  EXPECT_TRUE(timed->is_blocking_sync());
  EXPECT_EQ(pool->idle(), 1u);
  EXPECT_THROW(pool->get({.ipc_enabled = true}), TypeError);
}

TEST(event_pool, keeps_no_more_than_its_capacity) {
  const auto pool = EventPool::create(device().context(), 2);
  {
    const PooledEvent a = pool->get();
    const PooledEvent b = pool->get();
    const PooledEvent c = pool->get();
  }
  EXPECT_EQ(pool->idle(), 2u);
  pool->trim(1);
  EXPECT_EQ(pool->idle(), 1u);
  pool->set_capacity(0);
  EXPECT_EQ(pool->idle(), 0u);
  {
    const PooledEvent event = pool->get();
  }
  EXPECT_EQ(pool->idle(), 0u);
}

TEST(event_pool, follows_a_capacity_that_changes_while_events_are_out) {
  const auto pool = EventPool::create(device().context(), 20);
  const auto use = [&](std::size_t count) {
    std::vector<PooledEvent> events(count);
    for (PooledEvent& event : events) event = pool->get();
  };
  use(20);  // more than the first room that is made
  EXPECT_EQ(pool->idle(), 20u);
  {
    const PooledEvent a = pool->get();
    const PooledEvent b = pool->get();
    pool->set_capacity(1);
    EXPECT_EQ(pool->idle(), 1u);
  }
  EXPECT_EQ(pool->idle(), 1u);
  pool->set_capacity(12);
  use(14);
  EXPECT_EQ(pool->idle(), 12u);
}

TEST(event_pool, takes_back_only_what_nobody_else_uses) {
  const auto pool = EventPool::create(device().context());
  Event kept;
  {
    const PooledEvent event = pool->get();
    kept = event->share();
  }
  EXPECT_EQ(pool->idle(), 0u);
  EXPECT_TRUE(kept.is_done());
  Event closed;
  EXPECT_FALSE(pool->try_put(closed));
  PooledEvent released = pool->get();
  const Event mine = released.release();
  EXPECT_TRUE(mine.is_done());
  EXPECT_FALSE(released);
  EXPECT_EQ(pool->idle(), 0u);
}

TEST(event_pool, is_shared_by_threads) {
  const auto pool = EventPool::create(device().context(), 4);
  const Stream stream = device().create_stream();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const PooledEvent event = pool->get();
        event->record(stream);
        event->sync();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool->idle(), 4u);
  EXPECT_GE(pool->idle(), 1u);
}

TEST(event_pool, may_go_before_the_events_it_lent) {
  auto pool = EventPool::create(device().context());
  PooledEvent lent = pool->get();
  PooledEvent kept = pool->get();
  pool->get().give_back();  // leaves an idle one
  pool = nullptr;
  const Stream stream = device().create_stream();
  lent->record(stream);
  const Event mine = kept.release();
  mine.record(stream);
  PooledEvent moved = std::move(lent);
  moved->sync();
  moved.give_back();
  EXPECT_FALSE(moved);
  mine.sync();
  EXPECT_TRUE(mine.is_done());
}

TEST(event_pool, of_a_device_is_one_for_all) {
  EXPECT_EQ(device().event_pool(), device().event_pool());
  EXPECT_EQ(device().event_pool()->context(), device().context());
}

TEST(timer, gives_the_time_of_the_work_between) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(8, stream);
  Timer timer(stream);
  EXPECT_TRUE(says(refusal([&] { timer.milliseconds(); }), "has not been stopped", "stop()"));
  launch(stream, {}, kernel("spin"), out, std::uint64_t{50000});
  timer.stop();
  const float milliseconds = timer.milliseconds();
  EXPECT_GT(milliseconds, 0.0f);
  EXPECT_EQ(timer.milliseconds(), milliseconds);
  EXPECT_TRUE(timer.is_done());
  EXPECT_TRUE(says(refusal([&] { timer.stop(); }), "has been read"));
  EXPECT_GE(timed(stream, [] {}).milliseconds(), 0.0f);
}

TEST(timer, gives_its_events_back) {
  const Stream stream = device().create_stream();
  device().event_pool()->trim();
  {
    const Timer never_stopped(stream);
  }
  EXPECT_EQ(device().event_pool()->idle(), 2u);
  timed(stream, [] {}).milliseconds();
  EXPECT_EQ(device().event_pool()->idle(), 2u);
}

}  // namespace
}  // namespace cucore::test
