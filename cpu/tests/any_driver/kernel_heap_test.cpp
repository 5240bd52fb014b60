// What free() in a kernel does with what is no block of the heap, as an H100 answers (driver 580, CUDA 13.0). Nothing
// in it knows the CPU device, so it runs on a GPU's driver too.
#include <cstdint>
#include <string>

#include "cpu/tests/api/driver.hpp"

namespace {

std::string frees(const std::string& statements) {
  return ".version 7.0\n.target sm_80\n.address_size 64\n"
         ".extern .func (.param .b64 block) malloc(.param .b64 bytes);\n"
         ".extern .func free(.param .b64 block);\n"
         ".visible .global .align 8 .b64 variable[16];\n"
         ".visible .entry frees(.param .u64 out, .param .u64 bytes, .param .s64 offset, .param .u64 given)\n{\n"
         ".reg .b64 %out, %bytes, %offset, %given, %a, %b, %p;\n.reg .b32 %one, %thread;\n.reg .pred %is_ninth;\n"
         ".shared .align 8 .b8 shared[128];\n.local .align 8 .b8 local[128];\n"
         "ld.param.u64 %out, [out]; ld.param.u64 %bytes, [bytes]; ld.param.s64 %offset, [offset];\n"
         "ld.param.u64 %given, [given];\nmov.u32 %one, 1;\nmov.u32 %thread, %tid.x;\n"
         "setp.eq.u32 %is_ninth, %thread, 8;\n" +
         statements + "st.global.u32 [%out], %one;\nret;\n}\n";
}
std::string allocates(const std::string& into) {
  return "{ .param .b64 n; .param .b64 r; st.param.b64 [n], %bytes; call (r), malloc, (n); ld.param.b64 " + into +
         ", [r]; }\n";
}
std::string frees_block(const std::string& block) {
  return "{ .param .b64 p; st.param.b64 [p], " + block + "; call free, (p); }\n";
}

class KernelHeap : public DriverTest {
 protected:
  /// The launch's result; `came_to_the_end`, if it is to be success.
  CUresult run(const std::string& statements, std::uint64_t bytes, std::int64_t offset = 0, CUdeviceptr given = 0,
               unsigned int threads = 1) {
    CUmodule of_it = nullptr;
    CUfunction function = nullptr;
    CUdeviceptr out = 0;
    EXPECT_OK(cuModuleLoadData(&of_it, frees(statements).c_str()));
    EXPECT_OK(cuModuleGetFunction(&function, of_it, "frees"));
    EXPECT_OK(cuMemAlloc(&out, 4));
    EXPECT_OK(cuMemsetD32(out, 0, 1));
    EXPECT_OK(launch(function, 3, threads, nullptr, out, bytes, offset, given));
    const CUresult result = cuCtxSynchronize();
    std::uint32_t came_to_the_end = 0;
    if (result == CUDA_SUCCESS) {
      EXPECT_OK(cuMemcpyDtoH(&came_to_the_end, out, 4));
      EXPECT_EQ(1u, came_to_the_end);
    }
    return result;
  }

  /// Frees an address so many bytes from a block's beginning, then the block.
  CUresult free_beside(std::uint64_t bytes, std::int64_t offset) {
    return run(allocates("%a") + "add.s64 %p, %a, %offset;\n" + frees_block("%p") + frees_block("%a"), bytes, offset);
  }

  /// After a kernel that failed.
  void renew() {
    EXPECT_OK(cuCtxDestroy(context));
    ASSERT_OK(cuCtxCreate(&context, nullptr, 0, device));
  }
};

TEST_F(KernelHeap, an_address_inside_a_block_is_not_freed) {
  for (const std::int64_t offset : {-16, -4, 4, 8, 16, 32, 64}) EXPECT_OK(free_beside(12, offset)) << offset;
  for (const std::int64_t offset : {-16, 16, 500, 512}) EXPECT_OK(free_beside(1000, offset)) << offset;
  EXPECT_OK(free_beside(100000, 50000));
}

TEST_F(KernelHeap, an_odd_address_in_a_block_is_misaligned) {
  for (const std::int64_t offset : {-1, 1, 2, 999}) {
    EXPECT_EQ(CUDA_ERROR_MISALIGNED_ADDRESS, free_beside(1000, offset)) << offset;
    renew();
  }
}

TEST_F(KernelHeap, an_address_inside_a_block_that_is_free_is_not_freed) {
  const std::string twice = allocates("%a") + "add.s64 %p, %a, %offset;\n" + frees_block("%a") + frees_block("%p");
  EXPECT_OK(run(twice, 12, 4));
  EXPECT_OK(run(twice, 12, 16));
}

TEST_F(KernelHeap, an_odd_address_in_other_memory_of_the_kernel_is_misaligned) {
  const std::string places[] = {"cvta.shared.u64 %p, shared;\n",
                                "cvta.local.u64 %p, local;\nst.local.u64 [local], 0;\n",
                                "cvta.global.u64 %p, variable;\n"};
  for (const std::string& place : places) {
    EXPECT_EQ(CUDA_ERROR_MISALIGNED_ADDRESS, run(place + "add.s64 %p, %p, 1;\n" + frees_block("%p"), 0)) << place;
    renew();
  }
}

TEST_F(KernelHeap, a_block_that_is_freed_twice_fails_the_launch) {
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, run(allocates("%a") + frees_block("%a") + frees_block("%a"), 12));
  renew();
  const std::string one_lane_twice =
      allocates("%a") + frees_block("%a") + "@!%is_ninth bra others;\n" + frees_block("%a") + "others:\n";
  EXPECT_EQ(CUDA_ERROR_LAUNCH_FAILED, run(one_lane_twice, 12, 0, 0, 32));
  renew();
}

TEST_F(KernelHeap, local_and_shared_memory_and_variables_are_not_freed) {
  EXPECT_OK(run("cvta.shared.u64 %p, shared;\n" + frees_block("%p"), 0));
  EXPECT_OK(run("cvta.local.u64 %p, local;\nst.local.u64 [local], 0;\n" + frees_block("%p"), 0));
  EXPECT_OK(run("cvta.global.u64 %p, variable;\n" + frees_block("%p"), 0));
  EXPECT_OK(run(frees_block("%given"), 0)) << "null";
}

TEST_F(KernelHeap, memory_of_other_kinds_is_an_illegal_address) {
  CUdeviceptr managed = 0;
  CUdeviceptr memory = 0;
  ASSERT_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, run(frees_block("%given"), 0, 0, managed));
  renew();
  ASSERT_OK(cuMemAlloc(&memory, 4096));
  EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, run(frees_block("%given"), 0, 0, memory));
  renew();
  for (const CUdeviceptr wild : {CUdeviceptr{1}, CUdeviceptr{0x123456}}) {
    EXPECT_EQ(CUDA_ERROR_ILLEGAL_ADDRESS, run(frees_block("%given"), 0, 0, wild)) << wild;
    renew();
  }
}

TEST_F(KernelHeap, kernels_may_write_in_front_of_a_block_and_to_the_end_of_a_small_one) {
  const std::string writes =
      allocates("%a") + "st.u64 [%a+-8], 77;\nst.u64 [%a+-16], 77;\nst.u64 [%a+56], 1;\n" + frees_block("%a");
  EXPECT_OK(run(writes, 12));
}

TEST_F(KernelHeap, every_lane_has_blocks_of_its_own) {
  const std::string two = allocates("%a") + allocates("%b") + "st.u64 [%a], %b;\nst.u64 [%b], %a;\nld.u64 %p, [%a];\n" +
                          frees_block("%p") + frees_block("%a");
  EXPECT_OK(run(two, 8, 0, 0, 96));
}

}  // namespace
