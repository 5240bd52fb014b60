// Lanes of a warp: who takes part in an operation of several, and that lanes which are converged run in step. The
// kernels are those of warp_kernels.cu; what they must write is in warp_members.txt, as an H200 wrote it, and in
// warp_lockstep.txt. Nothing here knows the CPU device.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "cpu/tests/api/driver.hpp"

namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t unwritten = 0xeeeeeeee;
constexpr unsigned int result_count = 64;  ///< words of each thread of `members`

/// Lines of a file, behind each title; lines that begin with # are for readers.
std::map<std::string, std::vector<std::string>> sections_of(const std::string& file) {
  std::ifstream text(std::string(CUCORE_TEST_DATA "/any_driver/") + file);
  std::map<std::string, std::vector<std::string>> sections;
  std::vector<std::string>* section = nullptr;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("== "))
      section = &sections[line.substr(3, line.find(": mask") - 3)];
    else if (section != nullptr && !line.starts_with("#"))
      section->push_back(line);
  }
  return sections;
}

/// "VALUE@FIRST-LAST" for lanes that wrote the same.
std::string in_words(const Words& lanes) {
  std::string text;
  for (std::size_t first = 0, end = 0; first < lanes.size(); first = end) {
    while (end < lanes.size() && lanes[end] == lanes[first]) ++end;
    char run[40];
    std::snprintf(run, sizeof run, " %x@%zu-%zu", lanes[first], first, end - 1);
    if (lanes[first] != unwritten) text += run;
  }
  return text;
}

class Warps : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    std::ifstream file(CUCORE_TEST_DATA "/any_driver/warp_kernels.ptx");
    const std::string ptx((std::istreambuf_iterator<char>(file)), {});
    ASSERT_OK(cuModuleLoadData(&module, ptx.c_str()));
    ASSERT_OK(cuMemAlloc(&in_, word_count * 4));
    ASSERT_OK(cuMemAlloc(&out_, word_count * 4));
    for (std::uint32_t i = 0; i < word_count; ++i) input_.push_back(i * i % 101 + 1);
    ASSERT_OK(cuMemcpyHtoD(in_, input_.data(), word_count * 4));
  }
  void TearDown() override {
    EXPECT_OK(cuMemFree(in_));
    EXPECT_OK(cuMemFree(out_));
    DriverTest::TearDown();
  }

  template <class... Arguments>
  Words written_by(const char* name, unsigned int threads, Arguments... arguments) {
    EXPECT_OK(cuMemsetD32(out_, unwritten, word_count));
    EXPECT_OK(launch(kernel(name), 1, threads, nullptr, arguments...));
    EXPECT_OK(cuCtxSynchronize());
    Words written(word_count);
    EXPECT_OK(cuMemcpyDtoH(written.data(), out_, word_count * 4));
    return written;
  }

  void expect_members(const char* name, const std::vector<std::size_t>& results);

  static constexpr std::uint32_t word_count = 64 * result_count;
  CUdeviceptr in_ = 0, out_ = 0;
  Words input_;
};

struct Scenario {
  const char* name;
  unsigned int threads;
  std::uint32_t alive, mask;
  int late;
};

constexpr Scenario scenarios[] = {
    {"whole", 32, ~0u, ~0u, 0},
    {"first 10 of 32", 32, 0x3ff, ~0u, 0},
    {"block of 10", 10, ~0u, ~0u, 0},
    {"lanes 5-31", 32, ~31u, ~0u, 0},
    {"even lanes", 32, 0x55555555, ~0u, 0},
    {"block of 45", 45, ~0u, ~0u, 0},
    {"45, not every third", 45, 0xb6db6db6, ~0u, 0},
    {"lane 17 alone", 32, 1u << 17, ~0u, 0},
    {"even lanes, late", 32, 0x55555555, ~0u, 1},
    {"first 10, mask 33333333", 32, 0x3ff, 0x33333333, 0},
    {"lanes 5-31, mask 0000ffff", 32, ~31u, 0xffff, 0},
    {"block of 10, mask 000003ff", 10, ~0u, 0x3ff, 0},
    {"block of 10, mask 00000f0f", 10, ~0u, 0xf0f, 0},
};

void Warps::expect_members(const char* name, const std::vector<std::size_t>& results) {
  const auto sections = sections_of("warp_members.txt");
  for (const Scenario& scenario : scenarios) {
    const Words written = written_by(name, scenario.threads, out_, scenario.alive, scenario.mask, scenario.late);
    const auto section = sections.find(scenario.name);
    ASSERT_NE(section, sections.end()) << scenario.name;
    const std::size_t first = (scenario.threads - 1) / 32 * 32;
    for (const std::size_t result : results) {
      Words lanes;
      for (std::size_t lane = 0; lane < 32; ++lane) lanes.push_back(written[(first + lane) * result_count + result]);
      ASSERT_LT(result, section->second.size());
      const std::string& line = section->second[result];
      const std::string operation = line.substr(0, line.find(':') + 1);
      EXPECT_EQ(line, operation + in_words(lanes)) << scenario.name << ", result " << result;
    }
  }
}

std::vector<std::size_t> results_to(std::size_t end, std::size_t without) {
  std::vector<std::size_t> results;
  for (std::size_t n = 0; n < end; ++n)
    if (n != without) results.push_back(n);
  return results;
}

TEST_F(Warps, lanes_that_have_exited_or_never_were_take_no_part_in_an_operation) {
  expect_members("members", results_to(59, ~std::size_t{0}));
}

TEST_F(Warps, lanes_that_have_exited_or_never_were_take_no_part_in_votes_and_shuffles_alone) {
  expect_members("votes_and_shuffles", results_to(36, /*activemask*/ 9));
}

TEST_F(Warps, lanes_that_are_converged_exchange_values_by_volatile_accesses) {
  std::ifstream file(CUCORE_TEST_DATA "/any_driver/warp_lockstep.txt");
  unsigned int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    ++lines;
    std::istringstream words(line);
    std::string name;
    unsigned int threads = 0;
    words >> name >> threads;
    words.ignore(1);
    Words expected;
    for (std::uint32_t value = 0; words >> std::hex >> value;) expected.push_back(value);
    Words written = written_by(name.c_str(), threads, in_, out_);
    std::erase(written, unwritten);
    EXPECT_EQ(expected, written) << name << " in a block of " << threads;
  }
  EXPECT_EQ(17U, lines);
}

/// Sums 64 ones by halves in one warp: the end of many reductions.
TEST_F(Warps, a_reduction_that_ends_in_one_warp_without_a_barrier_gives_the_sum) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 256; ++i) sum += input_[i];
  for (int again = 0; again < 20; ++again) {  // on the CPU device, in what form kernels first run in and then
    const Words written = written_by("sum", 256, in_, out_);
    ASSERT_EQ(sum, written[0]);
    ASSERT_EQ(sum, written[31]);
  }
}

TEST_F(Warps, lanes_that_exchange_values_may_wait_for_a_lock_of_their_warp) {
  for (const unsigned int threads : {32U, 96U}) {
    const Words written = written_by("locked", threads, in_, out_);
    for (unsigned int t = 0; t < threads; ++t) ASSERT_EQ(3 * threads, written[t]) << t;
  }
}

TEST_F(Warps, lanes_that_exchange_values_may_wait_for_other_blocks) {
  constexpr unsigned int block_count = 16, thread_count = 64;
  EXPECT_OK(cuMemsetD32(out_, 0, word_count));
  EXPECT_OK(launch(kernel("waiting_for_later_blocks"), block_count, thread_count, nullptr, in_, out_));
  EXPECT_OK(cuCtxSynchronize());
  Words written(word_count);
  EXPECT_OK(cuMemcpyDtoH(written.data(), out_, word_count * 4));
  for (unsigned int i = 0; i < block_count * thread_count; ++i) ASSERT_EQ(i / thread_count, written[i]) << i;
}

}  // namespace
