// Lifetimes: order of destruction, failures that are reported, threads that race.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(lifetime, objects_may_go_in_any_order) {
  const unsigned long failures = release_failures();
  for (int order = 0; order < 4; ++order) {
    auto stream = std::make_unique<Stream>(device().create_stream());
    auto event = std::make_unique<Event>(stream->record({.timing_enabled = true}));
    auto buffer = std::make_unique<Buffer>(device().allocate(4096, *stream));
    auto code = std::make_unique<ObjectCode>(ObjectCode::from_ptx(kernels_ptx()));
    auto kernel_of_code = std::make_unique<Kernel>(code->get_kernel("count_threads"));
    buffer->fill(std::uint32_t{0}, *stream);
    launch(*stream, {.grid = {1}, .block = {32}}, *kernel_of_code, *buffer);
    if (order & 1) stream.reset();
    if (order & 2) code.reset();
    buffer.reset();
    event.reset();
    kernel_of_code.reset();
    stream.reset();
    code.reset();
  }
  device().sync();
  EXPECT_EQ(release_failures(), failures);
}

TEST(lifetime, what_is_owned_is_counted_by_kind) {
  device().set_current();
  EXPECT_TRUE(driver_opened());
  const LiveHandles before = live_handles();
  {
    const Stream stream = device().create_stream();
    Stream gone = device().create_stream();
    gone.close();
    gone.close();
    const Stream borrowed = Stream::from_handle(reinterpret_cast<StreamHandle>(2), std::make_shared<int>(1));
    Event event = stream.record();
    const Event moved = std::move(event);
    const Buffer buffer = device().allocate(4096, stream);
    const auto pool = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{.max_size = 33U << 20});
    const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
    const ObjectCode never_loaded = ObjectCode::from_ptx(kernels_ptx());
    const Kernel kernel = code.get_kernel("count_threads");
    const LiveHandles now = live_handles();
    EXPECT_EQ(now.streams, before.streams + 1);
    EXPECT_EQ(now.events, before.events + 1);
    EXPECT_EQ(now.buffers, before.buffers + 1);
    EXPECT_EQ(now.memory_pools, before.memory_pools + 1);
    EXPECT_EQ(now.libraries, before.libraries + 1);
    Buffer released = device().allocate(4096, stream);
    const DevicePointer address = released.release();
    EXPECT_EQ(live_handles().buffers, now.buffers);
    Buffer::adopt(address, 4096, buffer.memory_resource(), stream).close();
  }
  EXPECT_EQ(live_handles(), before);
}

TEST(lifetime, moved_from_objects_are_closed) {
  Stream stream = device().create_stream();
  const Stream moved = std::move(stream);
  EXPECT_FALSE(stream);  // NOLINT(bugprone-use-after-move): the moved-from state is defined
  EXPECT_TRUE(says(refusal([&] { stream.sync(); }), "has been closed"));
  EXPECT_TRUE(moved);
}

std::atomic<int> reports = 0;
std::string last_report;

TEST(lifetime, a_release_that_fails_is_reported_and_not_thrown) {
  const auto before = set_release_failure_handler(
      [](const Error& error, void*) noexcept {
        ++reports;
        last_report = error.what();
      },
      nullptr);
  {
    const Stream stream = device().create_stream();
    Buffer buffer = device().allocate(1 << 16, stream);
    const Buffer wrong = Buffer::adopt(buffer.handle(), buffer.size(), buffer.memory_resource(), stream);
    buffer.close();
  }  // `wrong` frees a second time
  set_release_failure_handler(before);
  EXPECT_EQ(reports, 1);
  EXPECT_TRUE(says(last_report, "cuMemFreeAsync", "CUDA_ERROR_INVALID_VALUE"));
}

TEST(lifetime, stays_in_the_callers_context_when_a_call_fails) {
  device().set_current();
  const Context before = Context::current();
  EXPECT_THROW(device().create_stream({.priority = 999}), ValueError);
  EXPECT_THROW(device().allocate(std::size_t{1} << 50, device().create_stream()), DriverError);
  EXPECT_EQ(Context::current(), before);
}

TEST(lifetime, many_threads_make_and_drop_everything) {
  const unsigned long failures = release_failures();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 10; ++i) {
        const Stream stream = device().create_stream();
        const Buffer out = device().allocate(4, stream);
        out.fill(std::uint32_t{0}, stream);
        launch(stream, {.grid = {1}, .block = {32}}, kernel("count_threads"), out);
        const Event done = stream.record();
        done.sync();
        EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 32u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(release_failures(), failures);
}

TEST(lifetime, a_library_is_loaded_once_however_many_threads_race) {
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
  std::vector<std::thread> threads;
  std::vector<LibraryHandle> handles(4);
  for (std::size_t t = 0; t < handles.size(); ++t) threads.emplace_back([&, t] { handles[t] = code.handle(); });
  for (std::thread& thread : threads) thread.join();
  for (const LibraryHandle handle : handles) EXPECT_EQ(handle, handles[0]);
}

}  // namespace
}  // namespace cucore::test
