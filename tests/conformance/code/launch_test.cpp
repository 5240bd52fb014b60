// Launches that work: every kind of argument, shapes, shared memory, streams, threads.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <thread>

#include "cucore/bindings/fast_path.hpp"
#include "src/code/launch_config.hpp"
#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

template <class T>
void comes_back(const char* name, const std::vector<T>& values) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(sizeof(T), stream);
  const Kernel echo = kernel(name);
  for (const T& value : values) {
    out.fill(std::uint8_t{0xcd}, stream);
    launch(stream, {}, echo, out, value);
    T answer;
    const Buffer host = Buffer::from_handle(reinterpret_cast<DevicePointer>(&answer), sizeof answer);
    out.copy_to(host, stream);
    stream.sync();
    EXPECT_EQ(std::memcmp(&answer, &value, sizeof(T)), 0) << name;
  }
}

template <class T>
std::vector<T> extremes() {
  return {std::numeric_limits<T>::lowest(), T{0}, T{1}, std::numeric_limits<T>::max()};
}

TEST(launch, passes_every_scalar_type) {
  comes_back<bool>("_Z4echoPbb", {false, true});
  comes_back("_Z4echoPaa", extremes<std::int8_t>());
  comes_back("_Z4echoPhh", extremes<std::uint8_t>());
  comes_back("_Z4echoPss", extremes<std::int16_t>());
  comes_back("_Z4echoPtt", extremes<std::uint16_t>());
  comes_back("_Z4echoPii", extremes<std::int32_t>());
  comes_back("_Z4echoPjj", extremes<std::uint32_t>());
  comes_back("_Z4echoPll", extremes<std::int64_t>());
  comes_back("_Z4echoPmm", extremes<std::uint64_t>());
  comes_back("_Z4echoPff", extremes<float>());
  comes_back("_Z4echoPdd", extremes<double>());
}

struct Half {
  std::uint16_t bits;
};
enum class Color : std::int32_t { red = -3 };

TEST(launch, passes_half_types_as_structs_and_enums_as_their_integers) {
  comes_back<Half>("_Z4echoP6__halfS_", {{0x3c00}, {0xffff}});
  comes_back<Half>("_Z4echoP13__nv_bfloat16S_", {{0x3f80}});
  comes_back<Color>("_Z4echoPii", {Color::red});
}

struct Block {
  double a;
  std::int64_t b;
  float c, d;
};

TEST(launch, passes_structs_by_value) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(sizeof(Block), stream);
  const Block block{1.5, -7, 2.5f, 3.5f};
  launch(stream, {}, kernel("_Z4copy5BlockPS_"), block, out);
  const Block back = read<Block>(out, stream)[0];
  EXPECT_EQ(back.a, 1.5);
  EXPECT_EQ(back.b, -7);
  EXPECT_EQ(back.d, 3.5f);
}

TEST(launch, takes_buffers_pointers_and_addresses_alike) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  const Kernel echo = kernel("_Z4echoPii");
  int expected = 0;
  const auto check = [&](auto address) {
    launch(stream, {}, echo, address, ++expected);
    EXPECT_EQ(read<int>(out, stream)[0], expected);
  };
  launch(stream, {}, echo, out, ++expected);
  EXPECT_EQ(read<int>(out, stream)[0], expected);
  check(reinterpret_cast<int*>(out.handle()));
  check(reinterpret_cast<const void*>(out.handle()));
  check(out.handle());
}

TEST(launch, computes_saxpy) {
  const Stream stream = device().create_stream();
  constexpr int n = 1000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<float>(i);
    y[static_cast<std::size_t>(i)] = 1.0f;
  }
  const Buffer dx = device().allocate(n * 4, stream);
  const Buffer dy = device().allocate(n * 4, stream);
  for (const char* name : {"_Z5saxpyfPKfPfi", "saxpy_c"}) {
    write(dx, x, stream);
    write(dy, y, stream);
    launch(stream, {.grid = {(n + 255) / 256}, .block = {256}}, kernel(name), 2.0f, dx, dy, n);
    const auto result = read<float>(dy, stream);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 2.0f * x[i] + 1.0f) << i;
  }
}

TEST(launch, runs_every_thread_of_every_shape_once) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  const Kernel count = kernel("count_threads");
  const std::pair<Dim3, Dim3> shapes[] = {
      {{1}, {1}}, {{3}, {33}}, {{2, 3}, {4, 5}}, {{2, 2, 2}, {3, 3, 3}}, {{65}, {256}}};
  for (const auto& [grid, block] : shapes) {
    out.fill(std::uint32_t{0}, stream);
    launch(stream, {.grid = grid, .block = block}, count, out);
    EXPECT_EQ(read<std::uint32_t>(out, stream)[0], grid.x * grid.y * grid.z * block.x * block.y * block.z);
  }
}

TEST(launch, passes_more_arguments_than_fit_inline) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  const Kernel sum_many = kernel("sum_many");
  ArgumentPack pack(sum_many);
  pack.add_pointer(out.handle());
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 70; ++i) {
    pack.add_integer(i * i);
    sum += i * i;
  }
  pack.launch(stream, {});
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], sum);
}

TEST(launch, with_no_parameters_needs_no_arguments) {
  const Stream stream = device().create_stream();
  launch(stream, {}, kernel("no_parameters"));
  stream.sync();
}

TEST(launch, gets_the_dynamic_shared_memory_it_asks_for_up_to_the_devices_limit) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  // A fresh copy of the code: its limit has not been raised.
  const Kernel touch = ObjectCode::from_ptx(kernels_ptx()).get_kernel("touch_shared");
  const auto most = static_cast<std::size_t>(device().properties().max_shared_memory_per_block_optin());
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{48 * 1024}, std::size_t{48 * 1024 + 16}, most}) {
    SCOPED_TRACE(bytes);
    out.fill(std::uint32_t{0}, stream);
    launch(stream, {.shmem_size = bytes}, touch, out, static_cast<std::uint32_t>(bytes));
    EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 12345u);
  }
  launch(stream, {.shmem_size = 64}, touch, out, 64u);
  EXPECT_GE(touch.attributes(device()).max_dynamic_shared_size_bytes(), static_cast<int>(most)) << "never lowered";
  EXPECT_TRUE(says(refusal([&] { launch(stream, {.shmem_size = most + 4}, touch, out, 4u); }), "shmem_size is",
                   "at most " + std::to_string(most)));
  stream.sync();
}

TEST(launch, uses_static_shared_memory) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  launch(stream, {}, kernel("fixed_shared"), out);
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 54321u);
}

TEST(launch, works_from_a_thread_with_no_context) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  const Kernel count = kernel("count_threads");
  std::thread([&] {
    out.fill(std::uint32_t{0}, stream);
    launch(stream, {.grid = {2}, .block = {64}}, count, out);
    EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 128u);
    EXPECT_FALSE(Context::current());
  }).join();
}

TEST(launch, cooperative_of_what_fits_runs) {
  if (!device().properties().cooperative_launch()) GTEST_SKIP() << "the device has no cooperative launch";
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  launch(stream, {.grid = {2}, .block = {32}, .is_cooperative = true}, kernel("count_threads"), out);
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 64u);
}

TEST(launch, with_a_cluster_counts_the_grid_in_clusters) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  const LaunchConfig config{.grid = {3}, .block = {32}, .cluster = Dim3{2}};
  if (device().compute_capability() < ComputeCapability{9, 0}) {
    EXPECT_TRUE(says(refusal([&] { launch(stream, config, kernel("count_threads"), out); }),
                     "thread block clusters are not supported"));
    return;
  }
  launch(stream, config, kernel("count_threads"), out);
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 3u * 2u * 32u);
}

TEST(launch, takes_every_attribute_the_device_has) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  const Event event = device().create_event();
  LaunchConfig config{.grid = {2}, .block = {32}};
  std::uint32_t launches = 0;
  out.fill(std::uint32_t{0}, stream);
  const auto check = [&](const LaunchConfig& with) {
    launch(stream, with, kernel("count_threads"), out);
    EXPECT_EQ(read<std::uint32_t>(out, stream)[0], ++launches * 64);
  };
  LaunchConfig with = config;
  with.priority = stream.priority();
  check(with);
  with = config;
  with.memory_sync_domain = MemorySyncDomain::remote;
  with.memory_sync_domain_map = MemorySyncDomainMap{0, 0};
  check(with);
  with = config;
  with.preferred_shared_memory_carveout = 50;
  check(with);
  with = config;
  with.access_policy_window = AccessPolicyWindow{.base = out.handle(), .num_bytes = 4, .hit_ratio = 0.5f};
  check(with);
  with = config;
  with.launch_completion_event = event;
  check(with);
  event.sync();
  if (device().compute_capability() < ComputeCapability{9, 0}) return;
  with = config;
  with.programmatic_stream_serialization = true;
  check(with);
  with = config;
  with.programmatic_event = ProgrammaticEvent{event, true};
  check(with);
  event.sync();
  with = config;
  with.cluster = Dim3{2};
  with.grid = {1};
  with.cluster_scheduling_policy = ClusterSchedulingPolicy::spread;
  check(with);
}

// A config as the fast path of bindings has it, which does not outlive what it was resolved in.
detail::NativeConfig native_of(const ResolvedConfig& resolved, const Stream& stream) {
  auto native = std::bit_cast<detail::NativeConfig>(resolved.native().native);
  native.stream = stream.handle();
  return native;
}

// A kernel that writes one special register to *out. A fresh copy of the code: no limit of it has been raised.
Kernel teller_of(const std::string& special_register, const char* target) {
  return ObjectCode::from_ptx(std::string(".version 7.8\n.target ") + target + R"(
.address_size 64
.visible .entry tell(.param .u64 out)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, )" + special_register +
                              ";\n  st.global.u32 [%rd2], %r1;\n  ret;\n}\n")
      .get_kernel("tell");
}

// What `tell` writes in a launch that the driver may refuse at first, in a thread that has no context: a GPU's launches
// at once where the stream tells the context, and refuses what is above the kernel's limit.
std::uint32_t told_after_refusal(const Kernel& tell, const LaunchConfig& config) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  const ResolvedConfig resolved(config);
  const detail::NativeConfig native = native_of(resolved, stream);
  DevicePointer address = out.handle();
  void* values[] = {&address};
  std::thread([&] {
    const int code = detail::launch_native(native, tell.handle(), values);
    if (code != 0) detail::launch_refused(code, stream, native, tell, values);
  }).join();
  return read<std::uint32_t>(out, stream)[0];
}

TEST(launch, refused_on_the_fast_path_is_made_with_the_shared_memory_of_its_config) {
  constexpr std::uint32_t bytes = 48 * 1024 + 16;  // above a kernel's limit, unless it is raised
  EXPECT_EQ(told_after_refusal(teller_of("%dynamic_smem_size", "sm_75"), {.shmem_size = bytes}), bytes);
}

TEST(launch, refused_on_the_fast_path_is_made_with_the_attributes_of_its_config) {
  if (device().compute_capability() < ComputeCapability{9, 0}) GTEST_SKIP() << "the device has no clusters";
  EXPECT_EQ(told_after_refusal(teller_of("%cluster_nctaid.x", "sm_90"), {.grid = {3}, .cluster = Dim3{2}}), 2u);
}

TEST(launch, refused_on_the_fast_path_says_what_launch_says) {
  if (device().compute_capability() < ComputeCapability{9, 0}) GTEST_SKIP() << "the device has no clusters";
  const Stream stream = device().create_stream();
  const Kernel nothing = kernel("no_parameters");
  const LaunchConfig config{.grid = {1}, .block = {32}, .cluster = Dim3{64}};
  const ResolvedConfig resolved(config);
  const detail::NativeConfig native = native_of(resolved, stream);
  const int code = detail::launch_native(native, nothing.handle(), nullptr);
  ASSERT_NE(code, 0);
  const std::string said = refusal([&] { detail::launch_refused(code, stream, native, nothing, nullptr); });
  EXPECT_TRUE(says(said, "the cluster has 64 blocks"));
  EXPECT_EQ(said, refusal([&] { launch(stream, config, nothing); }));
  stream.sync();
}

TEST(launcher, launches_many_times_what_was_resolved_once) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  LaunchConfig config{.grid = {2}, .block = {32}};
  const Launcher count(kernel("count_threads"), config);
  config.block = {1};
  for (int i = 0; i < 3; ++i) count(stream, out);
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 192u);
  EXPECT_EQ(count.config(), (LaunchConfig{.grid = {2}, .block = {32}}));
  EXPECT_EQ(count.kernel(), kernel("count_threads"));
  EXPECT_TRUE(says(refusal([&] { count(stream); }), "takes 1 argument, 0 were given"));
  EXPECT_TRUE(says(refusal([&] { count(stream, 1.0); }), "argument 1"));
  EXPECT_TRUE(says(refusal([&] { count(Stream(), out); }), "has been closed"));
}

TEST(launcher, is_launched_from_many_threads) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  stream.sync();
  const Launcher count(kernel("count_threads"),
                       {.grid = {1}, .block = {32}, .is_cooperative = device().properties().cooperative_launch()});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) count(stream, out);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 4u * 50u * 32u);
}

TEST(launcher, raises_the_limit_of_dynamic_shared_memory_as_launch_does) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  const Kernel touch = ObjectCode::from_ptx(kernels_ptx()).get_kernel("touch_shared");
  const std::uint32_t bytes = 64 * 1024;
  const Launcher launcher(touch, {.shmem_size = bytes});
  for (int i = 0; i < 2; ++i) {
    launcher(stream, out, bytes);
    EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 12345u);
    touch.attributes(device()).set_max_dynamic_shared_size_bytes(0);  // lowers it in between
  }
}

TEST(launch_config, for_a_kernel_covers_every_element) {
  const Kernel saxpy = kernel("_Z5saxpyfPKfPfi");
  for (const std::size_t n : {std::size_t{1}, std::size_t{33}, std::size_t{100'000}}) {
    const LaunchConfig config = LaunchConfig::for_kernel(saxpy, device(), n);
    EXPECT_GE(std::size_t{config.grid.x} * config.block.x, n);
    EXPECT_LT(std::size_t{config.grid.x - 1} * config.block.x, n);
  }
  EXPECT_LE(LaunchConfig::for_kernel(kernel("at_most_64_threads"), device(), 1000).block.x, 64u);
  EXPECT_LE(LaunchConfig::for_kernel(saxpy, device(), 1000, 0, 96).block.x, 96u);
  EXPECT_TRUE(says(refusal([&] { LaunchConfig::for_kernel(saxpy, device(), 0); }), "n is 0", "skip it"));
}

TEST(typed_kernel, may_be_written_as_the_kernels_declaration) {
  const Stream stream = device().create_stream();
  const Buffer x = device().allocate(8, stream);
  const Buffer y = device().allocate(8, stream);
  x.fill(3.0f, stream);
  y.fill(1.0f, stream);
  const TypedKernel<void(float, const float*, float*, int)> saxpy(kernel("_Z5saxpyfPKfPfi"));
  saxpy.launch(stream, {.block = {2}}, 2.0f, x, y, 2);
  EXPECT_EQ(read<float>(y, stream), (std::vector<float>{7, 7}));
}

TEST(typed_kernel, is_checked_once_and_launched_like_a_function) {
  const Stream stream = device().create_stream();
  const Buffer x = device().allocate(16, stream);
  const Buffer y = device().allocate(16, stream);
  x.fill(3.0f, stream);
  y.fill(1.0f, stream);
  const TypedKernel<float, const float*, float*, int> saxpy(kernel("_Z5saxpyfPKfPfi"));
  const LaunchConfig config{.block = {4}};
  saxpy.launch(stream, config, 2.0, x, y, 4);  // converts as a call does
  saxpy.launch(stream, config, 2.0f, reinterpret_cast<const float*>(x.handle()), y, 2);
  EXPECT_EQ(read<float>(y, stream), (std::vector<float>{13, 13, 7, 7}));
  const TypedKernel<> none(kernel("no_parameters"));
  none.launch(stream, config);
  stream.sync();
}

TEST(argument_pack, converts_python_like_numbers_to_the_parameters) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(8, stream);
  const auto bits = [&](const char* name, auto add) {
    out.fill(std::uint32_t{0}, stream);
    const Kernel echo = kernel(name);
    ArgumentPack pack(echo);
    pack.add_pointer(out.handle());
    add(pack);
    pack.launch(stream, {});
    return read<std::uint64_t>(out, stream)[0];
  };
  EXPECT_EQ(bits("_Z4echoPff", [](ArgumentPack& p) { p.add_float(1.5); }), 0x3fc00000u);
  EXPECT_EQ(bits("_Z4echoPdd", [](ArgumentPack& p) { p.add_float(1.5); }), 0x3ff8000000000000u);
  EXPECT_EQ(bits("_Z4echoP6__halfS_", [](ArgumentPack& p) { p.add_float(1.5); }), 0x3e00u);
  EXPECT_EQ(bits("_Z4echoP13__nv_bfloat16S_", [](ArgumentPack& p) { p.add_float(1.5); }), 0x3fc0u);
  EXPECT_EQ(bits("_Z4echoPff", [](ArgumentPack& p) { p.add_integer(2); }), 0x40000000u);
  EXPECT_EQ(bits("_Z4echoPaa", [](ArgumentPack& p) { p.add_integer(-1); }), 0xffu);
  EXPECT_EQ(bits("_Z4echoPii", [](ArgumentPack& p) { p.add_integer(-2); }), 0xfffffffeu);
  EXPECT_EQ(bits("_Z4echoPmm", [](ArgumentPack& p) { p.add_unsigned(UINT64_MAX); }), UINT64_MAX);
  EXPECT_EQ(bits("_Z4echoPbb", [](ArgumentPack& p) { p.add_bool(true); }), 1u);
  EXPECT_EQ(bits("_Z4echoPii", [](ArgumentPack& p) { p.add_bool(true); }), 1u);
}

}  // namespace
}  // namespace cucore::test
