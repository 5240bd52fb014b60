// The driver's log: what it says of failures, by callback, into memory and into files.
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cpu/tests/api/driver.hpp"

namespace {

class Logs : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_OK(cuLogsCurrent(&place, 0));
  }
  /// One message, which names it.
  static void fail(const std::string& name) {
    const std::string source = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry e() { " + name + "; }\n";
    CUmodule none = nullptr;
    EXPECT_EQ(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&none, source.c_str()));
  }
  std::string dump(std::size_t room = 25600, CUresult expected = CUDA_SUCCESS) {
    std::vector<char> text(room + 1, '#');
    std::size_t size = room;
    EXPECT_EQ(expected, cuLogsDumpToMemory(&place, text.data(), &size, 0));
    EXPECT_LT(size, room);
    EXPECT_EQ('\0', text[size]);
    EXPECT_EQ('#', text[room]);
    return text.data();
  }
  static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
  CUlogIterator place = 0;
};

TEST_F(Logs, a_place_moves_behind_what_was_dumped) {
  EXPECT_EQ("", dump());
  fail("first_wrong");
  fail("second_wrong");
  const std::string both = dump();
  EXPECT_LT(both.find("first_wrong"), both.find("second_wrong"));
  EXPECT_EQ('\n', both.back());
  EXPECT_EQ("", dump());
  fail("third_wrong");
  const std::string third = dump();
  EXPECT_TRUE(has(third, "third_wrong") && !has(third, "second_wrong"));
}

TEST_F(Logs, callbacks_hear_every_message_until_they_are_unregistered) {
  std::string heard;
  const auto listen = [](void* data, CUlogLevel level, char* message, size_t length) {
    EXPECT_EQ(CU_LOG_LEVEL_ERROR, level);
    *static_cast<std::string*>(data) += std::string(message, length) + "|";
  };
  CUlogsCallbackHandle handle = nullptr;
  ASSERT_OK(cuLogsRegisterCallback(listen, &heard, &handle));
  fail("heard_wrong");
  ASSERT_OK(cuLogsUnregisterCallback(handle));
  fail("unheard_wrong");
  EXPECT_TRUE(has(heard, "heard_wrong") && !has(heard, "unheard_wrong")) << heard;
  EXPECT_EQ('|', heard.back());
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsUnregisterCallback(handle));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsRegisterCallback(nullptr, &heard, &handle));
}

TEST_F(Logs, the_last_message_is_shown_where_not_all_have_room) {
  fail("long_ago_wrong");
  fail("just_now_wrong");
  const CUlogIterator before = place;
  const std::size_t all = dump().size();
  place = before;
  const std::string some = dump(all);  // one byte too few
  EXPECT_TRUE(has(some, "just_now_wrong") && !has(some, "long_ago_wrong"));
  EXPECT_TRUE(has(some.substr(0, some.find('\n')), "not shown"));
  place = before;
  EXPECT_EQ("", dump(20, CUDA_ERROR_INVALID_VALUE));
  EXPECT_EQ(before, place);
}

TEST_F(Logs, the_oldest_messages_go_and_a_dump_says_so) {
  fail("oldest_wrong");
  for (int i = 0; i < 300; ++i) fail("a_wrong_that_fills_the_room_of_all_messages_" + std::to_string(i));
  const std::string left = dump(30000);
  EXPECT_FALSE(has(left, "oldest_wrong"));
  EXPECT_TRUE(has(left, "messages_299") && has(left.substr(0, left.find('\n')), "not shown"));
}

TEST_F(Logs, a_file_gets_one_dump_after_the_other) {
  char path[] = "/tmp/cucore-logs-XXXXXX";
  const int file = mkstemp(path);
  ASSERT_GE(file, 0);
  fail("filed_wrong");
  ASSERT_OK(cuLogsDumpToFile(&place, path, 0));
  fail("refiled_wrong");
  ASSERT_OK(cuLogsDumpToFile(&place, path, 0));
  char text[4096] = "";
  EXPECT_GT(read(file, text, sizeof text - 1), 0);
  const char* const first = std::strstr(text, "filed_wrong");
  ASSERT_NE(nullptr, first);
  EXPECT_NE(nullptr, std::strstr(first, "refiled_wrong"));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToFile(&place, "/no/such/folder/file", 0));
  close(file);
  unlink(path);
}

TEST_F(Logs, wrong_arguments_are_refused) {
  char text[64];
  std::size_t size = sizeof text;
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsCurrent(nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsCurrent(&place, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToMemory(&place, nullptr, &size, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToMemory(&place, text, nullptr, 0));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToMemory(&place, text, &size, 1));
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToFile(&place, nullptr, 0));
  place += 1000;  // not there yet
  EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToMemory(&place, text, &size, 0));
}

}  // namespace
