// Streams.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

constexpr std::uint64_t a_while = 200000;

TEST(stream, is_nonblocking_and_of_lowest_priority_by_default) {
  const Stream stream = device().create_stream();
  EXPECT_TRUE(stream);
  EXPECT_TRUE(stream.is_nonblocking());
  EXPECT_EQ(stream.priority(), 0);
}

TEST(stream, keeps_the_options_it_was_made_with) {
  const Stream stream = device().create_stream({.nonblocking = false, .priority = 0});
  EXPECT_FALSE(stream.is_nonblocking());
  EXPECT_EQ(stream.priority(), 0);
}

TEST(stream, takes_every_priority_of_the_range_and_no_other) {
  const Stream high = device().create_stream({.priority = -1});
  EXPECT_EQ(high.priority(), -1);
  EXPECT_TRUE(says(refusal([] { device().create_stream({.priority = 1000}); }), "priority 1000", "out of range"));
  EXPECT_THROW(device().create_stream({.priority = -1000}), ValueError);
}

TEST(stream, wrapped_by_handle_is_equal_and_asks_the_driver_for_its_options) {
  const Stream stream = device().create_stream({.nonblocking = true, .priority = -1});
  const Stream wrapped = Stream::from_handle(stream.handle());
  EXPECT_EQ(wrapped, stream);
  EXPECT_TRUE(wrapped.is_nonblocking());
  EXPECT_EQ(wrapped.priority(), -1);
  EXPECT_EQ(wrapped.device(), device());
  EXPECT_EQ(wrapped.context(), device().context());
  wrapped.sync();
}

TEST(stream, borrowed_is_not_destroyed_by_closing) {
  const Stream stream = device().create_stream();
  Stream wrapped = Stream::from_handle(stream.handle());
  wrapped.close();
  stream.sync();
  EXPECT_TRUE(stream.is_done());
}

TEST(stream, released_and_adopted_changes_its_owner) {
  device().set_current();  // a handle alone brings no context
  Stream stream = device().create_stream();
  const StreamHandle handle = stream.release();
  EXPECT_FALSE(stream);
  Stream owner = Stream::adopt(handle);
  owner.sync();
  EXPECT_EQ(owner.device(), device());
  owner.close();
  EXPECT_FALSE(owner);
}

TEST(stream, is_done_tells_whether_work_is_left) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(8, stream);
  stream.sync();
  EXPECT_TRUE(stream.is_done());
  launch(stream, {}, kernel("spin"), out, a_while);
  stream.sync();
  EXPECT_TRUE(stream.is_done());
  EXPECT_EQ(read<std::uint64_t>(out, stream)[0], a_while);
}

TEST(stream, waits_for_an_event_of_another_stream) {
  const Stream first = device().create_stream();
  const Stream second = device().create_stream();
  const Buffer out = device().allocate(8, first);
  launch(first, {}, kernel("spin"), out, a_while);
  const Event done = first.record();
  second.wait(done);
  EXPECT_EQ(read<std::uint64_t>(out, second)[0], a_while);
}

TEST(stream, waits_for_another_stream) {
  const Stream first = device().create_stream();
  const Stream second = device().create_stream();
  const Buffer out = device().allocate(8, first);
  launch(first, {}, kernel("spin"), out, a_while);
  second.wait(first);
  EXPECT_EQ(read<std::uint64_t>(out, second)[0], a_while);
}

TEST(stream, does_not_wait_for_an_event_never_recorded) {
  const Stream stream = device().create_stream();
  stream.wait(device().create_event());
  stream.sync();
}

TEST(stream, legacy_default_follows_the_current_context) {
  std::thread([] {
    EXPECT_TRUE(says(refusal([] { Stream::legacy_default().context(); }), "none is current", "set_current()"));
    device().set_current();
    EXPECT_EQ(Stream::legacy_default().context(), device().context());
    EXPECT_EQ(Stream::per_thread_default().device(), device());
    Stream::legacy_default().record().sync();
    Stream::per_thread_default().sync();
  }).join();
}

TEST(stream, default_ones_run_kernels) {
  std::thread([] {
    device().set_current();
    for (const Stream* stream : {&Stream::legacy_default(), &Stream::per_thread_default()}) {
      const Buffer out = device().allocate(4, *stream);
      out.fill(std::uint32_t{0}, *stream);
      launch(*stream, {.grid = {2}, .block = {32}}, kernel("count_threads"), out);
      EXPECT_EQ(read<std::uint32_t>(out, *stream)[0], 64u);
    }
  }).join();
}

TEST(stream, is_not_capturing_by_itself) { EXPECT_EQ(device().create_stream().capture_status(), CaptureStatus::none); }

TEST(stream, works_from_a_thread_with_no_context) {
  const Stream stream = device().create_stream();
  std::thread([&] {
    const Event event = stream.record();
    stream.wait(event);
    stream.sync();
    EXPECT_TRUE(stream.is_done());
    EXPECT_TRUE(event.is_done());
    EXPECT_EQ(stream.capture_status(), CaptureStatus::none);
    EXPECT_FALSE(Context::current());
  }).join();
}

TEST(stream, is_destroyed_in_another_thread_while_work_is_pending_and_the_work_completes) {
  const Buffer out = device().allocate(8, device().create_stream());
  {
    Stream stream = device().create_stream();
    launch(stream, {}, kernel("spin"), out, a_while);
    std::thread([moved = std::move(stream)]() mutable { moved.close(); }).join();
  }
  device().sync();
  EXPECT_EQ(read<std::uint64_t>(out, device().create_stream())[0], a_while);
}

TEST(stream, shared_stays_open_until_the_last_reference) {
  Stream stream = device().create_stream();
  const Stream second = stream.share();
  stream.close();
  second.sync();
  EXPECT_TRUE(second);
}

TEST(stream, used_by_many_threads_at_once) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  const Kernel count = kernel("count_threads");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) launch(stream, {.grid = {1}, .block = {32}}, count, out);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 4u * 25u * 32u);
}

}  // namespace
}  // namespace cucore::test
