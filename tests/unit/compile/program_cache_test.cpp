// The cache within one process: what is in a key, what a hit gives, and what a broken folder does.
#include "cucore/program_cache.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cucore/error.hpp"
#include "cucore/program.hpp"
#include "cucore/toolkit.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kernel_source = "template <class T> __global__ void f(T* x) { *x = 1; int unused; }";

class program_cache : public testing::Test {
 protected:
  ObjectCode compile(const ProgramOptions& options = {.arch = "sm_90"}, const char* source = kernel_source,
                     const std::vector<std::string>& names = {"f<int>"}, const char* target = "ptx") {
    return Program(source, "c++", options).compile(target, names, {.cache = &cache_, .report = &report_});
  }
  fs::path only_entry() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "cache/entries")) {
      if (entry.is_regular_file()) return entry.path();
    }
    return {};
  }

  test::TemporaryFolder folder_;
  ProgramCache cache_{{.path = folder_.path() / "cache"}};
  CompileReport report_;
};

TEST_F(program_cache, a_second_compile_is_a_hit_with_names_and_log) {
  const ObjectCode first = compile();
  EXPECT_EQ(report_.cache, CacheResult::miss);
  EXPECT_THAT(report_.cache_why, HasSubstr("no program of this name"));
  const std::string log = report_.log;
  EXPECT_THAT(log, HasSubstr("unused"));
  const ObjectCode second = compile();
  EXPECT_EQ(report_.cache, CacheResult::hit);
  EXPECT_EQ(report_.log, log);
  EXPECT_EQ(second.code(), first.code());
  EXPECT_EQ(second.symbol_mapping(), first.symbol_mapping());
  EXPECT_EQ(second.name(), first.name());
  EXPECT_EQ(second.code_type(), first.code_type());
  EXPECT_EQ(cache_.stats().hits, 1U);
  EXPECT_EQ(cache_.stats().misses, 1U);
  EXPECT_EQ(cache_.stats().stores, 1U);
  EXPECT_EQ(cache_.size(), 1U);
}

TEST_F(program_cache, a_cubin_from_the_cache_still_carries_its_ptx) {
  const auto ptx = compile({.arch = "sm_90"}, kernel_source, {"f<int>"}, "cubin").ptx();
  EXPECT_EQ(compile({.arch = "sm_90"}, kernel_source, {"f<int>"}, "cubin").ptx(), ptx);
  EXPECT_EQ(report_.cache, CacheResult::hit);
}

TEST_F(program_cache, every_input_is_in_the_key) {
  const auto key = [](const char* source, const ProgramOptions& options, const char* target = "ptx",
                      const std::vector<std::string>& names = {}) {
    return make_compile_key(source, "c++", options, target, names).hex;
  };
  const std::string base = key(kernel_source, {.arch = "sm_90"});
  EXPECT_EQ(base.size(), 64U);
  EXPECT_EQ(key(kernel_source, {.arch = "sm_90"}), base);
  EXPECT_EQ(key(kernel_source, {.arch = "sm_90", .debug = false}), base);
  const std::vector<std::string> others = {
      key("other", {.arch = "sm_90"}),
      key(kernel_source, {.arch = "sm_90a"}),
      key(kernel_source, {.name = "other", .arch = "sm_90"}),
      key(kernel_source, {.arch = "sm_90", .ftz = true}),
      key(kernel_source, {.arch = "sm_90", .define_macro = {"A"}}),
      key(kernel_source, {.arch = "sm_90", .define_macro = {"A", "B"}}),
      key(kernel_source, {.arch = "sm_90", .define_macro = {"B", "A"}}),
      key(kernel_source, {.arch = "sm_90", .headers = {{"a.h", ""}}}),
      key(kernel_source, {.arch = "sm_90", .headers = {{"a.h", "x"}}}),
      key(kernel_source, {.arch = "sm_90"}, "cubin"),
      key(kernel_source, {.arch = "sm_90", .embed_ptx = false}, "cubin"),
      key(kernel_source, {.arch = "sm_90"}, "ptx", {"f<int>"}),
      key(kernel_source, {.arch = "sm_90"}, "ptx", {"f<int>", "f<float>"}),
      make_compile_key(kernel_source, "ptx", {.arch = "sm_90"}, "cubin").hex,
  };
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_NE(others[i], base) << i;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(others[i], others[j]) << i << " " << j;
  }
}

TEST_F(program_cache, the_compilers_build_is_in_the_key) {
  const CompileKey key = make_compile_key(kernel_source, "c++", {.arch = "sm_90"}, "ptx");
  EXPECT_THAT(key.parts, testing::Contains(testing::Pair("NVRTC", HasSubstr(toolkit_info().nvrtc.build))));
}

TEST_F(program_cache, ptx_keys_ignore_what_ptx_ignores) {
  const auto key = [](const ProgramOptions& options) { return make_compile_key("x", "ptx", options, "cubin").hex; };
  EXPECT_EQ(key({.arch = "sm_90"}), key({.arch = "sm_90", .std = "c++20", .restrict = true}));
  EXPECT_NE(key({.arch = "sm_90"}), key({.arch = "sm_90", .max_register_count = 16}));
}

TEST_F(program_cache, a_changed_header_is_a_miss_that_names_it) {
  const ProgramOptions options = {.arch = "sm_90", .include_path = {folder_.path()}};
  constexpr const char* source = "#include \"value.h\"\nextern \"C\" __global__ void f(int* x) { *x = VALUE; }";
  folder_.write("value.h", "#define VALUE 71");
  EXPECT_THAT(std::string(compile(options, source, {}).code()), HasSubstr("71"));
  folder_.write("value.h", "#define VALUE 72");
  EXPECT_THAT(std::string(compile(options, source, {}).code()), HasSubstr("72"));
  EXPECT_EQ(report_.cache, CacheResult::miss);
  EXPECT_THAT(report_.cache_why, HasSubstr("header " + (folder_.path() / "value.h").string()));
  folder_.write("value.h", "#define VALUE 71");
  EXPECT_THAT(std::string(compile(options, source, {}).code()), HasSubstr("71"));
  EXPECT_EQ(report_.cache, CacheResult::hit);
}

TEST_F(program_cache, a_miss_says_what_differs) {
  compile();
  compile({.arch = "sm_90", .ftz = true});
  EXPECT_THAT(report_.cache_why, HasSubstr("options"));
  EXPECT_THAT(report_.cache_why, Not(HasSubstr("source")));
  compile({.arch = "sm_90"}, "extern \"C\" __global__ void g() {}", {});
  EXPECT_THAT(report_.cache_why, HasSubstr("source"));
  EXPECT_THAT(report_.cache_why, HasSubstr("name expressions"));
}

TEST_F(program_cache, what_cannot_be_keyed_is_compiled_each_time_and_says_why) {
  const auto expect_uncacheable = [&](const ProgramOptions& options, const char* source, const char* why) {
    compile(options, source, {});
    EXPECT_EQ(report_.cache, CacheResult::uncacheable);
    EXPECT_THAT(report_.cache_why, HasSubstr(why));
    EXPECT_EQ(report_.cache_key, "");
  };
  folder_.write("a.h", "");
  expect_uncacheable({.arch = "sm_90", .include_path = {folder_.path()}}, "#define H \"a.h\"\n#include H\n",
                     "the source, line 2 includes a file that a macro names");
  expect_uncacheable({.arch = "sm_90"}, "__device__ const char* when = __DATE__;", "__DATE__");
  expect_uncacheable({.arch = "sm_90", .time = folder_.path() / "t.csv"}, "", "time");
  EXPECT_EQ(cache_.stats().uncacheable, 3U);
  EXPECT_EQ(cache_.size(), 0U);
}

TEST_F(program_cache, a_failed_compile_stores_nothing) {
  EXPECT_THROW(compile({.arch = "sm_90"}, "not c++", {}), NvrtcError);
  EXPECT_EQ(report_.cache, CacheResult::miss);
  EXPECT_EQ(cache_.size(), 0U);
}

TEST_F(program_cache, every_damage_to_an_entry_is_a_miss) {
  const std::string code(compile().code());
  const std::string good = test::read_bytes(only_entry());
  std::vector<std::string> damages = {"", "x", good.substr(0, good.size() / 2), good + "x"};
  for (std::size_t at = 0; at < good.size(); at += good.size() / 16) {
    damages.push_back(good);
    damages.back()[at] = static_cast<char>(damages.back()[at] ^ 0x10);
  }
  std::uint64_t bad = 0;
  for (const std::string& damage : damages) {
    test::write_bytes(only_entry(), damage);
    EXPECT_EQ(compile().code(), code);
    EXPECT_EQ(report_.cache, CacheResult::miss);
    EXPECT_THAT(report_.cache_why, HasSubstr("the entry was removed"));
    EXPECT_EQ(cache_.stats().bad_records, ++bad);
    EXPECT_EQ(test::read_bytes(only_entry()), good);
  }
}

// A store that keeps entries in a map, and notes what it is asked.
struct MapStore : ProgramCacheStore {
  std::map<std::string, std::string> entries;
  std::vector<std::string> asked;

  std::optional<std::string> obtain(const std::string& key) override {
    asked.emplace_back("obtain");
    const auto found = entries.find(key);
    return found == entries.end() ? std::nullopt : std::optional(found->second);
  }
  void publish(const std::string& key, const std::string& entry) override {
    asked.emplace_back("publish");
    entries[key] = entry;
  }
  void abandon(const std::string&) override { asked.emplace_back("abandon"); }
};

TEST_F(program_cache, a_store_is_asked_for_what_the_folder_lacks_and_given_what_was_compiled) {
  const auto store = std::make_shared<MapStore>();
  const auto host = [&](const char* name) { return ProgramCache({.path = folder_.path() / name, .store = store}); };
  cache_ = host("a");
  const std::string code(compile().code());
  EXPECT_EQ(report_.cache, CacheResult::miss);
  EXPECT_THAT(store->asked, testing::ElementsAre("obtain", "publish"));

  cache_ = host("b");
  EXPECT_EQ(compile().code(), code);
  EXPECT_EQ(report_.cache, CacheResult::hit);
  EXPECT_EQ(cache_.stats().store_hits, 1U);
  EXPECT_THAT(store->asked, testing::ElementsAre("obtain", "publish", "obtain"));
  cache_ = host("b");
  EXPECT_EQ(compile().code(), code);
  EXPECT_EQ(store->asked.size(), 3U);  // the folder has kept it

  store->entries.begin()->second.resize(100);
  cache_ = host("c");
  EXPECT_EQ(compile().code(), code);
  EXPECT_EQ(report_.cache, CacheResult::miss);
  EXPECT_EQ(cache_.stats().bad_records, 1U);
  EXPECT_THROW(compile({.arch = "sm_90"}, "not c++", {}), NvrtcError);
  EXPECT_EQ(store->asked.back(), "abandon");
}

TEST_F(program_cache, an_entry_under_another_key_is_not_taken) {
  compile();
  const fs::path first = only_entry();
  const CompileKey other = make_compile_key(kernel_source, "c++", {.arch = "sm_80"}, "ptx", {"f<int>"});
  const fs::path second = folder_.path() / "cache/entries" / other.hex.substr(0, 2) / other.hex.substr(2);
  fs::create_directories(second.parent_path());
  fs::copy_file(first, second);
  EXPECT_THAT(std::string(compile({.arch = "sm_80"}).code()), HasSubstr(".target sm_80"));
  EXPECT_EQ(report_.cache, CacheResult::miss);
}

TEST_F(program_cache, a_symbolic_link_is_not_an_entry) {
  compile();
  const fs::path entry = only_entry();
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::rename(entry, elsewhere);
  fs::create_symlink(elsewhere, entry);
  compile();
  EXPECT_EQ(report_.cache, CacheResult::miss);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(entry)));
}

TEST_F(program_cache, folders_and_files_are_private_unless_shared_on_purpose) {
  compile();
  const auto mode = [](const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  };
  EXPECT_EQ(mode(cache_.path()), 0700U);
  EXPECT_EQ(mode(only_entry().parent_path()), 0700U);
  EXPECT_EQ(mode(only_entry()), 0600U);

  const fs::path shared = folder_.path() / "shared";
  fs::create_directory(shared);
  ::chmod(shared.c_str(), 0775);
  ProgramCache cache({.path = shared});
  Program(kernel_source, "c++", {.arch = "sm_90"}).compile("ptx", {}, {.cache = &cache});
  EXPECT_EQ(mode(shared / "entries"), 0775U);
  for (const auto& entry : fs::recursive_directory_iterator(shared / "entries")) {
    if (entry.is_regular_file()) {
      EXPECT_EQ(mode(entry.path()), 0644U);
    }
  }
}

TEST_F(program_cache, a_folder_that_cannot_be_written_costs_only_the_saving) {
  folder_.write("file", "");
  ProgramCache cache({.path = folder_.path() / "file" / "cache"});
  const Program program(kernel_source, "c++", {.arch = "sm_90"});
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(program.compile("ptx", {}, {.cache = &cache, .report = &report_}).code().empty());
    EXPECT_EQ(report_.cache, CacheResult::miss);
  }
  EXPECT_EQ(cache.stats().store_failures, 2U);
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_NO_THROW(cache.clear());
}

TEST_F(program_cache, the_size_stays_below_the_bound_and_the_least_used_goes_first) {
  ProgramCache cache({.path = folder_.path() / "small", .max_bytes = 100'000});
  const auto key = [](int i) {
    std::string hex = std::to_string(i);
    return CompileKey{.hex = std::string(64 - hex.size(), 'a') + hex};
  };
  const auto record = [](int i) {
    return CompileRecord{.code = ObjectCode::from_cubin(std::string(9000, 'x'), std::to_string(i))};
  };
  ASSERT_TRUE(cache.put(key(0), record(0)));
  for (int i = 1; i < 40; ++i) {
    ASSERT_TRUE(cache.put(key(i), record(i)));
    EXPECT_TRUE(cache.get(key(0))) << i;  // used all the time
    EXPECT_LE(cache.size_bytes(), 100'000U);
  }
  EXPECT_FALSE(cache.get(key(1)));
  EXPECT_EQ(cache.get(key(39))->code.name(), "39");
  EXPECT_GE(cache.stats().evictions, 28U);
  EXPECT_FALSE(cache.put(key(99), {.code = ObjectCode::from_cubin(std::string(200'000, 'x'))}));
  EXPECT_TRUE(cache.get(key(0)));
}

TEST_F(program_cache, what_foreign_users_wrote_is_left_alone_unless_shared) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  compile();
  ASSERT_EQ(::chown(only_entry().c_str(), 12345, 12345), 0);
  compile();
  EXPECT_EQ(report_.cache, CacheResult::miss);
  ASSERT_EQ(::chown(only_entry().c_str(), 12345, 12345), 0);
  const Program program(kernel_source, "c++", {.arch = "sm_90"});
  ProgramCache shared({.path = cache_.path(), .shared = true});
  program.compile("ptx", {"f<int>"}, {.cache = &shared, .report = &report_});
  EXPECT_EQ(report_.cache, CacheResult::hit);

  ASSERT_EQ(::chown(cache_.path().c_str(), 12345, 12345), 0);
  ProgramCache own({.path = cache_.path()});
  program.compile("ptx", {"f<int>"}, {.cache = &own, .report = &report_});
  EXPECT_EQ(report_.cache, CacheResult::miss);
  EXPECT_THAT(report_.cache_why, HasSubstr("belongs to another user (12345)"));
  EXPECT_EQ(own.stats().store_failures, 1U);
}

TEST_F(program_cache, clocks_that_jump_do_no_harm) {
  const fs::path header = folder_.write("value.h", "#define VALUE 1\n");
  const ProgramOptions options = {.arch = "sm_90", .include_path = {folder_.path().string()}};
  const char* source = "#include \"value.h\"\nextern \"C\" __device__ int v = VALUE;";
  const auto text = [&] { return std::string(compile(options, source, {}).code()); };
  const auto set_time = [](const fs::path& path, std::time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  const std::time_t now = std::time(nullptr);
  for (const std::time_t at : {now - 400 * 86400, now + 400 * 86400, std::time_t{0}}) {
    // The header, the entry and the folders claim to be of another year, and the header's size does not change.
    folder_.write("value.h", at % 2 == 0 ? "#define VALUE 2\n" : "#define VALUE 3\n");
    set_time(header, at);
    EXPECT_THAT(text(), HasSubstr(at % 2 == 0 ? "v = 2" : "v = 3"));
    set_time(only_entry(), at);
    set_time(only_entry().parent_path(), at);
    EXPECT_THAT(text(), HasSubstr(at % 2 == 0 ? "v = 2" : "v = 3"));
    folder_.write("value.h", "#define VALUE 4\n");
    set_time(header, at);
    EXPECT_THAT(text(), HasSubstr("v = 4"));
    EXPECT_THAT(text(), HasSubstr("v = 4"));
    EXPECT_EQ(report_.cache, CacheResult::hit);
  }
}

TEST_F(program_cache, one_program_sees_headers_change_between_its_compiles) {
  folder_.write("value.h", "#define VALUE 1\n");
  const std::string include = folder_.path().string();
  const Program program("#include \"value.h\"\n#include <cuda_fp16.h>\nextern \"C\" __device__ int v = VALUE;", "c++",
                        {.arch = "sm_90", .include_path = {include + "/first", include}});
  const auto result = [&] {
    const std::string text(program.compile("ptx", {}, {.cache = &cache_, .report = &report_}).code());
    return std::make_pair(report_.cache, text.substr(text.find("v = "), 5));
  };
  EXPECT_EQ(result(), std::make_pair(CacheResult::miss, std::string("v = 1")));
  EXPECT_EQ(result(), std::make_pair(CacheResult::hit, std::string("v = 1")));
  folder_.write("value.h", "#define VALUE 2\n");
  EXPECT_EQ(result(), std::make_pair(CacheResult::miss, std::string("v = 2")));
  fs::create_directory(folder_.path() / "first");
  folder_.write("first/value.h", "#define VALUE 3\n");
  EXPECT_EQ(result(), std::make_pair(CacheResult::miss, std::string("v = 3")));
  EXPECT_EQ(result(), std::make_pair(CacheResult::hit, std::string("v = 3")));
  EXPECT_THAT(cache_.why(program, "ptx"), "hit");
}

TEST_F(program_cache, entries_can_be_erased_and_cleared) {
  compile();
  const CompileKey key = make_compile_key(kernel_source, "c++", {.arch = "sm_90"}, "ptx", {"f<int>"});
  EXPECT_TRUE(cache_.get(key));
  EXPECT_TRUE(cache_.erase(key));
  EXPECT_FALSE(cache_.erase(key));
  EXPECT_THAT(cache_.why_missing(key), HasSubstr("evicted or removed"));
  compile();
  cache_.clear();
  EXPECT_EQ(cache_.size(), 0U);
  EXPECT_EQ(cache_.size_bytes(), 0U);
}

TEST_F(program_cache, hostile_keys_reach_no_file) {
  EXPECT_FALSE(cache_.get({.hex = "../../etc/passwd"}));
  EXPECT_FALSE(cache_.put({.hex = std::string(64, '/')}, {.code = ObjectCode::from_ptx("x")}));
  EXPECT_FALSE(cache_.erase({.hex = ""}));
}

TEST_F(program_cache, threads_that_want_the_same_compile_it_once) {
  std::vector<std::thread> threads;
  std::vector<std::string> results(8);
  for (std::string& result : results) {
    threads.emplace_back([&] {
      const Program program(kernel_source, "c++", {.arch = "sm_90"});
      result = program.compile("cubin", {"f<int>"}, {.cache = &cache_}).code();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, results.front());
  EXPECT_EQ(cache_.stats().misses, 1U);
  EXPECT_EQ(cache_.stats().hits + cache_.stats().shared, 7U);
}

TEST_F(program_cache, a_failure_is_shared_by_those_who_wait_for_it) {
  std::vector<std::thread> threads;
  std::atomic<int> errors = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      try {
        Program("not c++", "c++", {.arch = "sm_90"}).compile("cubin", {}, {.cache = &cache_});
      } catch (const NvrtcError&) {
        ++errors;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, 4);
}

TEST_F(program_cache, a_cache_of_no_size_is_refused) {
  EXPECT_THROW(ProgramCache({.path = folder_.path(), .max_bytes = 0}), ValueError);
}

}  // namespace
}  // namespace cucore
