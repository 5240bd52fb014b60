// Finding NVRTC, nvJitLink and libNVVM, and what belongs to them.
#include "cucore/toolkit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "cucore/error.hpp"
#include "src/driver/open.hpp"
#include "src/toolkit/library.hpp"
#include "src/toolkit/locate.hpp"
#include "tests/unit/temporary_folder.hpp"

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
  const auto places = toolkit::places(Setting::nvrtc, {"/three"});
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
  const Variable environment("VIRTUAL_ENV", nullptr);
  for (const toolkit::Place& place : toolkit::places(Setting::nvrtc, {})) {
    EXPECT_TRUE(place.rule == "toolkit of the build" || place.rule == "dynamic loader") << place.rule;
  }
}

TEST(toolkit, packages_of_the_python_environment_come_before_the_loader_alone) {
  const test::TemporaryFolder folder;
  for (const char* python : {"python3.9/site-packages", "python3.13/site-packages", "python3/dist-packages", "cmake"})
    std::filesystem::create_directories(folder.path() / "lib" / python);
  const Variable environment("VIRTUAL_ENV", folder.path().c_str());
  std::vector<std::string> found;
  for (const toolkit::Place& place : toolkit::places(Setting::nvrtc, {}))
    if (place.rule == "Python packages") found.push_back(place.folder.lexically_relative(folder.path()));
  EXPECT_THAT(found,
              testing::ElementsAre(
                  "lib/python3.13/site-packages/nvidia/cu13/lib", "lib/python3.13/site-packages/nvidia/cuda_nvrtc/lib",
                  "lib/python3.13/site-packages/nvidia/nvjitlink/lib", "lib/python3.9/site-packages/nvidia/cu13/lib",
                  "lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib",
                  "lib/python3.9/site-packages/nvidia/nvjitlink/lib", "lib/python3/dist-packages/nvidia/cu13/lib",
                  "lib/python3/dist-packages/nvidia/cuda_nvrtc/lib", "lib/python3/dist-packages/nvidia/nvjitlink/lib"));
  EXPECT_EQ(toolkit::places(Setting::nvrtc, {}).back().rule, "dynamic loader");
}

TEST(toolkit, a_search_path_may_be_a_folder_of_packages) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "nvidia");
  std::vector<std::string> found;
  for (const toolkit::Place& place : toolkit::places(Setting::nvrtc, {folder.path()}))
    if (place.rule == "search path") found.push_back(place.folder.lexically_relative(folder.path()));
  EXPECT_THAT(found, testing::ElementsAre("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/nvjitlink/lib"));
}

TEST(toolkit, the_cpu_device_of_the_python_environment_is_looked_for) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "lib/python3.11/site-packages");
  const Variable environment("VIRTUAL_ENV", folder.path().c_str());
  EXPECT_THAT(driver::cpu_device_places(),
              testing::Contains(folder.path() / "lib/python3.11/site-packages/cucore_cpu_device/libcuda.so.1"));
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

TEST(toolkit, libnvvm_and_libdevice_are_found_with_it) {
  const ToolkitInfo info = toolkit_info();
  ASSERT_TRUE(info.nvvm.available) << info.nvvm.why_not;
  EXPECT_EQ(info.nvvm.major, 2);
  EXPECT_TRUE(std::filesystem::exists(info.libdevice)) << info.libdevice;
}

void touch(const std::filesystem::path& file, const char* text = "") {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

class toolkit_folders : public testing::Test {
 protected:
  std::filesystem::path at(const std::string& path) const { return folder_.path() / path; }
  // The folders found for NVRTC in `library_folder`, relative to the temporary folder.
  std::vector<std::string> headers(const std::string& library_folder,
                                   const std::vector<toolkit::Place>& places = {}) const {
    std::vector<std::string> found;
    for (const auto& folder : toolkit::find_headers(at(library_folder), places, 13, 0)) {
      const std::string relative = folder.lexically_relative(folder_.path()).string();
      if (!relative.starts_with("..")) found.push_back(relative);  // a real toolkit of the machine
    }
    return found;
  }

  test::TemporaryFolder folder_;
};

TEST_F(toolkit_folders, headers_are_found_in_every_layout) {
#if defined(__aarch64__)
  const std::vector<std::string> targets{"sbsa-linux", "aarch64-linux"};
#else
  const std::vector<std::string> targets{"x86_64-linux"};
#endif
  touch(at("toolkit/include/cuda_fp16.h"));
  touch(at("toolkit/include/cccl/cuda/std/array"));
  touch(at("wheels/cuda_runtime/include/cuda_fp16.h"));
  touch(at("wheels/cuda_cccl/include/cuda/std/array"));
  for (const std::string& target : targets) touch(at(target + "/targets/" + target + "/include/cuda_fp16.h"));
  EXPECT_THAT(headers("toolkit/lib64"), testing::ElementsAre("toolkit/include", "toolkit/include/cccl"));
  EXPECT_THAT(headers("wheels/cuda_nvrtc/lib"),
              testing::ElementsAre("wheels/cuda_runtime/include", "wheels/cuda_cccl/include"));
  for (const std::string& target : targets)
    EXPECT_THAT(headers(target + "/lib"), testing::ElementsAre(target + "/targets/" + target + "/include"));
}

TEST_F(toolkit_folders, headers_of_the_same_major_version_are_taken_from_elsewhere) {
  touch(at("nvrtc_alone/lib/libnvrtc.so.13"));
  touch(at("old/include/cuda_fp16.h"));
  touch(at("old/include/cuda_runtime_api.h"), "#define CUDART_VERSION  12080\n");
  touch(at("other_minor/include/cuda_fp16.h"));
  touch(at("other_minor/include/cuda_runtime_api.h"), "#define CUDART_VERSION  13010\n");
  touch(at("same/include/cuda_fp16.h"));
  touch(at("same/include/cuda_runtime_api.h"), "#define CUDART_VERSION  13000\n");
  const toolkit::Place old{.rule = "test", .folder = at("old/lib")};
  const toolkit::Place other{.rule = "test", .folder = at("other_minor/lib")};
  const toolkit::Place same{.rule = "test", .folder = at("same/lib")};
  EXPECT_THAT(headers("nvrtc_alone/lib", {old, other, same}), testing::ElementsAre("same/include"));
  EXPECT_THAT(headers("nvrtc_alone/lib", {old}), testing::IsEmpty());
}

TEST_F(toolkit_folders, the_hosts_headers_are_never_taken) {
  touch(at("usr/include/cuda_fp16.h"));
  touch(at("usr/include/stdio.h"));
  EXPECT_THAT(headers("usr/lib"), testing::IsEmpty());
}

TEST_F(toolkit_folders, libdevice_belongs_to_libnvvm_in_every_layout) {
  touch(at("toolkit/nvvm/libdevice/libdevice.10.bc"));
  EXPECT_EQ(toolkit::libdevice_of(at("toolkit/nvvm/lib64/libnvvm.so.4")), at("toolkit/nvvm/libdevice/libdevice.10.bc"));
  EXPECT_EQ(toolkit::libdevice_of(at("toolkit/lib/libnvvm.so.4")), at("toolkit/nvvm/libdevice/libdevice.10.bc"));
  const auto folders = toolkit::nvvm_folders(at("toolkit/lib64"));
  EXPECT_THAT(folders, testing::Contains(at("toolkit/nvvm/lib64")));
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
