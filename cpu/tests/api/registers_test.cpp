// How many registers a kernel reports, and the limits that directives and the load call set.
#include <utility>

#include "cpu/tests/api/driver.hpp"

namespace {

using Registers = DriverTest;

/// Registers, and bytes of local memory of a thread.
std::pair<int, int> resources_of(CUmodule loaded, const char* name) {
  CUfunction kernel = nullptr;
  EXPECT_EQ(CUDA_SUCCESS, cuModuleGetFunction(&kernel, loaded, name));
  int registers = 0;
  int local = 0;
  EXPECT_EQ(CUDA_SUCCESS, cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel));
  EXPECT_EQ(CUDA_SUCCESS, cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel));
  return {registers, local};
}

/// Keeps `values` numbers of 64 bits at once.
std::string kernel_of_many(int values, const std::string& directives = "") {
  std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry many(.param .u64 p) " + directives +
                    "\n{\n.reg .b64 %rd<2>;\n.reg .f64 %d<" + std::to_string(values) + ">;\nld.param.u64 %rd1, [p];\n";
  const auto numbered = [](int i) { return "%d" + std::to_string(i); };
  for (int i = 0; i < values; ++i)
    ptx += "ld.volatile.global.f64 " + numbered(i) + ", [%rd1+" + std::to_string(8 * i) + "];\n";
  for (int i = 1; i < values; ++i)
    ptx += "add.f64 " + numbered(i) + ", " + numbered(i - 1) + ", " + numbered(i) + ";\n";
  return ptx + "st.global.f64 [%rd1], " + numbered(values - 1) + ";\nret;\n}\n";
}

TEST_F(Registers, a_limit_on_registers_holds_and_the_rest_is_local_memory) {
  const auto loaded_with = [&](unsigned long limit, const std::string& ptx) {
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
    void* values[] = {reinterpret_cast<void*>(limit)};
    CUmodule loaded = nullptr;
    EXPECT_EQ(CUDA_SUCCESS, cuModuleLoadDataEx(&loaded, ptx.c_str(), 1, options, values));
    return resources_of(loaded, "many");
  };
  const std::pair<int, int> whole = loaded_with(0, kernel_of_many(50));
  EXPECT_EQ(2 * 50 + 2, whole.first);
  EXPECT_EQ(0, whole.second);
  for (const int limit : {64, 32}) {
    const std::pair<int, int> limited = loaded_with(static_cast<unsigned long>(limit), kernel_of_many(50));
    EXPECT_EQ(limit, limited.first);
    EXPECT_EQ(4 * (whole.first - limit), limited.second);
  }
  EXPECT_EQ(40, loaded_with(0, kernel_of_many(50, ".maxnreg 40")).first);
  EXPECT_EQ(32, loaded_with(40, kernel_of_many(50, ".maxnreg 32")).first);
  EXPECT_EQ(64, loaded_with(0, kernel_of_many(50, ".maxntid 256 .minnctapersm 4")).first);
  EXPECT_EQ(255, loaded_with(0, kernel_of_many(150)).first);
}

TEST_F(Registers, registers_are_those_that_live_at_once) {
  const std::string ptx = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry one_after_the_other(.param .u64 p) {
.reg .b64 %rd<2>; .reg .b32 %r<100>; .reg .pred %p<60>;
ld.param.u64 %rd1, [p];
)" + [] {
    std::string body;
    for (int i = 1; i < 90; ++i) {
      const std::string name = "%r" + std::to_string(i);
      body += "ld.global.u32 " + name + ", [%rd1];\nst.global.u32 [%rd1], " + name + ";\n";
    }
    return body;
  }() + R"(ret; }
.visible .entry in_a_loop(.param .u64 p) {
.reg .b64 %rd<2>; .reg .b32 %r<8>; .reg .pred %p<2>;
ld.param.u64 %rd1, [p];
ld.global.u32 %r1, [%rd1];
ld.global.u32 %r2, [%rd1+4];
mov.u32 %r3, 0;
again:
add.u32 %r3, %r3, %r1;
add.u32 %r4, %r3, %r2;
st.global.u32 [%rd1], %r4;
add.u32 %r5, %r4, 1;
st.global.u32 [%rd1], %r5;
setp.lt.u32 %p1, %r3, 100;
@%p1 bra again;
ret; }
)";
  CUmodule loaded = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&loaded, ptx.c_str()));
  EXPECT_EQ(3, resources_of(loaded, "one_after_the_other").first);
  EXPECT_EQ(2 + 3 + 1, resources_of(loaded, "in_a_loop").first)
      << "what the next iteration needs lives through this one";
}

TEST_F(Registers, a_linked_image_keeps_the_limit_that_it_was_linked_with) {
  const std::string ptx = kernel_of_many(50);
  for (const unsigned long limit : {0UL, 40UL}) {
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
    void* values[] = {reinterpret_cast<void*>(limit)};
    CUlinkState link = nullptr;
    ASSERT_EQ(CUDA_SUCCESS, cuLinkCreate(1, options, values, &link));
    void* const text = const_cast<char*>(ptx.c_str());
    ASSERT_EQ(CUDA_SUCCESS, cuLinkAddData(link, CU_JIT_INPUT_PTX, text, ptx.size() + 1, "many", 0, nullptr, nullptr));
    void* image = nullptr;
    ASSERT_EQ(CUDA_SUCCESS, cuLinkComplete(link, &image, nullptr));
    CUmodule loaded = nullptr;
    ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&loaded, image));
    const int expected = limit == 0 ? 2 * 50 + 2 : 40;
    EXPECT_EQ(std::pair(expected, 4 * (2 * 50 + 2 - expected)), resources_of(loaded, "many"));
    CUjit_option again[] = {CU_JIT_MAX_REGISTERS};
    void* smaller[] = {reinterpret_cast<void*>(32UL)};
    ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadDataEx(&loaded, image, 1, again, smaller));
    EXPECT_EQ(32, resources_of(loaded, "many").first);
    ASSERT_EQ(CUDA_SUCCESS, cuLinkDestroy(link));
  }
}

TEST_F(Registers, the_limit_of_an_input_counts_for_the_image_and_before_the_links) {
  const std::string ptx = kernel_of_many(50);
  CUjit_option options[] = {CU_JIT_MAX_REGISTERS};
  void* of_link[] = {reinterpret_cast<void*>(64UL)};
  void* of_input[] = {reinterpret_cast<void*>(40UL)};
  CUlinkState link = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuLinkCreate(1, options, of_link, &link));
  void* const text = const_cast<char*>(ptx.c_str());
  ASSERT_EQ(CUDA_SUCCESS, cuLinkAddData(link, CU_JIT_INPUT_PTX, text, ptx.size() + 1, "many", 1, options, of_input));
  void* image = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuLinkComplete(link, &image, nullptr));
  CUmodule loaded = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuModuleLoadData(&loaded, image));
  EXPECT_EQ(40, resources_of(loaded, "many").first);
  EXPECT_EQ(CUDA_SUCCESS, cuLinkDestroy(link));
}

TEST_F(Registers, a_cubin_with_machine_code_says_what_that_takes) {
  CUmodule loaded = nullptr;
  ASSERT_EQ(CUDA_SUCCESS, cuModuleLoad(&loaded, CUCORE_TEST_DATA "/images/with_ptx.cubin"));
  EXPECT_EQ(std::pair(8, 0), resources_of(loaded, "scale")) << "ptxas -v: Used 8 registers";
}

}  // namespace
