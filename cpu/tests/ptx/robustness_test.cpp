// Hostile and damaged text: always a verdict, never a crash, and never more work than the text is worth.
#include <random>

#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

std::string repeat(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

/// The verdict does not matter; that there is one does.
void survive(const std::string& text) {
  const ParseResult result = parse(text);
  EXPECT_EQ(result.module == nullptr, !result.diagnostics.empty());
}

std::string small_module() { return read_file(CUCORE_TEST_DATA "/corpus/inline_assembly.sm_80.ptx"); }

TEST(PtxRobustness, every_truncation_of_a_module_has_a_verdict) {
  const std::string text = small_module();
  for (std::size_t length = 0; length < text.size(); ++length) survive(text.substr(0, length));
}

TEST(PtxRobustness, damaged_bytes_have_a_verdict) {
  std::mt19937 random(7);
  const std::string text = small_module();
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = text;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    survive(damaged);
  }
}

TEST(PtxRobustness, shuffled_words_have_a_verdict) {
  std::mt19937 random(8);
  const std::string text = small_module();
  for (int round = 0; round < 1000; ++round) {
    const std::size_t from = random() % text.size();
    const std::size_t length = random() % 60;
    std::string damaged = text;
    damaged.insert(random() % damaged.size(), text.substr(from, length));
    damaged.erase(random() % damaged.size(), random() % 40);
    survive(damaged);
  }
}

TEST(PtxRobustness, deep_nesting_is_an_error_and_not_a_stack_overflow) {
  const std::size_t deep = 100000;
  EXPECT_NE(refuse(kernel_of(repeat("{", deep))).find("nested more than"), std::string::npos);
  EXPECT_NE(refuse(kernel_of("mov.u32 %r1, " + repeat("(", deep))).find("nested more than"), std::string::npos);
  EXPECT_NE(refuse(kernel_of("mov.u32 %r1, " + repeat("-", deep))).find("nested more than"), std::string::npos);
  EXPECT_NE(refuse(kernel_of("mov.u32 %r1, " + repeat("1?", deep))).find("nested more than"), std::string::npos);
  EXPECT_NE(refuse(kernel_of("mov.u32 %r1, " + repeat("1?1:", deep))).find("nested more than"), std::string::npos);
  EXPECT_NE(refuse(kernel_of("mov.b64 " + repeat("{", deep))).find("nested more than"), std::string::npos);
  EXPECT_NE(refuse(kernel_of("ld.u32 %r1, " + repeat("[%rd1,", deep))).find("nested more than"), std::string::npos);
  EXPECT_NE(refuse(module_of(".global .u32 a[1] = " + repeat("{", deep))).find("nested"), std::string::npos);
  survive(module_of(".section .x " + repeat("{", deep)));
}

TEST(PtxRobustness, reasonable_nesting_is_accepted) {
  accept(kernel_of(repeat("{", 100) + "ret;" + repeat("}", 100)));
  accept(kernel_of("mov.u32 %r1, " + repeat("(", 100) + "1" + repeat(")", 100) + ";"));
  accept(kernel_of("mov.u32 %r1, 1" + repeat("+1", 10000) + ";"));
}

TEST(PtxRobustness, promises_of_size_cost_nothing) {
  accept(kernel_of(".reg .b32 %huge<18446744073709551615>; mov.u32 %huge5, 1;"));
  accept(module_of(".global .b8 a[9000000000000000000]; .extern .global .u64 b[];"));
  accept(module_of(".file 4294967295 \"far.cu\""));
  const std::string initialised = ".global .b8 a%[16000000] = {1};\n";
  std::string many;
  for (int i = 0; i < 50; ++i) {
    std::string one = initialised;
    many += one.replace(one.find('%'), 1, std::to_string(i));
  }
  EXPECT_NE(refuse(module_of(many)).find("too large"), std::string::npos);
}

TEST(PtxRobustness, names_of_any_length_and_unusual_characters_are_survived) {
  survive(module_of(".global .u32 " + std::string(100000, 'a') + ";"));
  EXPECT_LT(refuse(kernel_of(std::string(100000, 'j') + ";")).size(), 300U);
  EXPECT_LT(refuse(kernel_of("add." + std::string(100000, 'j') + " %r1;")).size(), 400U);
  survive(module_of(".entry \xff\xfe() { ret; }"));
  survive(std::string(1000, '\xff'));
  survive(std::string(1, '\0'));
}

TEST(PtxRobustness, long_modules_of_one_kind_are_survived) {
  // Were any of these quadratic, it would not end within the patience of a test run.
  survive(kernel_of("L0: bra X;" + repeat("bra X;\n", 200000) + "X: ret;"));
  survive(kernel_of(repeat("{", 150) + repeat("mov.u32 %r1, %r2; bra X;\n", 50000) + repeat("}", 150) + "X: ret;"));
  survive(kernel_of(repeat("jump;\n", 100000)));
  std::string registers;
  for (int i = 0; i < 50000; ++i) registers += ".reg .b32 a" + std::to_string(i) + "b<9>;\n";
  survive(kernel_of(registers));
}

}  // namespace
}  // namespace cucore::cpu::ptx
