// Lanes of a warp that exchange values with nothing between them, in blocks of one, two and three dimensions: what they
// get is what lanes in step get. The CPU device promises that to all such programs, GPUs to some.
#include <cstdlib>
#include <string_view>

#include "cpu/tests/any_driver/lane_programs.hpp"
#include "cpu/tests/api/driver.hpp"
#include "cpu/tests/number_from.hpp"

namespace {

using cucore::cpu::LaneProgram;
using cucore::cpu::LaneProgramKind;

class LanePrograms : public DriverTest {
 protected:
  bool is_cpu_device() const {
    char name[256] = {};
    EXPECT_OK(cuDeviceGetName(name, sizeof name, device));
    return std::string_view(name).find("CPU") != std::string_view::npos;
  }

  std::vector<std::uint32_t> run(const LaneProgram& program) {
    const auto& machine = program.machine;
    const std::uint32_t words = machine.words_of(/*is_global=*/true);
    std::vector<std::uint32_t> first(std::size_t{words} * machine.blocks), found(program.expected.size());
    for (std::uint32_t i = 0; i < first.size(); ++i) first[i] = cucore::cpu::first_word(i % words);
    CUdeviceptr cells = 0, out = 0;
    CUmodule made = nullptr;
    CUfunction function = nullptr;
    const std::string ptx = machine.ptx();
    EXPECT_OK(cuModuleLoadData(&made, ptx.c_str())) << ptx;
    EXPECT_OK(cuModuleGetFunction(&function, made, "k"));
    EXPECT_OK(cuMemAlloc(&cells, (first.size() + 64) * 4));
    EXPECT_OK(cuMemAlloc(&out, found.size() * 4));
    EXPECT_OK(cuMemcpyHtoD(cells, first.data(), first.size() * 4));
    void* arguments[] = {&cells, &out};
    const auto& block = machine.block;
    EXPECT_OK(
        cuLaunchKernel(function, machine.blocks, 1, 1, block[0], block[1], block[2], 0, nullptr, arguments, nullptr));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_OK(cuMemcpyDtoH(found.data(), out, found.size() * 4));
    EXPECT_OK(cuMemFree(cells));
    EXPECT_OK(cuMemFree(out));
    EXPECT_OK(cuModuleUnload(made));
    return found;
  }

  /// Who goes from one array into the next one does what the memory check refuses.
  static bool is_refused(const LaneProgram& program) {
    const char* checks = std::getenv("CUCORE_CPU_CHECK");
    return checks != nullptr && std::string_view(checks).find("memory") != std::string_view::npos &&
           program.steps.find("into the next array") != std::string::npos;
  }

  void run_all(LaneProgramKind kind, std::uint32_t usual) {
    const std::uint32_t first = cucore::cpu::number_from("CUCORE_RANDOM_FIRST", 0);
    const std::uint32_t count = cucore::cpu::number_from("CUCORE_RANDOM_KERNELS", usual);
    std::uint32_t wrong = 0;
    for (std::uint32_t seed = first; seed < first + count; ++seed) {
      const LaneProgram program = cucore::cpu::lane_program(seed, kind);
      ASSERT_EQ("", program.fault) << "seed " << seed << ": " << program.steps;
      if (is_refused(program)) continue;
      if (kind == LaneProgramKind::Exchanges && !program.is_same_on_gpus && !is_cpu_device()) continue;
      const std::vector<std::uint32_t> found = run(program);
      const auto& block = program.machine.block;
      if (found == program.expected) continue;
      ADD_FAILURE() << "seed " << seed << ", blocks of " << block[0] << "x" << block[1] << "x" << block[2] << ": "
                    << program.steps << (wrong == 0 ? "\n" + program.machine.ptx() : "");
      ++wrong;
    }
    EXPECT_EQ(0U, wrong) << "of " << count << " programs";
  }
};

/// CUCORE_RANDOM_FIRST and CUCORE_RANDOM_KERNELS make longer runs of these.
TEST_F(LanePrograms, that_count_on_lanes_in_step_get_what_these_give) { run_all(LaneProgramKind::Exchanges, 48); }

TEST_F(LanePrograms, that_wait_for_lanes_get_the_same) { run_all(LaneProgramKind::Synchronised, 16); }

}  // namespace
