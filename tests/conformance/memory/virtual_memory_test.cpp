// Virtual memory: allocations that grow.
#include <gtest/gtest.h>

#include <vector>

#include "src/driver/table.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

#define NEED_VIRTUAL_MEMORY()                                       \
  if (!device().properties().virtual_memory_management_supported()) \
  GTEST_SKIP() << "the device has no virtual memory management"

unsigned long long access_at(DevicePointer address) {
  unsigned long long flags = 0;
  const driver::CUmemLocation here{driver::CU_MEM_LOCATION_TYPE_DEVICE, 0};
  driver::check(driver::table().cuMemGetAccess(&flags, &here, address), "cuMemGetAccess", "");
  return flags;
}

TEST(virtual_memory, rounds_up_and_is_usable_at_once) {
  NEED_VIRTUAL_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = VirtualMemoryResource::create(device());
  const Buffer buffer = resource->allocate(1, stream);
  EXPECT_EQ(buffer.size(), resource->granularity());
  buffer.fill(std::uint32_t{7}, stream);
  EXPECT_EQ(read<std::uint32_t>(buffer, stream).back(), 7u);
  EXPECT_EQ(resource->allocate(0, stream).handle(), 0u);
}

TEST(virtual_memory, grows_and_keeps_what_is_in_it) {
  NEED_VIRTUAL_MEMORY();
  const unsigned long failures = release_failures();
  const Stream stream = device().create_stream();
  const auto resource = VirtualMemoryResource::create(device());
  const std::size_t step = resource->granularity();
  Buffer buffer = resource->allocate(step, stream);
  const Buffer other = buffer.share();
  buffer.fill(std::uint8_t{3}, stream);
  for (const std::size_t steps : {2U, 3U, 7U}) {
    resource->modify_allocation(buffer, steps * step);
    EXPECT_EQ(buffer.size(), steps * step);
    EXPECT_EQ(other, buffer);
    EXPECT_EQ(read<std::uint8_t>(buffer, stream)[step - 1], 3u);
    EXPECT_EQ(access_at(buffer.handle() + buffer.size() - 1),
              static_cast<unsigned long long>(driver::CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    buffer.fill(std::uint8_t{3}, stream);
  }
  stream.sync();
  EXPECT_EQ(release_failures(), failures);
}

TEST(virtual_memory, moves_where_the_next_addresses_are_taken) {
  NEED_VIRTUAL_MEMORY();
  const unsigned long failures = release_failures();
  const Stream stream = device().create_stream();
  const auto resource = VirtualMemoryResource::create(device());
  const std::size_t step = resource->granularity();
  Buffer buffer = resource->allocate(step, stream);
  buffer.fill(std::uint8_t{9}, stream);
  DevicePointer behind = 0;
  driver::check(driver::table().cuMemAddressReserve(&behind, step, 0, buffer.handle() + step, 0), "cuMemAddressReserve",
                "");
  if (behind != buffer.handle() + step) GTEST_SKIP() << "the driver reserved elsewhere";
  const DevicePointer before = buffer.handle();
  resource->modify_allocation(buffer, 2 * step);
  EXPECT_NE(buffer.handle(), before);
  EXPECT_EQ(read<std::uint8_t>(buffer, stream)[step - 1], 9u);
  buffer.close();
  driver::check(driver::table().cuMemAddressFree(behind, step), "cuMemAddressFree", "");
  EXPECT_EQ(release_failures(), failures);
}

TEST(virtual_memory, that_cannot_grow_is_as_it_was_with_its_rights) {
  NEED_VIRTUAL_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = VirtualMemoryResource::create(device());
  const std::size_t step = resource->granularity();
  Buffer buffer = resource->allocate(step, stream);
  buffer.fill(std::uint8_t{5}, stream);
  const DevicePointer before = buffer.handle();
  EXPECT_THROW(resource->modify_allocation(buffer, std::size_t{1} << 45), DriverError);
  EXPECT_THROW(resource->modify_allocation(buffer, SIZE_MAX), ValueError);
  EXPECT_EQ(buffer.handle(), before);
  EXPECT_EQ(buffer.size(), step);
  EXPECT_EQ(access_at(before), static_cast<unsigned long long>(driver::CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  EXPECT_EQ(read<std::uint8_t>(buffer, stream)[step - 1], 5u);
}

TEST(virtual_memory, options_of_a_modification_stay_the_resources) {
  NEED_VIRTUAL_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = VirtualMemoryResource::create(device());
  Buffer buffer = resource->allocate(1, stream);
  resource->modify_allocation(buffer, 1, {.self_access = VirtualMemoryAccess::read});
  EXPECT_EQ(access_at(buffer.handle()), static_cast<unsigned long long>(driver::CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQ(resource->options().self_access, VirtualMemoryAccess::read);
  resource->modify_allocation(buffer, 1);
  EXPECT_EQ(access_at(buffer.handle()), static_cast<unsigned long long>(driver::CU_MEM_ACCESS_FLAGS_PROT_READ));
}

TEST(virtual_memory, leaves_no_addresses_and_no_handle) {
  NEED_VIRTUAL_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = VirtualMemoryResource::create(device());
  Buffer buffer = resource->allocate(1, stream);
  const DevicePointer address = buffer.handle();
  buffer.close();
  driver::CUmemGenericAllocationHandle physical = 0;
  EXPECT_NE(driver::table().cuMemRetainAllocationHandle(&physical, reinterpret_cast<void*>(address)),
            driver::CUDA_SUCCESS);
  EXPECT_NE(driver::table().cuMemAddressFree(address, resource->granularity()), driver::CUDA_SUCCESS);
  EXPECT_TRUE(says(refusal([&] { resource->deallocate(address, 1, stream); }), "not of this resource"));
}

TEST(virtual_memory, refuses_other_buffers_and_options) {
  NEED_VIRTUAL_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = VirtualMemoryResource::create(device());
  Buffer other = device().allocate(64, stream);
  EXPECT_TRUE(says(refusal([&] { resource->modify_allocation(other, 1); }), "not an allocation of this resource"));
  EXPECT_TRUE(says(refusal([] { VirtualMemoryResource::create(device(), {.addr_align = 3}); }), "power of two"));
}

}  // namespace
}  // namespace cucore::test
