// Launches: limits with the driver's codes, parameters by pointer and by buffer, attributes, occupancy.
#include <algorithm>
#include <set>

#include "cpu/tests/api/driver.hpp"

namespace {

class Launches : public DriverTest {
 protected:
  CUresult shaped(const char* name, unsigned int gx, unsigned int gy, unsigned int bx, unsigned int by,
                  unsigned int shared = 0) {
    int* out = device_array<int>(4);
    void* parameters[] = {&out};
    return cuLaunchKernel(kernel(name), gx, gy, 1, bx, by, 1, shared, nullptr, parameters, nullptr);
  }
};

/// Of every thread, the low half of the generic address of a variable: what is known of it is not folded.
std::string addresses_of(const std::string& space, unsigned alignment) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
         "  .reg .u64 %a, %out;\n  .reg .u32 %i, %t;\n  .shared .align 4 .b8 first[20];\n  ." +
         space + " .align " + std::to_string(alignment) +
         " .b8 variable[24];\n  mov.u32 %i, %ctaid.x;\n  mov.u32 %t, %tid.x;\n  mad.lo.u32 %i, %i, 128, %t;\n"
         "  ld.param.u64 %out, [out];\n  mad.wide.u32 %out, %i, 4, %out;\n  mov.u64 %a, first;\n  mov.u64 %a, "
         "variable;\n  cvta." +
         space + ".u64 %a, %a;\n  cvt.u32.u64 %i, %a;\n  st.global.u32 [%out], %i;\n  ret;\n}\n";
}

TEST_F(Launches, variables_lie_at_multiples_of_their_alignment) {
  constexpr unsigned blocks = 100;
  for (const std::string space : {"shared", "local"}) {
    for (unsigned alignment = 4; alignment <= 1024; alignment *= 2) {
      CUmodule made = nullptr;
      CUfunction function = nullptr;
      ASSERT_OK(cuModuleLoadData(&made, addresses_of(space, alignment).c_str()));
      ASSERT_OK(cuModuleGetFunction(&function, made, "k"));
      int* const out = device_array<int>(blocks * 128);
      ASSERT_OK(launch(function, blocks, 128, nullptr, out));
      ASSERT_OK(cuCtxSynchronize());
      const auto is_off = [&](int address) { return static_cast<unsigned>(address) % alignment != 0; };
      EXPECT_EQ(0, std::count_if(out, out + blocks * 128, is_off)) << space << " " << alignment;
      ASSERT_OK(cuModuleUnload(made));
    }
  }
}

TEST_F(Launches, shapes_beyond_the_limits_are_invalid_values) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shaped("count_up", 0, 1, 1, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shaped("count_up", 1, 1, 0, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shaped("count_up", 1, 65536, 1, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shaped("count_up", 1, 1, 1025, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shaped("count_up", 1, 1, 64, 32));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shaped("count_up", 1, 1, 1, 1, 49153)) << "dynamic shared memory";
  EXPECT_OK(shaped("count_up", 1, 1, 1024, 1));
}

TEST_F(Launches, more_threads_than_the_kernel_was_built_for_are_out_of_resources) {
  EXPECT_OK(shaped("at_most_64", 1, 1, 64, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, shaped("at_most_64", 1, 1, 65, 1));
}

TEST_F(Launches, more_shared_memory_is_had_by_asking) {
  const CUfunction block_sum = kernel("block_sum");
  ASSERT_OK(cuFuncSetAttribute(block_sum, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
  int* in = device_array<int>(32);
  int* out = device_array<int>(1);
  in[5] = 9;
  void* parameters[] = {&in, &out};
  EXPECT_OK(cuLaunchKernel(block_sum, 1, 1, 1, 32, 1, 1, 100000, nullptr, parameters, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(9, *out);
}

TEST_F(Launches, missing_parameters_are_invalid_values) {
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuLaunchKernel(kernel("count_up"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  void* none[] = {nullptr};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(kernel("count_up"), 1, 1, 1, 1, 1, 1, 0, nullptr, none, nullptr));
}

TEST_F(Launches, parameters_are_copied_at_the_call) {
  int* const out = device_array<int>(1);
  int* const flag = device_array<int>(1);
  CUstream stream = nullptr;
  ASSERT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  int* const ignored = device_array<int>(1);
  ASSERT_OK(launch(kernel("wait_for"), 1, 1, stream, flag, ignored));
  {
    int* target = out;
    int value = 3;
    void* parameters[] = {&target, &value};
    ASSERT_OK(cuLaunchKernel(kernel("set_to"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr));
    target = nullptr;
    value = 4;
  }
  raise(flag);
  ASSERT_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(3, *out);
}

TEST_F(Launches, parameters_may_come_in_one_buffer) {
  struct {
    char a = 1;
    double b = 20;
    short c = 300;
    int* out = nullptr;
  } buffer;
  buffer.out = device_array<int>(1);
  std::size_t size = sizeof buffer;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  ASSERT_OK(cuLaunchKernel(kernel("mixed"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(321, *buffer.out);
  size = 8;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(kernel("mixed"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
}

TEST_F(Launches, attributes_are_checked) {
  int* out = device_array<int>(1);
  void* parameters[] = {&out};
  CUlaunchAttribute attribute{};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  EXPECT_OK(cuLaunchKernelEx(&config, kernel("count_up"), parameters, nullptr));
  attribute.id = CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING;
  attribute.value.nvlinkUtilCentricScheduling = 1;
  EXPECT_OK(cuLaunchKernelEx(&config, kernel("count_up"), parameters, nullptr));
  attribute.value.nvlinkUtilCentricScheduling = 2;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, kernel("count_up"), parameters, nullptr));
  attribute.id = unknown<CUlaunchAttributeID>(777);
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, kernel("count_up"), parameters, nullptr));
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = attribute.value.clusterDim.y = attribute.value.clusterDim.z = 2;
  EXPECT_EQ(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, kernel("count_up"), parameters, nullptr));
  attribute.value.clusterDim.x = 3;
  EXPECT_EQ(CUDA_ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx(&config, kernel("count_up"), parameters, nullptr));
  config.attrs = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, kernel("count_up"), parameters, nullptr));
}

TEST_F(Launches, a_function_of_another_context_is_an_invalid_handle) {
  const CUfunction here = kernel("count_up");
  CUcontext other = nullptr;
  ASSERT_OK(cuCtxCreate(&other, nullptr, 0, device));
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, launch(here, 1, 1, nullptr, CUdeviceptr{0}));
  ASSERT_OK(cuCtxDestroy(other));
}

TEST_F(Launches, occupancy_bounds_cooperative_launches) {
  int blocks = 0;
  int workers = 0;
  const CUfunction function = kernel("sync_grid");
  ASSERT_OK(cuDeviceGetAttribute(&workers, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  ASSERT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
  EXPECT_EQ(8, blocks);
  int* sums = device_array<int>(1);
  const auto most = static_cast<unsigned int>(blocks * workers);
  int* out = device_array<int>(most + 1);
  void* parameters[] = {&sums, &out};
  EXPECT_EQ(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            cuLaunchCooperativeKernel(function, most + 1, 1, 1, 256, 1, 1, 0, nullptr, parameters));
  ASSERT_OK(cuLaunchCooperativeKernel(function, most, 1, 1, 256, 1, 1, 0, nullptr, parameters));
  ASSERT_OK(cuCtxSynchronize());
  for (unsigned int i = 0; i < most; ++i) EXPECT_EQ(static_cast<int>(most), out[i]);
}

// As an H100 has it (driver 580).
TEST_F(Launches, occupancy_knows_no_launch_bounds_and_cooperation_no_shared_memory_beyond_the_limit) {
  const CUfunction bounded = kernel("at_most_64");
  int blocks = 0;
  ASSERT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
  EXPECT_EQ(16, blocks);
  ASSERT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 1025, 0));
  EXPECT_EQ(0, blocks);
  CUdeviceptr null = 0;
  void* parameters[] = {&null};
  EXPECT_EQ(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
            cuLaunchCooperativeKernel(kernel("count_up"), 1, 1, 1, 32, 1, 1, 49153, nullptr, parameters));
  std::size_t bytes = 0;
  ASSERT_OK(cuCtxGetLimit(&bytes, CU_LIMIT_PRINTF_FIFO_SIZE));
  EXPECT_EQ(8650752U, bytes);
}

TEST_F(Launches, the_best_block_size_is_within_the_limits) {
  int grid = 0;
  int block = 0;
  ASSERT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("saxpy"), nullptr, 0, 0));
  EXPECT_EQ(1024, block);
  ASSERT_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel("saxpy"), nullptr, 0, 200));
  EXPECT_LE(block, 200);
  EXPECT_GT(grid, 0);
}

TEST_F(Launches, each_block_of_three_dimensions_knows_its_place) {
  constexpr const char* ptx_text = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry note_place(.param .u64 out)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %ctaid.z;
  mov.u32 %r4, %nctaid.x;
  mov.u32 %r5, %nctaid.y;
  mad.lo.u32 %r6, %r3, %r5, %r2;
  mad.lo.u32 %r6, %r6, %r4, %r1;
  mul.wide.u32 %rd2, %r6, 8;
  add.u64 %rd1, %rd1, %rd2;
  atom.global.add.u32 %r7, [%rd1], 1;
  mov.u32 %r8, %clusterid.x;
  shl.b32 %r7, %r3, 16;
  mad.lo.u32 %r7, %r2, 256, %r7;
  add.u32 %r7, %r7, %r8;
  st.global.u32 [%rd1+4], %r7;
  ret;
}
)";
  constexpr unsigned int size_bytes[3] = {7, 5, 11};
  CUmodule loaded = nullptr;
  CUfunction note_place = nullptr;
  ASSERT_OK(cuModuleLoadData(&loaded, ptx_text));
  ASSERT_OK(cuModuleGetFunction(&note_place, loaded, "note_place"));
  auto* out = device_array<std::uint32_t>(std::size_t{2} * size_bytes[0] * size_bytes[1] * size_bytes[2]);
  void* parameters[] = {&out};
  ASSERT_OK(cuLaunchKernel(note_place, size_bytes[0], size_bytes[1], size_bytes[2], 1, 1, 1, 0, nullptr, parameters,
                           nullptr));
  ASSERT_OK(cuCtxSynchronize());
  const std::uint32_t* place = out;
  for (unsigned int z = 0; z < size_bytes[2]; ++z)
    for (unsigned int y = 0; y < size_bytes[1]; ++y)
      for (unsigned int x = 0; x < size_bytes[0]; ++x, place += 2) {
        ASSERT_EQ(1u, place[0]);
        ASSERT_EQ(z << 16 | y << 8 | x, place[1]);
      }
}

// A grid that is expected to be brief, judging by its kernel's last run, is begun by one thread alone.
TEST_F(Launches, a_kernel_that_was_brief_and_no_longer_is_runs_on_several_threads) {
  constexpr const char* ptx_text = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry work(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p1;
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 16;
  add.u64 %rd1, %rd1, %rd2;
  mov.u32 %r3, %tid.x;
$again:
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra $done;
  mad.lo.u32 %r3, %r3, 1664525, 1013904223;
  sub.u32 %r1, %r1, 1;
  bra.uni $again;
$done:
  mov.u32 %r6, %tid.x;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 ret;
  atom.global.add.u32 %r5, [%rd1], 1;
  mov.u32 %r4, %smid;
  st.global.u32 [%rd1+4], %r4;
  st.global.u32 [%rd1+8], %r3;
  ret;
}
)";
  constexpr unsigned int block_count = 64;
  constexpr unsigned int thread_count = 64;
  int workers = 0;
  ASSERT_OK(cuDeviceGetAttribute(&workers, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
  CUmodule loaded = nullptr;
  CUfunction work = nullptr;
  ASSERT_OK(cuModuleLoadData(&loaded, ptx_text));
  ASSERT_OK(cuModuleGetFunction(&work, loaded, "work"));
  auto* const out = device_array<std::uint32_t>(std::size_t{4} * block_count);
  std::set<std::uint32_t> who;
  std::uint32_t launches = 0;
  for (int attempt = 0; attempt < 50 && who.size() < 2; ++attempt) {  // other programs may have the other processors
    for (int i = 0; i < 10; ++i, ++launches) {
      ASSERT_OK(launch(work, block_count, thread_count, nullptr, out, 0U));
      ASSERT_OK(cuCtxSynchronize());
    }
    ASSERT_OK(launch(work, block_count, thread_count, nullptr, out, 20000U));
    ASSERT_OK(cuCtxSynchronize());
    ++launches;
    for (unsigned int block = 0; block < block_count; ++block) {
      ASSERT_EQ(launches, out[4 * block]) << "each block runs once";
      who.insert(out[4 * block + 1]);
    }
  }
  if (workers > 1) {
    EXPECT_GT(who.size(), 1U);
  }
}

/// Two functions, a variable that names each, and kernels that store what a pointer's function makes of 7.
std::string pointers_to_functions() {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (const char* factor : {"2", "3"})
    text += std::string(".func (.param .b32 r) times") + factor +
            "(.param .b32 x)\n{ .reg .b32 %a; ld.param.b32 %a, [x]; " + "mul.lo.s32 %a, %a, " + factor +
            "; st.param.b32 [r], %a; ret; }\n.visible .global .u64 pointer" + factor + " = times" + factor + ";\n";
  const auto kernel = [&](const std::string& name, const std::string& parameter, const std::string& load) {
    text += ".visible .entry " + name + "(.param .u64 out" + parameter + ")\n{ .reg .b64 %f, %o; .reg .b32 %v; " +
            load + " ld.param.u64 %o, [out];\n{ .param .b32 x, r; st.param.b32 [x], 7;\n" +
            "shape: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (r), %f, (x), shape;\n" +
            "ld.param.b32 %v, [r]; } st.global.u32 [%o], %v; ret; }\n";
  };
  kernel("call_given", ", .param .u64 given", "ld.param.u64 %f, [given];");
  kernel("call_2", "", "ld.global.u64 %f, [pointer2];");
  kernel("call_2_again", "", "ld.global.u64 %f, [pointer2];");
  return text;
}

TEST_F(Launches, the_host_reads_addresses_of_functions_before_any_launch) {
  ASSERT_OK(cuModuleLoadData(&module, pointers_to_functions().c_str()));
  auto* const out = device_array<int>(1);
  for (const auto& [variable, expected] : {std::pair{"pointer3", 21}, {"pointer2", 14}}) {
    CUdeviceptr address = 0;
    ASSERT_OK(cuModuleGetGlobal(&address, nullptr, module, variable));
    std::uint64_t function = 0;
    ASSERT_OK(cuMemcpyDtoH(&function, address, sizeof function));
    ASSERT_OK(launch(kernel("call_given"), 1, 1, nullptr, out, function));
    ASSERT_OK(cuCtxSynchronize());
    EXPECT_EQ(expected, *out) << variable;
  }
}

TEST_F(Launches, a_pointer_to_a_function_that_the_host_has_changed_stays_so_for_every_kernel) {
  ASSERT_OK(cuModuleLoadData(&module, pointers_to_functions().c_str()));
  CUdeviceptr changed = 0, other = 0;
  ASSERT_OK(cuModuleGetGlobal(&changed, nullptr, module, "pointer2"));
  ASSERT_OK(cuModuleGetGlobal(&other, nullptr, module, "pointer3"));
  ASSERT_OK(cuMemcpyDtoD(changed, other, sizeof(std::uint64_t)));
  auto* const out = device_array<int>(1);
  for (const char* name : {"call_2", "call_2_again"}) {
    ASSERT_OK(launch(kernel(name), 1, 1, nullptr, out));
    ASSERT_OK(cuCtxSynchronize());
    EXPECT_EQ(21, *out) << name;
  }
}

}  // namespace
