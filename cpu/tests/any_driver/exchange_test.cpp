// Lanes of a warp that exchange values by plain or volatile accesses of global and shared memory with nothing between
// them get them as lanes do that run in step. The CPU device promises that to all such programs, GPUs to some.
#include <cstdlib>
#include <string_view>

#include "cpu/tests/any_driver/exchange_programs.hpp"
#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/number_from.hpp"

namespace {

class Exchanges : public DriverTest {
 protected:
  bool is_cpu_device() const {
    char name[256] = {};
    EXPECT_OK(cuDeviceGetName(name, sizeof name, device));
    return std::string_view(name).find("CPU") != std::string_view::npos;
  }
};

/// CUCORE_RANDOM_FIRST and CUCORE_RANDOM_KERNELS make longer runs of it.
TEST_F(Exchanges, by_plain_accesses_are_those_of_lanes_in_step) {
  const std::uint32_t first = cucore::cpu::number_from("CUCORE_RANDOM_FIRST", 0),
                      count = cucore::cpu::number_from("CUCORE_RANDOM_KERNELS", 32);
  std::uint32_t wrong = 0;
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const cucore::cpu::ExchangeProgram program = cucore::cpu::exchange_program(seed);
    if (!program.is_same_on_gpus && !is_cpu_device()) continue;
    const std::size_t bytes = program.expected.size() * 4;
    const std::size_t warps = program.blocks * std::size_t{(program.threads + 31) / 32};
    CUdeviceptr cells = 0, out = 0;
    CUmodule made = nullptr;
    CUfunction function = nullptr;
    ASSERT_OK(cuModuleLoadData(&made, program.ptx.c_str())) << program.ptx;
    ASSERT_OK(cuModuleGetFunction(&function, made, "k"));
    ASSERT_OK(cuMemAlloc(&cells, warps * cucore::cpu::exchange_cells * 4));
    ASSERT_OK(cuMemAlloc(&out, bytes));
    std::uint32_t threads = program.threads;
    void* arguments[] = {&cells, &out, &threads};
    ASSERT_OK(cuLaunchKernel(function, program.blocks, 1, 1, threads / program.rows, program.rows, 1, 0, nullptr,
                             arguments, nullptr));
    ASSERT_OK(cuCtxSynchronize());
    std::vector<std::uint32_t> found(program.expected.size());
    ASSERT_OK(cuMemcpyDtoH(found.data(), out, bytes));
    EXPECT_EQ(program.expected, found) << "seed " << seed << (wrong == 0 ? "\n" + program.ptx : "");
    wrong += program.expected != found ? 1 : 0;
    ASSERT_OK(cuMemFree(cells));
    ASSERT_OK(cuMemFree(out));
    ASSERT_OK(cuModuleUnload(made));
  }
  EXPECT_EQ(0U, wrong) << "of " << count << " programs";
}

}  // namespace
