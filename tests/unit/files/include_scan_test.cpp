// What a text can include, and the closure over files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/files/include_closure.hpp"
#include "src/files/include_scan.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace cucore::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(include_scan, names_are_found_however_a_directive_is_written) {
  EXPECT_THAT(scan_includes("#include \"a.h\"").names, ElementsAre("a.h"));
  EXPECT_THAT(scan_includes("  #  include <a/b.h>  // why").names, ElementsAre("a/b.h"));
  EXPECT_THAT(scan_includes("#include/* x */\"a.h\"").names, ElementsAre("a.h"));
  EXPECT_THAT(scan_includes("/* x */ # /* y\n y */ include \"a.h\"").names, ElementsAre("a.h"));
  EXPECT_THAT(scan_includes("#inc\\\nlude \\\r\n <a.h>").names, ElementsAre("a.h"));
  EXPECT_THAT(scan_includes("%:include <a.h>").names, ElementsAre("a.h"));
  EXPECT_THAT(scan_includes("#include_next <a.h>\n#import \"b.h\"").names, ElementsAre("a.h", "b.h"));
  EXPECT_THAT(scan_includes("#if 0\n#include <a.h>\n#endif\n// #include <b.h>").names, ElementsAre("a.h", "b.h"));
  EXPECT_THAT(scan_includes("#if __has_include(<a.h>)\n#if MY_HAS_INCLUDE( \"b.h\" )").names,
              ElementsAre("a.h", "b.h"));
  EXPECT_THAT(scan_includes("#define includes 1\n#pragma once\nint include;").names, IsEmpty());
}

TEST(include_scan, what_cannot_be_known_is_told_with_its_line) {
  EXPECT_EQ(scan_includes("int x;\n#include NAME").unknowable, "line 2 includes a file that a macro names");
  EXPECT_EQ(scan_includes("const char* d = __DATE__;").unknowable, "line 1 uses __DATE__");
  EXPECT_THAT(scan_includes("__TIME__").unknowable, HasSubstr("__TIME__"));
  EXPECT_THAT(scan_includes("#if __has_include(NAME)").unknowable, HasSubstr("macro"));
  EXPECT_THAT(scan_includes("/* a\n b */ #include NAME").unknowable, HasSubstr("line 2"));
  EXPECT_THAT(scan_includes("?\?=include NAME").unknowable, HasSubstr("macro"));
  // A reason that holds everywhere goes before one that can be bounded within the toolkit.
  const IncludeScan both = scan_includes("#include NAME\n__DATE__");
  EXPECT_THAT(both.unknowable, HasSubstr("__DATE__"));
  EXPECT_FALSE(both.computed_include);
}

TEST(include_scan, prose_about_directives_is_not_one) {
  EXPECT_EQ(scan_includes("// the #include directive\n * use #include MACRO for it").unknowable, "");
  EXPECT_EQ(scan_includes("#define HAS(x) __has_include(x)").unknowable, "");
}

class include_closure_of : public testing::Test {
 protected:
  IncludeClosure closure(std::string_view source, const std::string& name = "program") {
    return include_closure({.source = source,
                            .program_name = name,
                            .headers = headers_,
                            .pre_include = pre_include_,
                            .include_path = include_path_,
                            .toolkit_path = toolkit_path_});
  }
  std::vector<std::string> paths(const IncludeClosure& closure) {
    std::vector<std::string> result;
    for (const auto& [path, digest] : closure.files) {
      result.push_back(std::filesystem::path(path).lexically_relative(folder_.path()).string());
    }
    return result;
  }

  test::TemporaryFolder folder_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::vector<std::string> pre_include_;
  std::vector<std::string> include_path_{folder_.path() / "include"};
  std::vector<std::filesystem::path> toolkit_path_;
};

TEST_F(include_closure_of, a_source_without_includes_is_empty) { EXPECT_THAT(closure("int x;").files, IsEmpty()); }

TEST_F(include_closure_of, headers_of_headers_count) {
  folder_.write("include/a.h", "#include \"sub/b.h\"");
  folder_.write("include/sub/b.h", "#include \"c.h\"");
  folder_.write("include/sub/c.h", "");
  EXPECT_THAT(paths(closure("#include <a.h>")), ElementsAre("include/a.h", "include/sub/b.h", "include/sub/c.h"));
}

TEST_F(include_closure_of, a_change_of_contents_changes_the_digest) {
  folder_.write("include/a.h", "1");
  const auto before = closure("#include <a.h>").files;
  folder_.write("include/a.h", "2");
  EXPECT_NE(closure("#include <a.h>").files, before);
  folder_.write("include/a.h", "1");
  EXPECT_EQ(closure("#include <a.h>").files, before);
}

TEST_F(include_closure_of, a_header_that_appears_earlier_on_the_path_counts) {
  include_path_ = {folder_.path() / "first", folder_.path() / "second"};
  folder_.write("second/a.h", "");
  EXPECT_THAT(paths(closure("#include <a.h>")), ElementsAre("second/a.h"));
  folder_.write("first/a.h", "");
  EXPECT_THAT(paths(closure("#include <a.h>")), ElementsAre("first/a.h", "second/a.h"));
}

TEST_F(include_closure_of, the_folder_of_the_program_is_searched) {
  folder_.write("src/a.h", "");
  EXPECT_THAT(paths(closure("#include \"a.h\"", folder_.path() / "src/program.cu")), ElementsAre("src/a.h"));
}

TEST_F(include_closure_of, headers_that_include_each_other_end) {
  folder_.write("include/x/a.h", "#include \"../x/b.h\"");
  folder_.write("include/x/b.h", "#include \"../x/a.h\"");
  EXPECT_EQ(closure("#include <x/a.h>").files.size(), 2U);
}

TEST_F(include_closure_of, pre_included_and_in_memory_headers_count) {
  folder_.write("include/a.h", "");
  folder_.write("include/b.h", "");
  pre_include_ = {"a.h"};
  headers_ = {{"memory.h", "#include <b.h>"}};
  EXPECT_THAT(paths(closure("")), ElementsAre("include/a.h", "include/b.h"));
}

TEST_F(include_closure_of, a_computed_include_in_a_header_names_the_header) {
  folder_.write("include/a.h", "#define N <b.h>\n#include N\n");
  EXPECT_THAT(closure("#include <a.h>").unknowable,
              HasSubstr("include/a.h, line 2 includes a file that a macro names"));
}

TEST_F(include_closure_of, a_computed_include_within_the_toolkit_stands_for_all_of_it) {
  const auto hidden = folder_.write("toolkit/hidden.h", "1");
  folder_.write("toolkit/a.h", "#include N\n");
  toolkit_path_ = {folder_.path() / "toolkit"};
  const IncludeClosure before = closure("#include <a.h>");
  EXPECT_EQ(before.unknowable, "");
  folder_.write("toolkit/hidden.h", "other size");
  EXPECT_NE(closure("#include <a.h>").files, before.files);
}

}  // namespace
}  // namespace cucore::detail
