// What a stream does besides ordering: host functions, values in memory, attributes; limits and peers of contexts; and
// the classes of driver errors.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(stream_callback, runs_after_the_work_before_it_and_before_the_work_after_it) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  std::atomic<int> calls{0};
  const Event before = stream.record();
  std::atomic<bool> was_done{false};
  stream.callback([&] { ++calls; });
  stream.callback([&] { was_done = calls == 1; });
  launch(stream, {.grid = {1}, .block = {32}}, kernel("count_threads"), out);
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 32u);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(was_done);
}

TEST(stream_callback, goes_with_what_it_holds) {
  const Stream stream = device().create_stream();
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  stream.callback([held = std::move(held)] {});
  stream.sync();
  while (!watch.expired()) std::this_thread::yield();  // dropped on the driver's thread, after the stream went on
  EXPECT_THROW(stream.callback(nullptr), ValueError);
}

TEST(stream_callback, an_exception_goes_to_the_release_failure_handler) {
  static std::string said;
  said.clear();
  const auto before =
      set_release_failure_handler([](const Error& error, void*) noexcept { said = error.what(); }, nullptr);
  const Stream stream = device().create_stream();
  stream.callback([] { throw std::runtime_error("no such luck"); });
  stream.sync();
  set_release_failure_handler(before);
  EXPECT_TRUE(says(said, "callback", "no such luck"));
}

TEST(stream_values, one_stream_waits_for_what_another_writes) {
  const Stream writer = device().create_stream();
  const Stream waiter = device().create_stream();
  const Buffer words = LegacyPinnedMemoryResource::create()->allocate(16, writer);
  words.fill(std::uint32_t{0}, writer);
  writer.sync();
  waiter.wait_value(words.handle(), std::uint32_t{3});
  waiter.wait_value(words.handle() + 8, std::uint64_t{1} << 40, WaitCondition::any_bit);
  const Event after = waiter.record();
  EXPECT_FALSE(after.is_done());
  writer.write_value(words.handle(), std::uint32_t{3});
  writer.sync();
  EXPECT_FALSE(after.is_done());
  writer.write_value(words.handle() + 8, std::uint64_t{5} << 40);
  waiter.sync();
  EXPECT_TRUE(after.is_done());
  waiter.wait_value(words.handle(), std::uint32_t{3}, WaitCondition::equal);
  waiter.sync();
}

TEST(stream_values, an_address_that_is_none_is_refused) {
  const Stream stream = device().create_stream();
  const Buffer of_a_pool = device().allocate(16, stream);
  EXPECT_TRUE(says(refusal([&] { stream.wait_value(of_a_pool.handle(), std::uint32_t{1}); }),
                   "CUDA_ERROR_INVALID_VALUE", "cuStreamWaitValue32", "of a pool"));
  const Buffer words = LegacyPinnedMemoryResource::create()->allocate(16, stream);
  EXPECT_TRUE(says(refusal([&] { stream.write_value(words.handle() + 2, std::uint32_t{1}); }),
                   "CUDA_ERROR_INVALID_VALUE", "cuStreamWriteValue32"));
  Stream closed = device().create_stream();
  closed.close();
  EXPECT_THROW(closed.write_value(words.handle(), std::uint32_t{1}), StateError);
  EXPECT_THROW(closed.wait_value(words.handle(), std::uint32_t{1}), StateError);
  EXPECT_THROW(closed.callback([] {}), StateError);
  EXPECT_THROW(closed.set_sync_policy(SyncPolicy::spin), StateError);
}

TEST(stream_attributes, are_what_they_were_set_to) {
  const Stream stream = device().create_stream();
  EXPECT_EQ(stream.sync_policy(), SyncPolicy::automatic);
  stream.set_sync_policy(SyncPolicy::blocking_sync);
  EXPECT_EQ(stream.sync_policy(), SyncPolicy::blocking_sync);
  stream.sync();
  EXPECT_EQ(stream.mem_sync_domain(), MemSyncDomain::default_domain);
  if (device().properties().mem_sync_domain_count() > 1) {
    stream.set_mem_sync_domain(MemSyncDomain::remote);
    EXPECT_EQ(stream.mem_sync_domain(), MemSyncDomain::remote);
  }
  if (driver_info().kind == DriverKind::cpu) {  // NVIDIA's driver does not say that it checks the value
    EXPECT_THROW(stream.set_sync_policy(static_cast<SyncPolicy>(99)), DriverError);
  }
}

TEST(stream_events, external_records_and_waits_belong_to_captures) {
  const Stream stream = device().create_stream();
  const Event event = device().create_event();
  EXPECT_TRUE(says(refusal([&] { stream.record_external(event); }), "CUDA_ERROR_", "cuEventRecordWithFlags"));
  EXPECT_TRUE(says(refusal([&] { stream.wait_external(event); }), "CUDA_ERROR_", "cuStreamWaitEvent"));
}

TEST(event_time, is_a_duration_too) {
  const Stream stream = device().create_stream();
  const Event start = stream.record({.timing_enabled = true});
  const Event end = stream.record({.timing_enabled = true});
  end.sync();
  const std::chrono::duration<double> seconds = end - start;
  EXPECT_NEAR(seconds.count() * 1000, static_cast<double>(end.elapsed_time(start)), 1e-6);
}

TEST(limits, can_be_read_and_set) {
  const std::size_t before = device().limit(Limit::stack_size);
  device().set_limit(Limit::stack_size, before + 1024);
  EXPECT_GE(device().limit(Limit::stack_size), before + 1024);
  device().set_limit(Limit::stack_size, before);
  EXPECT_GT(device().context().limit(Limit::malloc_heap_size), 0u);
  EXPECT_GT(device().limit(Limit::printf_fifo_size), 0u);
  EXPECT_TRUE(says(refusal([] { device().limit(static_cast<Limit>(77)); }), "CUDA_ERROR_", "cuCtxGetLimit"));
}

TEST(peers, access_is_granted_and_taken_back_as_often_as_one_likes) {
  EXPECT_THROW(device().enable_peer_access(device()), DriverError);
  if (Device::count() < 2) GTEST_SKIP() << "one device only";
  const Device other(1);
  if (!device().can_access_peer(other)) GTEST_SKIP() << "the devices are no peers";
  device().enable_peer_access(other);
  device().enable_peer_access(other);
  device().disable_peer_access(other);
  device().disable_peer_access(other);
}

TEST(driver_errors, frequent_cases_have_classes_of_their_own) {
  const Stream stream = device().create_stream();
  EXPECT_THROW(device().allocate(std::size_t{1} << 60, stream), OutOfMemoryError);
  try {
    device().limit(static_cast<Limit>(77));
    FAIL() << "the limit was taken";
  } catch (const DriverError& error) {
    EXPECT_FALSE(error.is_sticky());
    EXPECT_EQ(dynamic_cast<const StickyError*>(&error), nullptr);
  }
}

}  // namespace
}  // namespace cucore::test
