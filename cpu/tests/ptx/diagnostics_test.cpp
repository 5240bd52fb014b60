// One test case for each diagnostic: its position, and that it names the offending word.
#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

struct Case {
  const char* text;
  const char* message;
};

void check_module(const Case& item) {
  const std::string text = refuse(module_of(item.text));
  EXPECT_NE(text.find(item.message), std::string::npos) << item.text << "\n" << text;
}

void check_statement(const Case& item) {
  const std::string text = refuse(kernel_of(item.text));
  EXPECT_NE(text.find(item.message), std::string::npos) << item.text << "\n" << text;
}

TEST(PtxDiagnostics, a_module_begins_with_version_and_target) {
  EXPECT_NE(refuse("").find("'.version' as the first directive"), std::string::npos);
  EXPECT_NE(refuse(".target sm_80\n.version 9.0\n").find("'.version' as the first directive"), std::string::npos);
  EXPECT_NE(refuse(".version 9.0\n.address_size 64\n").find("'.target' after '.version'"), std::string::npos);
  EXPECT_NE(refuse(".version 9\n.target sm_80").find("a version such as 9.0"), std::string::npos);
  EXPECT_NE(refuse(".version 9.0\n.target sm_80, wrong").find("unknown target 'wrong'"), std::string::npos);
  EXPECT_NE(refuse(".version 9.0\n.target debug").find("names no architecture"), std::string::npos);
  EXPECT_NE(refuse(".version 9.0\n.target sm_80\n.address_size 48").find("neither 32 nor 64"), std::string::npos);
}

TEST(PtxDiagnostics, a_version_that_is_too_new_has_a_kind_of_its_own) {
  const ParseResult result = parse(".version 10.0\n.target sm_80\nnonsense");
  ASSERT_EQ(result.diagnostics.size(), 1U);
  EXPECT_EQ(result.diagnostics[0].kind, Diagnostic::Kind::UnsupportedVersion);
  EXPECT_NE(result.diagnostics[0].message.find("10.0"), std::string::npos);
  accept(".version 9.5\n.target sm_80");
  accept(".version 9.12\n.target sm_80");
  accept(".version 8.7\n.target sm_80");
}

TEST(PtxDiagnostics, syntax_and_semantic_errors_are_told_apart) {
  EXPECT_EQ(parse(kernel_of("ret")).diagnostics[0].kind, Diagnostic::Kind::Syntax);
  EXPECT_EQ(parse(kernel_of("foo;")).diagnostics[0].kind, Diagnostic::Kind::Semantic);
}

TEST(PtxDiagnostics, messages_have_the_form_of_a_compiler) {
  EXPECT_EQ(refuse(module_of(".entry k() {\n  jump;\n  mov.u32 x, 1;\n}")),
            "ptx:5:3: error: unknown instruction 'jump'\nptx:6:11: error: undefined name 'x'\n");
}

TEST(PtxDiagnostics, every_semantic_error_is_reported_up_to_fifty) {
  std::string many;
  for (int i = 0; i < 200; ++i) many += "jump;";
  EXPECT_EQ(parse(kernel_of(many)).diagnostics.size(), 50U);
}

TEST(PtxDiagnostics, mistakes_at_module_scope_are_named) {
  const Case cases[] = {
      {"hello", "expected a directive before 'hello'"},
      {".hello", "before '.hello'"},
      {".global .u32 a; .global .u32 a;", "redefinition of 'a'"},
      {".global .u32 k; .entry k() { ret; }", "redefinition of 'k'"},
      {".entry k() { ret; } .entry k() { ret; }", "redefinition of 'k'"},
      {".entry k(.param .u32 a); .entry k(.param .u64 a) { ret; }", "declarations of 'k' differ"},
      {".entry k(.param .u32 a, .param .u32 a) { ret; }", "redefinition of 'a'"},
      {".entry k(.param .u32 a) { .reg .b32 a; ret; }", "redefinition of 'a'"},
      {".entry k(.reg .u32 a) { ret; }", "must be in '.param' space"},
      {".entry k(.param .pred a) { ret; }", "must be a register"},
      {".entry k(.local .u32 a) { ret; }", "'.param' or '.reg' of a parameter"},
      {".entry k() .maxntid 0 { ret; }", "must not be zero"},
      {".entry k() .wrong { ret; }", "after a function's signature"},
      {".common .shared .u32 a;", "'.common' is for '.global'"},
      {".global a;", "the type of a variable"},
      {".global .wrong a;", "unexpected '.wrong'"},
      {".global .bf16 a;", "declared with type '.bf16'"},
      {".global .v4 .f64 a;", "larger than 128 bits"},
      {".global .align 3 .u32 a;", "not a power of two"},
      {".global .u32 a[];", "has no length"},
      {".global .u32 a[2][];", "only the first dimension"},
      {".global .u32 a[0x7fffffffffffffff];", "too large"},
      {".global .pred a;", "must be a register"},
      {".shared .texref a;", "opaque type"},
      {".global .attribute(.wrong) .u32 a;", "unknown attribute '.wrong'"},
      {".shared .u32 a = 1;", "cannot be initialised"},
      {".extern .global .u32 a = 1;", "cannot be initialised"},
      {".global .f16 a = 1.0;", "cannot be initialised"},
      {".global .f32 a = 1;", "does not match type '.f32'"},
      {".global .u32 a = 1.0;", "does not match type '.u32'"},
      {".global .u32 a[2] = {1, 2, 3};", "too many elements"},
      {".global .u32 a[2] = {{1}, 2};", "nested too deep"},
      {".global .u32 a[] = {};", "the elements of an array"},
      {".global .u64 a = b;", "undefined name 'b'"},
      {".shared .u32 s; .global .u64 a = s;", "neither a function nor"},
      {".global .u32 b; .global .u8 a = b;", "does not match type '.u8'"},
      {".global .u32 b; .global .u8 a = 0x1FF(b);", "does not select one byte"},
      {".global .u8 big[1000000000] = {1};", "too large"},
      {".param .u32 a;", "cannot be declared in '.param' space"},
      {".alias a, b;", "undefined name 'a'"},
      {".global .u32 a; .func b() { ret; } .alias a, b;", "'a' is not a function"},
      {".func a() { ret; } .func b() { ret; } .alias a, b;", "has a body of its own"},
      {".func a(); .alias a, a;", "itself an alias"},
      {".func a(.param .b32 _) { ret; }", "needs a name"},
      {".entry k() { ret;", "'}' of a function body, but the text ends"},
      {".section .debug { .b8 1", "'}' of a section"},
      {".file 1 2", "the path of a file"},
      {"/* never closed", "comment has no end"},
      {".pragma \"never closed;", "string has no end"},
      {"#define X 1", "character does not belong to PTX"},
  };
  for (const Case& item : cases) check_module(item);
}

TEST(PtxDiagnostics, mistakes_in_statements_are_named) {
  const Case cases[] = {
      {"jump %r1;", "unknown instruction 'jump'"},
      {"add.wrong.s32 %r1, %r2, %r3;", "unknown modifier '.wrong'"},
      {"add.u33 %r1, %r2, %r3;", "unknown modifier '.u33'"},
      {"mov.u32 %r1, nothing;", "undefined name 'nothing'"},
      {"mov.u32 %r1, %r9;", "undefined name '%r9'"},
      {"{ .reg .u32 t; } mov.u32 %r1, t;", "undefined name 't'"},
      {"mov.u32 %r1, %envreg32;", "undefined name '%envreg32'"},
      {"mov.u32 %r1, %laneid.x;", "no component '.x'"},
      {"mov.u32 %r1, %r2.y;", "no component '.y'"},
      {"bra NOWHERE;", "undefined label 'NOWHERE'"},
      {"{ L: ret; } bra L;", "undefined label 'L'"},
      {"bra %r1;", "undefined label '%r1'"},
      {".reg .b32 t; bra t;", "'t' is not a label"},
      {"L: L: ret;", "redefinition of 'L'"},
      {"L: mov.u64 %rd1, L;", "label 'L' cannot be an operand"},
      {"T: .branchtargets A; brx.idx %r1, T;", "undefined label 'A'"},
      {"T: .calltargets k2;", "'k2' is not a function"},
      {"@%r1 ret;", "'%r1' is not a predicate register"},
      {"@%none ret;", "undefined name '%none'"},
      {"@%p1 @%p2 ret;", "expected an instruction"},
      {".reg .b32 %r1;", "redefinition of '%r1'"},
      {".reg .b32 %r<3>;", "redefinition of '%r'"},
      {".reg .v2 .b32 v; mov.v2.b32 v, %r1;", "moves vectors of 2 values"},
      {".reg .v2 .b32 v; mov.v2.b32 v, {%r1, %r1, %r1};", "moves vectors of 2 values"},
      {".reg .v2 .b32 v; mov.b32 %r1, v;", "does not match type"},
      {".local .b32 a<3>, a2;", "redefinition of 'a2'"},
      {".local .b32 a<3>[2];", "expected ';'"},
      {".local .b32 a<60000>, b<60000>;", "more than 65536 variables"},
      {".reg .b32 a, a;", "redefinition of 'a'"},
      {".reg .texref a;", "opaque"},
      {".reg .b32 WARP_SZ;", "'WARP_SZ' is a constant"},
      {".wrong 3;", "expected a statement"},
      {"ret", "expected ';'"},
      {";", "expected an instruction"},
      {"bra L, L; L:", "a branch has one target"},
      {"mov.u32 %r1, !%tid.x;", "cannot stand before '%tid'"},
      {"add.s32 %r1, -%r2, %r3;", "cannot stand before '%r2'"},
      {"mov.u32 1|%p1, %r2;", "expected a constant before '%p1'"},
      {"setp.eq.s32 %p1|%tid.x, %r1, %r2;", "both sides of '|'"},
      {"call nobody;", "undefined name 'nobody'"},
      {"call p;", "'p' cannot be called"},
      {"call %rd1;", "needs a call prototype"},
      {"call %rd1, k;", "neither a call prototype nor"},
      {"call _;", "'_' cannot be called"},
      {"call %rd1, _;", "'_' is neither a call prototype nor"},
      {"P: .callprototype _; P: .callprototype _;", "redefinition of 'P'"},
      {".loc 1 2 3, wrong 4", "'function_name' or 'inlined_at'"},
  };
  for (const Case& item : cases) check_statement(item);
}

TEST(PtxDiagnostics, mistakes_in_operands_are_named) {
  const Case cases[] = {
      {"add.s32 %r1, %r2;", "'add.s32' takes 3 operands, not 2"},
      {"add.s32 %r1, %f2, %r3;", "bad operand 2: register '%f2' of type '.f32' does not match type '.s32'"},
      {"add.s32 5, %r2, %r3;", "bad operand 1: a constant cannot stand here"},
      {"add.f32 %f1, %f2, 1;", "an integer constant does not match type '.f32'"},
      {"add.s32 %r1, %r2, 1.0;", "a floating-point constant does not match type '.s32'"},
      {"add.lo.s32 %r1, %r2, %r3;", "cannot have modifier '.lo'"},
      {"add.b32 %r1, %r2, %r3;", "cannot have type '.b32'"},
      {"add %r1, %r2, %r3;", "needs a type"},
      {"mul.s32 %r1, %r2, %r3;", "needs '.lo', '.hi' or '.wide'"},
      {"fma.f32 %f1, %f2, %f3, %f4;", "needs a rounding"},
      {"setp.s32 %p1, %r1, %r2;", "needs a comparison"},
      {"setp.eq.s32 %p1, %r1, %r2, %p2;", "needs '.and', '.or' or '.xor'"},
      {"mov.u32 %r1;", "takes 2 operands, not 1"},
      {"mov.b64 {%h1, %h2}, %rd1;", "does not match type '.b64'"},
      {"ld.global.u32 %rd1, %rd2;", "a register cannot stand here"},
      {"ld.global.u32 %r1, [%f1];", "must be in an integer register"},
      {"ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "a vector of 3 does not match '.v2'"},
      {"ld.global.v2.u32 %r1, [%rd1];", "a vector is needed here"},
      {"st.global.u32 [%rd1], %h1;", "does not match type '.u32'"},
      {"atom.global.cas.b32 %r1, [%rd1], %r2;", "takes 4 to 5 operands, not 3"},
      {"cvt.u32 %r1, %r2;", "needs two types"},
      {"cvta.shared.s64 %rd1, %rd2;", "needs type '.u32' or '.u64'"},
      {"bar.sync;", "takes 1 to 2 operands, not 0"},
      {"add.f32 %v, %v, %v;", "cannot stand here as a whole"},
      {"add.s32 %r1.b0, %r2, %r3;", "only video instructions"},
      {"ret 5;", "takes no operand, not 1"},
  };
  for (const Case& item : cases) check_statement(item);
}

TEST(PtxDiagnostics, calls_are_checked_against_their_function) {
  const std::string f = ".func (.param .u32 r) f(.param .u32 a) { ret; } ";
  const std::pair<std::string, const char*> cases[] = {
      {f + ".entry k() { .reg .u32 x; call f, (x); }", "has 0 results, but the function has 1"},
      {f + ".entry k() { .reg .u32 x; call (x), f; }", "has 0 arguments, but the function has 1"},
      {f + ".entry k() { .reg .u32 x; .reg .f32 y; call (x), f, (y); }",
       "type '.f32' where the function has type '.u32'"},
      {f + ".entry k() { .reg .u32 x; .reg .u64 y; call (x), f, (y); }",
       "type '.u64' where the function has type '.u32'"},
  };
  for (const auto& [text, message] : cases) check_module({text.c_str(), message});
}

TEST(PtxDiagnostics, a_newer_version_may_have_modifiers_and_types_that_are_not_listed) {
  const std::string statement = ".entry k() { .reg .b32 %r<4>; add.lo.s32 %r1, %r2, %r3; }";
  EXPECT_EQ(parse(".version 9.0\n.target sm_90\n" + statement).module, nullptr);
  accept(".version 9.1\n.target sm_90\n" + statement);
}

}  // namespace
}  // namespace cucore::cpu::ptx
