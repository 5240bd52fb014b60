// Keys shared by programs that are made of the same inputs.
#include "src/compile/known_keys.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "cucore/program.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace {

using cucore::CompileKey;
using cucore::Program;
using cucore::ProgramOptions;
using cucore::detail::KnownKeys;

namespace fs = std::filesystem;

TEST(known_keys, are_shared_by_programs_of_the_same_text_and_options_only) {
  const ProgramOptions options = {.arch = "sm_80"};
  const auto keys = KnownKeys::of("c++", "text", options);
  EXPECT_EQ(KnownKeys::of("c++", "text", {.arch = "sm_80"}), keys);
  EXPECT_NE(KnownKeys::of("ptx", "text", options), keys);
  EXPECT_NE(KnownKeys::of("c++", "Text", options), keys);
  EXPECT_NE(KnownKeys::of("c++", "text", {.arch = "sm_90"}), keys);
  EXPECT_NE(KnownKeys::of("c++", "text", {.arch = "sm_80", .headers = {{"a.h", ""}}}), keys);
}

TEST(known_keys, of_large_programs_and_of_those_long_ago_are_not_kept) {
  const std::string large(std::size_t{1} << 20, ' ');
  EXPECT_NE(KnownKeys::of("c++", large, {}), KnownKeys::of("c++", large, {}));
  const ProgramOptions of_headers = {.headers = {{"a.h", large}}};
  EXPECT_NE(KnownKeys::of("c++", "", of_headers), KnownKeys::of("c++", "", of_headers));
  const std::weak_ptr<KnownKeys> first = KnownKeys::of("c++", "first", {});
  for (int i = 0; i < 100; ++i) KnownKeys::of("c++", "other " + std::to_string(i), {});
  EXPECT_TRUE(first.expired());
}

TEST(known_keys, of_another_program_still_notice_a_changed_header) {
  cucore::test::TemporaryFolder folder;
  const fs::path header = folder.path() / "value.h";
  const auto key = [&] {
    const Program program("#include \"value.h\"\n", "c++", {.arch = "sm_80", .include_path = {folder.path()}});
    return program.cache_key("ptx");
  };
  // What a link leads to is old enough for a change to show by its times.
  fs::create_symlink("/usr/include/stdio.h", header);
  const std::shared_ptr<const CompileKey> before = key();
  EXPECT_EQ(key(), before) << "not shared";
  fs::remove(header);
  fs::create_symlink("/usr/include/stdlib.h", header);
  const std::shared_ptr<const CompileKey> after = key();
  EXPECT_NE(after->hex, before->hex);
  EXPECT_EQ(key(), after) << "not shared";
  fs::remove(header);
  EXPECT_NE(key()->hex, after->hex);
}

}  // namespace
