// What the driver answers to arguments that name nothing, or ask for what there is not, as an H100's does (driver 580,
// CUDA 13.0). Nothing in it knows the CPU device, so it runs on a GPU's driver too.
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>

#include "cpu/tests/api/driver.hpp"

namespace {

using ArgumentAnswers = DriverTest;

TEST_F(ArgumentAnswers, a_context_waits_in_one_way) {
  CUcontext made = nullptr;
  for (const unsigned int flags : {3U, 5U, 6U, 7U})
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(&made, nullptr, flags, device)) << flags;
  for (const unsigned int flags : {0U, 1U, 2U, 4U, 8U, 16U, 24U}) {
    unsigned int has = 77;
    ASSERT_OK(cuCtxCreate(&made, nullptr, flags, device));
    EXPECT_OK(cuCtxGetFlags(&has));
    EXPECT_EQ(flags, has);
    EXPECT_OK(cuCtxDestroy(made));
  }
}

TEST_F(ArgumentAnswers, memory_is_registered_if_it_is_there_and_may_be_written_and_ends_where_it_began) {
  constexpr std::size_t bytes = 65536;
  auto* const memory =
      static_cast<char*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(MAP_FAILED, memory);
  EXPECT_OK(cuMemHostRegister(memory, bytes, 0));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(memory + 4096, 4096, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(memory + 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostUnregister(nullptr));
  EXPECT_OK(cuMemHostUnregister(memory));
  EXPECT_EQ(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(memory));
  ASSERT_EQ(0, mprotect(memory + 4096, 4096, PROT_READ));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory + 4096, 4096, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory, bytes, 0)) << "a part of it is for reading only";
  EXPECT_OK(cuMemHostRegister(memory + 4096, 4096, CU_MEMHOSTREGISTER_READ_ONLY));
  EXPECT_OK(cuMemHostUnregister(memory + 4096));
  ASSERT_EQ(0, munmap(memory + 4096, 4096));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(memory, bytes, 0)) << "a part of it is not there";
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(reinterpret_cast<void*>(0x10000), 4096, 0));
  EXPECT_EQ(0, munmap(memory, bytes));
}

TEST_F(ArgumentAnswers, a_texture_or_surface_that_is_none_is_destroyed_already) {
  EXPECT_OK(cuTexObjectDestroy(12345));
  EXPECT_OK(cuSurfObjectDestroy(12345));
  CUarray array = nullptr;
  CUDA_RESOURCE_DESC resource{};
  const CUDA_TEXTURE_DESC how{};
  CUtexObject texture = 0;
  const CUDA_ARRAY_DESCRIPTOR descriptor{16, 16, CU_AD_FORMAT_FLOAT, 1};
  ASSERT_OK(cuArrayCreate(&array, &descriptor));
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  ASSERT_OK(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  EXPECT_OK(cuTexObjectDestroy(texture));
  EXPECT_OK(cuTexObjectDestroy(texture)) << "again";
  EXPECT_OK(cuArrayDestroy(array));
}

TEST_F(ArgumentAnswers, of_nothing_an_image_is_linked) {
  CUlinkState link = nullptr;
  void* image = nullptr;
  std::size_t bytes = 0;
  ASSERT_OK(cuLinkCreate(0, nullptr, nullptr, &link));
  EXPECT_OK(cuLinkComplete(link, &image, &bytes));
  EXPECT_OK(cuLinkDestroy(link));
}

TEST_F(ArgumentAnswers, what_a_kernel_refers_to_is_there_at_the_load_or_named) {
  const std::string head = ".version 7.8\n.target sm_80\n.address_size 64\n";
  const auto load = [&](const std::string& text, const char* missing) {
    std::array<char, 1024> log{};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    CUmodule made = nullptr;
    const CUresult result = cuModuleLoadDataEx(&made, (head + text).c_str(), 2, options, values);
    EXPECT_NE(nullptr, std::strstr(log.data(), missing)) << log.data();
    return result;
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX,
            load(".extern .func missing_one();\n.visible .entry k() { call missing_one; ret; }\n", "missing_one"));
  EXPECT_EQ(
      CUDA_ERROR_INVALID_PTX,
      load(".extern .func missing_one();\n.func unused() { call missing_one; ret; }\n.visible .entry k() { ret; }\n",
           "missing_one"));
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX,
            load(".extern .global .u32 missing_words[];\n.visible .entry k()\n{ .reg .u32 %r;\n"
                 "ld.global.u32 %r, [missing_words]; st.global.u32 [missing_words], %r; ret; }\n",
                 "missing_words"));
  EXPECT_OK(load(".extern .func missing_one();\n.visible .entry k() { ret; }\n", "")) << "nothing refers to it";
}

TEST_F(ArgumentAnswers, a_variable_of_elsewhere_is_one_of_the_module_where_nothing_else_defines_it) {
  constexpr const char* text =
      ".version 7.8\n.target sm_80\n.address_size 64\n.extern .global .u32 word;\n"
      ".visible .entry k(.param .u64 out)\n{ .reg .u32 %r; .reg .u64 %out; ld.param.u64 %out, [out];\n"
      "ld.global.u32 %r, [word]; add.u32 %r, %r, 7; st.global.u32 [%out], %r; ret; }\n";
  CUdeviceptr out = 0;
  unsigned int value = 0;
  ASSERT_OK(cuModuleLoadData(&module, text));
  ASSERT_OK(cuMemAlloc(&out, 4));
  ASSERT_OK(launch(kernel("k"), 1, 1, nullptr, out));
  ASSERT_OK(cuMemcpyDtoH(&value, out, 4));
  EXPECT_EQ(7u, value);
  EXPECT_OK(cuMemFree(out));
}

}  // namespace
