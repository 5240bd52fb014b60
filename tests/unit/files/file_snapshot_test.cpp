// Seeing that files have changed without reading them.
#include "src/files/file_snapshot.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "tests/unit/temporary_folder.hpp"

namespace cucore::detail {
namespace {

namespace fs = std::filesystem;

class file_snapshot : public testing::Test {
 protected:
  std::string at(const char* name) const { return (folder_.path() / name).string(); }
  void add(const char* name) {
    struct stat status{};
    ASSERT_EQ(::stat(at(name).c_str(), &status), 0);
    snapshot_.add_file(at(name), status);
  }

  test::TemporaryFolder folder_;
  FileSnapshot snapshot_;
};

TEST_F(file_snapshot, an_untouched_file_is_unchanged) {
  folder_.write("a.h", "1");
  add("a.h");
  EXPECT_TRUE(snapshot_.unchanged());
  EXPECT_FALSE(snapshot_.is_settled()) << "written just now";
}

TEST_F(file_snapshot, every_change_of_a_file_shows) {
  folder_.write("a.h", "1");
  add("a.h");
  folder_.write("a.h", "22");
  EXPECT_FALSE(snapshot_.unchanged());
}

TEST_F(file_snapshot, a_file_that_goes_or_is_replaced_shows) {
  folder_.write("a.h", "1");
  folder_.write("b.h", "1");
  add("a.h");
  fs::rename(at("b.h"), at("a.h"));
  EXPECT_FALSE(snapshot_.unchanged());
  fs::remove(at("a.h"));
  EXPECT_FALSE(snapshot_.unchanged());
}

TEST_F(file_snapshot, an_absent_name_that_comes_to_be_shows) {
  snapshot_.add_absent(at("a.h"));
  snapshot_.add_absent(at("not/yet/there/b.h"));
  EXPECT_TRUE(snapshot_.unchanged());
  fs::create_directories(at("not/yet/there"));
  folder_.write("other.h", "");
  fs::create_directory(at("a.h"));  // a folder is not a header
  EXPECT_TRUE(snapshot_.unchanged());
  folder_.write("not/yet/there/b.h", "");
  EXPECT_FALSE(snapshot_.unchanged());
}

TEST_F(file_snapshot, files_of_another_day_are_settled) {
  struct stat status{};
  ASSERT_EQ(::stat("/etc/passwd", &status), 0);
  snapshot_.add_file("/etc/passwd", status);
  snapshot_.add_absent("/etc/no_such_folder/no_such_header.h");
  EXPECT_EQ(snapshot_.is_settled(), is_settled(status));
  EXPECT_TRUE(snapshot_.unchanged());
  EXPECT_TRUE(snapshot_.unchanged());
}

}  // namespace
}  // namespace cucore::detail
