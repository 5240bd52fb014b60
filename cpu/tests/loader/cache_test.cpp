// Compiled kernels in a folder: what is found there, what is not, and what becomes of the folder.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cpu/loader/cache/kernel_cache.hpp"
#include "cpu/loader/kernel_key.hpp"
#include "cpu/tests/api/own_folder.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {
namespace {

namespace fs = std::filesystem;
using loader::KernelCache;
using loader::KernelIdentity;
using loader::KernelKey;

KernelKey key_number(std::uint8_t number) {
  KernelKey key{};
  key.digest.fill(number);
  return key;
}

KernelRecord record_of(std::size_t size) {
  return {.info = {.static_shared = 12,
                   .declared_shared = 4,
                   .needs_fibers = true,
                   .runs_rows = true,
                   .form = FormOfCode::Vector,
                   .waiting_bytes = 64,
                   .threads_of_fiber = 32},
          .refusal = "a reason",
          .object = std::string(size, 'x')};
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CodegenCache : public OwnFolder {
 protected:
  KernelCache cache() const { return KernelCache(folder.string()); }
  fs::path file_of(const KernelKey& key) const { return folder / KernelCache::file_name(key); }
  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
};

// ---- kernels -------------------------------------------------------------------------------------------------------

/// Launches kernels that use variables, pointers between them, built-ins and constants, and a table of functions.
void run_kernels(KernelCache& cache, bool expect_cached) {
  TestModule module(read_test_file("compiler/kernels.ptx"));
  module.cache = &cache;
  std::vector<float> weights(4);
  int seen = 0;
  module.launch("module_variables", {1}, {4}, weights.data(), &seen);
  EXPECT_EQ(module.was_cached, expect_cached);
  EXPECT_EQ(weights, (std::vector<float>{0.5F, 1.5F, 2.5F, 3.5F}));
  EXPECT_EQ(seen, 42);
  std::vector<int> results(4);
  module.launch("function_table", {1}, {4}, results.data());
  EXPECT_EQ(module.was_cached, expect_cached);
  EXPECT_EQ(results, (std::vector<int>{0, 3, 4, 9}));
  const std::vector<float> in(64, 1.0F);
  std::vector<float> sums(2);
  module.launch("block_sum", {2}, {32}, in.data(), sums.data());
  EXPECT_EQ(module.was_cached, expect_cached);
  EXPECT_EQ(sums, (std::vector<float>{32.0F, 32.0F}));
}

TEST_F(CodegenCache, a_kernel_found_there_runs_as_the_one_compiled) {
  KernelCache kept = cache();
  run_kernels(kept, false);
  run_kernels(kept, true);  // in another module: its variables have other addresses
}

TEST_F(CodegenCache, object_code_holds_no_address_of_the_process) {
  // Compiled twice, with variables elsewhere and other things compiled between: the same bits.
  KernelCache first = cache();
  KernelCache second((root / "second").string());
  run_kernels(first, false);
  TestModule between(read_test_file("compiler/kernels.ptx"));
  between.compile("matmul");
  run_kernels(second, false);
  for (const auto& item : fs::directory_iterator(folder))
    EXPECT_EQ(read_file(item.path()), read_file(root / "second" / item.path().filename()));
}

TEST_F(CodegenCache, what_is_known_of_a_kernel_comes_back_with_it) {
  KernelCache kept = cache();
  for (const auto form : {FormOfCode::Scalar, FormOfCode::Vector}) {
    for (const char* const kernel : {"matmul", "lock", "calls", "dynamic_shared"}) {
      TestModule compiled(read_test_file("compiler/kernels.ptx"), form);
      TestModule loaded(read_test_file("compiler/kernels.ptx"), form);
      compiled.cache = loaded.cache = &kept;
      const KernelInfo& a = compiled.compile(kernel, {64})->info;
      const KernelInfo& b = loaded.compile(kernel, {64})->info;
      EXPECT_TRUE(loaded.was_cached);
      EXPECT_EQ(compiled.refusal, loaded.refusal);
      EXPECT_EQ(std::make_tuple(a.static_shared, a.shared_alignment, a.local_bytes, a.param_bytes, a.registers),
                std::make_tuple(b.static_shared, b.shared_alignment, b.local_bytes, b.param_bytes, b.registers));
      EXPECT_EQ(
          std::make_tuple(a.needs_fibers, a.runs_rows, a.form, a.frame_bytes, a.waiting_bytes, a.threads_of_fiber),
          std::make_tuple(b.needs_fibers, b.runs_rows, b.form, b.frame_bytes, b.waiting_bytes, b.threads_of_fiber));
    }
  }
}

TEST_F(CodegenCache, whether_blocks_run_row_by_row_comes_back) {
  for (const bool runs_rows : {false, true}) {
    KernelRecord record = record_of(10);
    record.info.runs_rows = runs_rows;
    const auto back = decode(key_number(1), encode(key_number(1), record));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->info.runs_rows, runs_rows);
  }
}

TEST_F(CodegenCache, whole_files_with_object_code_that_cannot_be_linked_are_compiled_anew) {
  KernelCache kept = cache();
  run_kernels(kept, false);
  for (const auto& item : fs::directory_iterator(folder)) {
    const std::string name = item.path().filename().string();
    KernelKey key{};
    for (std::size_t i = 0; i < key.digest.size(); ++i)
      key.digest[i] = static_cast<std::uint8_t>(std::stoul(name.substr(2 * i, 2), nullptr, 16));
    kept.store(key, record_of(100));
  }
  run_kernels(kept, false);
  run_kernels(kept, true);
}

// ---- keys ----------------------------------------------------------------------------------------------------------

TEST_F(CodegenCache, everything_that_code_depends_on_is_in_its_key) {
  const KernelIdentity plain{.driver = "d", .compiler = "c", .host = "h", .form = FormOfCode::Scalar, .ptx = "ptx"};
  std::vector<KernelIdentity> others(13, plain);
  others[0].driver = "e";
  others[1].compiler = "d";
  others[2].host = "i";
  others[3].form = FormOfCode::Vector;
  others[4].block[0] = 1;
  others[5].block[1] = 1;
  others[6].block[2] = 1;
  others[7].ptx = "pty";
  others[8].driver = "dc", others[8].compiler = "";
  others[9].compiler = "ch", others[9].host = "";
  others[10].checks = 1;
  others[11].by_thread = true;
  others[12].march = plain_processor;
  std::set<std::array<std::uint8_t, 32>> digests{key_of(plain).digest};
  for (const KernelIdentity& other : others) digests.insert(key_of(other).digest);
  EXPECT_EQ(digests.size(), 1 + others.size());
  EXPECT_EQ(key_of(KernelIdentity(plain)), key_of(plain));
}

TEST_F(CodegenCache, the_identity_of_a_compile_names_builds_and_host) {
  const TestModule module(read_test_file("compiler/kernels.ptx"));
  const analysis::Reach reach = analysis::find_reach(module.module(), 3);
  const auto scalar = loader::identity_of(module.module(), reach, {.block = {256, 1, 1}});
  ASSERT_TRUE(scalar.has_value()) << "no build id";
  EXPECT_GE(scalar->driver.size(), 16U);
  EXPECT_GE(scalar->compiler.size(), 16U);
  EXPECT_NE(scalar->driver, scalar->compiler);
  EXPECT_GE(scalar->host.size(), 16U);
  EXPECT_EQ(scalar->ptx, loader::kernel_text(module.module(), reach));
  EXPECT_EQ(scalar->block[0], 0U) << "the scalar form is for all blocks of one row";
  const auto of_rows = loader::identity_of(module.module(), reach, {.block = {8, 8, 8}});
  EXPECT_EQ(of_rows->block[0] * 100 + of_rows->block[1] * 10 + of_rows->block[2], 888U);
  const auto vector = loader::identity_of(module.module(), reach, {.form = FormOfCode::Vector, .block = {8, 4, 2}});
  EXPECT_EQ(vector->form, FormOfCode::Vector);
  EXPECT_EQ(vector->block[0] * 100 + vector->block[1] * 10 + vector->block[2], 842U);
}

// ---- files ---------------------------------------------------------------------------------------------------------

TEST_F(CodegenCache, a_file_changed_anywhere_is_not_found) {
  const KernelKey key = key_number(1);
  const std::string whole = encode(key, record_of(1000));
  ASSERT_TRUE(decode(key, whole).has_value());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int bit : {0, 7}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_FALSE(decode(key, damaged).has_value()) << "byte " << at;
    }
    EXPECT_FALSE(decode(key, std::string_view(whole).substr(0, at)).has_value()) << "cut after " << at;
  }
  EXPECT_FALSE(decode(key, whole + '\0').has_value());
  EXPECT_FALSE(decode(key_number(2), whole).has_value()) << "another kernel's";
}

TEST_F(CodegenCache, a_file_that_is_not_whole_is_replaced_by_the_next_that_is_stored) {
  const KernelKey key = key_number(1);
  cache().store(key, record_of(1000));
  const std::uintmax_t size = fs::file_size(file_of(key));
  for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{40}, size - 1}) {
    fs::resize_file(file_of(key), left);
    EXPECT_FALSE(cache().find(key).has_value());
    cache().store(key, record_of(1000));
    EXPECT_TRUE(cache().find(key).has_value());
  }
}

TEST_F(CodegenCache, what_is_no_file_of_its_own_is_not_read) {
  const KernelKey key = key_number(1);
  cache().store(key, record_of(10));
  const fs::path elsewhere = root / "elsewhere";
  fs::rename(file_of(key), elsewhere);
  fs::create_symlink(elsewhere, file_of(key));
  EXPECT_FALSE(cache().find(key).has_value()) << "a link";
  fs::remove(file_of(key));
  ASSERT_EQ(mkfifo(file_of(key).c_str(), 0600), 0);
  EXPECT_FALSE(cache().find(key).has_value()) << "a pipe, and no wait";
  fs::remove(file_of(key));
  fs::create_directory(file_of(key));
  EXPECT_FALSE(cache().find(key).has_value()) << "a folder";
  cache().store(key, record_of(10));
  EXPECT_EQ(file_count(), 1U);
  fs::remove(file_of(key));
  fs::copy_file(elsewhere, file_of(key));
  EXPECT_TRUE(cache().find(key).has_value());
  ASSERT_EQ(chmod(file_of(key).c_str(), 0620), 0);
  EXPECT_FALSE(cache().find(key).has_value()) << "the group may write to it";
}

TEST_F(CodegenCache, files_and_folders_are_made_for_the_user_alone) {
  folder = root / "a/b/c";
  cache().store(key_number(1), record_of(10));
  struct stat status{};
  for (const char* const part : {"a", "a/b", "a/b/c"}) {
    ASSERT_EQ(stat((root / part).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0700U) << part;
  }
  ASSERT_EQ(stat(file_of(key_number(1)).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

// ---- folders that will not do --------------------------------------------------------------------------------------

TEST_F(CodegenCache, a_folder_that_others_may_write_to_is_not_used) {
  const KernelKey key = key_number(1);
  cache().store(key, record_of(10));
  for (const mode_t mode : {mode_t{0770}, mode_t{0702}, mode_t{01777}}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_FALSE(cache().find(key).has_value());
    cache().store(key_number(2), record_of(10));
    EXPECT_EQ(file_count(), 1U);
  }
}

TEST_F(CodegenCache, a_link_in_place_of_the_folder_is_not_followed) {
  const KernelKey key = key_number(1);
  cache().store(key, record_of(10));
  fs::create_directory_symlink(folder, root / "link");
  for (const char* const name : {"link", "link/", "link/."}) {
    const KernelCache through((root / name).string());
    EXPECT_FALSE(through.find(key).has_value()) << name;
    through.store(key_number(2), record_of(10));
    EXPECT_EQ(file_count(), 1U) << name;
  }
}

TEST_F(CodegenCache, a_folder_of_another_user_is_not_used) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const KernelKey key = key_number(1);
  cache().store(key, record_of(10));
  ASSERT_EQ(chown(file_of(key).c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache().find(key).has_value()) << "the file of another user";
  ASSERT_EQ(chown(file_of(key).c_str(), 0, 0), 0);
  EXPECT_TRUE(cache().find(key).has_value());
  ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache().find(key).has_value());
  cache().store(key_number(2), record_of(10));
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(CodegenCache, a_folder_that_cannot_be_written_to_is_still_read) {
  const KernelKey key = key_number(1);
  cache().store(key, record_of(10));
  const bool is_root = geteuid() == 0;
  if (is_root) {  // whom no mode keeps out: be somebody else
    ASSERT_EQ(chown(file_of(key).c_str(), 65534, 65534), 0);
    ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
    ASSERT_EQ(chmod(root.c_str(), 0755), 0);
    ASSERT_EQ(seteuid(65534), 0);
  }
  ASSERT_EQ(chmod(folder.c_str(), 0500), 0);
  EXPECT_TRUE(cache().find(key).has_value());
  cache().store(key_number(2), record_of(10));
  EXPECT_FALSE(cache().find(key_number(2)).has_value());
  EXPECT_EQ(file_count(), 1U);
  EXPECT_EQ(chmod(folder.c_str(), 0700), 0);
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
}

TEST_F(CodegenCache, what_it_lacks_is_read_from_a_shipped_folder_which_nothing_is_written_to) {
  cache().store(key_number(1), record_of(10));
  const std::string own = (root / "own").string();
  const KernelCache both(own, KernelCache::most_of_bytes, folder.string());
  EXPECT_TRUE(both.find(key_number(1)).has_value());
  EXPECT_TRUE(both.read(key_number(1)).has_value());
  EXPECT_FALSE(fs::exists(own)) << "nothing is copied";
  both.store(key_number(2), record_of(10));
  EXPECT_TRUE(KernelCache(own).find(key_number(2)).has_value());
  EXPECT_EQ(file_count(), 1U);
  both.store(key_number(1), record_of(20));  // the own one comes first, unless it is damaged
  EXPECT_EQ(both.find(key_number(1))->object.size(), 20U);
  fs::resize_file(fs::path(own) / KernelCache::file_name(key_number(1)), 7);
  EXPECT_EQ(both.find(key_number(1))->object.size(), 10U);
  const KernelCache alone("", KernelCache::most_of_bytes, folder.string());
  alone.store(key_number(3), record_of(10));
  EXPECT_TRUE(alone.find(key_number(1)).has_value());
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(CodegenCache, a_shipped_folder_is_taken_from_root_and_from_nobody_whom_others_can_write_for) {
  const KernelKey key = key_number(1);
  cache().store(key, record_of(10));
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  ASSERT_EQ(chmod(file_of(key).c_str(), 0644), 0);
  const KernelCache shipped("", KernelCache::most_of_bytes, folder.string());
  EXPECT_TRUE(shipped.find(key).has_value());
  for (const mode_t mode : {mode_t{0775}, mode_t{0757}}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    EXPECT_FALSE(shipped.find(key).has_value());
  }
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(chmod(root.c_str(), 0755), 0);
  ASSERT_EQ(seteuid(65534), 0);
  const bool found_from_root = shipped.find(key).has_value();
  const bool found_as_own = cache().find(key).has_value();
  ASSERT_EQ(seteuid(0), 0);
  EXPECT_TRUE(found_from_root);
  EXPECT_FALSE(found_as_own);
  ASSERT_EQ(chown(file_of(key).c_str(), 65534, 65534), 0);
  EXPECT_FALSE(shipped.find(key).has_value()) << "the file of another user";
}

TEST_F(CodegenCache, a_place_where_no_folder_can_be_holds_nothing) {
  std::ofstream(root / "file") << "text";
  for (const std::string& place : {(root / "file").string(), (root / "file/cache").string(),
                                   std::string("/proc/self/cucore"), std::string(5000, 'x'), std::string()}) {
    const KernelCache nowhere(place);
    nowhere.store(key_number(1), record_of(10));
    EXPECT_FALSE(nowhere.find(key_number(1)).has_value()) << place;
  }
}

TEST_F(CodegenCache, a_limit_on_the_size_of_files_is_kept_to) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  cache().store(key_number(1), record_of(5000));  // a write past the limit would end the process
  cache().store(key_number(2), record_of(100));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(cache().find(key_number(1)).has_value());
  EXPECT_TRUE(cache().find(key_number(2)).has_value());
}

// ---- how much there is ---------------------------------------------------------------------------------------------

/// Makes a file look as if it was used last that long ago.
void age(const fs::path& path, std::chrono::hours by) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - by);
}

TEST_F(CodegenCache, beyond_the_bound_those_used_longest_ago_go) {
  constexpr std::uint64_t bound = 100'000;
  const KernelCache bounded(folder.string(), bound);
  const KernelKey first = key_number(0);
  for (std::uint8_t i = 0; i < 9; ++i) {
    bounded.store(key_number(i), record_of(10'000));
    age(file_of(key_number(i)), std::chrono::hours(20 - i));
  }
  EXPECT_EQ(file_count(), 9U);
  EXPECT_TRUE(bounded.find(first).has_value());  // used now, so not the oldest any more
  std::ofstream(folder / "notes.txt") << "not ours";
  std::ofstream(folder / "unfinished-old") << "left behind";
  std::ofstream(folder / "unfinished-new") << "being written";
  age(folder / "notes.txt", std::chrono::hours(1000));
  age(folder / "unfinished-old", std::chrono::hours(2));
  bounded.store(key_number(20), record_of(10'000));
  bounded.store(key_number(21), record_of(10'000));

  std::uint64_t total = 0;
  for (const auto& item : fs::directory_iterator(folder)) total += item.file_size();
  EXPECT_LE(total, bound);
  EXPECT_TRUE(bounded.find(first).has_value());
  EXPECT_TRUE(bounded.find(key_number(8)).has_value());
  EXPECT_TRUE(bounded.find(key_number(21)).has_value());
  EXPECT_FALSE(bounded.find(key_number(1)).has_value());
  EXPECT_FALSE(bounded.find(key_number(2)).has_value());
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
  EXPECT_TRUE(fs::exists(folder / "unfinished-new"));
  EXPECT_FALSE(fs::exists(folder / "unfinished-old"));
}

TEST_F(CodegenCache, a_kernel_larger_than_the_bound_is_not_kept) {
  const KernelCache bounded(folder.string(), 1000);
  bounded.store(key_number(1), record_of(2000));
  EXPECT_FALSE(bounded.find(key_number(1)).has_value());
}

TEST_F(CodegenCache, threads_find_whole_kernels_while_others_store_them) {
  const KernelCache bounded(folder.string(), 100'000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < 50; ++n) {
        const KernelKey key = key_number(static_cast<std::uint8_t>((n + t) % 20));
        if (n % 2 == 0) bounded.store(key, record_of(10'000));
        if (const auto found = bounded.find(key)) {
          EXPECT_EQ(found->object, std::string(10'000, 'x'));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace cucore::cpu
