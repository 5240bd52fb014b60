// Devices: what they say about themselves, and that asking creates nothing.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <regex>
#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(driver, in_use_says_where_it_is_and_how_it_was_chosen) {
  const DriverInfo info = driver_info();
  EXPECT_FALSE(info.path.empty());
  EXPECT_GE(info.version, 12000);
  EXPECT_NE(info.chosen_by.find("CUCORE_DEVICE"), std::string::npos);
  EXPECT_TRUE(driver_available());
}

TEST(driver, has_the_functions_every_program_needs) {
  const auto missing = missing_driver_functions();
  for (const char* needed : {"cuInit", "cuStreamCreateWithPriority", "cuEventRecord", "cuMemAllocFromPoolAsync",
                             "cuMemcpyAsync", "cuMemsetD32Async", "cuLibraryLoadData", "cuLibraryGetKernel",
                             "cuLaunchKernelEx", "cuKernelGetAttribute", "cuPointerGetAttribute"}) {
    EXPECT_EQ(std::count(missing.begin(), missing.end(), needed), 0) << needed;
  }
}

TEST(driver, that_is_open_has_one_management_library) {
  const DriverInfo info = driver_info();
  const auto places = management_library_places();
  ASSERT_EQ(places.size(), 1u);
  const std::filesystem::path place = places[0];
  EXPECT_EQ(place.filename(), "libnvidia-ml.so.1");
  if (info.kind == DriverKind::gpu) {
    EXPECT_FALSE(place.has_parent_path());  // the dynamic linker knows where
  } else {
    EXPECT_EQ(place.parent_path(), std::filesystem::path(info.path).parent_path());
    EXPECT_TRUE(std::filesystem::exists(place)) << place;
  }
}

TEST(device, count_and_list_agree) {
  ASSERT_GE(Device::count(), 1);
  const auto all = Device::all();
  ASSERT_EQ(static_cast<int>(all.size()), Device::count());
  EXPECT_EQ(all[0], Device(0));
  EXPECT_EQ(all[0].ordinal(), 0);
}

TEST(device, describes_itself) {
  const Device d = device();
  EXPECT_FALSE(d.name().empty());
  EXPECT_TRUE(std::regex_match(d.uuid(), std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")))
      << d.uuid();
  EXPECT_TRUE(
      std::regex_match(d.pci_bus_id(), std::regex("[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-9a-fA-F]")))
      << d.pci_bus_id();
  const ComputeCapability capability = d.compute_capability();
  EXPECT_GE(capability, (ComputeCapability{7, 0}));
  EXPECT_EQ(d.arch(), std::to_string(capability.major) + std::to_string(capability.minor));
  EXPECT_GT(d.total_memory(), std::size_t{1} << 20);
}

TEST(device, answers_every_property) {
  const DeviceProperties properties = device().properties();
  int answered = 0;
#define DEVICE_ATTRIBUTE(name, number, kind, default_value, text) \
  EXPECT_NO_THROW(properties.name()) << #name;                    \
  ++answered;
#include "cucore/device_attributes.def"
  EXPECT_EQ(answered, 143);
  EXPECT_EQ(properties.warp_size(), 32);
  EXPECT_GE(properties.max_threads_per_block(), 512);
  EXPECT_GE(properties.multiprocessor_count(), 1);
  EXPECT_EQ(properties.compute_capability_major(), device().compute_capability().major);
  EXPECT_TRUE(properties.unified_addressing());
}

TEST(device, refuses_an_attribute_nobody_knows) { EXPECT_THROW(device().attribute(99999), DriverError); }

TEST(device, can_access_itself) { EXPECT_TRUE(device().can_access_peer(device())); }

TEST(device, is_made_and_asked_without_making_a_context_current) {
  std::thread([] {
    const Device d = device();
    d.name();
    d.properties().warp_size();
    EXPECT_FALSE(Context::current());
    EXPECT_EQ(Device::current(), Device(0)) << "device 0 when no context is current";
  }).join();
}

TEST(device, set_current_makes_its_primary_context_current_in_this_thread_only) {
  std::thread([] {
    device().set_current();
    EXPECT_TRUE(Context::current().is_primary());
    EXPECT_EQ(Context::current(), device().context());
    EXPECT_EQ(Device::current(), device());
    std::thread([] { EXPECT_FALSE(Context::current()); }).join();
  }).join();
}

TEST(device, creates_in_its_context_with_none_current_and_leaves_none_current) {
  std::thread([] {
    const Stream stream = device().create_stream();
    const Event event = device().create_event();
    stream.record(event);
    const Buffer buffer = device().allocate(64, stream);
    buffer.fill(std::uint8_t{1}, stream);
    stream.sync();
    device().sync();
    EXPECT_TRUE(event.is_done());
    EXPECT_FALSE(Context::current());
  }).join();
}

TEST(device, memory_resource_is_one_per_device_and_can_be_replaced) {
  const auto before = device().memory_resource();
  EXPECT_EQ(device().memory_resource(), before);
  const auto mine = LegacyPinnedMemoryResource::create();
  device().set_memory_resource(mine);
  EXPECT_EQ(device().memory_resource(), mine);
  device().set_memory_resource(before);
  EXPECT_THROW(device().set_memory_resource(nullptr), ValueError);
}

TEST(device, is_found_by_what_identifies_it) {
  std::string uuid = device().uuid();
  for (char& c : uuid) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(Device::from_uuid(uuid), device());
  std::erase(uuid, '-');
  EXPECT_EQ(Device::from_uuid(uuid), device());
  EXPECT_EQ(Device::from_pci_bus_id(device().pci_bus_id()), device());
  EXPECT_TRUE(says(refusal([] { Device::from_uuid("0"); }), "no device has the UUID 0"));
  EXPECT_TRUE(says(refusal([] { Device::from_pci_bus_id("ffff:ff:1f.7"); }), "no device has the bus address"));
}

TEST(device, tells_its_memory_and_priorities) {
  const MemoryInfo memory = device().memory_info();
  EXPECT_EQ(memory.total, device().total_memory());
  EXPECT_LE(memory.free, memory.total);
  const PriorityRange range = device().priority_range();
  EXPECT_LE(range.highest, range.lowest);
  const Stream stream = device().create_stream({.priority = range.highest});
  EXPECT_EQ(stream.priority(), range.highest);
  EXPECT_NE(stream.id(), device().create_stream().id());
}

}  // namespace
}  // namespace cucore::test
