// Memory resources.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "src/driver/table.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

bool pools() { return device().properties().memory_pools_supported(); }

TEST(device_memory_resource, of_the_driver_keeps_idle_memory) {
  if (!pools()) GTEST_SKIP() << "the device has no pools";
  const auto resource = DeviceMemoryResource::create(device());
  EXPECT_FALSE(resource->is_handle_owned());
  EXPECT_NE(resource->handle(), nullptr);
  EXPECT_EQ(resource->device_id(), 0);
  EXPECT_GT(resource->attributes().release_threshold, 0u);
}

TEST(device_memory_resource, of_its_own_counts_what_it_hands_out) {
  if (!pools()) GTEST_SKIP() << "the device has no pools";
  const Stream stream = device().create_stream();
  const auto resource = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{});
  EXPECT_TRUE(resource->is_handle_owned());
  EXPECT_EQ(resource->attributes().release_threshold, UINT64_MAX);
  EXPECT_EQ(resource->attributes().used_mem_current, 0u);
  Buffer buffer = resource->allocate(1 << 20, stream);
  stream.sync();
  EXPECT_GE(resource->attributes().used_mem_current, std::uint64_t{1} << 20);
  EXPECT_GE(resource->attributes().reserved_mem_current, resource->attributes().used_mem_current);
  buffer.close();
  stream.sync();
  EXPECT_EQ(resource->attributes().used_mem_current, 0u);
  resource->trim_to(0);
  resource->set_release_threshold(4096);
  EXPECT_EQ(resource->attributes().release_threshold, 4096u);
}

TEST(device_memory_resource, closed_refuses_and_its_buffers_live_on) {
  if (!pools()) GTEST_SKIP() << "the device has no pools";
  const unsigned long failures = release_failures();
  const Stream stream = device().create_stream();
  auto resource = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{});
  const Buffer buffer = resource->allocate(4096, stream);
  const auto pool = static_cast<driver::CUmemoryPool>(resource->handle());
  resource->close();
  resource->close();
  std::uint64_t used = 0;
  EXPECT_EQ(driver::table().cuMemPoolGetAttribute(pool, driver::CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used),
            driver::CUDA_SUCCESS);
  EXPECT_GE(used, 4096u);
  EXPECT_EQ(resource->handle(), nullptr);
  EXPECT_TRUE(says(refusal([&] { resource->allocate(1, stream); }), "has been closed"));
  EXPECT_TRUE(says(refusal([&] { resource->attributes(); }), "has been closed"));
  buffer.fill(std::uint32_t{7}, stream);
  EXPECT_EQ(read<std::uint32_t>(buffer, stream)[1023], 7u);
  EXPECT_EQ(release_failures(), failures);
}

TEST(device_memory_resource, out_of_memory_keeps_its_code_and_says_what_to_do) {
  const Stream stream = device().create_stream();
  try {
    device().allocate(std::size_t{1} << 50, stream);
    FAIL() << "allocated a pebibyte";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code_name(), "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_TRUE(says(error.what(), "1125899906842624 bytes", "close buffers"));
  }
  device().allocate(64, stream).fill(std::uint8_t{1}, stream);  // and goes on working
  stream.sync();
}

TEST(device_memory_resource, has_no_peers_of_its_own_and_ignores_itself) {
  if (!pools()) GTEST_SKIP() << "the device has no pools";
  const auto resource = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{});
  resource->set_peer_accessible_by({0});
  EXPECT_TRUE(resource->peer_accessible_by().empty());
}

// Work that the stream's thread waits for may be the caller's to do: a destructor may not wait for it.
TEST(device_memory_resource, goes_without_waiting_for_its_frees) {
  if (!pools()) GTEST_SKIP() << "the device has no pools";
  const Stream stream = device().create_stream();
  struct Gate {
    std::promise<void> open;
    std::future<void> opened = open.get_future();
    std::future_status status = std::future_status::deferred;
  } gate;
  const auto wait_at = [](void* data) {
    auto& at = *static_cast<Gate*>(data);
    at.status = at.opened.wait_for(std::chrono::minutes(1));
  };
  auto resource = DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{});
  Buffer buffer = resource->allocate(4096, stream);
  device().set_current();
  ASSERT_EQ(driver::table().cuLaunchHostFunc(stream.handle(), wait_at, &gate), driver::CUDA_SUCCESS);
  buffer.close();
  resource.reset();
  gate.open.set_value();
  stream.sync();
  EXPECT_EQ(gate.status, std::future_status::ready);
}

TEST(device_memory_resource, allocates_from_many_threads) {
  const Stream stream = device().create_stream();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const Buffer buffer = device().allocate(static_cast<std::size_t>(256 * (i + 1)), stream);
        buffer.fill(static_cast<std::uint8_t>(t), stream);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream.sync();
}

// On the device and on the host: a kernel adds one for every thread to a number the host wrote.
void used_from_both_sides(MemoryResource& resource) {
  const Stream stream = device().create_stream();
  const Buffer buffer = resource.allocate(4, stream);
  stream.sync();
  auto* const number = reinterpret_cast<volatile std::uint32_t*>(buffer.handle());
  *number = 100;
  launch(stream, {.grid = {1}, .block = {32}}, kernel("count_threads"), buffer);
  stream.sync();
  EXPECT_EQ(*number, 132u);
  buffer.fill(std::uint32_t{5}, stream);
  stream.sync();
  EXPECT_EQ(*number, 5u);
}

TEST(legacy_pinned_memory, is_used_from_host_and_device) {
  const auto resource = LegacyPinnedMemoryResource::create();
  EXPECT_EQ(resource->device_id(), -1);
  used_from_both_sides(*resource);
}

TEST(pinned_memory_resource, is_used_from_host_and_device) {
  std::shared_ptr<PinnedMemoryResource> resource;
  try {
    resource = PinnedMemoryResource::create();
  } catch (const DriverError& error) {
    EXPECT_TRUE(says(error.what(), "LegacyPinnedMemoryResource"));
    GTEST_SKIP() << "the driver has no host pool";
  }
  EXPECT_EQ(resource->numa_id(), -1);
  EXPECT_EQ(resource->device_id(), -1);
  used_from_both_sides(*resource);
}

TEST(pinned_memory_resource, of_its_own_is_used_from_host_and_device) {
  std::shared_ptr<PinnedMemoryResource> resource;
  try {
    resource = PinnedMemoryResource::create(PinnedMemoryResourceOptions{});
  } catch (const DriverError&) {
    GTEST_SKIP() << "the driver has no host pools";
  }
  EXPECT_TRUE(resource->is_handle_owned());
  used_from_both_sides(*resource);
}

TEST(pinned_memory_resource, refuses_a_negative_node) {
  EXPECT_TRUE(says(refusal([] { PinnedMemoryResource::create({.numa_id = -2}); }), "numa_id is -2"));
}

TEST(synchronous_memory_resource, allocates_on_its_device) {
  const auto resource = SynchronousMemoryResource::create(device());
  EXPECT_EQ(resource->device_id(), 0);
  const Stream stream = device().create_stream();
  const Buffer buffer = resource->allocate(1024, stream);
  buffer.fill(std::uint32_t{9}, stream);
  EXPECT_EQ(read<std::uint32_t>(buffer, stream), std::vector<std::uint32_t>(256, 9));
}

// A resource of the user's, over another.
class Counting final : public MemoryResource {
 public:
  explicit Counting(std::shared_ptr<MemoryResource> from) : from_(std::move(from)) {}
  Buffer allocate(std::size_t size, const Stream& stream) override {
    ++live;
    return Buffer::adopt(from_->allocate(size, stream).release(), size, shared_from_this(), stream);
  }
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override {
    --live;
    from_->deallocate(address, size, stream);
  }
  bool is_device_accessible() const noexcept override { return from_->is_device_accessible(); }
  bool is_host_accessible() const noexcept override { return from_->is_host_accessible(); }
  int device_id() const noexcept override { return from_->device_id(); }
  int live = 0;

 private:
  std::shared_ptr<MemoryResource> from_;
};

TEST(memory_resource, of_the_users_gets_its_memory_back) {
  const auto mine = std::make_shared<Counting>(device().memory_resource());
  const Stream stream = device().create_stream();
  {
    const Buffer buffer = mine->allocate(64, stream);
    EXPECT_EQ(mine->live, 1);
    EXPECT_EQ(buffer.device_id(), 0);
    const Buffer copy = buffer.copy_to(stream);
    EXPECT_EQ(mine->live, 2);
  }
  EXPECT_EQ(mine->live, 0);
}

}  // namespace
}  // namespace cucore::test
