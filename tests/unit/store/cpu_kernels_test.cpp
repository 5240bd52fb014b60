// The CPU device's kernels between folders and a store. python/tests/compile/test_cpu_kernels.py launches such kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cucore/cpu_kernels.hpp"
#include "cucore/error.hpp"
#include "src/store/sealed_entry.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string five(64, '5'), six(64, '6');

std::string kernel_file(char digit) {
  return std::string("cucpuk\n\x06", 8) + std::string(32, static_cast<char>((digit - '0') * 17)) + "code" +
         std::string(32, 'd');
}

class cpu_kernels : public testing::Test {
 protected:
  cpu_kernels() {
    fs::create_directory(one_);
    fs::permissions(one_, fs::perms::owner_all);
    test::write_bytes(one_ / (five + ".kernel"), kernel_file('5'));
    test::write_bytes(one_ / (six + ".kernel"), kernel_file('6'));
  }
  CpuKernelOptions in(const fs::path& folder) const {
    return {.folder = folder, .keys = KeyRing({{"k", std::string(16, 's')}})};
  }

  test::TemporaryFolder folder_;
  fs::path one_ = folder_.path() / "one", two_ = folder_.path() / "two";
  std::shared_ptr<FolderStore> store_ = std::make_shared<FolderStore>(folder_.path() / "store");
};

TEST_F(cpu_kernels, what_one_folder_gives_another_takes) {
  EXPECT_EQ(push_cpu_kernels(store_, in(one_)).copied, 2U);
  const CpuKernelTransfer taken = pull_cpu_kernels(store_, in(two_));
  EXPECT_EQ(taken.copied, 2U);
  EXPECT_EQ(taken.stopped, "");
  EXPECT_THAT(store_->list(), testing::UnorderedElementsAre(five + ".cpu", six + ".cpu"));
  EXPECT_EQ(test::read_bytes(two_ / (six + ".kernel")), kernel_file('6'));
  EXPECT_EQ(push_cpu_kernels(store_, in(two_)).already_there, 2U);
  EXPECT_EQ(pull_cpu_kernels(store_, in(one_)).already_there, 2U);
  EXPECT_EQ(push_cpu_kernels(store_, in(folder_.path() / "none")).left, 0U);
}

TEST_F(cpu_kernels, what_is_not_signed_for_this_key_and_kind_stays_out) {
  const detail::Trust ours{.keys = in(one_).keys}, nobody{.keys = {}, .allow_unsigned = true};
  const std::string name = five + ".cpu";
  const std::string bad[] = {detail::seal(name, kernel_file('5'), "cpu device", nobody),
                             detail::seal(name, kernel_file('5'), "nvrtc (13, 0) ", ours),
                             detail::seal(name, kernel_file('6'), "cpu device", ours),
                             detail::seal(six + ".cpu", kernel_file('6'), "cpu device", ours), "cut"};
  for (const std::string& sealed : bad) {
    store_->put(name, sealed);
    const CpuKernelTransfer report = pull_cpu_kernels(store_, in(two_));
    EXPECT_EQ(report.copied, 0U);
    ASSERT_EQ(report.rejected.size(), 1U);
    EXPECT_EQ(report.rejected.front().first, five);
    EXPECT_TRUE(fs::is_empty(two_));
  }
}

TEST_F(cpu_kernels, only_files_that_are_the_users_alone_are_signed) {
  fs::permissions(one_ / (six + ".kernel"), fs::perms(0666));
  test::write_bytes(one_ / (std::string(64, '7') + ".kernel"), kernel_file('6'));
  const CpuKernelTransfer report = push_cpu_kernels(store_, in(one_));
  EXPECT_EQ(report.copied, 1U);
  EXPECT_EQ(report.rejected.size(), 2U);
  fs::permissions(one_, fs::perms(0770));
  EXPECT_THROW(push_cpu_kernels(store_, in(one_)), ValueError);
  EXPECT_THROW(pull_cpu_kernels(store_, in(one_)), ValueError);
  fs::create_directory_symlink(two_, folder_.path() / "link");
  EXPECT_THROW(push_cpu_kernels(store_, in(folder_.path() / "link")), ValueError);
}

struct Dead final : Store {
  std::optional<std::string> get(const std::string&) override { throw StateError({.message = "refused"}); }
  void put(const std::string&, std::string_view) override { throw StateError({.message = "refused"}); }
  void remove(const std::string&) override {}
  std::vector<std::string> list() override { throw StateError({.message = "refused"}); }
};

TEST_F(cpu_kernels, the_report_says_what_was_left_and_why) {
  const CpuKernelTransfer dead = push_cpu_kernels(std::make_shared<Dead>(), in(one_));
  EXPECT_EQ(dead.left, 2U);
  EXPECT_THAT(dead.stopped, HasSubstr("refused"));
  push_cpu_kernels(store_, in(one_));
  CpuKernelOptions narrow = in(two_);
  narrow.max_bytes = kernel_file('5').size();
  const CpuKernelTransfer one_only = pull_cpu_kernels(store_, narrow);
  EXPECT_EQ(one_only.copied, 1U);
  EXPECT_EQ(one_only.left, 1U);
  narrow.limit = std::chrono::milliseconds(0);
  EXPECT_EQ(pull_cpu_kernels(store_, narrow).stopped, "the time was used up");
  EXPECT_THROW(pull_cpu_kernels(nullptr, in(two_)), ValueError);
}

}  // namespace
}  // namespace cucore
