// Kernels: what is known about them.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

TEST(kernel, has_a_name_a_handle_and_equality_by_handle) {
  const Kernel saxpy = kernel("_Z5saxpyfPKfPfi");
  EXPECT_EQ(saxpy.name(), "_Z5saxpyfPKfPfi");
  EXPECT_EQ(saxpy.display_name(), "saxpy(float, float const*, float*, int)");
  EXPECT_NE(saxpy.handle(), nullptr);
  EXPECT_EQ(saxpy, kernel("_Z5saxpyfPKfPfi"));
  EXPECT_FALSE(saxpy == kernel("saxpy_c"));
}

TEST(kernel, knows_its_parameters_from_ptx_and_mangled_name) {
  const auto signature = kernel("_Z5saxpyfPKfPfi").signature();
  ASSERT_NE(signature, nullptr);
  ASSERT_EQ(signature->size(), 4u);
  EXPECT_EQ((*signature)[0].kind, ParameterKind::floating);
  EXPECT_EQ((*signature)[1].kind, ParameterKind::pointer);
  EXPECT_EQ((*signature)[1].type_name, "float const*");
  EXPECT_EQ((*signature)[1].offset, 8u);
  EXPECT_EQ((*signature)[3].kind, ParameterKind::signed_integer);
  EXPECT_EQ((*signature)[3].offset, 24u);
  EXPECT_EQ(kernel("no_parameters").signature()->size(), 0u);
  EXPECT_EQ(kernel("sum_many").signature()->size(), 71u);
}

TEST(kernel, of_somebody_else_asks_the_driver_for_its_parameters) {
  const Kernel ours = kernel("_Z5saxpyfPKfPfi");
  const Kernel theirs = Kernel::from_handle(ours.handle());
  EXPECT_EQ(theirs, ours);
  const auto signature = theirs.signature();
  if (signature == nullptr) GTEST_SKIP() << "the driver cannot tell";
  ASSERT_EQ(signature->size(), 4u);
  EXPECT_EQ((*signature)[2].offset, 16u);
  EXPECT_EQ((*signature)[2].size, 8u);
  EXPECT_EQ((*signature)[3].size, 4u);
}

TEST(kernel, driver_and_ptx_agree_on_every_parameter) {
  for (const char* name : {"_Z4copy5BlockPS_", "_Z4echoPbb", "_Z4echoP6__halfS_", "sum_many", "touch_shared"}) {
    SCOPED_TRACE(name);
    const auto read_here = kernel(name).signature();
    const auto told = Kernel::from_handle(kernel(name).handle()).signature();
    if (told == nullptr) GTEST_SKIP() << "the driver cannot tell";
    ASSERT_EQ(read_here->size(), told->size());
    for (std::size_t i = 0; i < told->size(); ++i) {
      EXPECT_EQ((*read_here)[i].offset, (*told)[i].offset) << i;
      EXPECT_EQ((*read_here)[i].size, (*told)[i].size) << i;
    }
  }
}

TEST(kernel, answers_every_attribute) {
  const KernelAttributes attributes = kernel("fixed_shared").attributes(device());
  EXPECT_EQ(attributes.shared_size_bytes(), 1024);
  EXPECT_GE(attributes.max_threads_per_block(), 64);
  EXPECT_GE(attributes.num_regs(), 0);
  EXPECT_GE(attributes.max_dynamic_shared_size_bytes(), 0);
  EXPECT_GE(attributes.ptx_version(), 0);
  EXPECT_GE(attributes.binary_version(), 0);
  EXPECT_GE(attributes.const_size_bytes(), 0);
  EXPECT_GE(attributes.local_size_bytes(), 0);
  EXPECT_FALSE(attributes.cluster_size_must_be_set());
  attributes.cache_mode_ca();
  attributes.preferred_shared_memory_carveout();
  attributes.non_portable_cluster_size_allowed();
  attributes.cluster_scheduling_policy_preference();
  EXPECT_EQ(attributes.required_cluster_width(), 0);
  EXPECT_EQ(kernel("at_most_64_threads").attributes(device()).max_threads_per_block(), 64);
  EXPECT_THROW(attributes.get(9999), DriverError);
}

TEST(kernel, attributes_can_be_set_and_are_read_back) {
  const KernelAttributes attributes = kernel("touch_shared").attributes(device());
  attributes.set_max_dynamic_shared_size_bytes(50000);
  EXPECT_EQ(attributes.max_dynamic_shared_size_bytes(), 50000);
}

TEST(kernel, occupancy_is_answered_with_no_context_current) {
  std::thread([] {
    const KernelOccupancy occupancy = kernel("count_threads").occupancy(device());
    EXPECT_GE(occupancy.max_active_blocks_per_multiprocessor(128, 0), 1);
    const MaxPotentialBlockSize size = occupancy.max_potential_block_size(0, 0);
    EXPECT_GE(size.max_block_size, 32);
    EXPECT_GE(size.min_grid_size, 1);
    EXPECT_LE(occupancy.max_potential_block_size(0, 64).max_block_size, 64);
    EXPECT_GT(occupancy.available_dynamic_shared_memory_per_block(1, 128), 1024u);
    EXPECT_FALSE(Context::current());
  }).join();
}

TEST(kernel, occupancy_calls_the_size_function_and_passes_its_exception_on) {
  const KernelOccupancy occupancy = kernel("count_threads").occupancy(device());
  int calls = 0;
  const MaxPotentialBlockSize size = occupancy.max_potential_block_size(
      [&](int block) {
        ++calls;
        return static_cast<std::size_t>(block) * 4;
      },
      0);
  EXPECT_GT(calls, 0);
  EXPECT_GE(size.max_block_size, 32);
  EXPECT_THROW(
      occupancy.max_potential_block_size([](int) -> std::size_t { throw std::out_of_range("no such block"); }, 0),
      std::out_of_range);
}

TEST(kernel, says_how_large_clusters_may_be_and_how_many_run_at_once) {
  if (device().compute_capability() < ComputeCapability{9, 0}) GTEST_SKIP() << "the device has no clusters";
  const Stream stream = device().create_stream();
  const Kernel count = kernel("count_threads");
  const KernelOccupancy occupancy = count.occupancy(device());
  EXPECT_EQ(occupancy.max_potential_cluster_size({.grid = {16}, .block = {32}}, stream), 8);
  const LaunchConfig pairs{.grid = {8}, .block = {32}, .cluster = Dim3{2}};
  EXPECT_GE(occupancy.max_active_clusters(pairs, stream), 1);
}

TEST(kernel, keeps_its_library_loaded) {
  Kernel copy;
  {
    const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
    copy = code.get_kernel("count_threads");
  }
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(4, stream);
  out.fill(std::uint32_t{0}, stream);
  launch(stream, {.grid = {1}, .block = {64}}, copy, out);
  EXPECT_EQ(read<std::uint32_t>(out, stream)[0], 64u);
}

TEST(kernel, may_go_with_its_library_while_it_runs) {
  const Stream stream = device().create_stream();
  const Buffer out = device().allocate(8, stream);
  {
    const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
    launch(stream, {}, code.get_kernel("spin"), out, std::uint64_t{200000});
  }
  EXPECT_EQ(read<std::uint64_t>(out, stream)[0], 200000u);
}

TEST(kernel, not_found_names_what_there_is) {
  const std::string text = refusal([] { kernel("saxpi"); });
  EXPECT_TRUE(says(text, "CUDA_ERROR_NOT_FOUND", "kernel 'saxpi'", "did you mean 'saxpy'", "saxpy (_Z5saxpyfPKfPfi)",
                   "test_kernels"));
  EXPECT_EQ(kernel("saxpy"), kernel("_Z5saxpyfPKfPfi"));
}

TEST(library, of_broken_ptx_says_where_it_is_broken) {
  const ObjectCode code =
      ObjectCode::from_ptx(".version 7.8\n.target sm_75\n.address_size 64\n.entry k() { nonsense; }", "broken");
  try {
    code.get_kernel("k");
    FAIL() << "loaded";
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code_name(), "CUDA_ERROR_INVALID_PTX");
    EXPECT_FALSE(error.log().empty());
    EXPECT_TRUE(says(error.what(), "broken", "cuLibraryLoadData"));
  }
}

TEST(library, variables_have_address_and_size_and_kernels_use_them) {
  device().set_current();
  const ObjectCode code = ObjectCode::from_ptx(kernels_ptx());
  const GlobalVariable counter = code.get_global("counter");
  EXPECT_EQ(counter.size, 4u);
  EXPECT_EQ(code.get_global("table").size, 16u);
  const Stream stream = device().create_stream();
  const Buffer view = Buffer::from_handle(counter.address, counter.size);
  EXPECT_EQ(read<std::uint32_t>(view, stream)[0], 7u);
  launch(stream, {}, code.get_kernel("bump_counter"), 5u);
  EXPECT_EQ(read<std::uint32_t>(view, stream)[0], 12u);
  EXPECT_THROW(code.get_global("nothing"), DriverError);
}

}  // namespace
}  // namespace cucore::test
