// From source to a launch: what NVRTC and nvJitLink make runs on the driver at hand. Skipped where there is no toolkit.
#include <gtest/gtest.h>

#include <string>

#include "tests/conformance/test_kernels.hpp"

namespace cucore::test {
namespace {

constexpr const char* kernel_source = R"(
namespace ns {
__device__ int offset = 40;
template <class T> __global__ void add(T* out, T value) { *out = value + offset; }
}
extern "C" __global__ void two(int* out) { *out = 2; }
)";

class compiled_code : public testing::Test {
 protected:
  void SetUp() override {
    if (!toolkit_info().nvrtc.available) GTEST_SKIP() << toolkit_info().nvrtc.why_not;
  }

  static void expect_runs(const ObjectCode& code) {
    const Stream stream = device().create_stream();
    const Buffer out = device().allocate(4, stream);
    launch(stream, {}, code.get_kernel("ns::add<int>"), out, 2);
    EXPECT_EQ(read<int>(out, stream).at(0), 42);
    launch(stream, {}, code.get_kernel("two"), out);
    EXPECT_EQ(read<int>(out, stream).at(0), 2);
    device().set_current();
    EXPECT_EQ(code.get_global("ns::offset").size, 4U);
  }
};

TEST_F(compiled_code, runs_as_ptx_and_as_cubin_for_the_current_device) {
  device().set_current();
  const Program program(kernel_source, "c++");
  for (const char* target : {"ptx", "cubin"}) {
    SCOPED_TRACE(target);
    expect_runs(program.compile(target, {"ns::add<int>", "&ns::offset"}));
  }
}

TEST_F(compiled_code, knows_the_parameters_of_a_cubins_kernels) {
  const ObjectCode code = Program(kernel_source, "c++").compile("cubin", {"ns::add<float>"});
  const auto signature = code.get_kernel("ns::add<float>").signature();
  ASSERT_NE(signature, nullptr);
  ASSERT_EQ(signature->size(), 2U);
  EXPECT_EQ((*signature)[0].kind, ParameterKind::pointer);
  EXPECT_EQ((*signature)[1].kind, ParameterKind::floating);
}

TEST_F(compiled_code, runs_after_a_trip_through_bytes) {
  const ObjectCode code = Program(kernel_source, "c++").compile("cubin", {"ns::add<int>", "&ns::offset"});
  expect_runs(ObjectCode::deserialize(code.serialize()));
}

TEST_F(compiled_code, a_cubin_for_another_architecture_runs_from_its_ptx) {
  // No device runs machine code of both of these; the PTX of sm_75 suits all that NVRTC 13 knows.
  for (const char* arch : {"sm_75", "sm_80"}) {
    const Program program(kernel_source, "c++", {.arch = arch});
    expect_runs(program.compile("cubin", {"ns::add<int>", "&ns::offset"}));
  }
}

TEST_F(compiled_code, runs_when_linked_from_ptx) {
  if (!toolkit_info().nvjitlink.available) GTEST_SKIP() << toolkit_info().nvjitlink.why_not;
  const ObjectCode ptx = Program(kernel_source, "c++").compile("ptx", {"ns::add<int>", "&ns::offset"});
  const ObjectCode cubin = Program(ptx.code(), "ptx").compile("cubin");
  expect_runs(ObjectCode::from_cubin(cubin.code(), "linked", ptx.symbol_mapping()));
}

TEST_F(compiled_code, the_first_name_is_found_without_being_registered_when_it_is_extern_c) {
  EXPECT_NO_THROW((void)compile_ptx(kernel_source).get_kernel("two"));
}

}  // namespace
}  // namespace cucore::test
