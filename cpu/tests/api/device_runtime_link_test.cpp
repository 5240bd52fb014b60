// CUDA's device runtime library among the inputs of a program: none of it is used, whatever PTX it has.
#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/api/fat_binaries.hpp"

namespace {

class DeviceRuntimeLibrary : public DriverTest {};

constexpr const char* unit_name = R"(.version 7.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) __cudaCDP2GetLastError();
.visible .entry last_error(.param .u64 out)
{
.reg .b64 %p;
.reg .b32 %error;
ld.param.u64 %p, [out];
{
.param .b32 result;
call (result), __cudaCDP2GetLastError, ();
ld.param.b32 %error, [result];
}
add.u32 %error, %error, 7;
st.global.u32 [%p], %error;
ret;
}
)";

/// As in libcudadevrt.a: for the newest GPU, with calls of what no PTX has.
constexpr const char* library_name = R"(.version 8.8
.target sm_121
.address_size 64
.extern .func (.param .b32 result) __cuda_syscall_cnpv2GetLastError();
.visible .func (.param .b64 result) cudaGetParameterBuffer(.param .b64 a, .param .b64 b)
{
st.param.b64 [result], 0;
ret;
}
.visible .func (.param .b32 result) __cudaCDP2GetLastError()
{
.reg .b32 %error;
{
.param .b32 r;
call (r), __cuda_syscall_cnpv2GetLastError, ();
ld.param.b32 %error, [r];
}
st.param.b32 [result], %error;
ret;
}
)";

TEST_F(DeviceRuntimeLibrary, is_passed_over_in_a_program_that_was_linked_ahead_of_time) {
  const std::string linked = newer_fat_binary("", 0);
  const std::string unit = newer_fat_binary(unit_name, 80), library = newer_fat_binary(library_name, 121);
  const char* const parts[] = {unit.data(), library.data(), nullptr};
  const struct {
    std::uint32_t magic, version;
    const void* data;
    const void* parts;
  } wrapper = {0x466243b1, 2, linked.data(), parts};
  ASSERT_OK(cuModuleLoadData(&module, &wrapper));
  int* const out = device_array<int>(1);
  ASSERT_OK(launch(kernel("last_error"), 1, 1, nullptr, out));
  ASSERT_OK(cuCtxSynchronize());
  EXPECT_EQ(7, *out);
}

TEST_F(DeviceRuntimeLibrary, is_passed_over_in_a_cubin_with_the_ptx_of_all_that_was_linked) {
  std::string modules = unit_name;
  modules += '\0';
  modules += library_name;
  const std::string cubin = cucore::cpu::image::write_cubin(modules, 90);
  ASSERT_OK(cuModuleLoadData(&module, cubin.data()));
  EXPECT_NE(nullptr, kernel("last_error"));
}

TEST_F(DeviceRuntimeLibrary, what_it_does_not_have_is_still_undefined) {
  std::string ptx = unit_name;
  while (ptx.find("CDP2GetLastError") != std::string::npos)
    ptx.replace(ptx.find("CDP2GetLastError"), 16, "CDP2GetNothing");
  CUlinkState link = nullptr;
  ASSERT_OK(cuLinkCreate(0, nullptr, nullptr, &link));
  EXPECT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size() + 1, "unit", 0, nullptr, nullptr));
  void* image = nullptr;
  std::size_t size = 0;
  EXPECT_EQ(CUDA_ERROR_UNKNOWN, cuLinkComplete(link, &image, &size));  // as an H100 has it
  EXPECT_OK(cuLinkDestroy(link));
}

}  // namespace
