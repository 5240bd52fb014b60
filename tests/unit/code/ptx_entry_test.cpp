// Parameter tables from PTX text.
#include <gtest/gtest.h>

#include "src/code/parameter_names.hpp"
#include "src/code/ptx_entry.hpp"
#include "src/formats/demangle.hpp"

namespace cucore::detail {
namespace {

TEST(ptx_entry, reads_types_sizes_and_offsets) {
  const auto entry = ptx_entry(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(
	.param .u8 k_param_0,
	.param .u64 k_param_1,
	.param .f32 k_param_2,
	.param .align 8 .b8 k_param_3[24],
	.param .s16 k_param_4
)
{ ret; }
)",
                               "k");
  ASSERT_TRUE(entry);
  const auto& p = entry->parameters;
  ASSERT_EQ(p.size(), 5u);
  EXPECT_EQ(p[0].size, 1u);
  EXPECT_EQ(p[0].kind, ParameterKind::integer);
  EXPECT_EQ(p[1].offset, 8u);
  EXPECT_EQ(p[1].size, 8u);
  EXPECT_EQ(p[2].offset, 16u);
  EXPECT_EQ(p[2].kind, ParameterKind::floating);
  EXPECT_EQ(p[3].offset, 24u);
  EXPECT_EQ(p[3].size, 24u);
  EXPECT_EQ(p[3].kind, ParameterKind::aggregate);
  EXPECT_EQ(p[4].offset, 48u);
  EXPECT_EQ(p[4].kind, ParameterKind::signed_integer);
  EXPECT_EQ(p[4].type_name, ".s16");
}

TEST(ptx_entry, knows_pointers_and_their_alignment_is_not_the_parameters) {
  const auto entry = ptx_entry(".entry k(.param .u64 .ptr .global .align 1 a, .param .u64 .ptr .align 16 b)", "k");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->parameters[0].kind, ParameterKind::pointer);
  EXPECT_EQ(entry->parameters[0].alignment, 8u);
  EXPECT_EQ(entry->parameters[1].alignment, 8u);
}

TEST(ptx_entry, keeps_names_a_person_wrote_and_the_block_a_kernel_requires) {
  const auto entry = ptx_entry(
      ".entry k(.param .u64 .ptr .global .align 4 data, .param .f32 k_param_1,"
      " .param .align 8 .b8 block[24])\n.maxnreg 32\n.reqntid 8, 4\n.minnctapersm 2\n{ ret; }",
      "k");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->parameters[0].name, "data");
  EXPECT_EQ(entry->parameters[1].name, "") << "the compiler's";
  EXPECT_EQ(entry->parameters[2].name, "block");
  EXPECT_EQ(entry->required_block, (Dim3{8, 4, 1}));
  EXPECT_EQ(ptx_entry(".entry k .maxntid 64 { ret; } .entry l() .reqntid 5 { ret; }", "l")->required_block, Dim3{5});
  EXPECT_EQ(ptx_entry(".entry k .maxntid 64 { ret; }", "k")->required_block.x, 0u);
}

TEST(ptx_entry, takes_kernels_without_parameters) {
  EXPECT_EQ(ptx_entry(".visible .entry k() { ret; }", "k")->parameters.size(), 0u);
  EXPECT_EQ(ptx_entry(".visible .entry k\n{ ret; }", "k")->parameters.size(), 0u);
}

TEST(ptx_entry, skips_comments_and_strings) {
  const auto entries = ptx_entries(R"(
// .entry not_this(.param .u32 a)
/* .entry nor_this() */
.file 1 "a.entry(.cu"
.entry real(.param .u32 /* , .param .u32 b */ a) { }
)");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "real");
  EXPECT_EQ(entries[0].parameters.size(), 1u);
}

TEST(ptx_entry, finds_the_named_one_of_several) {
  const char* ptx = ".entry a(.param .u32 x) {} .entry b(.param .f64 y, .param .u32 z) {}";
  EXPECT_EQ(ptx_entry(ptx, "b")->parameters.size(), 2u);
  EXPECT_FALSE(ptx_entry(ptx, "c"));
}

TEST(ptx_entry, survives_text_that_ends_anywhere) {
  const std::string ptx = ".visible .entry k(.param .align 8 .b8 a[24], .param .u64 .ptr .align 1 b)";
  for (std::size_t length = 0; length < ptx.size(); ++length) ptx_entries(std::string_view(ptx).substr(0, length));
  EXPECT_TRUE(ptx_entries("\"unterminated \\").empty());
  EXPECT_TRUE(ptx_entries(std::string_view("\0.entry\0", 8)).size() <= 1);
}

TEST(mangled_name, gives_the_types_of_the_parameters) {
  const auto types = parameter_types(demangled("_Z5saxpyIfEvT_PKS0_PS0_m"));
  ASSERT_TRUE(types);
  EXPECT_EQ(*types, (std::vector<std::string>{"float", "float const*", "float*", "unsigned long"}));
}

TEST(mangled_name, is_left_alone_when_it_is_not_mangled) {
  EXPECT_EQ(demangled("plain"), "plain");
  EXPECT_FALSE(parameter_types("plain"));
}

TEST(mangled_name, splits_only_at_the_outer_commas) {
  const auto types = parameter_types("void k<int, 3>(std::pair<int, float>, void (*)(int, int), int)");
  ASSERT_TRUE(types);
  EXPECT_EQ(*types, (std::vector<std::string>{"std::pair<int, float>", "void (*)(int, int)", "int"}));
  EXPECT_TRUE(parameter_types("f()")->empty());
  EXPECT_FALSE(parameter_types(")"));
}

TEST(mangled_name, adds_signedness_and_pointers_to_the_ptx_table) {
  auto entry = ptx_entry(".entry _Z1kijPfb(.param .u32 a, .param .u32 b, .param .u64 c, .param .u8 d)", "_Z1kijPfb");
  ASSERT_TRUE(entry);
  refine_by_name(entry->parameters, entry->name);
  EXPECT_EQ(entry->parameters[0].kind, ParameterKind::signed_integer);
  EXPECT_EQ(entry->parameters[1].kind, ParameterKind::unsigned_integer);
  EXPECT_EQ(entry->parameters[2].kind, ParameterKind::pointer);
  EXPECT_EQ(entry->parameters[2].type_name, "float*");
  EXPECT_EQ(entry->parameters[3].kind, ParameterKind::boolean);
}

TEST(mangled_name, of_another_signature_changes_nothing) {
  auto entry = ptx_entry(".entry _Z1kij(.param .u32 a, .param .u64 b)", "_Z1kij");
  ASSERT_TRUE(entry);
  refine_by_name(entry->parameters, entry->name);
  EXPECT_EQ(entry->parameters[0].kind, ParameterKind::integer);
  EXPECT_EQ(entry->parameters[1].type_name, ".u64");
}

TEST(mangled_name, tells_half_from_bfloat16) {
  auto entry = ptx_entry(".entry _Z1k6__half13__nv_bfloat16(.param .align 2 .b8 a[2], .param .align 2 .b8 b[2])",
                         "_Z1k6__half13__nv_bfloat16");
  ASSERT_TRUE(entry);
  refine_by_name(entry->parameters, entry->name);
  EXPECT_EQ(entry->parameters[0].kind, ParameterKind::floating);
  EXPECT_EQ(entry->parameters[1].kind, ParameterKind::bfloat16);
}

}  // namespace
}  // namespace cucore::detail
