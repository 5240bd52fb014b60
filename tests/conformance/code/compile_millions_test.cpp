// Programs and linkers, made, used and closed again and again, leave the memory of the process as it was. A compile and
// a link take milliseconds, so that few of them run; what NVRTC and nvJitLink themselves keep of each is measured by
// calls of theirs alone, in the same number, and is not held against ours. CUCORE_TEST_SCALE as in millions_test.cpp.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cucore/cucore.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // what is freed is kept
#else
constexpr bool sanitized = false;
#endif

const std::string empty_kernel = "extern \"C\" __global__ void k() {}";
constexpr const char* real_arch = "sm_80";

long scaled(long count) {
  const char* scale = std::getenv("CUCORE_TEST_SCALE");
  const double factor = scale == nullptr ? 1.0 : std::strtod(scale, nullptr);
  return std::max(static_cast<long>(static_cast<double>(count) * factor), 20L);
}

/// What the process has from malloc, exactly: the resident set changes in steps too large for a few hundred compiles.
long allocated_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<long>(info.uordblks + info.hblkhd);
}

template <class Make>
long grown_by(long count, Make make) {
  for (long i = 0; i < std::max(count / 10, 20L); ++i) make();
  const long before = allocated_bytes();
  for (long i = 0; i < count; ++i) make();
  return allocated_bytes() - before;
}

/// A function of the library itself, without cucore.
template <class Function>
Function bare(const std::string& path, const char* name) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<Function>(dlsym(library, name));
}

void expect_no_more_than_bare(long count, long ours, long bare) {
  ::testing::Test::RecordProperty("bare_bytes_each", std::to_string(bare / count));
  ::testing::Test::RecordProperty("bytes_each", std::to_string(ours / count));
  if (!sanitized) {
    EXPECT_LE(ours, bare + 16 * count + 4096) << count << " times; the library alone keeps " << bare;
  }
}

TEST(a_million, programs_leave_memory_as_it_was) {
  const long count = sanitized ? 1000 : scaled(1'000'000);
  const long grown = grown_by(count, [] { Program(empty_kernel, "c++", {.arch = real_arch}).close(); });
  EXPECT_LE(sanitized ? 0 : grown, 1L << 20) << "after " << count;
}

TEST(a_million, programs_of_nvrtc_leave_memory_as_it_was) {
  const long count = sanitized ? 1000 : scaled(1'000'000);
  const long grown =
      grown_by(count, [] { EXPECT_NE(Program(empty_kernel, "c++", {.arch = real_arch}).handle(), nullptr); });
  EXPECT_LE(sanitized ? 0 : grown, 1L << 20) << "after " << count;
}

TEST(a_million, linkers_leave_memory_as_it_was) {
  const ObjectCode code = ObjectCode::from_ptx(trapping_ptx());
  const long count = sanitized ? 1000 : scaled(1'000'000);
  const long grown = grown_by(count, [&] { Linker({code}, {.arch = real_arch}).close(); });
  EXPECT_LE(sanitized ? 0 : grown, 1L << 20) << "after " << count;
}

TEST(a_million, compiles_keep_no_more_than_nvrtc_does) {
  const std::string path = nvrtc_info().path.string();
  const auto create = bare<int (*)(void**, const char*, const char*, int, const char* const*, const char* const*)>(
      path, "nvrtcCreateProgram");
  const auto compile = bare<int (*)(void*, int, const char* const*)>(path, "nvrtcCompileProgram");
  const auto destroy = bare<int (*)(void**)>(path, "nvrtcDestroyProgram");
  const long count = sanitized ? 20 : scaled(100);
  const long alone = grown_by(count, [&] {
    void* program = nullptr;
    const std::array<const char*, 1> options{"-arch=compute_80"};
    ASSERT_EQ(create(&program, empty_kernel.c_str(), "k.cu", 0, nullptr, nullptr), 0);
    ASSERT_EQ(compile(program, static_cast<int>(options.size()), options.data()), 0);
    ASSERT_EQ(destroy(&program), 0);
  });
  const long ours = grown_by(count, [] { Program(empty_kernel, "c++", {.arch = real_arch}).compile("ptx"); });
  expect_no_more_than_bare(count, ours, alone);
}

TEST(a_million, links_keep_no_more_than_nvjitlink_does) {
  const std::string path = toolkit_info().nvjitlink.path.string();
  const auto create = bare<int (*)(void**, std::uint32_t, const char**)>(path, "nvJitLinkCreate");
  const auto add = bare<int (*)(void*, int, const void*, std::size_t, const char*)>(path, "nvJitLinkAddData");
  const auto complete = bare<int (*)(void*)>(path, "nvJitLinkComplete");
  const auto destroy = bare<int (*)(void**)>(path, "nvJitLinkDestroy");
  constexpr int kernel_ptx = 2;  // NVJITLINK_INPUT_PTX
  const std::string& ptx = trapping_ptx();
  const long count = sanitized ? 20 : scaled(300);
  const long alone = grown_by(count, [&] {
    void* link = nullptr;
    std::array<const char*, 1> options{"-arch=sm_80"};
    ASSERT_EQ(create(&link, static_cast<std::uint32_t>(options.size()), options.data()), 0);
    ASSERT_EQ(add(link, kernel_ptx, ptx.c_str(), ptx.size() + 1, "k"), 0);
    ASSERT_EQ(complete(link), 0);
    ASSERT_EQ(destroy(&link), 0);
  });
  const ObjectCode code = ObjectCode::from_ptx(ptx);
  const long ours = grown_by(count, [&] { Linker({code}, {.arch = real_arch}).link("cubin"); });
  expect_no_more_than_bare(count, ours, alone);
}

}  // namespace
}  // namespace cucore::test
