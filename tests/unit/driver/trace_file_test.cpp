// The file of a trace: events are whole whatever threads write them, and what went wrong is said.
#include "src/driver/trace_file.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/temporary_folder.hpp"

namespace {

using namespace cucore::driver::trace;
using cucore::test::TemporaryFolder;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Event slice(const std::string& name) { return {'X', name, "driver", {1, 2}, 1500}; }

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

TEST(TraceFile, an_event_is_a_line_of_json) {
  Arguments arguments;
  arguments
      .add("name", R"(a "b" \ c)"
                   "\n")
      .add("bytes", std::uint64_t{4096})
      .add("value", std::int64_t{-1});
  arguments.address("stream", 0xabc);
  Event event = slice("cuMemcpyAsync");
  EXPECT_EQ(R"({"ph":"X","name":"cuMemcpyAsync","cat":"driver","pid":1,"tid":2,"ts":1.500,"dur":0.250,)"
            R"("args":{"name":"a \"b\" \\ c\u000a","bytes":4096,"value":-1,"stream":"0xabc"}})",
            std::move(event.duration(250).arguments(arguments)).text());
}

TEST(TraceFile, no_event_of_many_threads_is_lost_or_torn) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "trace.json";
  File file;
  ASSERT_EQ("", file.open(path));
  constexpr int count = 2000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&file, t] {
      for (int i = 0; i < count; ++i) file.write(slice("call_" + std::to_string(t) + "_" + std::to_string(i)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  file.close(slice("last"));

  const std::vector<std::string> lines = lines_of(path);
  ASSERT_EQ(std::size_t{8 * count + 3}, lines.size());
  EXPECT_EQ("[", lines.front());
  EXPECT_EQ("]", lines.back());
  EXPECT_THAT(lines[lines.size() - 2], EndsWith("}"));
  const std::set<std::string> distinct(lines.begin() + 1, lines.end() - 2);
  EXPECT_EQ(std::size_t{8 * count}, distinct.size());
  for (const std::string& line : distinct) {
    ASSERT_THAT(line, StartsWith(R"({"ph":"X","name":"call_)"));
    ASSERT_THAT(line, EndsWith("},"));
  }
}

TEST(TraceFile, what_a_killed_process_wrote_is_there) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "trace.json";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    File file;
    if (!file.open(path).empty()) _exit(1);
    for (int i = 0; i < 100; ++i) file.write(slice("call"));
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::vector<std::string> lines = lines_of(path);
  EXPECT_EQ(101u, lines.size());
  EXPECT_THAT(lines.back(), EndsWith("},"));
}

TEST(TraceFile, a_path_that_cannot_be_opened_is_named_with_the_reason) {
  File file;
  const std::string why = file.open("/no/such/folder/trace.json");
  EXPECT_THAT(why, HasSubstr("/no/such/folder/trace.json"));
  EXPECT_THAT(why, HasSubstr("No such file or directory"));
  EXPECT_FALSE(file.is_open());
  file.write(slice("call"));  // nothing happens
  file.close(slice("last"));
}

TEST(TraceFile, the_process_id_can_be_part_of_the_name) {
  const TemporaryFolder folder;
  File file;
  ASSERT_EQ("", file.open(folder.path() / "trace.%p.json"));
  file.close(slice("last"));
  EXPECT_EQ(3u, lines_of(folder.path() / ("trace." + std::to_string(getpid()) + ".json")).size());
}

TEST(TraceFile, two_traces_at_once_do_not_share_a_file) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "trace.json";
  File first;
  File second;
  ASSERT_EQ("", first.open(path));
  ASSERT_EQ("", second.open(path));
  first.close(slice("first"));
  second.close(slice("second"));
  EXPECT_THAT(lines_of(path)[1], HasSubstr("first"));
  EXPECT_THAT(lines_of(path + "." + std::to_string(getpid()))[1], HasSubstr("second"));
}

TEST(TraceFile, an_older_trace_is_replaced) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "trace.json";
  std::ofstream(path) << std::string(10000, 'x');
  File file;
  ASSERT_EQ("", file.open(path));
  file.close(slice("last"));
  EXPECT_EQ(3u, lines_of(path).size());
}

std::vector<std::string> written_by_another;

TEST(TraceFile, what_another_library_writes_goes_there_and_ends_there) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "trace.json";
  File file;
  ASSERT_EQ("", file.open(path));
  file.write(slice("own"));
  written_by_another.clear();
  file.join({.write = [](const char* text, std::size_t size) { written_by_another.emplace_back(text, size); },
             .end = [](const char* text,
                       std::size_t size) { written_by_another.push_back("end " + std::string(text, size)); }});
  EXPECT_TRUE(file.is_open());
  file.write(slice("theirs"));
  file.close(slice("last"));
  ASSERT_EQ(2U, written_by_another.size());
  EXPECT_THAT(written_by_another[0], HasSubstr(R"("name":"theirs")"));
  EXPECT_THAT(written_by_another[1], StartsWith(R"(end {"ph":"X","name":"last")"));
  EXPECT_EQ(2U, lines_of(path).size()) << "the file of our own has what was written before";
  File other;  // which is not locked any more
  EXPECT_EQ("", other.open(path));
  EXPECT_EQ("[", lines_of(path).at(0));
}

}  // namespace
