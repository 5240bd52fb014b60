// Buffers: copies and fills over every kind of memory, and where freeing happens.
#include <gtest/gtest.h>

#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

struct MemoryKind {
  const char* name;
  Buffer (*allocate)(std::size_t size, const Stream& stream);
  bool device, host;
};

std::vector<char> pageable(1 << 16);

const MemoryKind kinds[] = {
    {"device pool", [](std::size_t n, const Stream& s) { return device().allocate(n, s); }, true, false},
    {"synchronous device",
     [](std::size_t n, const Stream& s) { return SynchronousMemoryResource::create(device())->allocate(n, s); }, true,
     false},
    {"legacy pinned",
     [](std::size_t n, const Stream& s) { return LegacyPinnedMemoryResource::create()->allocate(n, s); }, true, true},
    {"pageable",
     [](std::size_t n, const Stream&) {
       return Buffer::from_handle(reinterpret_cast<DevicePointer>(pageable.data()), n);
     },
     false, true},
};

TEST(buffer, knows_where_it_can_be_reached) {
  const Stream stream = device().create_stream();
  for (const MemoryKind& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const Buffer buffer = kind.allocate(64, stream);
    EXPECT_EQ(buffer.is_device_accessible(), kind.device);
    EXPECT_EQ(buffer.is_host_accessible(), kind.host);
    EXPECT_FALSE(buffer.is_managed());
    EXPECT_EQ(buffer.size(), 64u);
    EXPECT_NE(buffer.handle(), 0u);
    // The driver, asked about the bare address, agrees.
    const Buffer bare = Buffer::from_handle(buffer.handle(), buffer.size());
    EXPECT_EQ(bare.is_device_accessible(), kind.device);
    EXPECT_EQ(bare.is_host_accessible(), kind.host);
    EXPECT_EQ(bare.device_id(), kind.device ? 0 : -1);
  }
}

TEST(buffer, is_copied_between_all_kinds_of_memory) {
  const Stream stream = device().create_stream();
  constexpr std::size_t size = 4096;
  std::vector<std::uint32_t> pattern(size / 4);
  for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::uint32_t>(i * 2654435761u);
  for (const MemoryKind& from : kinds) {
    for (const MemoryKind& to : kinds) {
      if (&from == &to && !from.device) continue;  // there is one pageable block only
      SCOPED_TRACE(std::string(from.name) + " to " + to.name);
      const Buffer source = from.allocate(size, stream);
      const Buffer destination = to.allocate(size, stream);
      write(source, pattern, stream);
      source.copy_to(destination, stream);
      stream.sync();
      EXPECT_EQ(read<std::uint32_t>(destination, stream), pattern);
    }
  }
}

TEST(buffer, is_filled_with_every_width) {
  const Stream stream = device().create_stream();
  for (const MemoryKind& kind : kinds) {
    if (!kind.device) continue;
    SCOPED_TRACE(kind.name);
    const Buffer buffer = kind.allocate(1024, stream);
    buffer.fill(std::uint8_t{0xab}, stream);
    EXPECT_EQ(read<std::uint8_t>(buffer, stream), std::vector<std::uint8_t>(1024, 0xab));
    buffer.fill(std::uint16_t{0x1234}, stream);
    EXPECT_EQ(read<std::uint16_t>(buffer, stream), std::vector<std::uint16_t>(512, 0x1234));
    buffer.fill(1.5f, stream);
    EXPECT_EQ(read<float>(buffer, stream), std::vector<float>(256, 1.5f));
  }
}

TEST(buffer, copy_without_destination_comes_from_the_same_resource) {
  const Stream stream = device().create_stream();
  const Buffer buffer = device().allocate(256, stream);
  buffer.fill(std::uint32_t{42}, stream);
  const Buffer copy = buffer.copy_to(stream);
  EXPECT_NE(copy.handle(), buffer.handle());
  EXPECT_EQ(copy.memory_resource(), buffer.memory_resource());
  EXPECT_EQ(read<std::uint32_t>(copy, stream), std::vector<std::uint32_t>(64, 42));
}

TEST(buffer, of_size_zero_is_open_and_does_nothing) {
  const Stream stream = device().create_stream();
  for (const MemoryKind& kind : kinds) {
    if (!kind.device) continue;
    SCOPED_TRACE(kind.name);
    Buffer buffer = kind.allocate(0, stream);
    EXPECT_TRUE(buffer);
    EXPECT_EQ(buffer.handle(), 0u);
    EXPECT_EQ(buffer.size(), 0u);
    buffer.fill(std::uint32_t{1}, stream);
    buffer.copy_to(kind.allocate(0, stream), stream);
    buffer.close();
    EXPECT_FALSE(buffer);
  }
}

TEST(buffer, is_freed_in_another_thread_with_no_context) {
  const unsigned long failures = release_failures();
  const Stream stream = device().create_stream();
  for (const MemoryKind& kind : kinds) {
    if (!kind.device) continue;
    SCOPED_TRACE(kind.name);
    std::thread([buffer = kind.allocate(1 << 16, stream)]() mutable {
      buffer = Buffer();
      EXPECT_FALSE(Context::current());
    }).join();
  }
  EXPECT_EQ(release_failures(), failures);
}

TEST(buffer, outlives_the_stream_it_is_freed_on) {
  const unsigned long failures = release_failures();
  Buffer buffer;
  {
    Stream stream = device().create_stream();
    buffer = device().allocate(1 << 16, stream);
    stream.close();
  }
  EXPECT_TRUE(buffer.deallocation_stream()) << "the buffer keeps its stream";
  buffer.close();
  EXPECT_EQ(release_failures(), failures);
}

TEST(buffer, on_the_default_stream_remembers_whose_default_stream) {
  const unsigned long failures = release_failures();
  Buffer buffer;
  std::thread([&] {
    device().set_current();
    buffer = device().allocate(1 << 16, Stream::legacy_default());
    buffer.fill(std::uint8_t{1}, Stream::legacy_default());
  }).join();
  std::thread([&] { buffer.close(); }).join();  // no context is current here
  EXPECT_EQ(release_failures(), failures);
}

TEST(buffer, is_freed_on_the_stream_given_at_close) {
  const Stream a = device().create_stream();
  const Stream b = device().create_stream();
  Buffer buffer = device().allocate(64, a);
  EXPECT_EQ(buffer.deallocation_stream(), a);
  buffer.set_deallocation_stream(b);
  EXPECT_EQ(buffer.deallocation_stream(), b);
  buffer.close(a);
  buffer.close(a);
  EXPECT_FALSE(buffer);
}

TEST(buffer, double_free_is_an_error_of_close_not_a_crash) {
  const Stream stream = device().create_stream();
  Buffer buffer = device().allocate(1 << 16, stream);
  Buffer wrong = Buffer::adopt(buffer.handle(), buffer.size(), buffer.memory_resource(), stream);
  buffer.close();
  EXPECT_THROW(wrong.close(), DriverError);
  EXPECT_FALSE(wrong);
}

TEST(buffer, fill_of_pageable_memory_says_what_is_needed) {
  const Stream stream = device().create_stream();
  if (driver_info().kind == DriverKind::cpu) GTEST_SKIP() << "all host memory is the CPU device's";
  const Buffer buffer = Buffer::from_handle(reinterpret_cast<DevicePointer>(pageable.data()), 64);
  EXPECT_TRUE(says(refusal([&] { buffer.fill(std::uint8_t{1}, stream); }), "cuMemsetD8Async", "page-locked"));
}

}  // namespace
}  // namespace cucore::test
