// Words for kinds of source and code.
#include "cucore/code_type.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cucore/error.hpp"

namespace cucore {
namespace {

TEST(code_type, words_are_read_in_any_case) {
  EXPECT_EQ(CodeType("CUBIN"), CodeType(CodeType::cubin));
  EXPECT_EQ(SourceType("C++"), SourceType(SourceType::cxx));
  for (const char* word : {"ptx", "cubin", "ltoir", "fatbin", "object", "library"}) {
    EXPECT_EQ(CodeType(word).name(), word);
  }
  for (const char* word : {"c++", "ptx", "nvvm"}) EXPECT_EQ(SourceType(word).name(), word);
}

TEST(code_type, an_unknown_word_is_refused_with_the_known_ones) {
  try {
    CodeType("exe");
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'exe' is not a valid ObjectCodeFormatType"));
    EXPECT_THAT(error.what(), testing::HasSubstr("ptx, cubin, ltoir, fatbin, object, library"));
  }
  EXPECT_THROW(SourceType("fortran"), ValueError);
  EXPECT_THROW(CodeType(""), ValueError);
}

TEST(code_type, the_driver_loads_ptx_cubin_and_fatbin_only) {
  EXPECT_TRUE(CodeType("ptx").is_loadable());
  EXPECT_TRUE(CodeType("cubin").is_loadable());
  EXPECT_TRUE(CodeType("fatbin").is_loadable());
  EXPECT_FALSE(CodeType("ltoir").is_loadable());
  EXPECT_FALSE(CodeType("object").is_loadable());
  EXPECT_FALSE(CodeType("library").is_loadable());
}

}  // namespace
}  // namespace cucore
