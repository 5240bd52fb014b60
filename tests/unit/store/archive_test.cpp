// Archives of a cache: what goes in comes out, and nothing else does.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "cucore/cache_archive.hpp"
#include "cucore/error.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

using testing::HasSubstr;

std::string key_of(int number) {
  const std::string digits = std::to_string(number);
  return std::string(64 - digits.size(), '0') + digits;
}

class archive : public testing::Test {
 protected:
  archive() {
    for (int number = 0; number < 3; ++number) {
      const std::string code = "code " + std::string(static_cast<std::size_t>(number) * 700, 'x');
      EXPECT_TRUE(full_.put({.hex = key_of(number)}, {.code = ObjectCode::from_bytes(CodeType::ptx, code)}));
    }
  }
  ArchiveImport import_of(const std::string& bytes, const ArchiveOptions& options) {
    test::write_bytes(file_, bytes);
    ProgramCache empty({.path = folder_.path() / "empty"});
    empty.clear();
    return import_cache(empty, file_, options);
  }

  test::TemporaryFolder folder_;
  ProgramCache full_{{.path = folder_.path() / "full"}};
  std::filesystem::path file_ = folder_.path() / "cache.tar";
  ArchiveOptions ours_{.keys = KeyRing({{"k", std::string(16, 's')}})};
};

TEST_F(archive, what_goes_in_comes_out) {
  EXPECT_EQ(export_cache(full_, file_, ours_), 3U);
  ProgramCache other({.path = folder_.path() / "other"});
  EXPECT_EQ(import_cache(other, file_, ours_).imported, 3U);
  for (int number = 0; number < 3; ++number)
    EXPECT_EQ(other.read_entry(key_of(number)), full_.read_entry(key_of(number)));
  const ArchiveImport again = import_cache(other, file_, ours_);
  EXPECT_EQ(again.imported, 0U);
  EXPECT_EQ(again.already_there, 3U);
}

TEST_F(archive, equal_entries_make_equal_archives) {
  export_cache(full_, file_, ours_);
  const std::string bytes = test::read_bytes(file_);
  (void)full_.get({.hex = key_of(1)});
  export_cache(full_, file_, ours_);
  EXPECT_EQ(test::read_bytes(file_), bytes);
}

TEST_F(archive, some_entries_alone) {
  ours_.only = {key_of(2), key_of(2)};
  EXPECT_EQ(export_cache(full_, file_, ours_), 1U);
  ours_.only = {key_of(7)};
  EXPECT_THROW(export_cache(full_, folder_.path() / "none.tar", ours_), ValueError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "none.tar"));
}

TEST_F(archive, unpacked_it_is_a_store_and_a_packed_store_is_one) {
  export_cache(full_, file_, ours_);
  const std::string at = folder_.path().string();
  ASSERT_EQ(std::system(("mkdir " + at + "/s && tar -C " + at + "/s -xf " + file_.string()).c_str()), 0);
  SharedStore store(std::make_shared<FolderStore>(folder_.path() / "s"), {.keys = ours_.keys});
  EXPECT_EQ(store.obtain(key_of(1)), full_.read_entry(key_of(1)));
  ASSERT_EQ(std::system(("tar -C " + at + "/s -cf " + at + "/s.tar .").c_str()), 0);
  ProgramCache other({.path = folder_.path() / "other"});
  EXPECT_EQ(import_cache(other, folder_.path() / "s.tar", ours_).imported, 3U);
}

TEST_F(archive, what_is_not_signed_with_a_known_key_is_not_taken) {
  export_cache(full_, file_, ours_);
  const std::string bytes = test::read_bytes(file_);
  const ArchiveImport report = import_of(bytes, {.keys = KeyRing({{"k", std::string(16, 'x')}})});
  EXPECT_EQ(report.imported, 0U);
  ASSERT_EQ(report.rejected.size(), 3U);
  EXPECT_THAT(report.rejected[0].second, HasSubstr("digest"));
  export_cache(full_, file_, {.allow_unsigned = true});
  EXPECT_EQ(import_of(test::read_bytes(file_), ours_).rejected.size(), 3U);
  EXPECT_THROW(export_cache(full_, file_, {}), ValueError);
}

TEST_F(archive, one_that_is_cut_gives_nothing) {
  export_cache(full_, file_, ours_);
  const std::string bytes = test::read_bytes(file_);
  for (std::size_t size = 0; size + 1024 < bytes.size(); size += 97) {
    EXPECT_THROW(import_of(bytes.substr(0, size), ours_), ValueError) << size;
  }
}

TEST_F(archive, a_flipped_byte_costs_its_entry_at_most) {
  export_cache(full_, file_, ours_);
  const std::string bytes = test::read_bytes(file_);
  for (std::size_t at = 0; at < bytes.size() - 1024; at += 31) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x55);
    try {
      const ArchiveImport report = import_of(flipped, ours_);
      EXPECT_GE(report.imported, 2U) << at;
      ProgramCache taken({.path = folder_.path() / "empty"});
      for (const ProgramCacheEntry& entry : taken.entries()) {
        EXPECT_EQ(taken.read_entry(entry.key), full_.read_entry(entry.key)) << at;
      }
    } catch (const ValueError&) {  // of a header of tar
    }
  }
}

TEST_F(archive, prune_goes_by_age_use_and_size) {
  const auto removed = [&](const ProgramCachePrune& limits) { return full_.prune(limits).size(); };
  const auto entry = folder_.path() / "full/entries" / key_of(1).substr(0, 2) / key_of(1).substr(2);
  const timespec times[2] = {{.tv_sec = ::time(nullptr) - 7200, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, entry.c_str(), times, 0), 0);
  EXPECT_EQ(full_.entries().back().key, key_of(1));
  EXPECT_EQ(removed({}), 0U);
  EXPECT_EQ(removed({.max_unused = std::chrono::hours(3)}), 0U);
  EXPECT_EQ(removed({.max_unused = std::chrono::hours(1), .dry_run = true}), 1U);
  EXPECT_EQ(removed({.max_age = std::chrono::hours(9), .dry_run = true}), 1U);
  EXPECT_EQ(full_.entries().size(), 3U);
  EXPECT_EQ(removed({.max_age = std::chrono::hours(9)}), 1U);
  EXPECT_EQ(full_.entries().size(), 2U);
  EXPECT_EQ(removed({.max_bytes = 1}), 2U);
  EXPECT_EQ(full_.size(), 0U);
}

}  // namespace
}  // namespace cucore
