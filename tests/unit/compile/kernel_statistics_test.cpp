// What ptxas and the linker tell of kernels, as data. The logs are their own words, cut to what matters.
#include "cucore/kernel_statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cucore/linker.hpp"
#include "cucore/program.hpp"

namespace cucore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* ptxas_log =
    R"(ptxas warning : Registers are spilled to local memory in function 'k', 40 bytes spill stores
ptxas info    : 40 bytes gmem, 8 bytes cmem[4]
ptxas info    : Compiling entry function '_Z4fillIdEvPT_i' for 'sm_90'
ptxas info    : Function properties for _Z4fillIdEvPT_i
ptxas         .     2528 bytes stack frame, 136 bytes spill stores, 312 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 2528 bytes cumulative stack size, 256 bytes smem, 376 bytes cmem[0], 4 bytes cmem[2]
ptxas info    : Compile time = 42.388 ms
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
ptxas info    : Function properties for helper
ptxas         .     96 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
)";

const KernelStatistics fill = {.kernel = "_Z4fillIdEvPT_i",
                               .arch = "sm_90",
                               .registers = 24,
                               .barriers = 1,
                               .stack_bytes = 2528,
                               .spill_store_bytes = 136,
                               .spill_load_bytes = 312,
                               .shared_bytes = 256,
                               .constant_bytes = 380};
const KernelStatistics small = {.kernel = "k", .arch = "sm_90", .registers = 12};

TEST(kernel_statistics, of_ptxas_are_read_and_functions_are_none_of_a_kernels) {
  EXPECT_THAT(parse_kernel_statistics(ptxas_log), ElementsAre(fill, small));
}

TEST(kernel_statistics, of_several_architectures_stand_apart) {
  const std::string log = std::string(ptxas_log) +
                          "ptxas info    : 40 bytes gmem, 64 bytes cmem[3]\n"
                          "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
                          "ptxas info    : Used 16 registers, 352 bytes cmem[0]\n";
  EXPECT_THAT(parse_kernel_statistics(log),
              ElementsAre(fill, small,
                          KernelStatistics{.kernel = "k", .arch = "sm_80", .registers = 16, .constant_bytes = 352}));
}

TEST(kernel_statistics, the_linkers_word_is_the_last) {
  const std::string log = std::string(ptxas_log) +
                          "info    : 40 bytes gmem, 64 bytes cmem[3]\n"
                          "info    : Function properties for '_Z4fillIdEvPT_i':\n"
                          "info    : used 36 registers, used 2 barriers, 2400 stack, 1280 bytes smem, 540 bytes "
                          "cmem[0], 8 bytes lmem\n"
                          "info    : Function properties for 'other':\n"
                          "info    : used 8 registers, 0 stack\n";
  KernelStatistics linked = fill;
  linked.registers = 36;
  linked.barriers = 2;
  linked.stack_bytes = 2400;
  linked.shared_bytes = 1280;
  linked.constant_bytes = 540;
  linked.local_bytes = 8;
  EXPECT_THAT(parse_kernel_statistics(log),
              ElementsAre(linked, small, KernelStatistics{.kernel = "other", .registers = 8}));
}

TEST(kernel_statistics, any_text_may_be_given) {
  for (const char* text : {"", "\n\n", "Compiling entry function '", "Compiling entry function ''", "Used 8 registers",
                           "Function properties for '", "Function properties for ", ": , , ,"}) {
    EXPECT_THAT(parse_kernel_statistics(text), IsEmpty()) << text;
  }
  const auto much = parse_kernel_statistics(
      "Compiling entry function 'k' for 'sm_90'\nx : Used 99999999999 registers, 99999999999999999999999 bytes smem");
  ASSERT_EQ(much.size(), 1U);
  EXPECT_EQ(much[0].shared_bytes, 0U);
}

constexpr const char* source_with_statistics =
    "extern \"C\" __global__ void k(int* p) { __shared__ int s[32]; s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); "
    "p[threadIdx.x] = s[31 - threadIdx.x]; }";

TEST(kernel_statistics, come_from_programs_of_every_source_and_from_linkers) {
  const Program cxx(source_with_statistics, "c++", {.archs = {"sm_80", "sm_90"}, .ptxas_options = {"-v"}});
  EXPECT_THAT(cxx.kernel_statistics(), IsEmpty());
  (void)cxx.compile("cubin");
  ASSERT_EQ(cxx.kernel_statistics().size(), 2U);
  for (const KernelStatistics& kernel : cxx.kernel_statistics()) {
    EXPECT_EQ(kernel.kernel, "k");
    EXPECT_GT(kernel.registers, 0);
    EXPECT_EQ(kernel.shared_bytes, 128U);
  }
  EXPECT_EQ(cxx.kernel_statistics()[1].arch, "sm_90");

  const ObjectCode ptx = compile_ptx(source_with_statistics, {.arch = "sm_80"});
  const Program from_ptx(ptx.code(), "ptx", {.arch = "sm_80", .ptxas_options = {"-v"}});
  (void)from_ptx.compile("cubin");
  ASSERT_EQ(from_ptx.kernel_statistics().size(), 1U);
  EXPECT_EQ(from_ptx.kernel_statistics()[0].shared_bytes, 128U);

  const Linker linker({ptx}, {.arch = "sm_80", .verbose = true});
  EXPECT_THAT(linker.kernel_statistics(), IsEmpty());
  (void)linker.link("cubin");
  ASSERT_EQ(linker.kernel_statistics().size(), 1U);
  EXPECT_EQ(linker.kernel_statistics()[0].kernel, "k");
  EXPECT_GT(linker.kernel_statistics()[0].constant_bytes, 0U);  // only the linker tells
}

}  // namespace
}  // namespace cucore
