// Statements and operands: what ends up in the tree.
#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

struct Parsed {
  ParseResult result;
  const Function& kernel() const { return function(result, "k"); }
  const Instruction& operator[](std::size_t i) const { return kernel().body.at(i); }
  std::string_view name(const Operand& operand) const { return kernel().registers.at(operand.reg).name; }
};

Parsed statements(const std::string& text) { return {accept(kernel_of(text))}; }

TEST(PtxInstructions, mnemonic_modifiers_types_and_spaces_are_told_apart) {
  const Parsed p = statements(
      "cvt.rn.ftz.f32.s32 %f1, %r1; cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 16;"
      "ld.volatile.shared::cta.v2.b32 {%r1, %r2}, [%r3];");
  EXPECT_EQ(p[0].opcode, Opcode::Cvt);
  EXPECT_EQ(p[0].modifiers, (std::vector{Modifier::Rn, Modifier::Ftz}));
  EXPECT_EQ(p[0].types, (std::vector{Type::F32, Type::S32}));
  EXPECT_EQ(p[0].type(), Type::S32);
  EXPECT_EQ(p[1].spaces, (std::vector{Space::Shared, Space::Global}));
  EXPECT_TRUE(p[1].has(Modifier::L2Prefetch128B));
  EXPECT_EQ(p[2].subspaces, (std::vector{SubSpace::Cta}));
  EXPECT_EQ(p[2].vector_width, 2);
  EXPECT_EQ(spelling(p[2]), "ld.volatile.shared::cta.v2.b32");
}

TEST(PtxInstructions, modifiers_may_stand_in_any_order_and_apart) {
  const Parsed p = statements(
      "vote.sync.ballot.b32 %r1, %p1, -1; vote.ballot.sync.b32 %r1, %p1, -1;"
      "mov .u32 %r1, 1; ld.f32.global %f1, [%rd1]; setp.s32.eq %p1, %r1, %r2;");
  EXPECT_EQ(p.kernel().body.size(), 5U);
  EXPECT_EQ(spelling(p[2]), "mov.u32");
}

TEST(PtxInstructions, guards_are_read) {
  const Parsed p = statements("@%p1 ret; @!%p2 exit; @ ! %p3 trap; ret;");
  ASSERT_TRUE(p[0].guard);
  EXPECT_FALSE(p[0].guard->negated);
  EXPECT_EQ(p.kernel().registers[p[1].guard->reg].name, "%p2");
  EXPECT_TRUE(p[1].guard->negated);
  EXPECT_TRUE(p[2].guard->negated);
  EXPECT_FALSE(p[3].guard);
}

TEST(PtxInstructions, addresses_have_base_and_offset) {
  const Parsed p = statements(
      "ld.u32 %r1, [%rd1]; ld.u32 %r1, [%rd2+8]; ld.u32 %r1, [%rd1+-4]; ld.u32 %r1, [%rd1 + 2*4];"
      "ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [p+4]; ld.local.u32 %r1, [16];");
  const std::int64_t offsets[] = {0, 8, -4, 8, 0, 4, 0};
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(p[i].operands[1].kind, Operand::Kind::Address);
    EXPECT_EQ(p[i].operands[1].offset, offsets[i]) << i;
  }
  EXPECT_EQ(p.name(p[1].operands[1].elements[0]), "%rd2");
  EXPECT_EQ(p[4].operands[1].elements[0].kind, Operand::Kind::Variable);
  EXPECT_EQ(p[4].operands[1].elements[0].scope, Operand::Scope::Function);
  EXPECT_EQ(p[6].operands[1].elements[0].integer, 16U);
}

TEST(PtxInstructions, an_indexed_array_is_the_address_of_its_element) {
  const ParseResult result = accept(module_of(
      ".global .v2 .u32 a[4][3]; .entry k() { .reg .b32 r; .reg .b64 d; ld.global.u32 r, a[2]; mov.u64 d, a[1]; "
      "mov.u64 d, a+5; ret; }"));
  const Function& k = function(result, "k");
  EXPECT_EQ(k.body[0].operands[1].kind, Operand::Kind::Address);
  EXPECT_EQ(k.body[0].operands[1].offset, 8);
  EXPECT_EQ(k.body[1].operands[1].kind, Operand::Kind::Variable);
  EXPECT_EQ(k.body[1].operands[1].offset, 4);
  EXPECT_EQ(k.body[2].operands[1].offset, 5);
}

TEST(PtxInstructions, pairs_vectors_sinks_and_negations_are_read) {
  const Parsed p = statements(
      "setp.eq.and.s32 %p1|%p2, %r1, 5, !%p3; shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;"
      "mov.b64 {%r1, _}, %rd1; atom.global.add.u32 _, [%rd1], 1; elect.sync _|%p1, -1;");
  EXPECT_EQ(p[0].operands[0].kind, Operand::Kind::RegisterPair);
  EXPECT_EQ(p.name(p[0].operands[0].elements[1]), "%p2");
  EXPECT_EQ(p[0].operands[2].integer, 5U);
  EXPECT_TRUE(p[0].operands[3].negated);
  EXPECT_EQ(p[1].operands[4].integer, ~std::uint64_t{0});
  EXPECT_EQ(p[2].operands[0].kind, Operand::Kind::Vector);
  EXPECT_EQ(p[2].operands[0].elements[1].kind, Operand::Kind::Sink);
  EXPECT_EQ(p[3].operands[0].kind, Operand::Kind::Sink);
  EXPECT_EQ(p[4].operands[0].elements[0].kind, Operand::Kind::Sink);
}

TEST(PtxInstructions, components_of_vector_registers_are_read) {
  const Parsed p = statements("mov.f32 %f1, %v.z; mov.f32 %f1, %v.a; ld.global.v4.f32 %v, [%rd1];");
  EXPECT_EQ(p[0].operands[1].component, 2);
  EXPECT_EQ(p[1].operands[1].component, 3);
  EXPECT_EQ(p[2].operands[0].component, -1);
  EXPECT_EQ(p.kernel().registers[p[2].operands[0].reg].vector_width, 4);
}

TEST(PtxInstructions, special_registers_are_known) {
  const Parsed p = statements(
      "mov.u32 %r1, %tid.y; mov.u32 %r1, %laneid; mov.b32 %r1, %envreg17; mov.u64 %rd1, %pm3_64;"
      "mov.u32 %r1, %pm7; mov.u64 %rd1, %globaltimer; mov.u32 %r1, %reserved_smem_offset_1;"
      "mov.pred %p1, %is_explicit_cluster;");
  EXPECT_EQ(p[0].operands[1].special.name, "%tid");
  EXPECT_EQ(p[0].operands[1].special.axis, 1);
  EXPECT_EQ(p[1].operands[1].special.name, "%laneid");
  EXPECT_EQ(p[2].operands[1].special.name, "%envreg");
  EXPECT_EQ(p[2].operands[1].special.index, 17);
  EXPECT_EQ(p[3].operands[1].special.name, "%pm_64");
  EXPECT_EQ(p[3].operands[1].special.index, 3);
  EXPECT_EQ(type_of(p[3].operands[1].special), Type::U64);
  EXPECT_EQ(p[4].operands[1].special.name, "%pm");
  EXPECT_EQ(type_of(p[5].operands[1].special), Type::U64);
  EXPECT_EQ(p[6].operands[1].special.index, 1);
  EXPECT_EQ(type_of(p[7].operands[1].special), Type::Pred);
}

TEST(PtxInstructions, a_declared_register_hides_a_special_one) {
  const Parsed p = statements(".reg .b32 %laneid; mov.u32 %laneid, 4;");
  EXPECT_EQ(p[0].operands[0].kind, Operand::Kind::Register);
}

TEST(PtxInstructions, registers_need_no_percent_sign_and_scopes_hide_names) {
  const Parsed p = statements(
      "mov.u32 %r1, 1; { .reg .u32 t, %r1; mov.u32 t, %r1; { .reg .f32 t; mov.f32 t, 1.0; } "
      "mov.u32 %r2, t; } mov.u32 %r3, %r1;");
  EXPECT_NE(p[0].operands[0].reg, p[1].operands[1].reg);
  EXPECT_EQ(p.kernel().registers[p[2].operands[0].reg].type, Type::F32);
  EXPECT_EQ(p[3].operands[1].reg, p[1].operands[0].reg);
  EXPECT_EQ(p[4].operands[1].reg, p[0].operands[0].reg);
}

TEST(PtxInstructions, ranges_declare_registers_when_they_are_used) {
  const Parsed p = statements(".reg .b32 %q<4000000000>, x1<3>; mov.u32 %q3999999999, x12; mov.u32 x10, %q3999999999;");
  EXPECT_EQ(p.name(p[0].operands[0]), "%q3999999999");
  EXPECT_EQ(p[0].operands[0].reg, p[1].operands[1].reg);
  EXPECT_LT(p.kernel().registers.size(), 10U);
  EXPECT_EQ(p.name(p[0].operands[1]), "x12");
}

TEST(PtxInstructions, labels_resolve_in_the_innermost_scope_that_has_them) {
  const Parsed p = statements("{ L: bra L; } { L: bra L; bra OUT; } bra L; { bra L; L: ret; } L: ret; OUT: ");
  const auto& labels = p.kernel().labels;
  const auto target = [&](std::size_t i) { return labels.at(p[i].operands.at(0).label).instruction; };
  EXPECT_EQ(target(0), 0U);
  EXPECT_EQ(target(1), 1U);
  EXPECT_EQ(target(2), 7U);
  EXPECT_EQ(target(3), 6U);
  EXPECT_EQ(target(4), 5U);
  EXPECT_EQ(labels.back().instruction, p.kernel().body.size());
}

TEST(PtxInstructions, branch_targets_are_resolved) {
  const Parsed p = statements("T: .branchtargets A, B, A; brx.idx.uni %r1, T; B: ret; A: ret;");
  EXPECT_EQ(p[0].operands[1].kind, Operand::Kind::TargetList);
  const TargetList& list = p.kernel().target_lists.at(p[0].operands[1].integer);
  ASSERT_EQ(list.labels.size(), 3U);
  EXPECT_EQ(p.kernel().labels[list.labels[0]].name, "A");
  EXPECT_EQ(p.kernel().labels[list.labels[1]].name, "B");
}

TEST(PtxInstructions, calls_of_every_form_have_one_shape) {
  const ParseResult result = accept(module_of(
      ".func none() { ret; } .func (.param .b32 r) full(.param .b32 a, .param .b64 b) { ret; }\n"
      ".entry k() { .reg .b32 x; .reg .b64 y;\n"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn; Q: .callprototype _; T: .calltargets none;\n"
      "call none; call.uni none, (); call (x), full, (x, y); call (_), full, (3, y); call (x), y, (x), P; call y, Q;"
      "call y, T; { .param .b32 p0; .param .b64 p1; .param .b32 r0; st.param.b32 [p0], x; call.uni (r0), full, (p0, "
      "p1);"
      " ld.param.b32 x, [r0]; } ret; }"));
  const Function& k = function(result, "k");
  std::size_t calls = 0;
  for (const Instruction& instruction : k.body) {
    if (instruction.opcode != Opcode::Call) continue;
    ++calls;
    ASSERT_GE(instruction.operands.size(), 3U);
    EXPECT_EQ(instruction.operands[0].kind, Operand::Kind::List);
    EXPECT_EQ(instruction.operands[2].kind, Operand::Kind::List);
  }
  EXPECT_EQ(calls, 8U);
  EXPECT_EQ(k.body[0].operands[1].kind, Operand::Kind::Function);
  EXPECT_EQ(k.body[2].operands[0].elements.size(), 1U);
  EXPECT_EQ(k.body[2].operands[2].elements.size(), 2U);
  EXPECT_EQ(k.body[4].operands[3].kind, Operand::Kind::Prototype);
  EXPECT_TRUE(k.prototypes[0].noreturn);
  EXPECT_EQ(k.prototypes[0].parameters.size(), 1U);
  EXPECT_EQ(k.body[6].operands[3].kind, Operand::Kind::TargetList);
  EXPECT_EQ(k.target_lists[0].functions.size(), 1U);
}

TEST(PtxInstructions, texture_and_tensor_operands_keep_their_coordinates) {
  const Parsed p = statements(
      "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%f5, %f6}];"
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];"
      "sust.b.2d.v2.b32.clamp [%rd1, {%r2, %r3}], {%r1, %r2};");
  ASSERT_EQ(p[0].operands[1].elements.size(), 3U);
  EXPECT_EQ(p[0].operands[1].elements[2].kind, Operand::Kind::Vector);
  ASSERT_EQ(p[1].operands[1].elements.size(), 2U);
  EXPECT_TRUE(p[1].has(Modifier::MbarrierCompleteTxBytes));
  EXPECT_TRUE(p[2].has(Modifier::D2));
}

TEST(PtxInstructions, video_selectors_and_negation_are_read) {
  const Parsed p = statements(
      "vadd.u32.u32.u32.sat %r1, %r2.b0, %r3.h1; vmad.s32.s32.s32.shr7 %r1, %r2, %r3, -%r4;"
      "vadd4.s32.s32.s32 %r1.b10, %r2.b7531, %r3, %r4;");
  EXPECT_EQ(p[0].operands[1].selector, "b0");
  EXPECT_EQ(p[0].operands[2].selector, "h1");
  EXPECT_TRUE(p[1].operands[3].negated);
  EXPECT_EQ(p[2].operands[0].selector, "b10");
}

TEST(PtxInstructions, positions_and_source_lines_are_kept) {
  const ParseResult result =
      accept(module_of(".file 1 \"a.cu\"\n.entry k() {\n  ret;\n.loc 1 7 3\n ret; .loc 1 9 1, function_name F+4, "
                       "inlined_at 1 7 3\n  ret;\n}\n"
                       ".entry l() { ret; }"));
  const Function& k = function(result, "k");
  EXPECT_EQ(k.body[0].position.line, 6U);
  EXPECT_EQ(k.body[0].position.column, 3U);
  EXPECT_EQ(k.body[0].source.file, 0U);
  EXPECT_EQ(k.body[1].source.line, 7U);
  EXPECT_EQ(k.body[2].source.line, 9U);
  EXPECT_EQ(function(result, "l").body[0].source.file, 0U);
}

}  // namespace
}  // namespace cucore::cpu::ptx
