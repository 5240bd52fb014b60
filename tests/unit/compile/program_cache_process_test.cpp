// The cache between processes, some of which are killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "cucore/program_cache.hpp"
#include "cucore/program_options.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A child whose output is read through a pipe.
class Child {
 public:
  explicit Child(std::vector<std::string> arguments) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    std::vector<char*> argv;
    arguments.insert(arguments.begin(), COMPILE_THROUGH_CACHE);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    kill();
    ::close(output_);
  }

  std::string line() {
    std::string text;
    for (char c; ::read(output_, &c, 1) == 1 && c != '\n';) text += c;
    return text;
  }
  void kill() {
    if (process_ == 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }

 private:
  pid_t process_ = 0;
  int output_ = -1;
};

class program_cache_of_processes : public testing::Test {
 protected:
  Child compile(int lock_wait_ms = 60000) { return Child({cache_, std::to_string(lock_wait_ms), kernel_source}); }
  std::string lock_file() {
    const CompileKey key = make_compile_key(kernel_source, "c++", {.arch = "sm_90"}, "cubin");
    return (std::filesystem::path(cache_) / "locks" / key.hex.substr(0, 3)).string();
  }

  static constexpr const char* kernel_source = "extern \"C\" __global__ void f(int* x) { *x = 1; }";
  test::TemporaryFolder folder_;
  std::string cache_ = folder_.path() / "cache";
};

TEST_F(program_cache_of_processes, a_second_process_hits) {
  const std::string first = compile().line();
  EXPECT_THAT(first, StartsWith("miss "));
  EXPECT_EQ(compile().line(), "hit" + first.substr(4));
}

TEST_F(program_cache_of_processes, many_processes_compile_once) {
  std::vector<std::unique_ptr<Child>> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(std::make_unique<Child>(std::vector<std::string>{cache_, "60000", kernel_source}));
  }
  int misses = 0;
  for (const auto& child : children) {
    const std::string line = child->line();
    EXPECT_THAT(line, HasSubstr(" 0"));
    misses += line.starts_with("miss") ? 1 : 0;
  }
  EXPECT_EQ(misses, 1);
}

TEST_F(program_cache_of_processes, a_lock_goes_with_its_killed_holder) {
  EXPECT_THAT(compile().line(), StartsWith("miss "));
  ProgramCache(ProgramCacheOptions{.path = cache_}).clear();
  Child holder({"--hold", lock_file()});
  ASSERT_EQ(holder.line(), "held");
  Child waiting = compile();
  holder.kill();
  const std::string line = waiting.line();
  EXPECT_THAT(line, StartsWith("miss "));
  EXPECT_THAT(line, testing::EndsWith(" 0"));
}

TEST_F(program_cache_of_processes, a_lock_held_too_long_does_not_stop_a_compile) {
  EXPECT_THAT(compile().line(), StartsWith("miss "));
  ProgramCache(ProgramCacheOptions{.path = cache_}).clear();
  Child holder({"--hold", lock_file()});
  ASSERT_EQ(holder.line(), "held");
  const std::string line = compile(50).line();
  EXPECT_THAT(line, StartsWith("miss "));
  EXPECT_THAT(line, testing::EndsWith(" 1"));
}

// Rounds of the next test; more by hand.
int kill_rounds() {
  const char* wanted = std::getenv("CUCORE_TEST_KILL_ROUNDS");
  return wanted != nullptr ? std::atoi(wanted) : 25;
}

TEST_F(program_cache_of_processes, writers_killed_at_any_moment_leave_whole_entries_and_no_lock) {
  for (int i = 0; i < kill_rounds(); ++i) {
    Child writer({"--store", cache_});
    ASSERT_EQ(writer.line(), "begun");
    ::usleep(static_cast<useconds_t>((i * 7919) % 4000));
    writer.kill();
    ProgramCache cache(ProgramCacheOptions{.path = cache_});
    for (char digit = '0'; digit < '8'; ++digit) {
      if (const auto record = cache.get({.hex = std::string(64, digit)})) {
        EXPECT_GE(record->code.code().size(), 1000U);
        EXPECT_EQ(record->code.code().find_first_not_of('x'), std::string_view::npos);
      }
    }
    EXPECT_EQ(cache.stats().bad_records, 0U) << "round " << i;
  }
  const std::string line = compile(10).line();
  EXPECT_THAT(line, StartsWith("miss "));
  EXPECT_THAT(line, testing::EndsWith(" 0"));  // no lock was waited for
}

TEST_F(program_cache_of_processes, a_full_disk_costs_only_the_saving) {
  EXPECT_EQ(Child({"--full", cache_}).line(), "miss miss 2 0");
}

TEST_F(program_cache_of_processes, a_killed_writer_leaves_no_broken_entry) {
  for (int i = 0; i < 4; ++i) {
    Child child = compile();
    ::usleep(static_cast<useconds_t>(20'000 + 40'000 * i));
    child.kill();
  }
  ProgramCache cache(ProgramCacheOptions{.path = cache_});
  const CompileKey key = make_compile_key(kernel_source, "c++", {.arch = "sm_90"}, "cubin");
  (void)cache.get(key);
  EXPECT_EQ(cache.stats().bad_records, 0U);
  const std::string line = compile().line();
  EXPECT_THAT(line, testing::EndsWith(" 0"));
}

}  // namespace
}  // namespace cucore
