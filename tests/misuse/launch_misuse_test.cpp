// One test per mistake a user makes when launching: each throws a sentence that says what is wrong and what to do.
#include <gtest/gtest.h>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

class LaunchMisuse : public testing::Test {
 protected:
  template <class... Args>
  std::string launching(const char* name, const Args&... args) {
    return refusal([&] { launch(stream, config, kernel(name), args...); });
  }

  void TearDown() override {
    // Nothing was launched, and the stream goes on working.
    stream.sync();
    launch(stream, {}, kernel("no_parameters"));
    stream.sync();
  }

  Stream stream = device().create_stream();
  Buffer buffer = device().allocate(64, stream);
  LaunchConfig config;
};

TEST_F(LaunchMisuse, launch_rejects_a_missing_argument) {
  EXPECT_TRUE(says(launching("_Z5saxpyfPKfPfi", 2.0f, buffer, buffer), "saxpy(float, float const*, float*, int)",
                   "takes 4 arguments, 3 were given", "one argument for every parameter"));
}

TEST_F(LaunchMisuse, launch_rejects_an_argument_too_many) {
  EXPECT_TRUE(says(launching("no_parameters", 1), "Kernel 'no_parameters' takes 0 arguments, 1 was given"));
}

TEST_F(LaunchMisuse, launch_rejects_a_double_for_a_float) {
  EXPECT_TRUE(says(launching("_Z5saxpyfPKfPfi", 2.0, buffer, buffer, 4), "argument 1",
                   "floating-point number of 4 bytes (float)", "of 8 bytes", "write 2.0f"));
}

TEST_F(LaunchMisuse, launch_rejects_an_integer_for_a_float) {
  EXPECT_TRUE(says(launching("_Z5saxpyfPKfPfi", 2, buffer, buffer, 4), "argument 1", "floating-point number",
                   "a signed integer of 4 bytes"));
}

TEST_F(LaunchMisuse, launch_rejects_a_float_for_an_integer) {
  EXPECT_TRUE(says(launching("_Z5saxpyfPKfPfi", 2.0f, buffer, buffer, 4.0f), "argument 4", "signed integer of 4 bytes",
                   "the argument a floating-point number"));
}

TEST_F(LaunchMisuse, launch_rejects_a_long_for_an_int) {
  EXPECT_TRUE(says(launching("_Z5saxpyfPKfPfi", 2.0f, buffer, buffer, std::int64_t{4}), "argument 4", "of 4 bytes",
                   "a signed integer of 8 bytes"));
}

TEST_F(LaunchMisuse, launch_rejects_a_float_for_a_pointer) {
  EXPECT_TRUE(says(launching("_Z4echoPii", 1.0, 2), "argument 1", "pointer of 8 bytes (int*)"));
}

TEST_F(LaunchMisuse, launch_rejects_a_struct_of_another_size) {
  struct Wrong {
    char bytes[20];
  };
  EXPECT_TRUE(says(launching("_Z4copy5BlockPS_", Wrong{}, buffer), "argument 1", "struct of 24 bytes",
                   "a struct of 20 bytes", "same layout"));
}

TEST_F(LaunchMisuse, launch_rejects_a_closed_buffer) {
  Buffer closed = device().allocate(64, stream);
  closed.close();
  EXPECT_TRUE(says(launching("count_threads", closed), "Buffer", "has been closed"));
}

TEST_F(LaunchMisuse, launch_rejects_a_closed_stream) {
  Stream closed = device().create_stream();
  closed.close();
  EXPECT_TRUE(says(refusal([&] { launch(closed, config, kernel("no_parameters")); }), "the Stream has been closed"));
}

TEST_F(LaunchMisuse, launch_rejects_a_kernel_that_refers_to_nothing) {
  EXPECT_TRUE(says(refusal([&] { launch(stream, config, Kernel()); }), "refers to nothing", "get_kernel"));
}

TEST_F(LaunchMisuse, launch_rejects_an_empty_grid) {
  config.grid = {0};
  EXPECT_TRUE(says(launching("no_parameters"), "grid.x is 0", "must be >= 1"));
}

TEST_F(LaunchMisuse, launch_names_the_block_limit_that_was_exceeded) {
  config.block = {4096};
  EXPECT_TRUE(says(launching("no_parameters"), "cuLaunchKernelEx", "block (4096, 1, 1)", "exceeds"));
  config.block = {64, 64};
  EXPECT_TRUE(says(launching("no_parameters"), "has 4096 threads", "at most"));
}

TEST_F(LaunchMisuse, launch_names_the_limit_the_kernel_was_compiled_with) {
  config.block = {128};
  EXPECT_TRUE(says(launching("at_most_64_threads"), "has 128 threads", "at most 64", "__launch_bounds__"));
}

TEST_F(LaunchMisuse, launch_names_the_grid_limit_that_was_exceeded) {
  config.grid = {1, 70000};
  EXPECT_TRUE(says(launching("no_parameters"), "grid (1, 70000, 1)", "65535"));
}

TEST_F(LaunchMisuse, launch_rejects_more_shared_memory_than_the_device_has) {
  config.shmem_size = std::size_t{16} << 20;
  EXPECT_TRUE(says(launching("touch_shared", buffer, 4u), "shmem_size is 16777216 bytes", "at most", "Device 0"));
}

TEST_F(LaunchMisuse, launch_rejects_a_cooperative_grid_that_cannot_be_resident) {
  if (!device().properties().cooperative_launch()) GTEST_SKIP() << "the device has no cooperative launch";
  config = {.grid = {2000000}, .block = {256}, .is_cooperative = true};
  EXPECT_TRUE(says(launching("no_parameters"), "cooperative launch of 2000000 blocks", "exceeds the limit"));
}

TEST_F(LaunchMisuse, launch_names_the_priorities_there_are) {
  config.priority = -100;
  EXPECT_TRUE(says(launching("no_parameters"), "launch priority -100 is out of range", "Device 0"));
}

TEST_F(LaunchMisuse, launch_rejects_a_closed_event) {
  Event event = device().create_event();
  config.launch_completion_event = event;
  event.close();
  EXPECT_NO_THROW(launch(stream, config, kernel("no_parameters"))) << "the config refers to the event itself";
  config.launch_completion_event = event;
  EXPECT_TRUE(says(launching("no_parameters"), "the Event has been closed"));
}

TEST_F(LaunchMisuse, launch_rejects_attributes_no_device_takes) {
  config.preferred_shared_memory_carveout = 101;
  EXPECT_TRUE(says(launching("no_parameters"), "preferred_shared_memory_carveout is 101", "0 to 100"));
  config = {};
  config.access_policy_window = AccessPolicyWindow{.hit_ratio = 1.5f};
  EXPECT_TRUE(says(launching("no_parameters"), "hit_ratio is 1.5"));
  config = {};
  config.cluster = Dim3{2};
  config.preferred_cluster = Dim3{3};
  EXPECT_TRUE(says(launching("no_parameters"), "preferred_cluster must be a multiple"));
}

TEST_F(LaunchMisuse, launch_names_the_block_a_kernel_was_compiled_for) {
  const Kernel exact = ObjectCode::from_ptx(
                           ".version 7.8\n.target sm_75\n.address_size 64\n"
                           ".visible .entry exact()\n.reqntid 16, 2\n{\n  ret;\n}\n")
                           .get_kernel("exact");
  launch(stream, {.block = {16, 2}}, exact);
  EXPECT_TRUE(says(refusal([&] { launch(stream, {.block = {32}}, exact); }),
                   "compiled for blocks of (16, 2, 1) threads (.reqntid)", "the config has (32, 1, 1)"));
}

TEST_F(LaunchMisuse, a_launcher_of_an_impossible_config_is_refused_when_it_is_made) {
  EXPECT_TRUE(says(refusal([] { Launcher(kernel("no_parameters"), {.block = {0}}); }), "block.x is 0"));
  EXPECT_TRUE(says(refusal([] { Launcher(Kernel(), {}); }), "refers to nothing"));
}

TEST_F(LaunchMisuse, a_typed_kernel_of_the_wrong_types_is_refused_when_it_is_made) {
  EXPECT_TRUE(says(refusal([] { TypedKernel<double, float*, float*, int>{kernel("_Z5saxpyfPKfPfi")}; }), "argument 1",
                   "(float)"));
  EXPECT_TRUE(says(refusal([] { TypedKernel<int>{kernel("no_parameters")}; }), "takes 0 arguments, 1 was given"));
  const TypedKernel<void*> count(kernel("count_threads"));
  EXPECT_TRUE(says(refusal([&] { count.launch(stream, config, Buffer()); }), "Buffer", "has been closed"));
}

TEST_F(LaunchMisuse, packing_too_many_or_too_few_arguments_is_refused) {
  const Kernel count = kernel("count_threads");
  ArgumentPack pack(count);
  EXPECT_TRUE(says(refusal([&] { pack.launch(stream, config); }), "takes 1 argument, 0 were given"));
  pack.add_pointer(buffer.handle());
  EXPECT_TRUE(says(refusal([&] { pack.add_integer(1); }), "takes 1 argument, 2 were given"));
}

}  // namespace
}  // namespace cucore::test
