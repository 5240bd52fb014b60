// Kernels that would take too long to compile: they get a simpler form, with a reason, and compute what they should.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "cpu/loader/cache/kernel_cache.hpp"
#include "cpu/tests/api/own_folder.hpp"
#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

constexpr unsigned threads = 32;

/// Straight code of `steps` operations on words that stay below 2^32 one by one, and what a thread computes with it.
std::string long_straight_kernel(unsigned steps) {
  std::string body = "mov.u32 %r1, %r0;\nmov.u32 %r2, 1;\n";
  for (unsigned n = 0; n < steps; ++n) {
    const std::string number = std::to_string(n);
    body += n % 2 == 0 ? "mad.lo.u32 %r1, %r1, %r2, " + number + ";\n" : "xor.b32 %r2, %r2, %r1;\n";
  }
  return kernel(body);
}

Words results_of_long_straight_kernel(unsigned steps) {
  Words results;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    std::uint32_t a = thread, b = 1;
    for (std::uint32_t n = 0; n < steps; ++n) {
      if (n % 2 == 0) {
        a = a * b + n;
      } else {
        b ^= a;
      }
    }
    results.push_back(a);
  }
  return results;
}

/// Loads of lanes that lie apart, which become many instructions of the vector form.
struct ScatteredLoads {
  unsigned count;
  bool has_atomic = false;  ///< so that launches wait for vectors
  bool may_end = false;     ///< each lane, before the first load, so that not all may come to what follows; none does
  bool diverge = false;     ///< lanes, before the first load, for as many rounds as the low bits of their number say
};
constexpr unsigned loads_of_a_loop = 48;

/// In loops, whose blocks stay apart: of one round, as the table's first word says.
std::string kernel_of(const ScatteredLoads& loads) {
  std::string body = "mov.u32 %r1, %r0;\n";
  if (loads.may_end) body += "ld.global.u32 %r6, [%a0+124];\nsetp.eq.u32 %p2, %r0, %r6;\n@%p2 ret;\n";
  if (loads.diverge)
    body +=
        "and.b32 %r5, %r0, 3;\nturn:\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra together;\nmad.lo.u32 %r1, %r1, %r1, 3;\n"
        "sub.u32 %r5, %r5, 1;\nbra turn;\ntogether:\n";
  for (unsigned n = 0; n < loads.count; ++n) {
    const std::string label = "again" + std::to_string(n / loads_of_a_loop);
    if (n % loads_of_a_loop == 0) body += "ld.global.u32 %r4, [%a0];\n" + label + ":\n";
    body += "xor.b32 %r2, %r1, " + std::to_string(n % threads) +
            ";\nand.b32 %r2, %r2, 31;\nmul.wide.u32 %a2, %r2, 4;\n" +
            "add.u64 %a2, %a0, %a2;\nld.global.u32 %r3, [%a2];\nadd.u32 %r1, %r1, %r3;\n";
    if (n % loads_of_a_loop == loads_of_a_loop - 1 || n == loads.count - 1)
      body += "sub.u32 %r4, %r4, 1;\nsetp.ne.u32 %p0, %r4, 0;\n@%p0 bra " + label + ";\n";
  }
  body += "bar.warp.sync 0xffffffff;\n";
  return kernel(loads.has_atomic ? body + "red.global.add.u32 [%a1], 0;\n" : body);
}

std::uint32_t word_of_table(std::uint32_t n) { return 3 * n + 1; }

Words results_of(const ScatteredLoads& loads) {
  Words results;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    std::uint32_t value = thread;
    for (unsigned round = 0; loads.diverge && round < thread % 4; ++round) value = value * value + 3;
    for (std::uint32_t n = 0; n < loads.count; ++n) value += word_of_table((value ^ (n % threads)) & 31);
    results.push_back(value);
  }
  return results;
}

Words run_on_table(TestModule& module) {
  Words table;
  for (std::uint32_t n = 0; n < threads; ++n) table.push_back(word_of_table(n));
  module.launch("k", {1, 1, 1}, {threads, 1, 1}, table.data());
  return table;
}

constexpr unsigned too_many_loads = 400;
constexpr unsigned too_many_steps = 30000;

/// Registers that get their values on two ways each, which meet before they are used at the end: slots times blocks.
std::string kernel_of_meeting_values(unsigned count) {
  std::string body = ".reg .u32 %v<" + std::to_string(count) + ">;\nmov.u32 %r1, %r0;\n";
  for (unsigned n = 0; n < count; ++n) {
    const std::string number = std::to_string(n), label = "over" + number;
    body += "mov.u32 %v" + number + ", " + number + ";\nand.b32 %r2, %r1, " + std::to_string(1U << n % 5) +
            ";\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra " + label + ";\nadd.u32 %v" + number + ", %r1, " + number + ";\n" +
            label + ":\nadd.u32 %r1, %r1, 1;\n";
  }
  for (unsigned n = 0; n < count; ++n) body += "xor.b32 %r1, %r1, %v" + std::to_string(n) + ";\n";
  return kernel(body);
}

Words results_of_meeting_values(unsigned count) {
  Words results;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    std::uint32_t a = thread, all = 0;
    for (std::uint32_t n = 0; n < count; ++n, ++a) all ^= (a & 1U << n % 5) != 0 ? a + n : n;
    results.push_back(a ^ all);
  }
  return results;
}

/// Straight code in which each register is written once, as compilers make it, and some are read behind it.
std::string kernel_of_single_values(unsigned count) {
  std::string body = ".reg .u32 %v<" + std::to_string(count) + ">;\nmov.u32 %v0, %r0;\nmov.u32 %v1, 1;\n";
  const auto value = [](unsigned n) { return "%v" + std::to_string(n); };
  for (unsigned n = 2; n < count; ++n)
    body += (n % 2 == 0 ? "mad.lo.u32 " : "xor.b32 ") + value(n) + ", " + value(n - 1) + ", " + value(n - 2) +
            (n % 2 == 0 ? ", " + std::to_string(n) : "") + ";\n";
  body += "setp.eq.u32 %p0, %r0, 5;\n@%p0 bra over;\nadd.u32 " + value(count - 1) + ", " + value(count - 2) +
          ", 1;\nover:\nmov.u32 %r1, " + value(count - 1) + ";\n";
  return kernel(body);
}

Words results_of_single_values(unsigned count) {
  Words results;
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    std::uint32_t before = thread, last = 1;
    for (std::uint32_t n = 2; n < count; ++n)
      before = std::exchange(last, n % 2 == 0 ? last * before + n : last ^ before);
    results.push_back(thread == 5 ? last : before + 1);
  }
  return results;
}

class CompileBudget : public OwnFolder {};

TEST_F(CompileBudget, a_vector_form_that_takes_too_long_gives_way_to_the_scalar_one_and_is_not_tried_again) {
  const loader::KernelCache cache(folder.string());
  for (const bool comes_from_cache : {false, true}) {
    constexpr ScatteredLoads loads{.count = too_many_loads, .has_atomic = true};
    TestModule module(kernel_of(loads), FormOfCode::Vector);
    module.march = plain_processor;  // loads lanes one by one
    loader::KernelCache kept = cache;
    module.cache = &kept;
    EXPECT_EQ(run_on_table(module), results_of(loads));
    EXPECT_EQ(module.refusal, "the time that its vector form takes to compile");
    EXPECT_EQ(module.compile("k", {threads})->info.form, FormOfCode::Scalar);
    EXPECT_EQ(module.was_cached, comes_from_cache);
  }
}

TEST_F(CompileBudget, a_shorter_kernel_of_the_same_kind_has_its_vector_form) {
  constexpr ScatteredLoads loads{.count = 25, .has_atomic = true};
  TestModule module(kernel_of(loads), FormOfCode::Vector);
  module.march = plain_processor;
  EXPECT_EQ(run_on_table(module), results_of(loads));
  EXPECT_EQ(module.refusal, "");
}

TEST_F(CompileBudget, a_kernel_whose_threads_meet_has_more_time) {
  constexpr ScatteredLoads loads{.count = too_many_loads};
  TestModule module(kernel_of(loads), FormOfCode::Vector);
  module.march = plain_processor;
  EXPECT_EQ(run_on_table(module), results_of(loads));
  EXPECT_EQ(module.refusal, "");
}

TEST_F(CompileBudget, lanes_that_come_together_again_need_no_second_version_of_what_follows) {
  constexpr ScatteredLoads loads{.count = 220, .has_atomic = true, .diverge = true};
  TestModule module(kernel_of(loads), FormOfCode::Vector);
  module.march = plain_processor;
  EXPECT_EQ(run_on_table(module), results_of(loads));
  EXPECT_EQ(module.refusal, "");
}

TEST_F(CompileBudget, a_kernel_whose_threads_meet_is_under_masks_alone_where_both_versions_are_too_large) {
  constexpr ScatteredLoads loads{.count = 300, .may_end = true};
  TestModule module(kernel_of(loads), FormOfCode::Vector);
  module.march = plain_processor;
  EXPECT_EQ(run_on_table(module), results_of(loads));
  EXPECT_EQ(module.refusal, "");
}

TEST_F(CompileBudget, a_scalar_form_that_takes_too_long_is_not_optimised_and_not_tried_again) {
  for (const bool comes_from_cache : {false, true}) {
    TestModule module(long_straight_kernel(too_many_steps), FormOfCode::Auto);
    loader::KernelCache kept(folder.string());
    module.cache = &kept;
    EXPECT_EQ(run_on_table(module), results_of_long_straight_kernel(too_many_steps));
    EXPECT_EQ(module.refusal, "its size, and the time that its scalar form takes to optimise");
    EXPECT_EQ(module.was_cached, comes_from_cache);
  }
  TestModule scalar(long_straight_kernel(too_many_steps), FormOfCode::Scalar);
  EXPECT_EQ(run_on_table(scalar), results_of_long_straight_kernel(too_many_steps));
  EXPECT_EQ(scalar.refusal, "the time that its scalar form takes to optimise");
}

TEST_F(CompileBudget, long_straight_code_of_registers_that_are_written_once_is_optimised) {
  constexpr unsigned registers = 8000;
  TestModule module(kernel_of_single_values(registers), FormOfCode::Scalar);
  EXPECT_EQ(run_on_table(module), results_of_single_values(registers));
  EXPECT_EQ(module.refusal, "");
}

TEST_F(CompileBudget, values_that_meet_in_many_blocks_are_right_however_many_there_was_time_for) {
  for (const unsigned count : {50U, 4500U}) {
    TestModule module(kernel_of_meeting_values(count), FormOfCode::Scalar);
    EXPECT_EQ(run_on_table(module), results_of_meeting_values(count)) << count;
  }
}

}  // namespace
}  // namespace cucore::cpu
