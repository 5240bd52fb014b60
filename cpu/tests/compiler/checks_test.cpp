// The memory check in the vector form against the scalar reference: random kernels among places that may not be
// accessed give the same results and the same refusals.
#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <tuple>

#include "cpu/abi/checks.hpp"
#include "cpu/abi/kernel_abi.hpp"
#include "cpu/tests/compiler/random_kernels.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

/// Two arrays of which some granules may not be accessed, the same ones in each run; all else may be.
struct Arrays {
  static constexpr std::uint64_t granule = 64;

  struct Array {
    std::uint64_t begin, bytes;
  };
  /// Line, block, thread, array and offset.
  using Refusal = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;

  Array arrays[2] = {};
  std::uint32_t seed = 0;
  std::uint32_t one_in = 0;  ///< so many granules may not; 0: all may
  std::multiset<Refusal> refusals;
  unsigned asked_elsewhere = 0;  ///< of what is in neither

  bool is_allowed(std::uint64_t array, std::uint64_t number) const {
    const std::uint64_t mixed = (number + 1000 * array + seed) * 0x9e3779b97f4a7c15;
    return one_in == 0 || (mixed >> 40) % one_in != 0;
  }

  /// All granules around it that may be accessed.
  CheckInterval around(std::uint64_t array, std::uint64_t number) const {
    std::uint64_t first = number, end = number;
    while (first > 0 && is_allowed(array, first - 1)) --first;
    while (end * granule < arrays[array].bytes && is_allowed(array, end)) ++end;
    return {arrays[array].begin + first * granule, (end - first) * granule};
  }

  bool access(const BlockState& block, std::uint32_t thread, CheckInterval* interval, std::uint64_t address,
              std::uint32_t line) {
    for (std::uint64_t array = 0; array < std::size(arrays); ++array) {
      const std::uint64_t offset = address - arrays[array].begin;
      if (offset >= arrays[array].bytes) continue;
      if (!is_allowed(array, offset / granule)) {
        refusals.emplace(line, block.block_id[0], thread, array, offset);
        return false;
      }
      if (interval != nullptr) *interval = around(array, offset / granule);
      return true;
    }
    ++asked_elsewhere;
    return true;
  }
};
Arrays judge;

std::uint32_t check_memory(const ThreadState* thread, CheckInterval* interval, std::uint64_t address, std::uint32_t,
                           std::uint32_t, std::uint32_t line) {
  return judge.access(*thread->block, thread->linear, interval, address, line) ? 1 : 0;
}

std::uint32_t check_lanes(const BlockState* block, CheckInterval* interval, const std::uint64_t* addresses,
                          std::uint32_t, std::uint32_t, std::uint32_t line, std::uint32_t first, std::uint32_t lanes) {
  std::uint32_t allowed = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    if (judge.access(*block, first + lane, interval, addresses[lane], line)) allowed |= 1U << lane;
  }
  return allowed;
}

const CheckTable& check_table() {
  static std::uint8_t nothing[16] = {};
  static const CheckTable table = [] {
    CheckTable made{};
    made.accessible = nothing;
    made.memory = check_memory;
    made.lanes = check_lanes;
    made.enter = made.leave = [](std::uint64_t, std::uint32_t) {};
    return made;
  }();
  return table;
}

struct Outcome {
  Words words;
  std::multiset<Arrays::Refusal> refusals;
  bool operator==(const Outcome&) const = default;
};

Outcome run(TestModule& module, Extent block) {
  constexpr std::uint32_t grid = 2;
  module.checks = check_class::memory_checks;
  module.check_table = &check_table();
  Words out(std::size_t{grid} * block.x * block.y * block.z * random_kernel_outputs, 0xabababab);
  const auto extent = [](const Words& words) {
    return Arrays::Array{reinterpret_cast<std::uintptr_t>(words.data()), 4 * words.size()};
  };
  judge.arrays[0] = extent(random_kernel_input());
  judge.arrays[1] = extent(out);
  judge.refusals.clear();
  judge.asked_elsewhere = 0;
  module.launch("k", {grid, 1, 1}, block, random_kernel_input().data(), out.data(), 19U);
  return {out, judge.refusals};
}

}  // namespace

TEST(CheckedForm, refuses_what_the_scalar_form_does_in_random_control_flow) {
  unsigned taken = 0;
  std::size_t refused = 0;
  const auto [first, count] = random_kernels_to_run(8);  // two of which read what is refused behind loops
  for (std::uint32_t seed = first; seed < first + count; ++seed) {
    const std::string text = random_kernel(seed);
    TestModule scalar(text, FormOfCode::Scalar);
    TestModule vector(text, FormOfCode::Vector);
    TestModule masked(text, FormOfCode::Masked);
    for (const std::uint32_t one_in : {0U, 64U, 5U}) {
      judge.seed = seed;
      judge.one_in = one_in;
      const Extent block = random_kernel_block(seed * 3 + one_in);
      const Outcome expected = run(scalar, block);
      refused += expected.refusals.size();
      for (TestModule* const module : {&vector, &masked}) {
        const Outcome found = run(*module, block);
        taken += module->refusal.empty() ? 1 : 0;
        ASSERT_EQ(found.words, expected.words)
            << "seed " << seed << ", one in " << one_in << ", " << block.x << "x" << block.y << "x" << block.z << "\n"
            << text;
        ASSERT_EQ(found.refusals, expected.refusals)
            << "seed " << seed << ", one in " << one_in << ", " << block.x << "x" << block.y << "x" << block.z << "\n"
            << text;
      }
    }
  }
  EXPECT_GT(taken, count * 3);  // or the test says little
  EXPECT_GT(refused, 0U);
}

TEST(CheckedForm, asks_nothing_of_places_in_shared_memory_that_the_shape_of_the_block_bounds) {
  const auto asked = [](const std::string& index) {
    const std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        ".reg .u32 %r<3>;\n.reg .u64 %a<4>;\n.shared .align 4 .b8 before[64];\n.shared .align 4 .b8 tile[1024];\n"
        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %tid.y;\nmul.wide.s32 %a1, %r1, 64;\n" +
        index +
        "add.u64 %a1, %a1, %a2;\nmov.u64 %a3, tile;\nadd.u64 %a3, %a3, %a1;\nst.shared.u32 [%a3], %r0;\nret;\n}\n";
    TestModule module(text, FormOfCode::Vector);
    judge.one_in = 0;
    run(module, {16, 16, 1});
    EXPECT_EQ(module.refusal, "");
    return judge.asked_elsewhere;
  };
  EXPECT_EQ(asked("mul.wide.s32 %a2, %r0, 4;\n"), 0U);
  EXPECT_GT(asked("mul.wide.s32 %a2, %r0, 4;\nadd.u64 %a2, %a2, 4;\n"), 0U);
  EXPECT_GT(asked("mul.wide.s32 %a2, %r0, 8;\n"), 0U);
}

}  // namespace cucore::cpu
