// A million objects of each class, made and closed: the memory of the process stays as it was after the first tenth of
// them. CUCORE_TEST_SCALE=0.05 makes 50,000. Sanitizers keep what is freed, so under them a few run for their checks.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
constexpr long one_million = 1'000'000;

long resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// Makes a million; on a GPU `on_gpu`, where the driver's calls for some classes take very much longer.
template <class Make>
void expect_flat(long on_gpu, Make make) {
  device().set_current();
  const char* scale = std::getenv("CUCORE_TEST_SCALE");
  const double wanted = static_cast<double>(driver_info().kind == DriverKind::gpu ? on_gpu : one_million) *
                        (scale == nullptr ? 1.0 : std::strtod(scale, nullptr));
  const long count = sanitized ? 1000 : static_cast<long>(wanted);
  const unsigned long failures = release_failures();
  for (long i = 0; i < std::max(count / 10, 1000L); ++i) make();
  device().sync();
  const long before = resident_bytes();
  for (long i = 0; i < count; ++i) make();
  device().sync();
  const long grown = resident_bytes() - before;
  EXPECT_LE(sanitized ? 0 : grown, 1L << 20) << "after " << count;
  EXPECT_EQ(release_failures(), failures);
}

TEST(a_million, streams_leave_memory_as_it_was) {
  expect_flat(100'000, [] { device().create_stream().close(); });
}

TEST(a_million, streams_of_other_code_leave_memory_as_it_was) {
  const Stream stream = device().create_stream();
  expect_flat(one_million, [&] {
    Stream::from_handle(reinterpret_cast<StreamHandle>(2), std::make_shared<int>(1)).close();
    Stream::from_handle(stream.handle()).close();
  });
}

TEST(a_million, events_leave_memory_as_it_was) {
  const Stream stream = device().create_stream();
  expect_flat(100'000, [&] {
    device().create_event({.timing_enabled = true}).close();
    const Event dropped = stream.record();
  });
}

TEST(a_million, events_of_a_pool_leave_memory_as_it_was) {
  const auto pool = EventPool::create(device().context());
  expect_flat(one_million, [&] { const PooledEvent lent = pool->get(); });
}

TEST(a_million, event_pools_leave_memory_as_it_was) {
  expect_flat(100'000, [] { EventPool::create(device().context())->get(); });
}

TEST(a_million, timers_leave_memory_as_it_was) {
  const Stream stream = device().create_stream();
  expect_flat(20'000, [&] { timed(stream, [] {}).milliseconds(); });
}

TEST(a_million, contexts_leave_memory_as_it_was) {
  const Context own = device().context();
  expect_flat(one_million, [&] {
    Context context = Context::from_handle(own.handle());
    const ScopedCurrent current(context);
    context.close();
  });
}

TEST(a_million, buffers_leave_memory_as_it_was) {
  const Stream stream = device().create_stream();
  const auto synchronous = SynchronousMemoryResource::create(device());
  expect_flat(5'000, [&] {
    device().allocate(4096, stream).close();
    synchronous->allocate(4096, stream).close();
  });
}

TEST(a_million, pinned_buffers_leave_memory_as_it_was) {
  const Stream stream = device().create_stream();
  expect_flat(5'000, [&] { LegacyPinnedMemoryResource::create()->allocate(4096, stream).close(); });
}

TEST(a_million, pools_of_memory_leave_memory_as_it_was) {
  expect_flat(1'000, [] { DeviceMemoryResource::create(device(), DeviceMemoryResourceOptions{}); });
}

TEST(a_million, object_codes_and_kernels_leave_memory_as_it_was) {
  const ObjectCode loaded = ObjectCode::from_ptx(trapping_ptx());
  loaded.get_kernel("trap_now");
  expect_flat(one_million, [&] {
    const ObjectCode code = ObjectCode::from_ptx(trapping_ptx());
    const Kernel kernel = loaded.get_kernel("trap_now");
  });
}

TEST(a_million, loaded_codes_leave_memory_as_it_was) {
  expect_flat(1'000, [] { ObjectCode::from_ptx(trapping_ptx()).get_kernel("trap_now"); });
}

}  // namespace
}  // namespace cucore::test
