// That a library of machine code, which fails with a code of its own, is named on standard error.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "cpu/image/cubin.hpp"
#include "cpu/tests/api/driver.hpp"

namespace {

/// Calls `first`, then the others, of the library in `path`; exits with what it gave.
void call(const char* path, const std::string& first, const std::string& second) {
  std::string cubin = cucore::cpu::image::write_cubin(".version 8.0", 80);
  cubin.replace(cubin.find(cucore::cpu::image::ptx_section), 5, ".none");
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || cuInit(0) != CUDA_SUCCESS) std::exit(99);
  int result = 0;
  for (const std::string& name : {first, second})
    result = reinterpret_cast<int (*)(const void*)>(dlsym(library, name.c_str()))(cubin.data());
  std::exit(result);
}

class NvidiaLibraries : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::FLAGS_gtest_death_test_style = "threadsafe"; }  // a fork has no driver
};

TEST_F(NvidiaLibraries, that_ask_for_unknown_tables_are_named_once_with_the_call) {
  EXPECT_EXIT(call(CUCORE_TEST_CUFFT, "cufftPlan1d", "cufftPlan1d"), ::testing::ExitedWithCode(5),
              "^cucore CPU device: libcufft.so.12, in cufftPlan1d, asks for what only a GPU has[^\n]*"
              "docs/clients.md says what runs.\n$");
}

TEST_F(NvidiaLibraries, whose_code_does_not_run_are_named) {
  EXPECT_EXIT(call(CUCORE_TEST_CUFFT, "cufftLoad", "cufftPlan1d"), ::testing::ExitedWithCode(5),
              "^cucore CPU device: libcufft.so.12, in cufftLoad, [^\n]*\n$");
}

TEST_F(NvidiaLibraries, are_not_what_other_libraries_are_taken_for) {
  EXPECT_EXIT(call(CUCORE_TEST_OTHER_LIBRARY, "cufftPlan1d", "cufftPlan1d"), ::testing::ExitedWithCode(5), "^$");
}

}  // namespace
