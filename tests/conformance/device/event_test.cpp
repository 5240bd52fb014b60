// Events: made apart from recording, recorded anywhere and again, and timed.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(event, is_made_without_recording_and_counts_as_done) {
  const Event event = device().create_event();
  EXPECT_TRUE(event.is_done());
  event.sync();
  EXPECT_FALSE(event.is_timing_enabled());
  EXPECT_FALSE(event.is_blocking_sync());
  EXPECT_FALSE(event.is_ipc_enabled());
  EXPECT_EQ(event.device(), device());
}

TEST(event, keeps_its_options) {
  const Event event = device().create_event({.timing_enabled = true, .blocking_sync = true});
  EXPECT_TRUE(event.is_timing_enabled());
  EXPECT_TRUE(event.is_blocking_sync());
  event.record(device().create_stream());
  event.sync();
}

TEST(event, is_recorded_on_any_stream_any_number_of_times) {
  const Stream a = device().create_stream();
  const Stream b = device().create_stream();
  const Event event = device().create_event();
  event.record(a);
  event.sync();
  event.record(b);
  b.record(event);
  event.sync();
  EXPECT_TRUE(event.is_done());
}

TEST(event, of_a_stream_record_is_in_the_streams_context) {
  const Stream stream = device().create_stream();
  const Event event = stream.record({.timing_enabled = true});
  EXPECT_EQ(event.context(), stream.context());
  event.sync();
}

TEST(event, gives_the_time_between_two) {
  const Stream stream = device().create_stream();
  const Event start = device().create_event({.timing_enabled = true});
  const Event end = device().create_event({.timing_enabled = true});
  const Buffer out = device().allocate(8, stream);
  start.record(stream);
  launch(stream, {}, kernel("spin"), out, std::uint64_t{50000});
  end.record(stream);
  end.sync();
  EXPECT_GT(end.elapsed_time(start), 0.0f);
  EXPECT_EQ((end - start).count(), end.elapsed_time(start));
  EXPECT_LT((start - end).count(), 0.0f);
  EXPECT_EQ((start - start).count(), 0.0f);
}

TEST(event, borrowed_and_adopted_are_used_like_others) {
  Event event = device().create_event();
  const EventHandle handle = event.release();
  const Event borrowed = Event::from_handle(handle);
  EXPECT_EQ(borrowed.handle(), handle);
  EXPECT_FALSE(borrowed.device());
  EXPECT_FALSE(borrowed.context());
  EXPECT_TRUE(borrowed.is_done());
  const Event adopted = Event::adopt(handle);
  EXPECT_TRUE(adopted.is_done());
}

TEST(event, found_by_its_handle_shares_the_ownership) {
  Event event = device().create_event({.timing_enabled = true});
  Event same = Event::from_handle(event.handle());
  EXPECT_TRUE(same.is_timing_enabled());
  EXPECT_EQ(same.device(), device());
  EXPECT_THROW(event.release(), StateError);
  const EventHandle handle = event.handle();
  event.close();
  EXPECT_TRUE(same.is_done());
  same.close();
  EXPECT_FALSE(Event::from_handle(handle).device());  // nothing is known of it any more
}

TEST(event, is_found_by_a_handle_that_several_threads_asked_for) {
  for (int round = 0; round < 50; ++round) {
    const Event event = device().create_event({.timing_enabled = true});
    std::vector<std::thread> threads;
    std::atomic<int> found{0};
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] { found += Event::from_handle(event.handle()).is_timing_enabled() ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(found, 4);
  }
}

TEST(event, is_waited_for_with_a_limit) {
  const Stream stream = device().create_stream();
  std::promise<void> gate;
  stream.callback([opened = gate.get_future().share()] { opened.wait(); });
  const Event end = stream.record();
  EXPECT_FALSE(end.sync_for(std::chrono::microseconds(1)));
  EXPECT_FALSE(stream.sync_for(std::chrono::microseconds(1)));
  gate.set_value();
  EXPECT_TRUE(end.sync_for(std::chrono::minutes(1)));
  EXPECT_TRUE(stream.sync_for(std::chrono::nanoseconds(0)));
  const Stream later = device().create_stream();
  end.wait_on(later);
  later.sync();
}

TEST(event, works_from_a_thread_with_no_context) {
  const Stream stream = device().create_stream();
  const Event start = stream.record({.timing_enabled = true});
  const Event end = stream.record({.timing_enabled = true});
  std::thread([&] {
    end.sync();
    EXPECT_TRUE(end.is_done());
    EXPECT_GE((end - start).count(), 0.0f);
    EXPECT_FALSE(Context::current());
  }).join();
}

TEST(event, outlives_its_stream_and_device_objects) {
  Event event;
  {
    Stream stream = device().create_stream();
    event = stream.record();
  }
  event.sync();
  EXPECT_TRUE(event.is_done());
}

TEST(event, subtraction_says_that_timing_is_off) {
  const Stream stream = device().create_stream();
  const Event timed = stream.record({.timing_enabled = true});
  const Event untimed = stream.record();
  stream.sync();
  EXPECT_TRUE(says(refusal([&] { timed - untimed; }), "timing enabled", "the start does not"));
  EXPECT_TRUE(says(refusal([&] { untimed - timed; }), "timing enabled", "the end does not"));
  EXPECT_TRUE(says(refusal([&] { untimed - untimed; }), "timing enabled", "neither does"));
  EXPECT_THROW(timed - untimed, StateError);
}

TEST(event, subtraction_says_that_one_was_never_recorded) {
  const Stream stream = device().create_stream();
  const Event recorded = stream.record({.timing_enabled = true});
  const Event never = device().create_event({.timing_enabled = true});
  stream.sync();
  EXPECT_TRUE(says(refusal([&] { never - recorded; }), "must be recorded", "record(stream)"));
  EXPECT_TRUE(says(refusal([&] { recorded - never; }), "must be recorded"));
}

TEST(event, subtraction_says_that_one_has_not_completed) {
  const Stream stream = device().create_stream();
  const Event start = stream.record({.timing_enabled = true});
  std::promise<void> gate;
  stream.callback([opened = gate.get_future().share()] { opened.wait(); });
  const Event end = stream.record({.timing_enabled = true});
  const std::string text = refusal([&] { end - start; });
  const bool done = end.is_done();
  gate.set_value();
  stream.sync();
  EXPECT_FALSE(done);
  EXPECT_TRUE(says(text, "not completed", "sync()"));
}

TEST(event, for_other_processes_is_made_by_record_and_bound_for_life) {
  const Stream stream = device().create_stream();
  EXPECT_TRUE(says(refusal([] { device().create_event({.ipc_enabled = true}); }), "Stream::record"));
  EXPECT_THROW(stream.record({.timing_enabled = true, .ipc_enabled = true}), TypeError);
  if (!device().properties().ipc_event_supported()) GTEST_SKIP() << "the device has no IPC events";
  const Event event = stream.record({.ipc_enabled = true});
  EXPECT_TRUE(event.is_ipc_enabled());
  EXPECT_TRUE(says(refusal([&] { stream.record(event); }), "re-recorded"));
  const auto bytes = event.ipc_descriptor();
  EXPECT_NE(bytes, (std::array<std::byte, 64>{}));
}

TEST(event, that_is_not_for_other_processes_has_no_descriptor) {
  EXPECT_TRUE(says(refusal([] { device().create_event().ipc_descriptor(); }), "not IPC-enabled"));
}

}  // namespace
}  // namespace cucore::test
