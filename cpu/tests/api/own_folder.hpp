// A test with a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace cucore::cpu {

class OwnFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (std::filesystem::temp_directory_path() / "kernels-XXXXXX").string();
    ASSERT_NE(mkdtemp(made.data()), nullptr);
    root = made;
    folder = root / "cache";
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }

  std::filesystem::path root;    ///< made for this test, and removed after it
  std::filesystem::path folder;  ///< below it; not there yet
};

}  // namespace cucore::cpu
