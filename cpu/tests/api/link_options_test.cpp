// Options of the inputs of a link.
#include "cpu/tests/api/driver.hpp"

namespace {

using LinkOptions = DriverTest;

TEST_F(LinkOptions, an_input_of_a_link_has_options_and_a_log_of_its_own) {
  std::string wrong = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nno_such;\n}\n";
  char of_link[256] = "untouched", of_input[256] = "";
  CUjit_option logs[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  const auto size = reinterpret_cast<void*>(sizeof of_link);
  void* link_values[] = {of_link, size};
  void* input_values[] = {of_input, size};
  CUlinkState link = nullptr;
  ASSERT_OK(cuLinkCreate(2, logs, link_values, &link));
  const auto add = [&](unsigned int count, CUjit_option* options, void** values) {
    return cuLinkAddData(link, CU_JIT_INPUT_PTX, wrong.data(), wrong.size() + 1, "wrong", count, options, values);
  };
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, add(2, logs, input_values));
  EXPECT_TRUE(std::string(of_input).find("no_such") != std::string::npos) << of_input;
  EXPECT_STREQ("untouched", of_link);
  EXPECT_EQ(std::string(of_input).size(), reinterpret_cast<std::uintptr_t>(input_values[1]));
  EXPECT_EQ(CUDA_ERROR_INVALID_PTX, add(0, nullptr, nullptr));
  EXPECT_TRUE(std::string(of_link).find("no_such") != std::string::npos) << of_link;
  CUjit_option unknown[] = {static_cast<CUjit_option>(CU_JIT_NUM_OPTIONS)};
  void* nothing[] = {nullptr};
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(1, unknown, nothing));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, add(1, nullptr, nullptr));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE,
            cuLinkAddFile(link, CU_JIT_INPUT_CUBIN, CUCORE_TEST_DATA "/images/with_ptx.cubin", 1, unknown, nothing));
  EXPECT_OK(cuLinkDestroy(link));
}

/// What a link of one PTX with these lines says, and its code.
std::pair<CUresult, std::string> linked(const std::string& lines) {
  const std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n" + lines;
  char log[256] = "";
  CUjit_option logs[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUlinkState link = nullptr;
  EXPECT_OK(cuLinkCreate(2, logs, values, &link));
  EXPECT_OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(ptx.c_str()), ptx.size() + 1, "a.ptx", 0, nullptr,
                          nullptr));
  void* image = nullptr;
  const CUresult result = cuLinkComplete(link, &image, nullptr);
  EXPECT_OK(cuLinkDestroy(link));
  return {result, log};
}

/// Recorded from an H100.
TEST_F(LinkOptions, what_a_link_misses_is_told_by_name_and_is_an_unknown_error) {
  const std::string function = ".extern .func f;\n";
  const std::string variable = ".extern .global .align 4 .u32 v;\n";
  const std::string kernel = ".visible .entry k()\n{\nret;\n}\n";
  const std::string call = ".visible .entry k()\n{\ncall f;\nret;\n}\n";
  const auto missing = [](const char* name) {
    return std::string("error   : Undefined reference to '") + name + "' in 'a.ptx'";
  };
  EXPECT_EQ(std::pair(CUDA_SUCCESS, std::string()), linked(function + kernel));
  EXPECT_EQ(std::pair(CUDA_ERROR_UNKNOWN, missing("f")), linked(function + call));
  EXPECT_EQ(std::pair(CUDA_ERROR_UNKNOWN, missing("v")), linked(variable + kernel));
  EXPECT_EQ(std::pair(CUDA_ERROR_UNKNOWN, missing("f") + "\n" + missing("v")), linked(function + variable + call));
}

}  // namespace
