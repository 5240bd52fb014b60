// Managed memory, advice on it, and batches.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "src/driver/table.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

using Locations = std::vector<MemoryLocation>;

bool lacks_managed_memory() { return !device().properties().concurrent_managed_access(); }

#define NEED_MANAGED_MEMORY() \
  if (lacks_managed_memory()) GTEST_SKIP() << "the device has no concurrent managed access"

std::shared_ptr<ManagedMemoryResource> unpooled() { return ManagedMemoryResource::create({.pooled = false}); }

TEST(host, is_a_value) {
  EXPECT_EQ(Host(), Host());
  EXPECT_NE(Host(), Host::numa(0));
  EXPECT_NE(Host::numa_current(), Host());
  EXPECT_EQ(Host::numa(3).numa_id(), 3);
  EXPECT_FALSE(Host().numa_id().has_value());
  EXPECT_TRUE(Host::numa_current().is_numa_current());
  EXPECT_TRUE(says(refusal([] { Host::numa(-1); }), "0 or more", "-1"));
  const MemoryLocation there = device();
  EXPECT_EQ(there.device_id(), 0);
  EXPECT_FALSE(there.host().has_value());
  EXPECT_EQ(MemoryLocation(Host::numa(1)).host(), Host::numa(1));
  EXPECT_NE(there, MemoryLocation(Host()));
}

TEST(managed_memory_resource, gives_memory_that_both_sides_use) {
  NEED_MANAGED_MEMORY();
  const Stream stream = device().create_stream();
  for (const auto& resource : {ManagedMemoryResource::create(), ManagedMemoryResource::create({}), unpooled()}) {
    EXPECT_TRUE(resource->is_managed());
    const Buffer buffer = resource->allocate(4096, stream);
    EXPECT_TRUE(buffer.is_managed());
    buffer.fill(std::uint32_t{7}, stream);
    stream.sync();
    auto* const words = reinterpret_cast<volatile std::uint32_t*>(buffer.handle());
    EXPECT_EQ(words[1023], 7u);
    words[0] = 9;
    EXPECT_EQ(read<std::uint32_t>(buffer, stream)[0], 9u);
  }
}

TEST(managed_memory_resource, prefers_a_location) {
  NEED_MANAGED_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = ManagedMemoryResource::create({.preferred_location = device(), .pooled = false});
  EXPECT_EQ(resource->device_id(), 0);
  EXPECT_EQ(ManagedBuffer(resource->allocate(4096, stream)).preferred_location(), MemoryLocation(device()));
  EXPECT_EQ(ManagedMemoryResource::create({.preferred_location = Host()})->device_id(), -1);
  EXPECT_TRUE(says(refusal([] { ManagedMemoryResource::create({.preferred_location = Host::numa_current()}); }),
                   "one place", "Host::numa()"));
}

TEST(managed_memory_resource, without_a_pool_says_so_and_closes) {
  NEED_MANAGED_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = unpooled();
  EXPECT_EQ(resource->handle(), nullptr);
  EXPECT_FALSE(resource->is_closed());
  EXPECT_TRUE(says(refusal([&] { resource->attributes(); }), "has no pool"));
  resource->close();
  EXPECT_TRUE(says(refusal([&] { resource->allocate(1, stream); }), "has been closed"));
}

TEST(managed_memory_resource, frees_what_is_not_pooled) {
  NEED_MANAGED_MEMORY();
  const unsigned long failures = release_failures();
  const Stream stream = device().create_stream();
  Buffer buffer = unpooled()->allocate(4096, stream);
  const DevicePointer address = buffer.handle();
  buffer.close();
  unsigned managed = 0;
  const int code = driver::table().cuPointerGetAttribute(&managed, driver::CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
  EXPECT_TRUE(code == driver::CUDA_ERROR_INVALID_VALUE || managed == 0u);
  EXPECT_EQ(release_failures(), failures);
}

TEST(managed_buffer, keeps_advice) {
  NEED_MANAGED_MEMORY();
  const Stream stream = device().create_stream();
  const ManagedBuffer buffer(unpooled()->allocate(1 << 16, stream));
  EXPECT_FALSE(buffer.read_mostly());
  buffer.set_read_mostly(true);
  EXPECT_TRUE(buffer.read_mostly());
  EXPECT_FALSE(buffer.preferred_location().has_value());
  buffer.set_preferred_location(device());
  EXPECT_EQ(buffer.preferred_location(), MemoryLocation(device()));
  buffer.set_preferred_location(Host());
  EXPECT_EQ(buffer.preferred_location(), MemoryLocation(Host()));
  buffer.set_preferred_location(std::nullopt);
  EXPECT_FALSE(buffer.preferred_location().has_value());
}

TEST(managed_buffer, changes_who_accesses_only_after_all_are_checked) {
  NEED_MANAGED_MEMORY();
  const Stream stream = device().create_stream();
  const ManagedBuffer buffer(unpooled()->allocate(1 << 16, stream));
  buffer.set_accessed_by({device()});
  EXPECT_EQ(buffer.accessed_by(), Locations{device()});
  EXPECT_TRUE(says(refusal([&] { buffer.set_accessed_by({Host(), Host::numa(0)}); }), "NUMA node 0", "use Host()"));
  EXPECT_EQ(buffer.accessed_by(), Locations{device()});
  buffer.set_accessed_by({Host()});
  EXPECT_EQ(buffer.accessed_by(), Locations{Host()});
  buffer.remove_accessed_by(Host());
  EXPECT_TRUE(buffer.accessed_by().empty());
}

TEST(managed_buffer, of_a_pool_takes_advice_or_says_why_not) {
  NEED_MANAGED_MEMORY();
  const Stream stream = device().create_stream();
  const ManagedBuffer buffer(ManagedMemoryResource::create({})->allocate(1 << 16, stream));
  const std::string answer = refusal([&] { buffer.set_read_mostly(true); });
  if (answer == "nothing was thrown") return;  // the CPU device takes it
  EXPECT_TRUE(says(answer, "CUDA_ERROR_NOT_SUPPORTED", "pooled = false"));
}

TEST(managed_buffer, refuses_other_memory) {
  const Stream stream = device().create_stream();
  const ManagedBuffer buffer(device().allocate(64, stream));
  EXPECT_TRUE(says(refusal([&] { buffer.read_mostly(); }), "not managed memory", "ManagedMemoryResource"));
  EXPECT_TRUE(says(refusal([&] { buffer.prefetch(device(), stream); }), "not managed memory"));
  EXPECT_TRUE(says(refusal([] { ManagedBuffer().read_mostly(); }), "has been closed"));
}

TEST(managed_buffer, is_prefetched_and_discarded) {
  NEED_MANAGED_MEMORY();
  device().set_current();  // for the default stream
  const Stream stream = device().create_stream();
  const ManagedBuffer buffer(unpooled()->allocate(1 << 16, stream));
  EXPECT_FALSE(buffer.last_prefetch_location().has_value());
  buffer.prefetch(device(), stream);
  stream.sync();
  EXPECT_EQ(buffer.last_prefetch_location(), MemoryLocation(device()));
  buffer.prefetch(Host(), Stream::legacy_default());
  if (driver_info().version < 13000) return;
  buffer.discard(stream);
  buffer.discard_prefetch(device(), stream);
  EXPECT_TRUE(says(refusal([&] { buffer.discard(Stream::legacy_default()); }), "legacy default stream"));
  stream.sync();
}

TEST(batch, prefetches_to_one_location_or_to_many) {
  NEED_MANAGED_MEMORY();
  const Stream stream = device().create_stream();
  const auto resource = unpooled();
  const ManagedBuffer a(resource->allocate(1 << 16, stream));
  const ManagedBuffer b(resource->allocate(1 << 16, stream));
  const ManagedBuffer nothing(resource->allocate(0, stream));
  const std::array<const Buffer*, 3> all = {&a, &nothing, &b};
  prefetch_batch(stream, all, Locations{device()});
  stream.sync();
  EXPECT_EQ(b.last_prefetch_location(), MemoryLocation(device()));
  prefetch_batch(stream, all, Locations{Host(), Host(), device()});
  stream.sync();
  EXPECT_EQ(a.last_prefetch_location(), MemoryLocation(Host()));
  EXPECT_EQ(b.last_prefetch_location(), MemoryLocation(device()));
  EXPECT_TRUE(
      says(refusal([&] { prefetch_batch(stream, all, Locations{Host(), Host()}); }), "2 locations", "3 buffers"));
  EXPECT_TRUE(says(refusal([&] { prefetch_batch(stream, {}, Locations{Host()}); }), "at least one"));
}

TEST(batch, copies_each_with_its_options) {
  const Stream stream = device().create_stream();
  const auto pinned = LegacyPinnedMemoryResource::create();
  std::vector<Buffer> sources;
  std::vector<Buffer> targets;
  for (int i = 0; i < 3; ++i) {
    sources.push_back(pinned->allocate(256, stream));
    targets.push_back(device().allocate(256, stream));
    sources.back().fill(static_cast<std::uint8_t>(i + 1), stream);
  }
  stream.sync();
  const std::array<const Buffer*, 3> from = {&sources[0], &sources[1], &sources[2]};
  const std::array<const Buffer*, 3> to = {&targets[0], &targets[1], &targets[2]};
  copy_batch(stream, from, to);
  EXPECT_EQ(read<std::uint8_t>(targets[2], stream)[255], 3u);
  const std::vector<CopyOptions> options = {{.src_access_order = CopySourceOrder::any},
                                            {.prefer_overlap_with_compute = true},
                                            {.prefer_overlap_with_compute = true}};
  copy_batch(stream, from, to, options);
  EXPECT_EQ(read<std::uint8_t>(targets[0], stream)[0], 1u);
  EXPECT_TRUE(says(refusal([&] { copy_batch(stream, from, std::span(to).first(2)); }), "3 sources", "2 destinations"));
  EXPECT_TRUE(says(refusal([&] { copy_batch(Stream::legacy_default(), from, to); }), "legacy default stream"));
  const Buffer small = device().allocate(16, stream);
  const std::array<const Buffer*, 3> wrong = {&targets[0], &small, &targets[2]};
  EXPECT_TRUE(says(refusal([&] { copy_batch(stream, from, wrong); }), "item 1", "256 bytes", "16 bytes"));
}

}  // namespace
}  // namespace cucore::test
