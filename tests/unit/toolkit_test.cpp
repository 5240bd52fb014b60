// Finding NVRTC and nvJitLink.
#include "cucore/toolkit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "cucore/error.hpp"
#include "src/toolkit/library.hpp"
#include "src/toolkit/locate.hpp"

namespace cucore {
namespace {

// Sets a variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(toolkit, places_are_tried_in_the_documented_order) {
  const Variable nvrtc("CUCORE_NVRTC", "/one/libnvrtc.so");
  const Variable home("CUDA_HOME", "/two");
  const Variable root("CUCORE_TOOLKIT_DIR", "/four");
  const auto places = toolkit::places("CUCORE_NVRTC", {"/three"});
  ASSERT_GE(places.size(), 10U);
  EXPECT_EQ(places[0].file, "/one/libnvrtc.so");
  EXPECT_EQ(places[1].folder, "/two/lib64");
  EXPECT_EQ(places[2].folder, "/two/lib");
  EXPECT_EQ(places[3].folder, "/three");
  EXPECT_EQ(places[6].folder, "/four");
  EXPECT_EQ(places.back().rule, "dynamic loader");
}

TEST(toolkit, unset_and_empty_variables_name_no_place) {
  const Variable nvrtc("CUCORE_NVRTC", "");
  const Variable home("CUDA_HOME", nullptr);
  const Variable root("CUCORE_TOOLKIT_DIR", nullptr);
  for (const toolkit::Place& place : toolkit::places("CUCORE_NVRTC", {})) {
    EXPECT_TRUE(place.rule == "toolkit of the build" || place.rule == "dynamic loader") << place.rule;
  }
}

TEST(toolkit, the_pair_is_found_in_one_folder_with_its_headers) {
  const ToolkitInfo info = toolkit_info();
  ASSERT_TRUE(info.nvrtc.available) << info.nvrtc.why_not;
  ASSERT_TRUE(info.nvjitlink.available) << info.nvjitlink.why_not;
  EXPECT_EQ(info.nvrtc.path.parent_path(), info.nvjitlink.path.parent_path());
  EXPECT_EQ(info.nvrtc.major, info.nvjitlink.major);
  EXPECT_GE(info.nvrtc.major, 12);
  EXPECT_FALSE(info.nvrtc.build.empty());
  EXPECT_FALSE(info.nvrtc.found_by.empty());
  EXPECT_FALSE(info.include_paths.empty());
}

TEST(toolkit, search_paths_cannot_change_once_it_is_open) {
  (void)toolkit_info();
  EXPECT_THROW(set_toolkit_search_paths({"/somewhere/else"}), StateError);
}

TEST(toolkit, a_build_is_told_apart_by_its_build_id) {
  EXPECT_THAT(toolkit::build_identity(toolkit_info().nvrtc.path), testing::StartsWith("build-id:"));
  EXPECT_THAT(toolkit::build_identity("/etc/hostname"), testing::StartsWith("file:"));
  EXPECT_EQ(toolkit::build_identity("/nonexistent"), "unknown");
}

TEST(toolkit, a_function_that_is_missing_names_the_version_that_has_it) {
  try {
    toolkit::check(toolkit::NvrtcResult::missing_function, "nvrtcGetPCHCreateStatus", "compiling");
    FAIL();
  } catch (const UnavailableError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("12.8 or newer"));
  }
}

}  // namespace
}  // namespace cucore
