// Whole kernels, as the PTX compiler makes them, through the code generator.
#include <gtest/gtest.h>

#include <atomic>
#include <climits>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cpu/analysis/layout/layout.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {
namespace {

/// The kernels of codegen_kernels.cu.
TestModule compiled() { return TestModule(read_test_file("compiler/kernels.ptx")); }

constexpr std::string_view saxpy = R"(
.version 9.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 .ptr .align 1 x, .param .u64 .ptr .align 1 y, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b32 %f<5>;
  .reg .b64 %rd<8>;
  ld.param.b32 %f1, [a];
  ld.param.b64 %rd1, [x];
  ld.param.b64 %rd2, [y];
  ld.param.b32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $L_end;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.s32 %rd5, %r1, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
$L_end:
  ret;
}
)";

TEST(CodegenKernels, saxpy_runs_as_a_plain_loop_over_the_block) {
  TestModule module(saxpy);
  std::vector<float> x(1000), y(1000);
  std::iota(x.begin(), x.end(), 0.0F);
  std::iota(y.begin(), y.end(), 100.0F);
  module.launch("saxpy", {4}, {256}, 2.0F, x.data(), y.data(), 1000U);
  EXPECT_FALSE(module.compile("saxpy")->info.needs_fibers);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<float>(i);
    EXPECT_EQ(y[i], 2.0F * at + (100.0F + at));
  }
}

TEST(CodegenKernels, block_barriers_separate_the_phases_of_a_tiled_product) {
  constexpr std::size_t n = 24;
  TestModule module = compiled();
  std::vector<float> a(n * n), b(n * n), c(n * n), expected(n * n);
  for (std::size_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7) - 3.0F;
    b[i] = static_cast<float>(i % 5) * 0.5F;
  }
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      for (std::size_t k = 0; k < n; ++k) expected[row * n + column] += a[row * n + k] * b[k * n + column];
    }
  }
  module.launch("matmul", {3, 3}, {8, 8}, a.data(), b.data(), c.data(), static_cast<int>(n));
  EXPECT_EQ(c, expected);
  EXPECT_EQ(module.compile("matmul")->info.static_shared, 512U);
}

TEST(CodegenKernels, atomics_whose_results_nobody_waits_for_need_no_fibers) {
  TestModule module = compiled();
  std::vector<std::uint8_t> data(1000);
  std::vector<std::uint32_t> counts(256), expected(256);
  for (std::size_t i = 0; i < data.size(); ++i) ++expected[data[i] = static_cast<std::uint8_t>(i * i)];
  module.launch("histogram", {3}, {64}, data.data(), 1000U, counts.data());
  EXPECT_EQ(counts, expected);
  EXPECT_FALSE(module.compile("histogram")->info.needs_fibers);
}

TEST(CodegenKernels, atomics_apply_every_operation_of_every_thread) {
  TestModule module = compiled();
  std::uint32_t u[7] = {5, 5, 5, 0, 0, 0, 0};
  std::int32_t s[2] = {0, 0};
  std::uint64_t l = 1;
  float f = 0;
  double d = 0;
  module.launch("atomics", {2}, {32}, &u[0], &s[0], &l, &f, &d);
  EXPECT_EQ(u[0], 5U + 64 * 63 / 2);
  EXPECT_EQ(u[1], 63U);
  EXPECT_EQ(u[2], 0U);
  EXPECT_EQ(u[3], 0xffffffffU);
  EXPECT_EQ(u[4], 4U);  // wraps to zero at each 10th
  EXPECT_EQ(u[5], 6U);  // 0 wraps to 9, then down: 64 = 6 * 10 + 4 steps
  EXPECT_EQ(u[6], 0U);
  EXPECT_EQ(s[0], -63);
  EXPECT_EQ(s[1], 58);
  EXPECT_EQ(l, 1 + (std::uint64_t{64 * 63 / 2} << 33));
  EXPECT_EQ(f, 32.0F);
  EXPECT_EQ(d, 16.0);
}

TEST(CodegenKernels, a_lock_free_retry_loop_is_no_waiting_loop) {
  TestModule module = compiled();
  const std::vector<float> factors{2, 3, 5, 7, 11};
  float product = 1;
  module.launch("multiply_all", {1}, {5}, factors.data(), &product);
  EXPECT_EQ(product, 2310.0F);
  EXPECT_FALSE(module.compile("multiply_all")->info.needs_fibers);
}

TEST(CodegenKernels, lanes_that_contend_for_a_lock_all_get_it) {
  TestModule module = compiled();
  int mutex = 0;
  int counter = 0;
  module.launch("lock", {3}, {40}, &mutex, &counter);
  EXPECT_EQ(counter, 120);
  EXPECT_TRUE(module.compile("lock")->info.needs_fibers);
}

TEST(CodegenKernels, a_thread_that_waits_for_a_flag_lets_the_others_run) {
  TestModule module = compiled();
  std::vector<int> flags(70), order(70), expected(70);
  std::iota(expected.begin(), expected.end(), 1);
  module.launch("relay", {1}, {70}, flags.data(), order.data());
  EXPECT_EQ(order, expected);
  EXPECT_GT(observations().yields, 0);
}

TEST(CodegenKernels, local_arrays_are_the_threads_own) {
  TestModule module = compiled();
  const std::vector<int> picks{3, 7, 3, 40};
  std::vector<int> out(32), expected(32);
  for (std::size_t t = 0; t < 32; ++t) {
    int table[16];
    for (int i = 0; i < 16; ++i) table[i] = i * i;
    for (int i = 0; i < 4; ++i) table[picks[static_cast<std::size_t>(i)] & 15] += i;
    expected[t] = table[(static_cast<std::size_t>(picks[t % 4]) + t) & 15];
  }
  module.launch("local_array", {1}, {32}, picks.data(), out.data(), 4);
  EXPECT_EQ(out, expected);
  EXPECT_GE(module.compile("local_array")->info.local_bytes, 64U);
}

struct Pair {
  double sum;
  int count;
};

TEST(CodegenKernels, local_variables_have_addresses_of_32_bits_too) {
  // As Triton's LLVM writes them: taken, counted with and made generic in 32 bits.
  TestModule module(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry short_pointers(.param .u64 out, .param .u32 n)
{
  .local .align 4 .b8 depot[64];
  .reg .pred %p;
  .reg .b32 %base, %at, %i, %n, %sum, %v, %t;
  .reg .b64 %wide, %out;
  ld.param.u64 %out, [out];
  ld.param.u32 %n, [n];
  mov.u32 %t, %tid.x;
  mov.b32 %base, depot;
  add.u32 %at, %base, 0;
  mov.u32 %i, 0;
fill:
  mul.lo.u32 %v, %i, %t;
  st.local.u32 [%at], %v;
  add.u32 %at, %at, 4;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %n;
  @%p bra fill;
  ld.local.u32 %sum, [%base+8];
  ld.local.u32 %v, [%at+-4];
  add.u32 %sum, %sum, %v;
  cvt.u64.u32 %wide, %base;
  cvta.local.u64 %wide, %wide;
  ld.u32 %v, [%wide+4];
  add.u32 %sum, %sum, %v;
  mul.wide.u32 %wide, %t, 4;
  add.u64 %out, %out, %wide;
  st.global.u32 [%out], %sum;
  ret;
}
)");
  std::vector<std::uint32_t> out(64);
  module.launch("short_pointers", {1}, {64}, out.data(), 16U);
  for (std::uint32_t thread = 0; thread < 64; ++thread) EXPECT_EQ(out[thread], (2 + 15 + 1) * thread);
}

TEST(CodegenKernels, functions_take_and_return_structures_and_recurse) {
  TestModule module = compiled();
  const std::vector<float> values{0.5F, 1.5F, 4.0F};
  std::vector<Pair> pairs(12);
  std::vector<int> numbers(12);
  module.launch("calls", {1}, {12}, values.data(), 3, pairs.data(), numbers.data());
  for (std::size_t t = 0; t < pairs.size(); ++t) {
    EXPECT_EQ(pairs[t].sum, 6.0 + static_cast<double>(t));
    EXPECT_EQ(pairs[t].count, 4);
  }
  EXPECT_EQ(numbers[10], 55);
  EXPECT_EQ(numbers[11], 89);
}

TEST(CodegenKernels, exit_in_a_called_function_ends_the_thread) {
  TestModule module = compiled();
  std::vector<int> out(6, -1);
  module.launch("exits", {1}, {6}, out.data());
  EXPECT_EQ(out, (std::vector<int>{0, -1, 20, -1, 40, -1}));
}

TEST(CodegenKernels, printf_gets_its_format_and_packed_arguments) {
  TestModule module = compiled();
  module.launch("prints", {1}, {2}, "probe");
  EXPECT_EQ(observations().printed, "probe: thread 0 of 2, 0.000000\nprobe: thread 1 of 2, 0.250000\n");
}

TEST(CodegenKernels, a_failed_assertion_says_where) {
  TestModule module = compiled();
  module.launch("asserts", {1}, {4}, 4);
  EXPECT_EQ(observations().assertion, "");
  module.launch("asserts", {1}, {4}, 3);
  EXPECT_NE(observations().assertion.find("codegen_kernels.cu:"), std::string::npos) << observations().assertion;
  EXPECT_NE(observations().assertion.find("static_cast<int>(threadIdx.x) < limit"), std::string::npos);
}

TEST(CodegenKernels, shuffles_and_barriers_sum_a_block) {
  TestModule module = compiled();
  std::vector<float> in(256), out(2);
  std::iota(in.begin(), in.end(), 0.0F);
  module.launch("block_sum", {2}, {128}, in.data(), out.data());
  EXPECT_EQ(out, (std::vector<float>{128 * 127 / 2, 128 * 128 + 128 * 127 / 2}));
}

TEST(CodegenKernels, votes_gather_predicates_of_a_warp) {
  TestModule module = compiled();
  std::vector<int> in(32);
  std::vector<std::uint32_t> out(32);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 7);
  std::uint32_t ballot = 0;
  for (std::size_t i = 0; i < in.size(); ++i) ballot |= static_cast<std::uint32_t>(in[i] & 1) << i;
  module.launch("votes", {1}, {32}, in.data(), out.data());
  EXPECT_EQ(out, std::vector<std::uint32_t>(32, ballot ^ 1U));
}

TEST(CodegenKernels, dynamic_shared_memory_starts_after_the_static) {
  TestModule module = compiled();
  std::vector<int> in(10), out(10), expected(10);
  std::iota(in.begin(), in.end(), 100);
  for (std::size_t i = 0; i < in.size(); ++i) expected[i] = in[9 - i] + 1;
  module.launch_with_shared("dynamic_shared", {1}, {10}, 40, in.data(), out.data());
  EXPECT_EQ(out, expected);
  EXPECT_EQ(module.compile("dynamic_shared")->info.static_shared % 16, 0U);
}

TEST(CodegenKernels, module_variables_live_where_the_caller_put_them) {
  TestModule module = compiled();
  std::vector<float> out(4);
  int seen = 0;
  module.launch("module_variables", {1}, {4}, out.data(), &seen);
  EXPECT_EQ(out, (std::vector<float>{0.5F, 1.5F, 2.5F, 3.5F}));
  EXPECT_EQ(seen, 42);
  int in_place = 0;
  std::memcpy(&in_place, module.variable("counter"), sizeof in_place);
  EXPECT_EQ(in_place, 42);
}

TEST(CodegenKernels, special_registers_number_every_thread_of_a_grid) {
  TestModule module = compiled();
  constexpr std::uint32_t threads = 5 * 3 * 4;
  std::vector<std::uint32_t> out(threads * 12);
  module.launch("special_registers", {2, 3, 2}, {5, 3, 4}, out.data());
  for (std::uint32_t block = 0; block < 12; ++block) {
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      EXPECT_EQ(out[block * threads + thread], block * 1000 + thread);
  }
}

TEST(CodegenKernels, mathematical_functions_agree_with_the_host) {
  TestModule module = compiled();
  std::vector<float> in, out;
  for (float x = -30.0F; x < 30.0F; x += 0.37F) in.push_back(x);
  out.resize(in.size());
  module.launch("mathematics", {3}, {64}, in.data(), out.data(), static_cast<int>(in.size()));
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double x = in[i];
    const double expected =
        std::exp(x) + std::sin(x) * std::log(std::fabs(x) + 1) + std::sqrt(std::fabs(x)) / (1 + x * x);
    EXPECT_NEAR(out[i], expected, 3e-6 * std::fabs(expected) + 2e-6) << x;
  }
}

TEST(CodegenKernels, integer_division_never_traps) {
  TestModule module = compiled();
  const std::vector<int> a{7, -7, 5, INT32_MIN, 0, INT32_MAX};
  const std::vector<int> b{2, 2, 0, -1, 9, -3};
  std::vector<std::int64_t> out(24);
  module.launch("integers", {1}, {6}, a.data(), b.data(), out.data());
  const std::vector<std::int64_t> quotients{3, -3, -1, INT32_MIN, 0, -715827882};
  const std::vector<std::int64_t> remainders{1, -1, -1, 0, 0, 1};
  for (std::size_t t = 0; t < 6; ++t) {
    EXPECT_EQ(out[4 * t], quotients[t]);
    EXPECT_EQ(out[4 * t + 1], remainders[t]);
  }
}

TEST(CodegenKernels, a_wait_with_an_ordinary_load_behind_a_fence_yields_too) {
  TestModule module = compiled();
  int flag = 0;
  int out[2] = {0, 0};
  module.launch("fenced_wait", {1}, {2}, &flag, &out[0]);
  EXPECT_EQ(out[0], 42);
}

TEST(CodegenKernels, virtual_functions_of_objects_made_by_another_kernel_are_found) {
  TestModule module = compiled();
  std::vector<void*> shapes(4);
  std::vector<float> areas(4);
  module.launch("make_shapes", {1}, {4}, shapes.data());
  module.launch("measure_shapes", {1}, {4}, shapes.data(), areas.data());
  EXPECT_EQ(areas, (std::vector<float>{0, 3, 4, 27}));
}

TEST(CodegenKernels, tables_of_function_pointers_are_filled) {
  TestModule module = compiled();
  std::vector<int> out(4);
  module.launch("function_table", {1}, {4}, out.data());
  EXPECT_EQ(out, (std::vector<int>{0, 3, 4, 9}));
}

TEST(CodegenKernels, kernels_compile_and_go_away_on_many_threads_at_once) {
  TestModule module(saxpy);
  std::vector<std::thread> threads;
  std::atomic<int> compiled_kernels{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int n = 0; n < 5; ++n) compiled_kernels += loader::compile(module.module(), 0, {}) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled_kernels, 20);
}

TEST(CodegenKernels, describe_tells_what_compiling_the_scalar_form_would_without_compiling) {
  TestModule module(read_test_file("compiler/kernels.ptx"), FormOfCode::Scalar);
  const ptx::Function* matmul = module.module().find_function("matmul");
  const auto id = static_cast<ptx::FunctionId>(matmul - module.module().functions.data());
  const KernelInfo described = analysis::describe(module.module(), id);
  const KernelInfo& real = module.compile("matmul")->info;
  EXPECT_EQ(described.static_shared, real.static_shared);
  EXPECT_EQ(described.param_bytes, 28U);
  EXPECT_EQ(described.needs_fibers, real.needs_fibers);
  EXPECT_TRUE(described.needs_fibers);
}

TEST(CodegenKernels, the_dumps_show_ir_and_assembly) {
  TestModule module(saxpy);
  EXPECT_NE(value_of(loader::dump_ir(module.module(), 0)).find("define void @cucpu_run_block"), std::string::npos);
  EXPECT_NE(value_of(loader::dump_assembly(module.module(), 0)).find("cucpu_run_block:"), std::string::npos);
}

TEST(CodegenKernels, code_for_a_named_processor_has_none_of_the_instructions_that_it_lacks) {
  TestModule module(saxpy, FormOfCode::Vector);
  CompileOptions options{.form = FormOfCode::Vector, .block = {64, 1, 1}};
  const auto uses = [&](const char* march, const char* word) {
    options.march = march;
    return value_of(loader::dump_assembly(module.module(), 0, options)).find(word) != std::string::npos;
  };
#if defined(__aarch64__)
  EXPECT_TRUE(uses("armv8-a", ".4s"));
  EXPECT_FALSE(uses("armv8-a", "z0."));
#else
  EXPECT_TRUE(uses("x86-64-v2", "cucpu_run_block:"));
  EXPECT_FALSE(uses("x86-64-v2", "ymm"));
  EXPECT_FALSE(uses("x86-64-v3", "zmm"));
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    EXPECT_TRUE(uses("x86-64-v3", "vfmadd"));
    EXPECT_TRUE(uses("x86-64-v3", "ymm"));
  }
  EXPECT_EQ(uses("x86-64-v4", "zmm"), uses("", "zmm")) << "and never more than this processor has";
#endif
}

TEST(CodegenKernels, a_processor_that_is_none_is_refused_by_name) {
  TestModule module(saxpy);
  module.march = "a-processor";
  try {
    module.compile("saxpy");
    FAIL() << "compiled";
  } catch (const std::runtime_error& error) {
#if defined(__aarch64__)
    const std::string advice = "Arm processor; armv8.2-a and neoverse-n1, for two, do";
#else
    const std::string advice = "x86 processor; x86-64-v3, for one, stands for those with AVX2";
#endif
    EXPECT_EQ(std::string(error.what()), "saxpy: CUCORE_CPU_MARCH is \"a-processor\", which names no 64-bit " + advice);
  }
}

}  // namespace
}  // namespace cucore::cpu
