// Values that need no driver: launch configurations, closed objects, borrowed handles, host-only memory resources.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <vector>

#include "cucore/cucore.hpp"
#include "src/code/launch_config.hpp"
#include "src/driver/table.hpp"

namespace cucore {
namespace {

template <class Function>
std::string refusal(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(launch_config, is_made_and_compared_without_a_driver) {
  const LaunchConfig a{.grid = {2, 3}, .block = {64}};
  EXPECT_EQ(a, (LaunchConfig{.grid = {2, 3, 1}, .block = {64, 1, 1}}));
  EXPECT_NE(a, (LaunchConfig{.grid = {2, 3}, .block = {64}, .shmem_size = 1}));
}

TEST(launch_config, becomes_the_drivers_with_attributes_only_where_asked) {
  const detail::DriverLaunchConfig plain({.grid = {2, 3, 4}, .block = {5, 6, 7}, .shmem_size = 8});
  EXPECT_EQ(plain.native.gridDimZ, 4u);
  EXPECT_EQ(plain.native.blockDimY, 6u);
  EXPECT_EQ(plain.native.sharedMemBytes, 8u);
  EXPECT_EQ(plain.native.numAttrs, 0u);
  EXPECT_EQ(plain.native.attrs, nullptr);
  const detail::DriverLaunchConfig all({.grid = {2, 3, 4},
                                        .block = {5},
                                        .cluster = Dim3{2, 1, 2},
                                        .is_cooperative = true,
                                        .programmatic_stream_serialization = true});
  EXPECT_EQ(all.native.numAttrs, 3u);
  EXPECT_EQ(all.native.gridDimX, 4u) << "with a cluster the grid counts clusters";
  EXPECT_EQ(all.native.gridDimY, 3u);
  EXPECT_EQ(all.native.gridDimZ, 8u);
}

TEST(launch_config, brings_every_attribute_into_the_drivers_form) {
  LaunchConfig config;
  config.cluster = Dim3{2};
  config.preferred_cluster = Dim3{4};
  config.cluster_scheduling_policy = ClusterSchedulingPolicy::load_balancing;
  config.is_cooperative = true;
  config.programmatic_stream_serialization = true;
  config.priority = -2;
  config.memory_sync_domain = MemorySyncDomain::remote;
  config.memory_sync_domain_map = MemorySyncDomainMap{3, 1};
  config.preferred_shared_memory_carveout = 25;
  config.access_policy_window = AccessPolicyWindow{0x1000, 64, 0.5f, AccessProperty::streaming, AccessProperty::normal};
  const ResolvedConfig resolved(config);
  const detail::DriverLaunchConfig& form = resolved.native();
  const auto find = [&](int attribute) { return detail::find_attribute(form.native, attribute); };
  EXPECT_EQ(form.native.numAttrs, 10u);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION)->preferredClusterDim.x, 4u);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)->clusterSchedulingPolicyPreference,
            2);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_COOPERATIVE)->cooperative, 1);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_PRIORITY)->priority, -2);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN)->memSyncDomain, 1);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)->memSyncDomainMap.default_, 3);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)->sharedMemCarveout, 25u);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)->accessPolicyWindow.num_bytes, 64u);
  EXPECT_EQ(find(driver::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT), nullptr);
}

TEST(launch_config, of_nothing_or_too_much_is_refused_by_name) {
  EXPECT_TRUE(has(refusal([] { detail::DriverLaunchConfig({.grid = {0}}); }), "grid.x is 0"));
  EXPECT_TRUE(has(refusal([] { detail::DriverLaunchConfig({.block = {1, 0}}); }), "block.y is 0"));
  EXPECT_TRUE(has(refusal([] { detail::DriverLaunchConfig({.block = {1, 0}}); }), "must be >= 1"));
  EXPECT_TRUE(has(refusal([] { detail::DriverLaunchConfig({.cluster = Dim3{1, 1, 0}}); }), "cluster.z is 0"));
  EXPECT_TRUE(has(refusal([] { detail::DriverLaunchConfig({.shmem_size = std::size_t{1} << 40}); }),
                  "shmem_size is 1099511627776"));
  EXPECT_TRUE(has(refusal([] { detail::DriverLaunchConfig({.grid = {0x80000000u}, .cluster = Dim3{2}}); }),
                  "4294967296 blocks"));
}

TEST(closed_objects, say_so_without_a_driver) {
  EXPECT_FALSE(driver::is_open());
  const Stream stream;
  const Event event;
  const Buffer buffer;
  const Context context;
  const Kernel kernel;
  EXPECT_FALSE(stream);
  EXPECT_TRUE(has(refusal([&] { stream.sync(); }), "the Stream has been closed"));
  EXPECT_TRUE(has(refusal([&] { event.sync(); }), "the Event has been closed"));
  EXPECT_TRUE(has(refusal([&] { buffer.device_id(); }), "the Buffer has been closed"));
  EXPECT_TRUE(has(refusal([&] { context.sync(); }), "the Context has been closed"));
  EXPECT_TRUE(has(refusal([&] { kernel.name(); }), "refers to nothing"));
  EXPECT_FALSE(driver::is_open());
}

TEST(closed_objects, may_be_closed_compared_and_asked_for_handles) {
  Stream stream;
  stream.close();
  stream.close();
  EXPECT_EQ(stream.handle(), nullptr);
  Buffer buffer;
  buffer.close();
  EXPECT_EQ(buffer.handle(), 0u);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer, Buffer());
  EXPECT_FALSE(driver::is_open());
}

TEST(streams, of_others_are_borrowed_without_a_driver) {
  const auto handle = reinterpret_cast<StreamHandle>(std::uintptr_t{0x1000});
  bool dropped = false;
  {
    const Stream stream =
        Stream::from_handle(handle, std::shared_ptr<const void>(&dropped, [&](const void*) { dropped = true; }));
    EXPECT_EQ(stream.handle(), handle);
    EXPECT_FALSE(dropped);
    EXPECT_EQ(stream, Stream::from_handle(handle));
  }
  EXPECT_TRUE(dropped) << "the owner is kept as long as the stream is referred to";
  EXPECT_FALSE(driver::is_open());
}

TEST(streams, that_are_default_are_three_different_ones) {
  const Stream null_stream = Stream::from_handle(nullptr);
  EXPECT_TRUE(null_stream) << "open, though its handle is 0";
  EXPECT_FALSE(null_stream == Stream());
  EXPECT_FALSE(null_stream == Stream::legacy_default());
  EXPECT_FALSE(Stream::legacy_default() == Stream::per_thread_default());
  EXPECT_TRUE(Stream::legacy_default() == Stream::from_handle(reinterpret_cast<StreamHandle>(std::uintptr_t{1})));
}

TEST(streams, default_of_the_device_is_chosen_by_the_environment_at_each_call) {
  unsetenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
  EXPECT_EQ(&Device::default_stream(), &Stream::legacy_default());
  setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "1", 1);
  EXPECT_EQ(&Device::default_stream(), &Stream::per_thread_default());
  setenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0", 1);
  EXPECT_EQ(&Device::default_stream(), &Stream::legacy_default());
  unsetenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
}

// Memory of the C library: a resource that has nothing to do with CUDA.
class HostMemory final : public MemoryResource {
 public:
  Buffer allocate(std::size_t size, const Stream& stream) override {
    return Buffer::adopt(reinterpret_cast<DevicePointer>(std::malloc(size)), size, shared_from_this(), stream);
  }
  void deallocate(DevicePointer address, std::size_t size, const Stream& stream) override {
    freed.push_back(size);
    freed_on.push_back(stream.handle());
    std::free(reinterpret_cast<void*>(address));
    if (fail) throw std::runtime_error("cannot take it back");
  }
  bool is_device_accessible() const noexcept override { return false; }
  bool is_host_accessible() const noexcept override { return true; }

  std::vector<std::size_t> freed;
  std::vector<StreamHandle> freed_on;
  bool fail = false;
};

TEST(host_memory_resource, works_in_a_process_without_a_driver) {
  const auto resource = std::make_shared<HostMemory>();
  {
    const Buffer buffer = resource->allocate(64, Stream::legacy_default());
    EXPECT_EQ(buffer.memory_resource(), resource);
    EXPECT_EQ(buffer.size(), 64u);
    EXPECT_EQ(buffer.device_id(), -1);
    EXPECT_TRUE(buffer.is_host_accessible());
    EXPECT_FALSE(buffer.is_device_accessible());
    EXPECT_FALSE(buffer.is_managed());
  }
  EXPECT_EQ(resource->freed, std::vector<std::size_t>{64});
  EXPECT_FALSE(driver::is_open());
}

TEST(buffer, is_freed_once_by_the_last_reference_on_the_stream_it_is_told) {
  const auto resource = std::make_shared<HostMemory>();
  const auto other = reinterpret_cast<StreamHandle>(std::uintptr_t{0x2000});
  Buffer buffer = resource->allocate(8, Stream::legacy_default());
  Buffer second = buffer.share();
  EXPECT_EQ(buffer, second);
  buffer.close();
  EXPECT_TRUE(resource->freed.empty());
  second.close(Stream::from_handle(other));
  EXPECT_EQ(resource->freed.size(), 1u);
  EXPECT_EQ(resource->freed_on[0], other);
  second.close();
  EXPECT_EQ(resource->freed.size(), 1u);
}

TEST(buffer, close_throws_what_the_resource_throws_and_is_closed_all_the_same) {
  const auto resource = std::make_shared<HostMemory>();
  resource->fail = true;
  Buffer buffer = resource->allocate(8, Stream::legacy_default());
  EXPECT_THROW(buffer.close(), std::runtime_error);
  EXPECT_FALSE(buffer);
  EXPECT_EQ(resource->freed.size(), 1u);
}

TEST(buffer, destructor_reports_what_the_resource_throws) {
  const auto resource = std::make_shared<HostMemory>();
  resource->fail = true;
  const unsigned long failures = release_failures();
  {
    const Buffer buffer = resource->allocate(8, Stream::legacy_default());
  }
  EXPECT_EQ(release_failures(), failures + 1);
}

TEST(buffer, released_is_not_freed) {
  const auto resource = std::make_shared<HostMemory>();
  Buffer buffer = resource->allocate(8, Stream::legacy_default());
  const DevicePointer address = buffer.release();
  EXPECT_FALSE(buffer);
  EXPECT_TRUE(resource->freed.empty());
  std::free(reinterpret_cast<void*>(address));
}

TEST(buffer, shared_cannot_be_released) {
  const auto resource = std::make_shared<HostMemory>();
  Buffer buffer = resource->allocate(8, Stream::legacy_default());
  const Buffer second = buffer.share();
  EXPECT_TRUE(has(refusal([&] { buffer.release(); }), "referred to elsewhere"));
  EXPECT_TRUE(buffer);
}

TEST(buffer, of_an_owner_keeps_it_and_frees_nothing) {
  bool dropped = false;
  {
    const Buffer buffer =
        Buffer::from_handle(16, 4, std::shared_ptr<const void>(&dropped, [&](const void*) { dropped = true; }));
    EXPECT_EQ(buffer.handle(), 16u);
    EXPECT_NE(buffer.owner(), nullptr);
    EXPECT_EQ(buffer.memory_resource(), nullptr);
    EXPECT_FALSE(buffer.deallocation_stream());
  }
  EXPECT_TRUE(dropped);
}

TEST(buffer, is_adopted_only_with_a_resource_and_an_open_stream) {
  EXPECT_TRUE(has(refusal([] { Buffer::adopt(16, 4, nullptr, Stream::legacy_default()); }), "it is null"));
  EXPECT_TRUE(has(refusal([] { Buffer::adopt(16, 4, std::make_shared<HostMemory>(), Stream()); }), "closed"));
}

TEST(buffer, copies_and_fills_check_sizes_before_any_driver_call) {
  const Buffer four = Buffer::from_handle(16, 4);
  const Buffer six = Buffer::from_handle(32, 6);
  const Stream& stream = Stream::legacy_default();
  EXPECT_TRUE(has(refusal([&] { four.copy_to(six, stream); }), "the sizes differ"));
  EXPECT_TRUE(has(refusal([&] { four.copy_from(six, stream); }), "the sizes differ"));
  EXPECT_TRUE(has(refusal([&] { four.copy_to(stream); }), "no memory resource"));
  EXPECT_TRUE(has(refusal([&] { six.fill(1.0f, stream); }), "not divisible"));
  const std::vector<std::byte> three(3);
  EXPECT_TRUE(has(refusal([&] { six.fill_bytes(three, stream); }), "1, 2 or 4 bytes; this one has 3"));
  EXPECT_TRUE(has(refusal([&] { six.fill(1.0f, Stream()); }), "closed"));
  const Buffer nothing = Buffer::from_handle(0, 0);
  nothing.copy_to(Buffer::from_handle(0, 0), stream);
  nothing.fill(std::uint32_t{1}, stream);
  EXPECT_FALSE(driver::is_open()) << "nothing to copy, nothing to ask";
}

TEST(handles, that_are_null_are_refused) {
  EXPECT_THROW(Event::from_handle(nullptr), ValueError);
  EXPECT_THROW(Event::adopt(nullptr), ValueError);
  EXPECT_THROW(Stream::adopt(nullptr), ValueError);
  EXPECT_THROW(Context::from_handle(nullptr), ValueError);
  EXPECT_THROW(Kernel::from_handle(nullptr), ValueError);
  EXPECT_THROW(Event::from_ipc_descriptor(std::vector<std::byte>(63), false), ValueError);
}

}  // namespace
}  // namespace cucore
