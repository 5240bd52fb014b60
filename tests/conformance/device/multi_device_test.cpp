// Several devices in one process: everything happens on the device it was asked of, whichever is current.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

class MultiDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (Device::count() < 2) GTEST_SKIP() << "one device only";
    Device(0).set_current();
  }
  void TearDown() override {
    if (Device::count() < 2) return;
    EXPECT_EQ(Device::current(), Device(0)) << "the caller's context was not left as it was";
  }
};

TEST_F(MultiDevice, creating_calls_act_on_their_device_and_not_on_the_current_one) {
  const Device other(1);
  const Stream stream = other.create_stream();
  EXPECT_EQ(stream.device(), other);
  EXPECT_EQ(other.create_event().device(), other);
  const Buffer buffer = other.allocate(4096, stream);
  EXPECT_EQ(buffer.device_id(), 1);
  EXPECT_EQ(Buffer::from_handle(buffer.handle(), 4096).device_id(), 1);
  buffer.fill(std::uint32_t{3}, stream);
  EXPECT_EQ(read<std::uint32_t>(buffer, stream)[0], 3u);
  other.sync();
}

TEST_F(MultiDevice, a_kernel_runs_on_the_device_of_its_stream) {
  const Kernel count = kernel("count_threads");
  for (int ordinal = 0; ordinal < 2; ++ordinal) {
    const Stream stream = Device(ordinal).create_stream();
    const Buffer out = Device(ordinal).allocate(4, stream);
    out.fill(std::uint32_t{0}, stream);
    launch(stream, {.grid = {2}, .block = {32}}, count, out);
    EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 64u);
  }
}

TEST_F(MultiDevice, shared_memory_is_raised_on_each_device_by_itself) {
  const Kernel touch = ObjectCode::from_ptx(kernels_ptx()).get_kernel("touch_shared");
  for (int ordinal = 1; ordinal >= 0; --ordinal) {
    const Stream stream = Device(ordinal).create_stream();
    const Buffer out = Device(ordinal).allocate(4, stream);
    constexpr std::size_t bytes = 50 * 1024;
    launch(stream, {.shmem_size = bytes}, touch, out, std::uint32_t{bytes});
    EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 12345u);
  }
}

TEST_F(MultiDevice, a_stream_waits_for_a_stream_of_another_device) {
  const Stream first = Device(1).create_stream();
  const Stream second = Device(0).create_stream();
  const Buffer out = LegacyPinnedMemoryResource::create()->allocate(8, first);
  launch(first, {}, kernel("spin"), out, std::uint64_t{100000});
  second.wait(first);
  EXPECT_EQ(read<std::uint64_t>(out, second)[0], 100000u);
}

TEST_F(MultiDevice, objects_are_released_while_another_device_is_current) {
  const unsigned long failures = release_failures();
  {
    const Stream stream = Device(1).create_stream();
    const Event event = stream.record();
    const Buffer pool = Device(1).allocate(4096, stream);
    const Buffer sync = SynchronousMemoryResource::create(Device(1))->allocate(4096, stream);
  }
  EXPECT_EQ(release_failures(), failures);
}

TEST_F(MultiDevice, buffers_are_copied_between_devices) {
  const Stream stream = Device(0).create_stream();
  const Stream other = Device(1).create_stream();
  const Buffer here = Device(0).allocate(1024, stream);
  const Buffer there = Device(1).allocate(1024, other);
  other.sync();
  here.fill(std::uint32_t{11}, stream);
  here.copy_to(there, stream);
  stream.sync();
  EXPECT_EQ(read<std::uint32_t>(there, other), std::vector<std::uint32_t>(256, 11));
}

TEST_F(MultiDevice, an_event_is_refused_on_a_stream_of_another_device_with_advice) {
  const Event event = Device(0).create_event();
  const Stream stream = Device(1).create_stream();
  EXPECT_TRUE(
      says(refusal([&] { event.record(stream); }), "cuEventRecord", "Device 0", "Device 1", "the stream's Device"));
}

TEST_F(MultiDevice, the_time_between_events_of_two_devices_is_refused_with_the_reason) {
  const Event start = Device(0).create_stream().record({.timing_enabled = true});
  const Event end = Device(1).create_stream().record({.timing_enabled = true});
  start.sync();
  end.sync();
  EXPECT_TRUE(says(refusal([&] { end - start; }), "different devices"));
}

TEST_F(MultiDevice, peers_are_granted_and_revoked) {
  if (!Device(0).can_access_peer(Device(1))) {
    const auto pool = DeviceMemoryResource::create(Device(0), DeviceMemoryResourceOptions{});
    EXPECT_TRUE(says(refusal([&] { pool->set_peer_accessible_by({1}); }), "Device 1 cannot access"));
    return;
  }
  const auto pool = DeviceMemoryResource::create(Device(0), DeviceMemoryResourceOptions{});
  EXPECT_TRUE(pool->peer_accessible_by().empty());
  pool->set_peer_accessible_by({0, 1});
  EXPECT_EQ(pool->peer_accessible_by(), std::vector<int>{1});
  const Stream stream = Device(0).create_stream();
  const Buffer out = pool->allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  stream.sync();
  const Stream other = Device(1).create_stream();
  launch(other, {.grid = {1}, .block = {32}}, kernel("count_threads"), out);
  EXPECT_EQ(read<std::uint32_t>(out, other)[0], 32u);
  pool->set_peer_accessible_by({});
  EXPECT_TRUE(pool->peer_accessible_by().empty());
}

TEST_F(MultiDevice, set_current_changes_only_the_calling_thread) {
  std::thread([] {
    Device(1).set_current();
    EXPECT_EQ(Device::current(), Device(1));
    EXPECT_EQ(Stream::legacy_default().device(), Device(1));
  }).join();
}

}  // namespace
}  // namespace cucore::test
