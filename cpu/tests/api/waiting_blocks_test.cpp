// Blocks that wait for each other go on, whatever those beside them do, wherever all are resident: random protocols on
// as many blocks as there can be. CUCORE_RANDOM_FIRST and CUCORE_RANDOM_KERNELS choose others than the usual ones,
// CUCORE_RANDOM_BLOCKS says how many blocks they have at most, CUCORE_RANDOM_STRONG=1 that none has a race, and
// CUCORE_RANDOM_TITLES=1 has them named as they run; CUCORE_TEST_CORES has the tests run on that many cores. Nothing
// here knows the CPU device.
#include <cuda.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "cpu/tests/api/waiting_kernels.hpp"
#include "cpu/tests/number_from.hpp"

#define ASSERT_OK(call) ASSERT_EQ(CUDA_SUCCESS, (call))

namespace {

using namespace cucore::cpu;

/// Before the driver counts them.
void keep_to_some_cores() {
  const unsigned wanted = number_from("CUCORE_TEST_CORES", 0);
  cpu_set_t all, some;
  CPU_ZERO(&some);
  if (wanted == 0 || sched_getaffinity(0, sizeof all, &all) != 0) return;
  for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&some) < static_cast<int>(wanted); ++core)
    if (CPU_ISSET(core, &all)) CPU_SET(core, &some);
  EXPECT_EQ(0, sched_setaffinity(0, sizeof some, &some));
}

/// A kernel whose blocks all have %words, and each its %block and the place %out for it.
std::string kernel_of_blocks(const std::string& body) {
  return R"(
.version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 words, .param .u64 done)
{
  .reg .b32 %block, %seen;
  .reg .b64 %words, %out, %offset;
  .reg .pred %p;
  ld.param.u64 %words, [words];
  ld.param.u64 %out, [done];
  mov.u32 %block, %ctaid.x;
  mul.wide.u32 %offset, %block, 4;
  add.u64 %out, %out, %offset;)" +
         body + "\n}";
}

class WaitingBlocks : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { keep_to_some_cores(); }
  void SetUp() override {
    ASSERT_OK(cuInit(0));
    ASSERT_OK(cuDeviceGet(&device_, 0));
    ASSERT_OK(cuCtxCreate(&context_, nullptr, 0, device_));
    ASSERT_OK(cuDeviceGetAttribute(&processors_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_));
    ASSERT_OK(cuMemAlloc(&words_, 3 * stage_words * 4));
    ASSERT_OK(cuMemAlloc(&done_, most_waiting_blocks * 4));
  }
  void TearDown() override {
    if (context_ != nullptr) {
      EXPECT_EQ(CUDA_SUCCESS, cuCtxDestroy(context_));
    }
  }

  void load(const std::string& ptx) {
    if (module_ != nullptr) {
      ASSERT_OK(cuModuleUnload(module_));
    }
    module_ = nullptr;
    ASSERT_OK(cuModuleLoadData(&module_, ptx.c_str())) << ptx;
    ASSERT_OK(cuModuleGetFunction(&function_, module_, "k"));
    ASSERT_OK(cuMemsetD8(words_, 0, 3 * stage_words * 4));
    ASSERT_OK(cuMemsetD8(done_, 0, most_waiting_blocks * 4));
  }

  /// How many blocks of the kernel of `seed` can be resident, up to what the test runs at most.
  void find_most_blocks(unsigned seed, unsigned threads, unsigned cluster, unsigned* most) {
    load(waiting_kernel(seed, cluster, threads, cluster, false).ptx);
    int blocks = 0;
    if (cluster == 1) {
      ASSERT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_, static_cast<int>(threads), 0));
      blocks *= processors_;
    } else {
      CUlaunchAttribute attributes[2] = {};
      const CUlaunchConfig config = config_of(cluster, threads, cluster, false, attributes);
      ASSERT_OK(cuOccupancyMaxActiveClusters(&blocks, function_, &config));
      blocks *= static_cast<int>(cluster);
    }
    *most = std::min(number_from("CUCORE_RANDOM_BLOCKS", most_waiting_blocks), static_cast<unsigned>(blocks));
    ASSERT_LE(2U, *most);
  }

  /// `attributes` must have room for two.
  static CUlaunchConfig config_of(unsigned blocks, unsigned threads, unsigned cluster, bool cooperative,
                                  CUlaunchAttribute* attributes) {
    CUlaunchConfig config{};
    config.gridDimX = blocks;
    config.blockDimX = threads;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.attrs = attributes;
    if (cluster > 1) {
      attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attributes[config.numAttrs++].value.clusterDim = {.x = cluster, .y = 1, .z = 1};
    }
    if (cooperative) {
      attributes[config.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attributes[config.numAttrs++].value.cooperative = 1;
    }
    return config;
  }

  void run(unsigned seed, unsigned blocks, unsigned threads, unsigned cluster, bool cooperative) {
    const WaitingKernel kernel =
        waiting_kernel(seed, blocks, threads, cluster, number_from("CUCORE_RANDOM_STRONG", 0) != 0);
    SCOPED_TRACE("kernel " + std::to_string(seed) + ": " + kernel.title);
    if (std::getenv("CUCORE_RANDOM_TITLES") != nullptr) std::fprintf(stderr, "%u: %s\n", seed, kernel.title.c_str());
    load(kernel.ptx);
    void* parameters[] = {&words_, &done_};
    CUlaunchAttribute attributes[2] = {};
    const CUlaunchConfig config = config_of(blocks, threads, cluster, cooperative, attributes);
    ASSERT_OK(cuLaunchKernelEx(&config, function_, parameters, nullptr));
    ASSERT_OK(cuCtxSynchronize());
    std::vector<unsigned> words(3 * stage_words), done(blocks);
    ASSERT_OK(cuMemcpyDtoH(words.data(), words_, words.size() * 4));
    ASSERT_OK(cuMemcpyDtoH(done.data(), done_, done.size() * 4));
    unsigned all = 0;
    for (unsigned stage = 0; stage < kernel.stages; ++stage) {
      EXPECT_EQ(blocks * kernel.rounds[stage], words[stage * stage_words]) << "stage " << stage;
      all += kernel.rounds[stage];
    }
    EXPECT_EQ(std::vector<unsigned>(blocks, all), done);
  }

  /// Every other kernel is given all blocks that there can be, the rest any number of them. The usual ones have some
  /// that the vector form takes, too.
  void run_random_kernels(unsigned cluster, bool cooperative) {
    const unsigned first = number_from("CUCORE_RANDOM_FIRST", 30), count = number_from("CUCORE_RANDOM_KERNELS", 8);
    for (unsigned seed = first; seed < first + count && !HasFatalFailure(); ++seed) {
      const unsigned threads = waiting_kernel_threads(seed);
      unsigned most = 0;
      ASSERT_NO_FATAL_FAILURE(find_most_blocks(seed, threads, cluster, &most));
      unsigned blocks = seed % 2 == 0 ? most : 2 + seed * 7 % (most - 1);
      blocks = std::max(1U, blocks / cluster) * cluster;
      run(seed, blocks, threads, cluster, cooperative);
    }
  }

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  CUdeviceptr words_ = 0, done_ = 0;
  int processors_ = 0;
};

TEST_F(WaitingBlocks, go_on_whatever_their_neighbours_do) { run_random_kernels(1, false); }

TEST_F(WaitingBlocks, go_on_in_cooperative_grids) { run_random_kernels(1, true); }

TEST_F(WaitingBlocks, go_on_in_clusters) { run_random_kernels(2, false); }

/// All wait for all, in a grid made for a larger GPU.
TEST_F(WaitingBlocks, that_are_more_than_can_be_resident_go_on) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer maps more for each device thread than a process may have mappings for";
#endif
  constexpr unsigned threads = 256, most_threads = 65536;
  load(kernel_of_blocks(R"(
  .reg .b32 %all;
  mov.u32 %all, %nctaid.x;
  mul.lo.u32 %all, %all, 256;
  red.global.add.u32 [%words], 1;
WAIT:
  ld.volatile.global.u32 %seen, [%words];
  setp.lt.u32 %p, %seen, %all;
  @%p bra WAIT;
  st.global.u32 [%out], %seen;
  ret;)"));
  int most = 0;
  ASSERT_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&most, function_, threads, 0));
  const unsigned blocks = static_cast<unsigned>(most * processors_) * 2 + 3;
  if (blocks * threads > most_threads || blocks > most_waiting_blocks) GTEST_SKIP() << "a device too large for it";
  void* parameters[] = {&words_, &done_};
  ASSERT_OK(cuLaunchKernel(function_, blocks, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  std::vector<unsigned> done(blocks);
  ASSERT_OK(cuMemcpyDtoH(done.data(), done_, done.size() * 4));
  EXPECT_EQ(std::vector<unsigned>(blocks, blocks * threads), done);
}

/// One thread walks a chain of volatile loads while its block holds the lock; the others ask for it once per barrier.
TEST_F(WaitingBlocks, that_hold_a_lock_go_on_while_others_spin_through_barriers) {
  load(kernel_of_blocks(R"(
  .reg .b32 %x, %next;
  .reg .b64 %at;
  mov.u32 %x, %tid.x;
  setp.ne.u32 %p, %block, 0;
  @%p bra ASK;
  setp.ne.u32 %p, %x, 1;
  @%p bra MEET;
  mov.u32 %next, 1;
WALK:
  mul.wide.u32 %offset, %next, 4;
  add.u64 %at, %words, %offset;
  ld.volatile.global.u32 %seen, [%at];
  add.u32 %next, %next, 1;
  add.u32 %next, %next, %seen;
  setp.lt.u32 %p, %next, 40;
  @%p bra WALK;
MEET:
  bar.sync 0;
  setp.ne.u32 %p, %x, 1;
  @%p bra END;
  st.volatile.global.u32 [%words], 1;
  bra END;
ASK:
  ld.volatile.global.u32 %seen, [%words];
  bar.sync 0;
  setp.ne.u32 %p, %seen, 1;
  @%p bra ASK;
  st.global.u32 [%out], %seen;
END:
  ret;)"));
  void* parameters[] = {&words_, &done_};
  ASSERT_OK(cuLaunchKernel(function_, 8, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  std::vector<unsigned> done(8);
  ASSERT_OK(cuMemcpyDtoH(done.data(), done_, done.size() * 4));
  EXPECT_EQ((std::vector<unsigned>{0, 1, 1, 1, 1, 1, 1, 1}), done);
}

/// Block b looks b times, once per barrier, and ends.
TEST_F(WaitingBlocks, that_end_just_when_their_turn_is_over_have_ended) {
  load(kernel_of_blocks(R"(
  .reg .b32 %count;
  mov.u32 %count, 0;
LOOK:
  ld.volatile.global.u32 %seen, [%words];
  bar.sync 0;
  add.u32 %count, %count, 1;
  add.u32 %count, %count, %seen;
  setp.lt.u32 %p, %count, %block;
  @%p bra LOOK;
  st.global.u32 [%out], %count;
  ret;)"));
  constexpr unsigned block_count = most_waiting_blocks;
  void* parameters[] = {&words_, &done_};
  ASSERT_OK(cuLaunchKernel(function_, block_count, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  ASSERT_OK(cuCtxSynchronize());
  std::vector<unsigned> done(block_count);
  ASSERT_OK(cuMemcpyDtoH(done.data(), done_, done.size() * 4));
  for (unsigned block = 1; block < block_count; ++block) EXPECT_EQ(block, done[block]);
}

}  // namespace
