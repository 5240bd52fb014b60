// Module scope and declarations: what ends up in the tree.
#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

const Variable& variable(const ParseResult& result, std::string_view name) {
  static const Variable none;
  const Variable* found = result.module == nullptr ? nullptr : result.module->find_variable(name);
  EXPECT_NE(found, nullptr) << name;
  return found == nullptr ? none : *found;
}

using Bytes = std::vector<std::uint8_t>;

TEST(PtxDeclarations, linkage_space_alignment_and_size_are_read) {
  const ParseResult result = accept(
      module_of(".visible .global .align 16 .b8 bytes[3];\n.extern .global .u32 there;\n.weak .const .f64 w;\n"
                ".common .global .u64 c;\n.global .v4 .f32 quad[2][3];\n.extern .shared .align 8 .b8 dynamic[];\n"
                ".global .attribute(.managed) .u16 m;\n.local .u32 l;"));
  EXPECT_EQ(variable(result, "bytes").linkage, Linkage::Visible);
  EXPECT_EQ(variable(result, "bytes").alignment, 16U);
  EXPECT_EQ(variable(result, "bytes").size, 3U);
  EXPECT_EQ(variable(result, "there").linkage, Linkage::Extern);
  EXPECT_EQ(variable(result, "w").linkage, Linkage::Weak);
  EXPECT_EQ(variable(result, "w").space, Space::Const);
  EXPECT_EQ(variable(result, "c").linkage, Linkage::Common);
  EXPECT_EQ(variable(result, "quad").size, 96U);
  EXPECT_EQ(variable(result, "quad").alignment, 16U);
  EXPECT_EQ(variable(result, "quad").dimensions, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(variable(result, "dynamic").size, 0U);
  EXPECT_TRUE(variable(result, "m").managed);
  EXPECT_EQ(variable(result, "l").space, Space::Local);
}

TEST(PtxDeclarations, a_name_with_a_count_declares_numbered_variables) {
  const ParseResult result = accept(
      module_of(".global .align 8 .u32 g<12>, h;\n.func f(.param .u64 a, .param .u64 b) { ret; }\n.func c() {\n"
                "  .reg .b64 %x; mov.b64 %x, 1;\n  { .param .u64 %P<2>; .local .b8 l<1>; st.param.u64 [%P0], %x;\n"
                "    st.param.u64 [%P1], %x; call f, (%P0, %P1); }\n  ret;\n}"));
  EXPECT_EQ(result.module->variables.size(), 13U);
  EXPECT_EQ(variable(result, "g11").size, 4U);
  EXPECT_EQ(variable(result, "g11").alignment, 8U);
  EXPECT_EQ(result.module->find_variable("g12"), nullptr);
  EXPECT_EQ(result.module->find_function("c")->variables.size(), 3U);
}

TEST(PtxDeclarations, an_extern_declaration_and_its_definition_are_one_variable) {
  for (const char* text : {".extern .global .u32 a; .visible .global .u32 a = 4;",
                           ".visible .global .u32 a = 4; .extern .global .u32 a;"}) {
    const ParseResult result = accept(module_of(text));
    ASSERT_EQ(result.module->variables.size(), 1U);
    EXPECT_EQ(variable(result, "a").linkage, Linkage::Visible);
    EXPECT_EQ(variable(result, "a").initial, (Bytes{4, 0, 0, 0}));
  }
}

TEST(PtxDeclarations, initial_values_fill_from_the_start_and_the_rest_is_zero) {
  const ParseResult result = accept(module_of(
      ".global .u16 a[4] = {1, -2};\n.global .u8 b = 300;\n.global .f32 c = 1.5;\n.global .f64 d = 0f3fc00000;\n"
      ".global .f32 e = 0d3ff8000000000000;\n.global .u8 f[2][3] = {{1}, {2, 3}};\n.global .b32 g = 0f3f800000;\n"
      ".global .v2 .u8 h[2] = {{1, 2}, {3, 4}};\n.global .u32 i = 2*(3+4);"));
  EXPECT_EQ(variable(result, "a").initial, (Bytes{1, 0, 0xfe, 0xff, 0, 0, 0, 0}));
  EXPECT_EQ(variable(result, "b").initial, (Bytes{44}));
  EXPECT_EQ(variable(result, "c").initial, (Bytes{0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(variable(result, "d").initial, (Bytes{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}));
  EXPECT_EQ(variable(result, "e").initial, (Bytes{0, 0, 0xc0, 0x3f}));
  EXPECT_EQ(variable(result, "f").initial, (Bytes{1, 0, 0, 2, 3, 0}));
  EXPECT_EQ(variable(result, "g").initial, (Bytes{0, 0, 0x80, 0x3f}));
  EXPECT_EQ(variable(result, "h").initial, (Bytes{1, 2, 3, 4}));
  EXPECT_EQ(variable(result, "i").initial, (Bytes{14, 0, 0, 0}));
}

TEST(PtxDeclarations, an_open_array_takes_its_length_from_its_initial_value) {
  const ParseResult result = accept(module_of(
      ".global .u32 a[] = {1, 2, 3};\n.global .u8 b[][2] = {{1, 2}, {3}, {4, 5}};\n.global .u8 c[] = {(1), 0xFF(a)};"));
  EXPECT_EQ(variable(result, "a").dimensions, (std::vector<std::uint64_t>{3}));
  EXPECT_EQ(variable(result, "a").size, 12U);
  EXPECT_EQ(variable(result, "b").size, 6U);
  EXPECT_EQ(variable(result, "b").initial, (Bytes{1, 2, 3, 0, 4, 5}));
  EXPECT_EQ(variable(result, "c").size, 2U);
}

TEST(PtxDeclarations, addresses_in_initial_values_become_relocations) {
  const ParseResult result =
      accept(module_of(".global .u32 z[4];\n.func f() { ret; }\n.global .u64 a[5] = {z, generic(z)+8, f, 7, z+-4};\n"
                       ".global .u8 b[4] = {0xFF(z), 0xFF00(generic(z)+1), 9, 0xFF000000(f)};"));
  const Variable& a = variable(result, "a");
  ASSERT_EQ(a.relocations.size(), 4U);
  EXPECT_EQ(a.relocations[0].offset, 0U);
  EXPECT_FALSE(a.relocations[0].generic);
  EXPECT_EQ(a.relocations[1].offset, 8U);
  EXPECT_TRUE(a.relocations[1].generic);
  EXPECT_EQ(a.relocations[1].addend, 8);
  EXPECT_TRUE(a.relocations[2].is_function);
  EXPECT_EQ(a.relocations[3].offset, 32U);
  EXPECT_EQ(a.relocations[3].addend, -4);
  EXPECT_EQ(a.initial[24], 7);
  const Variable& b = variable(result, "b");
  ASSERT_EQ(b.relocations.size(), 3U);
  EXPECT_EQ(b.relocations[0].width, 1);
  EXPECT_EQ(b.relocations[0].shift, 0);
  EXPECT_EQ(b.relocations[1].shift, 8);
  EXPECT_EQ(b.relocations[1].addend, 1);
  EXPECT_EQ(b.relocations[2].shift, 24);
  EXPECT_EQ(b.initial[2], 9);
}

TEST(PtxDeclarations, sampler_attributes_are_kept_as_spelt) {
  const ParseResult result =
      accept(module_of(".global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest };"));
  const Variable& s = variable(result, "s");
  ASSERT_EQ(s.attributes.size(), 2U);
  EXPECT_EQ(s.attributes[0].name, "addr_mode_0");
  EXPECT_EQ(s.attributes[1].value, "nearest");
}

TEST(PtxDeclarations, parameters_of_every_kind_are_read) {
  const ParseResult result = accept(module_of(
      ".entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[12], .param .texref t, .param .u64 .ptr q)"
      " { ret; }\n.func (.param .b32 r) f(.reg .f32 a, .param .b8 c, .param .align 8 .b8 rest[]) { ret; }"));
  const Function& k = function(result, "k");
  ASSERT_EQ(k.parameters.size(), 4U);
  EXPECT_TRUE(k.variables[0].is_pointer);
  EXPECT_EQ(k.variables[0].pointer_space, Space::Global);
  EXPECT_EQ(k.variables[0].pointer_alignment, 4U);
  EXPECT_EQ(k.variables[1].size, 12U);
  EXPECT_EQ(k.variables[1].alignment, 8U);
  EXPECT_EQ(k.variables[2].type, Type::Texref);
  EXPECT_TRUE(k.variables[3].is_pointer);
  EXPECT_EQ(k.variables[3].pointer_space, Space::Generic);
  const Function& f = function(result, "f");
  ASSERT_EQ(f.returns.size(), 1U);
  ASSERT_EQ(f.parameters.size(), 3U);
  const Variable& a = f.variables[f.parameters[0]];
  EXPECT_EQ(a.space, Space::Reg);
  EXPECT_EQ(f.registers[a.reg].name, "a");
  EXPECT_EQ(f.registers[a.reg].type, Type::F32);
}

TEST(PtxDeclarations, function_directives_are_read) {
  const ParseResult result = accept(module_of(
      ".entry k() .maxntid 256, 2 .minnctapersm 2 .maxnreg 64 .reqnctapercluster 2,1,1 .explicitcluster "
      ".pragma \"nounroll\"; .maxclusterrank 4 { ret; }\n.func f() .noreturn .abi_preserve 4 .abi_preserve_control 3 "
      "{ exit; }\n.entry l() .reqntid 32 .blocksareclusters { ret; }"));
  const PerformanceDirectives& k = function(result, "k").directives;
  EXPECT_EQ(k.maxntid[0], 256U);
  EXPECT_EQ(k.maxntid[1], 2U);
  EXPECT_EQ(k.maxntid[2], 1U);
  EXPECT_EQ(k.minnctapersm, 2U);
  EXPECT_EQ(k.maxnreg, 64U);
  EXPECT_EQ(k.reqnctapercluster[0], 2U);
  EXPECT_EQ(k.maxclusterrank, 4U);
  EXPECT_TRUE(k.explicitcluster);
  EXPECT_FALSE(k.reqntid[0]);
  EXPECT_TRUE(function(result, "f").directives.noreturn);
  EXPECT_EQ(function(result, "l").directives.reqntid[0], 32U);
  EXPECT_TRUE(function(result, "l").directives.blocksareclusters);
}

TEST(PtxDeclarations, a_forward_declaration_and_its_definition_are_one_function) {
  const ParseResult result =
      accept(module_of(".visible .func (.param .b32 r) f(.param .b32 a);\n.entry k() { ret; }\n"
                       ".func (.param .b32 result) f(.param .b32 argument) { ret; }\n.extern .func g();"));
  EXPECT_EQ(result.module->functions.size(), 3U);
  EXPECT_TRUE(function(result, "f").has_body);
  EXPECT_EQ(function(result, "f").linkage, Linkage::Visible);
  EXPECT_EQ(function(result, "f").variables[0].name, "result");
  EXPECT_FALSE(function(result, "g").has_body);
  EXPECT_EQ(function(result, "g").linkage, Linkage::Extern);
}

TEST(PtxDeclarations, an_alias_names_its_function) {
  const ParseResult result = accept(module_of(".func b() { ret; }\n.func a();\n.alias a, b;"));
  ASSERT_TRUE(function(result, "a").alias_of);
  EXPECT_EQ(result.module->functions[*function(result, "a").alias_of].name, "b");
}

TEST(PtxDeclarations, the_edges_of_a_text_do_not_matter) {
  const std::string text = module_of(".entry k() { ret; }");
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  accept(crlf);
  accept(text + std::string(1, '\0'));
  accept(text + std::string("\0garbage @#", 11));
  accept("// a comment\n/* and\nanother */" + text + "// no newline at the end");
  accept(".version 9.0 .target sm_90, texmode_unified, debug .address_size 64 .entry k(){ret;}");
  accept("\n@@DWARF .byte 1\n" + text);
}

TEST(PtxDeclarations, debug_sections_are_skipped_and_files_kept) {
  const ParseResult result = accept(module_of(
      ".file 1 \"first.cu\", 123, 45\n.file 3 \"third.cu\"\n"
      ".section .debug_str { info: .b8 1, 2 // } \n .b64 info+4, -1\n .b32 .debug_abbrev }\n.section .empty { }"));
  ASSERT_EQ(result.module->files.size(), 4U);
  EXPECT_EQ(result.module->files[1], "first.cu");
  EXPECT_EQ(result.module->files[3], "third.cu");
}

TEST(PtxDeclarations, global_variables_of_a_function_belong_to_the_module) {
  const ParseResult result = accept(
      module_of(".entry k() { .global .u32 g = 5; .shared .u32 s; .local .align 8 .b8 l[8]; .param .u32 q; .reg .b64 a;"
                " mov.u64 a, g; mov.u64 a, s; ret; }"));
  EXPECT_EQ(result.module->variables.size(), 1U);
  const Function& k = function(result, "k");
  EXPECT_EQ(k.variables.size(), 3U);
  EXPECT_EQ(k.body[0].operands[1].scope, Operand::Scope::Module);
  EXPECT_EQ(k.body[1].operands[1].scope, Operand::Scope::Function);
}

}  // namespace
}  // namespace cucore::cpu::ptx
