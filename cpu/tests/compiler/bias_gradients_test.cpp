// Kernels on which LLVM's instruction selection did not end: they compile in every form and for every processor, with
// the same results.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "cpu/abi/checks.hpp"
#include "cpu/tests/compiler/stand_in.hpp"
#include "cpu/tests/compiler/vector/kernels.hpp"

namespace cucore::cpu {

namespace {

constexpr std::array forms{FormOfCode::Scalar, FormOfCode::Vector, FormOfCode::Masked};
constexpr std::array processors{"", plain_processor};  // this one, and one without mask registers

constexpr int rows = 20, columns = 128;

/// Small whole numbers, whose sum is exact in any order.
std::vector<float> matrix() {
  std::vector<float> made;
  for (int n = 0; n < rows * columns; ++n) made.push_back(static_cast<float>(n * 7 % 31 - n % 5));
  return made;
}

std::vector<float> sums_over_rows() {
  const std::vector<float> numbers = matrix();
  std::vector<float> sums(columns, 1);
  for (int n = 0; n < rows * columns; ++n)
    sums[static_cast<std::size_t>(n % columns)] += numbers[static_cast<std::size_t>(n)];
  return sums;
}

void expect_sums_of(const char* kernel, std::uint32_t columns_of_block, const std::vector<Extent>& blocks) {
  const std::vector<float> numbers = matrix();
  for (const char* const processor : processors) {
    for (const FormOfCode form : forms) {
      TestModule module(read_test_file("compiler/bias_gradients.ptx"), form);
      module.march = processor;
      for (const Extent block : blocks) {
        std::vector<float> sums(columns, 1);
        module.launch(kernel, {columns / columns_of_block, 1, 1}, block, sums.data(), numbers.data(), rows, columns);
        EXPECT_EQ(sums, sums_over_rows()) << kernel << ", form " << static_cast<int>(form) << ", block " << block.x
                                          << "x" << block.y << "x" << block.z << " for \"" << processor << "\"";
      }
    }
  }
}

/// Predicates of which each step combines both results of the one before, `steps` times.
std::string kernel_of_predicates(unsigned steps) {
  std::string body = "ld.global.s32 %r2, [%a1];\nsetp.gt.s32 %p0, %r2, 0;\nsetp.lt.s32 %p1, %r2, 100;\n";
  for (unsigned n = 1; n <= steps; ++n)
    body += "ld.global.u32 %r3, [%a1+" + std::to_string(256 * n) + "];\nsetp.gt.u32 %p2, %r3, %r2;\n" +
            "setp.lt.s32 %p4, %r3, " + std::to_string(7 * n) +
            ";\nand.pred %p3, %p0, %p2;\nor.pred %p5, %p1, %p4;\nxor.pred %p0, %p3, %p1;\nxor.pred %p1, %p5, %p0;\n";
  return kernel(body + "mov.u32 %r1, %r2;\n@%p1 st.global.u32 [%a1+256], %r0;\n");
}

}  // namespace

TEST(BiasGradients, compile_and_are_right_with_sums_in_shared_memory_and_rows_that_return_early) {
  expect_sums_of("by_shared_sums", 128, {{32, 16, 1}, {32, 8, 1}});
}

TEST(BiasGradients, compile_and_are_right_with_shuffles_of_four_lanes) {
  expect_sums_of("by_shuffles", 32, {{4, 8, 4}});
}

TEST(BiasGradients, compile_and_are_right_with_trees_between_barriers_behind_an_early_return) {
  expect_sums_of("by_trees", 128, {{32, 16, 1}});
}

TEST(CombinedPredicates, compile_and_are_right_however_many_ways_lead_through_them) {
  constexpr unsigned threads = 64, steps = 40;
  const std::string text = kernel_of_predicates(steps);
  std::vector<Words> results;
  for (const char* const processor : processors) {
    for (const FormOfCode form : forms) {
      TestModule module(text, form);
      module.march = processor;
      Words words;
      for (unsigned n = 0; n < threads * (steps + 1); ++n) words.push_back(n * 2654435761U % 200);
      module.launch("k", {1, 1, 1}, {threads, 1, 1}, words.data());
      results.push_back(words);
      EXPECT_EQ(words, results.front()) << "form " << static_cast<int>(form) << " for \"" << processor << "\"";
    }
  }
}

TEST(CombinedMasks, of_two_groups_of_lanes_that_wait_compile_with_checks_of_numbers) {
  for (const char* const processor : processors) {
    for (const FormOfCode form : forms) {
      TestModule module(read_test_file("compiler/mandelbrot.ptx"), form);
      module.march = processor;
      module.checks = check_class::number_checks;
      ASSERT_NE(module.compile("mandelbrot", {32, 8, 1}), nullptr);
      EXPECT_EQ(module.refusal, "");
    }
  }
}

}  // namespace cucore::cpu
