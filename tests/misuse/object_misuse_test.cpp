// One test per mistake a user makes with devices, streams, events and buffers.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(misuse, asking_for_a_device_that_is_not_there) {
  EXPECT_TRUE(says(refusal([] { Device(1000); }), "there is no Device 1000", "Device::count()"));
  EXPECT_THROW(Device(-1), ValueError);
}

TEST(misuse, using_a_closed_stream_for_anything) {
  const Stream open = device().create_stream();
  const Buffer buffer = device().allocate(16, open);
  const Event event = device().create_event();
  Stream closed = device().create_stream();
  closed.close();
  const std::string words = "the Stream has been closed";
  EXPECT_TRUE(says(refusal([&] { closed.sync(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.is_done(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.record(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.record(event); }), words));
  EXPECT_TRUE(says(refusal([&] { event.record(closed); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.wait(event); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.wait(open); }), words));
  EXPECT_TRUE(says(refusal([&] { open.wait(closed); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.device(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.context(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.priority(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.release(); }), words));
  EXPECT_TRUE(says(refusal([&] { device().allocate(1, closed); }), words));
  EXPECT_TRUE(says(refusal([&] { buffer.fill(1, closed); }), words));
  EXPECT_TRUE(says(refusal([&] { buffer.copy_to(closed); }), words));
}

TEST(misuse, using_a_closed_event_for_anything) {
  const Stream stream = device().create_stream();
  const Event open = stream.record({.timing_enabled = true});
  Event closed = device().create_event();
  closed.close();
  closed.close();
  const std::string words = "the Event has been closed";
  EXPECT_TRUE(says(refusal([&] { closed.sync(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.is_done(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.record(stream); }), words));
  EXPECT_TRUE(says(refusal([&] { stream.record(closed); }), words));
  EXPECT_TRUE(says(refusal([&] { stream.wait(closed); }), words));
  EXPECT_TRUE(says(refusal([&] { closed - open; }), words));
  EXPECT_TRUE(says(refusal([&] { open - closed; }), words));
  EXPECT_TRUE(says(refusal([&] { closed.ipc_descriptor(); }), words));
}

TEST(misuse, using_a_closed_buffer_for_anything) {
  const Stream stream = device().create_stream();
  const Buffer open = device().allocate(16, stream);
  Buffer closed = device().allocate(16, stream);
  closed.close();
  const std::string words = "the Buffer has been closed";
  EXPECT_TRUE(says(refusal([&] { closed.fill(1, stream); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.copy_to(open, stream); }), words));
  EXPECT_TRUE(says(refusal([&] { open.copy_to(closed, stream); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.copy_from(open, stream); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.is_host_accessible(); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.set_deallocation_stream(stream); }), words));
  EXPECT_TRUE(says(refusal([&] { closed.release(); }), words));
}

TEST(misuse, releasing_a_stream_that_a_buffer_will_be_freed_on) {
  Stream stream = device().create_stream();
  const Buffer buffer = device().allocate(16, stream);
  EXPECT_TRUE(says(refusal([&] { stream.release(); }), "referred to elsewhere", "buffers"));
}

TEST(misuse, adopting_a_default_stream) {
  EXPECT_TRUE(says(refusal([] { Stream::adopt(Stream::legacy_default().handle()); }), "cannot be owned"));
}

TEST(misuse, owning_memory_on_a_default_stream_with_no_context) {
  const auto resource = device().memory_resource();
  std::thread([&] {
    EXPECT_TRUE(says(refusal([&] { Buffer::adopt(4096, 16, resource); }), "no context is current", "set_current()"));
  }).join();
}

TEST(misuse, a_kernel_that_traps_is_reported_at_the_next_wait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // its context is lost: in a process of its own
  EXPECT_EXIT(
      {
        const Stream stream = device().create_stream();
        launch(stream, {}, ObjectCode::from_ptx(trapping_ptx()).get_kernel("trap_now"));
        std::string text;
        try {
          stream.sync();
        } catch (const DriverError& error) {
          text = error.what();
        }
        std::fprintf(stderr, "%s\n", text.c_str());
        std::exit(text.empty() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "CUDA_ERROR_[A-Z_]*(LAUNCH_FAILED|ILLEGAL_INSTRUCTION|ASSERT).*cuStreamSynchronize");
}

}  // namespace
}  // namespace cucore::test
