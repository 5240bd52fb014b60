// Images so large that kernels are read when they are asked for: whatever a program sees of them is what it sees of
// small ones, but for the moment at which a kernel's errors come.
#include <unistd.h>

#include <cstring>
#include <thread>

#include "cpu/api/cucore_cpu.h"
#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/api/fat_binaries.hpp"

namespace {

/// The same module with a long comment, unlike any that was loaded before.
std::string enlarged(const std::string& ptx) {
  static int number = 0;
  const std::string mark = std::to_string(getpid()) + " " + std::to_string(++number);
  return ptx + "\n// " + mark + std::string(300 << 10, '}') + "\n";
}

/// How an image is loaded: small; large and new on the machine; large and known to the cache.
enum class Load { Small, New, Known };

class LargeImages : public DriverTest, public ::testing::WithParamInterface<Load> {
 protected:
  /// The image that is loaded is overwritten before anything is asked of the module.
  CUresult load(const std::string& ptx, CUmodule* loaded) const {
    std::string image = GetParam() == Load::Small ? ptx : enlarged(ptx);
    if (GetParam() == Load::Known) {
      CUmodule first = nullptr;
      if (const CUresult result = cuModuleLoadData(&first, image.c_str()); result != CUDA_SUCCESS) return result;
      EXPECT_OK(cuModuleUnload(first));
    }
    const CUresult result = cuModuleLoadData(loaded, image.c_str());
    std::fill(image.begin(), image.end(), '?');
    return result;
  }
  CUfunction function_of(CUmodule loaded, const char* name) const {
    CUfunction function = nullptr;
    EXPECT_OK(cuModuleGetFunction(&function, loaded, name));
    return function;
  }
};

INSTANTIATE_TEST_SUITE_P(Loads, LargeImages, ::testing::Values(Load::Small, Load::New, Load::Known));

std::vector<CUfunction> functions_of(CUmodule loaded) {
  unsigned int count = 0;
  EXPECT_OK(cuModuleGetFunctionCount(&count, loaded));
  std::vector<CUfunction> functions(count);
  EXPECT_OK(cuModuleEnumerateFunctions(functions.data(), count, loaded));
  return functions;
}

/// Everything that the driver says of a kernel.
std::string words_of(CUfunction function) {
  const char* name = nullptr;
  EXPECT_OK(cuFuncGetName(&name, function));
  std::string words = name;
  for (int attribute = 0; attribute < 16; ++attribute) {
    int value = -1;
    const CUresult result = cuFuncGetAttribute(&value, static_cast<CUfunction_attribute>(attribute), function);
    words += " " + std::to_string(result) + ":" + std::to_string(value);
  }
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; cuFuncGetParamInfo(function, i, &offset, &size) == CUDA_SUCCESS; ++i)
    words += " " + std::to_string(offset) + "+" + std::to_string(size);
  int blocks = 0;
  EXPECT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 64, 0));
  return words + " " + std::to_string(blocks);
}

TEST_P(LargeImages, the_driver_says_of_each_kernel_what_it_says_in_a_small_image) {
  CUmodule small = nullptr, loaded = nullptr;
  ASSERT_OK(cuModuleLoadData(&small, kernels_ptx().c_str()));
  ASSERT_OK(load(kernels_ptx(), &loaded));
  const std::vector<CUfunction> expected = functions_of(small), functions = functions_of(loaded);
  ASSERT_EQ(expected.size(), functions.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(words_of(expected[i]), words_of(functions[i]));
    CUmodule its_module = nullptr;
    EXPECT_OK(cuFuncGetModule(&its_module, functions[i]));
    EXPECT_EQ(loaded, its_module);
  }
  CUfunction none = nullptr;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, loaded, "no_such_kernel"));
  CUdeviceptr address = 0;
  EXPECT_EQ(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&address, nullptr, loaded, "no_such_variable"));
  EXPECT_OK(cuModuleUnload(loaded));
  EXPECT_OK(cuModuleUnload(small));
}

constexpr const char* head = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Two kernels share a variable, a pointer to it, and a function that counts in it.
const std::string sharing = std::string(head) + R"(
.visible .global .align 4 .u32 counter = 5;
.visible .global .attribute(.managed) .align 4 .u32 managed = 3;
.visible .const .align 4 .u32 step[2] = {0, 10};
.visible .global .align 8 .u64 pointer = generic(counter);
.extern .shared .align 4 .b8 memory[];
.func (.param .b32 r) count_up(.param .b32 by)
{
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.b32 %r1, [by];
  ld.global.u64 %rd1, [pointer];
  atom.add.u32 %r2, [%rd1], %r1;
  st.param.b32 [r], %r2;
  ret;
}
.func (.param .b32 r) other_name(.param .b32 by);
.alias other_name, count_up;
.visible .entry by_step(.param .u64 out)
{
  .reg .b32 %r<5>; .reg .b64 %rd<3>;
  .param .b32 x; .param .b32 y;
  ld.const.u32 %r1, [step+4];
  st.param.b32 [x], %r1;
  call.uni (y), other_name, (x);
  ld.param.b32 %r2, [y];
  st.shared.u32 [memory+8], %r2;
  ld.shared.u32 %r3, [memory+8];
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r3;
  ret;
}
.visible .entry by_managed(.param .u64 out)
{
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  .param .b32 x; .param .b32 y;
  ld.global.u32 %r1, [managed];
  st.param.b32 [x], %r1;
  call.uni (y), count_up, (x);
  ld.param.b32 %r2, [y];
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1+4], %r2;
  ret;
}
)";

TEST_P(LargeImages, kernels_share_the_variables_of_the_module) {
  CUmodule loaded = nullptr;
  ASSERT_OK(load(sharing, &loaded));
  CUdeviceptr counter = 0, managed = 0;
  std::size_t size = 0;
  ASSERT_OK(cuModuleGetGlobal(&counter, &size, loaded, "counter"));
  EXPECT_EQ(4U, size);
  ASSERT_OK(cuModuleGetGlobal(&managed, nullptr, loaded, "managed"));
  auto* const out = device_array<int>(2);
  void* pointers[] = {const_cast<int**>(&out)};
  const auto launch_with_memory = [&](const char* name) {
    return cuLaunchKernel(function_of(loaded, name), 1, 1, 1, 1, 1, 1, 64, nullptr, pointers, nullptr);
  };
  ASSERT_OK(launch_with_memory("by_step"));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(15, *reinterpret_cast<int*>(counter));
  *reinterpret_cast<int*>(managed) = 100;
  ASSERT_OK(launch_with_memory("by_managed"));
  ASSERT_OK(launch_with_memory("by_step"));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(125, *reinterpret_cast<int*>(counter));
  EXPECT_EQ(115, out[0]);
  EXPECT_EQ(15, out[1]);
  EXPECT_OK(cuModuleUnload(loaded));
}

/// Functions whose addresses stand in a table, in the body of a kernel that does not call them, and nowhere else.
const std::string calling = std::string(head) + R"(
.func (.param .b32 r) seven() { st.param.b32 [r], 7; ret; }
.func (.param .b32 r) eight() { st.param.b32 [r], 8; ret; }
.func (.param .b32 r) nine() { st.param.b32 [r], 9; ret; }
.visible .global .align 8 .u64 table[2] = {seven, eight};
.visible .entry take(.param .u64 out)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, nine;
  st.global.u64 [%rd1], %rd2;
  ret;
}
.visible .entry call_it(.param .u64 out, .param .u64 target)
{
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  .param .b32 y;
  ld.param.u64 %rd1, [target];
  ld.param.u64 %rd2, [out];
  shape: .callprototype (.param .b32 _) _ ();
  call (y), %rd1, (), shape;
  ld.param.b32 %r1, [y];
  st.global.u32 [%rd2], %r1;
  ret;
}
.visible .entry name_table(.param .u64 out)
{
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.global.u64 %rd2, [table+8];
  st.global.u64 [%rd1], %rd2;
  ret;
}
)";

TEST_P(LargeImages, functions_are_called_through_addresses_from_kernels_and_from_tables) {
  CUmodule loaded = nullptr;
  ASSERT_OK(load(calling, &loaded));
  auto* const out = device_array<std::uint64_t>(1);
  const auto called = [&](std::uint64_t target) {
    *out = 0;
    EXPECT_OK(launch(function_of(loaded, "call_it"), 1, 1, nullptr, out, target));
    EXPECT_OK(cuCtxSynchronize());
    return *out;
  };
  CUdeviceptr table = 0;
  ASSERT_OK(cuModuleGetGlobal(&table, nullptr, loaded, "table"));  // the host reads what no kernel has asked for yet
  EXPECT_EQ(7U, called(reinterpret_cast<std::uint64_t*>(table)[0]));
  EXPECT_EQ(8U, called(reinterpret_cast<std::uint64_t*>(table)[1]));
  ASSERT_OK(launch(function_of(loaded, "take"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(9U, called(*out));
  ASSERT_OK(launch(function_of(loaded, "name_table"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(8U, called(*out));
  EXPECT_OK(cuModuleUnload(loaded));
}

TEST_P(LargeImages, kernels_that_were_only_listed_are_launched) {
  CUlibrary library = nullptr;
  const std::string image = GetParam() == Load::Small ? sharing : enlarged(sharing);
  CUlibraryOption options[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
  void* values[] = {reinterpret_cast<void*>(1)};
  for (int i = 0; i < (GetParam() == Load::Known ? 2 : 1); ++i) {
    if (library) {
      ASSERT_OK(cuLibraryUnload(library));
    }
    ASSERT_OK(cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, options, values, 1));
  }
  CUkernel kernels[2] = {};
  unsigned int count = 0;
  ASSERT_OK(cuLibraryGetKernelCount(&count, library));
  ASSERT_EQ(2U, count);
  ASSERT_OK(cuLibraryEnumerateKernels(kernels, 2, library));
  std::size_t offset = 1, size = 0;
  EXPECT_OK(cuKernelGetParamInfo(kernels[1], 0, &offset, &size));
  EXPECT_EQ(8U, size);
  EXPECT_OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 15, kernels[0], device));
  int most = 0;
  EXPECT_OK(cuKernelGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernels[0], device));
  EXPECT_EQ(1 << 15, most);
  auto* const out = device_array<int>(2);
  void* pointers[] = {const_cast<int**>(&out)};
  for (CUkernel each : kernels)
    EXPECT_OK(cuLaunchKernel(reinterpret_cast<CUfunction>(each), 1, 1, 1, 1, 1, 1, 64, nullptr, pointers, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_EQ(5, out[0]);
  EXPECT_EQ(15, out[1]);
  EXPECT_OK(cuLibraryUnload(library));
}

const std::string wrong_kernel = std::string(head) + R"(
.visible .entry good() { ret; }
.visible .entry wrong()
{
  good.u32 x;
}
.visible .entry unsupported() { tcgen05.wait::ld.sync.aligned; ret; }
)";

TEST_P(LargeImages, what_is_wrong_with_a_kernel_is_said_at_the_load_or_when_it_is_asked_for) {
  CUmodule loaded = nullptr;
  char report[1024] = "";
  if (GetParam() == Load::Small) {
    EXPECT_EQ(CUDA_ERROR_INVALID_PTX, load(wrong_kernel, &loaded));
    cucore_cpu_last_report(report, sizeof report);
    EXPECT_NE(nullptr, std::strstr(report, "ptx:8:3: error: ")) << report;
    return;
  }
  ASSERT_OK(load(wrong_kernel, &loaded));
  CUfunction function = nullptr;
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cuModuleGetFunction(&function, loaded, "wrong"));
  cucore_cpu_last_report(report, sizeof report);
  EXPECT_NE(nullptr, std::strstr(report, "kernel wrong:\nptx:8:3: error: ")) << report;
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cuModuleGetFunction(&function, loaded, "wrong")) << "again";
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction(&function, loaded, "unsupported"));
  const std::vector<CUfunction> all = functions_of(loaded);
  ASSERT_EQ(3U, all.size());
  int value = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, all[1]));
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, launch(all[1], 1, 1, nullptr));
  EXPECT_EQ(CUDA_ERROR_NOT_SUPPORTED, launch(all[2], 1, 1, nullptr));
  EXPECT_OK(launch(function_of(loaded, "good"), 1, 1, nullptr));
  EXPECT_OK(cuCtxSynchronize());
  EXPECT_OK(cuModuleUnload(loaded));
}

TEST_P(LargeImages, what_is_wrong_at_module_scope_is_said_at_the_load) {
  CUmodule loaded = nullptr;
  const std::string kernel = ".visible .entry k() { ret; }\n";
  for (const auto& [text, code] :
       {std::pair{std::string(head) + ".global .u32 x = missing;\n" + kernel, CUDA_ERROR_INVALID_PTX},
        {std::string(head) + ".unknown x;\n" + kernel, CUDA_ERROR_INVALID_PTX},
        {std::string(head) + kernel + kernel, CUDA_ERROR_INVALID_PTX},
        {std::string(head) + ".visible .entry k() { ret; ", CUDA_ERROR_INVALID_PTX},
        {".version 99.0\n.target sm_80\n.address_size 64\n" + kernel, CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
        {".version 8.0\n.target sm_120\n.address_size 64\n" + kernel, CUDA_ERROR_INVALID_PTX},
        {".version 8.0\n.target sm_80\n.address_size 32\n" + kernel, CUDA_ERROR_INVALID_PTX}})
    EXPECT_EQ(code, load(text, &loaded)) << text;
}

TEST_P(LargeImages, a_variable_of_a_function_is_one_for_all_kernels_that_call_it) {
  const std::string text = std::string(head) + R"(
.func count() { .global .align 4 .u32 calls; .reg .b32 %r; .reg .b64 %rd; mov.u64 %rd, calls; atom.global.add.u32 %r, [%rd], 1; ret; }
.visible .entry a() { call count, (); ret; }
.visible .entry b() { call count, (); ret; }
)";
  CUmodule loaded = nullptr;
  ASSERT_OK(load(text, &loaded));
  CUdeviceptr calls = 0;
  ASSERT_OK(cuModuleGetGlobal(&calls, nullptr, loaded, "calls"));
  for (const char* const name : {"a", "b", "a"}) ASSERT_OK(launch(function_of(loaded, name), 1, 1, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(3, *reinterpret_cast<int*>(calls));
  EXPECT_OK(cuModuleUnload(loaded));
}

TEST_P(LargeImages, kernels_see_long_tables) {
  std::string text = std::string(head) + ".visible .global .align 4 .u32 table[4000] = {0";
  for (int i = 1; i < 4000; ++i) text += ", " + std::to_string(i * i);
  text += R"(};
.visible .entry look_up(.param .u64 out, .param .u32 index)
{
  .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [index];
  mul.wide.u32 %rd2, %r1, 4;
  mov.u64 %rd3, table;
  add.s64 %rd3, %rd3, %rd2;
  ld.global.u32 %r2, [%rd3];
  st.global.u32 [%rd1], %r2;
  ret;
}
)";
  CUmodule loaded = nullptr;
  ASSERT_OK(load(text, &loaded));
  auto* const out = device_array<int>(1);
  ASSERT_OK(launch(function_of(loaded, "look_up"), 1, 1, nullptr, out, 3999U));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(3999 * 3999, *out);
  EXPECT_OK(cuModuleUnload(loaded));
}

TEST_P(LargeImages, threads_may_ask_for_kernels_at_the_same_time) {
  CUmodule loaded = nullptr;
  ASSERT_OK(load(kernels_ptx(), &loaded));
  std::vector<std::vector<std::string>> said(4);
  std::vector<std::thread> threads;
  for (auto& words : said) {
    threads.emplace_back([&] {
      EXPECT_OK(cuCtxSetCurrent(context));
      for (CUfunction function : functions_of(loaded)) words.push_back(words_of(function));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& words : said) EXPECT_EQ(said.front(), words);
  EXPECT_OK(cuModuleUnload(loaded));
}

TEST_P(LargeImages, fat_binaries_are_read_from_what_was_kept_of_them) {
  const std::string ptx = GetParam() == Load::Small ? sharing : enlarged(sharing);
  CUmodule loaded = nullptr;
  for (int i = 0; i < (GetParam() == Load::Known ? 2 : 1); ++i) {
    if (loaded) {
      ASSERT_OK(cuModuleUnload(loaded));
    }
    std::string image = newer_fat_binary(ptx, 100);
    ASSERT_OK(cuModuleLoadData(&loaded, image.data()));
    std::fill(image.begin(), image.end(), '?');
  }
  auto* const out = device_array<int>(2);
  ASSERT_OK(launch(function_of(loaded, "by_managed"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(5, out[1]);
  EXPECT_OK(cuModuleUnload(loaded));
}

TEST_F(DriverTest, kernels_of_an_unloaded_library_are_gone_with_its_image) {
  CUlibrary library = nullptr;
  std::string image = enlarged(sharing);
  CUlibraryOption options[] = {CU_LIBRARY_BINARY_IS_PRESERVED};
  void* values[] = {reinterpret_cast<void*>(1)};
  ASSERT_OK(cuLibraryLoadData(&library, image.c_str(), nullptr, nullptr, 0, options, values, 1));
  CUkernel listed = nullptr;
  ASSERT_OK(cuLibraryEnumerateKernels(&listed, 1, library));
  ASSERT_OK(cuLibraryUnload(library));
  image.clear();
  std::size_t offset = 0;
  EXPECT_EQ(CUDA_ERROR_INVALID_HANDLE, cuKernelGetParamInfo(listed, 0, &offset, nullptr));
}

}  // namespace
