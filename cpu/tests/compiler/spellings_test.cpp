// Every instruction spelling listed here has a generator, and what it generates links.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cpu/analysis/unsupported.hpp"
#include "cpu/ptx/parser.hpp"
#include "cpu/tests/compiler/stand_in.hpp"

namespace cucore::cpu {
namespace {

std::vector<std::string> words_of(const std::string& spelling) {
  std::vector<std::string> words;
  std::istringstream stream(spelling);
  for (std::string word; std::getline(stream, word, '.');) words.push_back(word);
  return words;
}

bool one_of(const std::string& word, const std::set<std::string>& set) { return set.contains(word); }

std::size_t bytes_of(const std::string& type) {
  if (type == "pred") return 0;
  if (type == "f16" || type == "bf16") return 2;
  if (type.ends_with("x2")) return 4;
  return static_cast<std::size_t>(std::stoi(type.substr(1))) / 8;
}

bool is_type(const std::string& word) {
  static const std::set<std::string> types{"pred", "b8",   "u8",  "s8",    "b16",   "u16",   "s16",
                                           "f16",  "bf16", "b32", "u32",   "s32",   "f32",   "b64",
                                           "u64",  "s64",  "f64", "f16x2", "u16x2", "s16x2", "bf16x2"};
  return types.contains(word);
}

std::string reg(std::size_t bytes, int number) {
  const char* prefix = bytes == 0 ? "%p" : bytes <= 2 ? "%h" : bytes == 4 ? "%r" : "%d";
  return prefix + std::to_string(number);
}

/// `{%r1, %r2}` for .v2, a plain register without it.
std::string value(const std::vector<std::string>& words, std::size_t bytes) {
  int count = 1;
  if (std::find(words.begin(), words.end(), "v2") != words.end()) count = 2;
  if (std::find(words.begin(), words.end(), "v4") != words.end()) count = 4;
  if (count == 1) return reg(bytes, 1);
  std::string list = "{";
  for (int n = 1; n <= count; ++n) list += (n > 1 ? ", " : "") + reg(bytes, n);
  return list + "}";
}

/// A statement that uses the spelling as the PTX compiler would.
std::string statement(const std::string& spelling) {
  const std::vector<std::string> words = words_of(spelling);
  const std::string& opcode = words[0];
  auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  std::vector<std::string> types;
  std::copy_if(words.begin(), words.end(), std::back_inserter(types), is_type);
  const std::size_t bytes = types.empty() ? 4 : bytes_of(types.back());

  if (one_of(opcode, {"ret", "exit", "trap", "membar", "fence", "griddepcontrol"})) return spelling + ";";
  if (opcode == "bra") return spelling + " done;";
  if (opcode == "call") return spelling + " called, ();";
  if (opcode == "bar" && has("warp")) return spelling + " 0xffffffff;";
  if (opcode == "bar" || opcode == "barrier") return spelling + " 0;";
  if (opcode == "nanosleep") return spelling + " 20;";
  if (opcode == "prefetch") return spelling + " [%d1];";
  if (opcode == "ld") {
    const char* from = has("param") ? "parameter" : has("const") ? "constants" : "%d5";
    return spelling + " " + value(words, bytes) + ", [" + from + "];";
  }
  if (opcode == "st" && has("param")) {
    return "{ .param .b64 argument; " + spelling + " [argument], " + value(words, bytes) + "; }";
  }
  if (opcode == "st") return spelling + " [%d5], " + value(words, bytes) + ";";
  const bool swaps = has("cas");
  if (opcode == "red") return spelling + " [%d5], " + reg(bytes, 1) + ";";
  if (opcode == "atom") {
    return spelling + " " + reg(bytes, 1) + ", [%d5], " + reg(bytes, 2) + (swaps ? ", " + reg(bytes, 3) : "") + ";";
  }
  if (opcode == "shfl") return spelling + " %r1|%p1, %r2, 1, 31, 0xffffffff;";
  if (opcode == "vote") return spelling + " " + reg(bytes, 1) + ", %p2, 0xffffffff;";
  if (opcode == "setp") return spelling + " %p1, " + reg(bytes, 2) + ", " + reg(bytes, 3) + ";";
  if (opcode == "cvt") {
    const bool packs = types[0].ends_with("x2");
    return spelling + " " + reg(bytes_of(types[0]), 1) + ", " + reg(bytes, 2) + (packs ? ", " + reg(bytes, 3) : "") +
           ";";
  }

  std::vector<std::string> operands{reg(has("wide") ? 2 * bytes : bytes, 1), reg(bytes, 2)};
  const bool unary = one_of(opcode, {"mov", "cvta", "abs", "neg", "not", "brev", "popc", "clz", "cos", "sin", "ex2",
                                     "lg2", "rcp", "rsqrt", "sqrt"});
  if (opcode == "popc" || opcode == "clz") operands[0] = reg(4, 1);
  if (!unary) operands.push_back(opcode == "shl" || opcode == "shr" ? reg(4, 3) : reg(bytes, 3));
  if (opcode == "selp") operands.push_back("%p4");
  if (opcode == "fma" || opcode == "mad") operands.push_back(reg(has("wide") ? 2 * bytes : bytes, 4));
  if (opcode == "bfi") operands.insert(operands.end(), {"%r4", "%r5"});
  std::string text = spelling;
  for (std::size_t n = 0; n < operands.size(); ++n) text += (n == 0 ? " " : ", ") + operands[n];
  return text + ";";
}

std::string kernel_around(const std::string& statement_text) {
  return R"(.version 8.7
.target sm_90
.address_size 64
.const .align 16 .b8 constants[64];
.func called() { ret; }
.visible .entry kernel(.param .align 16 .b8 parameter[64])
{
  .reg .pred %p<6>;
  .reg .b16 %h<6>;
  .reg .b32 %r<6>;
  .reg .b64 %d<6>;
  )" + statement_text +
         "\ndone:\n  ret;\n}\n";
}

TEST(CodegenSpellings, every_spelling_of_ordinary_code_compiles) {
  std::istringstream list(read_test_file("compiler/ordinary_spellings.txt"));
  int checked = 0;
  for (std::string spelling; std::getline(list, spelling);) {
    if (spelling.empty() || spelling.starts_with('#')) continue;
    const std::string text = kernel_around(statement(spelling));
    try {
      TestModule module(text);
      const auto unsupported = analysis::find_unsupported(module.module());
      EXPECT_TRUE(unsupported.empty()) << spelling << ": " << unsupported.front().reason;
      EXPECT_NE(module.compile("kernel"), nullptr);
    } catch (const std::exception& error) {
      ADD_FAILURE() << spelling << ": " << error.what() << "\n" << statement(spelling);
    }
    ++checked;
  }
  EXPECT_GT(checked, 450);
}

TEST(CodegenSpellings, an_instruction_without_a_generator_is_reported_with_its_place_and_reason) {
  const ptx::ParseResult parsed =
      ptx::parse(kernel_around("add.f32 %r1, %r2, %r3;\n  multimem.red.relaxed.sys.global.add.u32 [%d1], %r1;"));
  ASSERT_NE(parsed.module, nullptr) << ptx::format(parsed.diagnostics);
  const auto unsupported = analysis::find_unsupported(*parsed.module);
  ASSERT_EQ(unsupported.size(), 1U);
  EXPECT_EQ(unsupported[0].function, "kernel");
  EXPECT_EQ(unsupported[0].instruction, "multimem.red.relaxed.sys.global.add.u32");
  EXPECT_EQ(unsupported[0].line, 13U);
  EXPECT_EQ(unsupported[0].reason, "opcode");
  const auto failed = loader::compile(*parsed.module, 1, {});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.failure().sentence().find("multimem.red.relaxed.sys.global.add.u32 (line 13"), std::string::npos)
      << failed.failure().sentence();
}

TEST(CodegenSpellings, an_operand_that_should_be_an_address_is_an_error) {
  for (const char* text : {
           "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, %r2;",
           "stmatrix.sync.aligned.m8n8.x1.shared.b16 %r2, {%r1};",
           "wmma.load.a.sync.aligned.row.m16n16k16.bf16 {%r1, %r2, %r3, %r4}, %r5;",
           "wmma.store.d.sync.aligned.row.m8n8k32.s32 %r5, {%r1, %r2};",
           "cp.async.mbarrier.arrive.b64 %r1;",
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes %r1, %r2, 16, %r3;",
           "cp.async.bulk.global.shared::cta.bulk_group %r1, %r2, 16;",
           "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 %r1, %r2, [%r3];",
           "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 %r1, %r2, [%r3];",
           "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes %r1, [%r2, {%r3}], %r4;",
           "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1, %r2}, {%r3}, {[%r1]}, {%r1, %r2};",
       }) {
    const ptx::ParseResult parsed = ptx::parse(kernel_around(text));
    ASSERT_NE(parsed.module, nullptr) << ptx::format(parsed.diagnostics);
    const auto failed = loader::compile(*parsed.module, 1, {});
    ASSERT_FALSE(failed) << text;
    EXPECT_NE(failed.failure().sentence().find("operand"), std::string::npos) << failed.failure().sentence();
  }
}

TEST(CodegenSpellings, a_kernel_whose_grid_counts_clusters_is_unsupported_as_a_whole) {
  const ptx::ParseResult parsed = ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".entry k() .reqntid 32 .reqnctapercluster 2, 1, 1 .blocksareclusters { ret; }\n"
      ".entry l() .reqnctapercluster 2, 1, 1 { ret; }");
  ASSERT_NE(parsed.module, nullptr) << ptx::format(parsed.diagnostics);
  const auto unsupported = analysis::find_unsupported(*parsed.module);
  ASSERT_EQ(unsupported.size(), 1U);
  EXPECT_EQ(unsupported[0].instruction, ".blocksareclusters");
}

/// Why a kernel of an old module does not run; empty if it does.
std::string reason_of(const std::string& head, const std::string& statements) {
  const ptx::ParseResult parsed =
      ptx::parse(head + "\n.entry k (.param .u64 p) { .reg .u32 %r<4>; .reg .u64 %d<4>; .reg .f64 %f<4>; " +
                 statements + " exit; }");
  if (parsed.module == nullptr) return ptx::format(parsed.diagnostics);
  const auto unsupported = analysis::find_unsupported(*parsed.module);
  return unsupported.empty() ? "" : unsupported.front().reason;
}

// An H100 gives other results there than the PTX ISA defines, so neither would be right.
TEST(CodegenSpellings, video_instructions_that_gpus_emulate_otherwise_are_unsupported) {
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64";
  for (const char* agreed :
       {"vmad.s32.s32.s32.sat.shr7 %r1, %r2, %r3, %r1;", "vmad.u32.u32.u32.po %r1, %r2, %r3, %r1;",
        "vadd.s32.s32.s32.sat %r1, %r2, %r3;", "vadd.s32.s32.s32 %r1.b2, %r2.b1, %r3.h1, %r1;",
        "vabsdiff.s32.s32.s32.sat %r1.b2, %r2.b1, %r3.h1, %r1;", "vshl.s32.s32.u32.clamp %r1, %r2.b0, %r3.b1;"})
    EXPECT_EQ("", reason_of(head, agreed)) << agreed;
  for (const char* otherwise :
       {"vmad.u32.u32.u32.sat %r1, %r2, %r3, %r1;", "vmad.s32.u32.s32.shr15 %r1, %r2, %r3, %r1;",
        "vadd.s32.s32.s32.sat %r1.b2, %r2.b1, %r3.h1, %r1;", "vmin.s32.s32.s32.sat %r1.b2, %r2.b1, %r3.h1, %r1;",
        "vshl.s32.s32.u32.clamp %r1.h1, %r2.b0, %r3.b1, %r1;", "vshr.s32.s32.u32.clamp %r1.h1, %r2.b0, %r3.b1, %r1;"})
    EXPECT_NE(std::string::npos, reason_of(head, otherwise).find("otherwise than the PTX ISA")) << otherwise;
}

TEST(CodegenSpellings, modules_without_address_size_run_unless_they_use_32_bit_addresses) {
  const std::string old = ".version 1.4\n.target sm_13";
  EXPECT_EQ(reason_of(old, "ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1];"), "");
  EXPECT_EQ(reason_of(old, ".shared .u32 s; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1];"), "");
  EXPECT_EQ(reason_of(old, "ld.global.u32 %r1, [%r2];"), "a 32-bit address");
  EXPECT_EQ(reason_of(".version 3.0\n.target sm_20\n.address_size 32", "st.global.u32 [%r2], %r1;"),
            "a 32-bit address");
  EXPECT_EQ(reason_of(".version 3.0\n.target sm_20\n.address_size 64", "st.global.u32 [%r2], %r1;"), "");
}

TEST(CodegenSpellings, tensormap_takes_the_fields_and_constants_that_there_are) {
  const std::string head = ".version 8.6\n.target sm_100a\n.address_size 64";
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 12;"), "");
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.elemtype.global.b1024.b32 [%d1], 13;"), "value");
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 4, %r1;"), "");
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 5, %r1;"), "value");
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], %r2, %r1;"), "value");
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.global_stride.global.b1024.b64 [%d1], 4, %d2;"), "value");
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.global_address.global.b1024.b32 [%d1], %r1;"), "types");
  EXPECT_EQ(reason_of(head, "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%d1], 0;"),
            "modifier .swizzle_atomicity");
  EXPECT_EQ(reason_of(head,
                      ".shared .b64 s; clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes."
                      "multicast::cluster::all.b128 [s], [s];"),
            "modifier .multicast::cluster::all");
}

TEST(CodegenSpellings, double_precision_that_is_to_be_made_single_is_refused) {
  EXPECT_EQ(reason_of(".version 1.4\n.target sm_10, map_f64_to_f32", "add.f64 %f1, %f2, %f3;"),
            "double precision in a module of .target map_f64_to_f32");
  EXPECT_EQ(reason_of(".version 1.4\n.target sm_10, map_f64_to_f32", "add.u32 %r1, %r2, %r3;"), "");
}

TEST(CodegenSpellings, covered_opcodes_are_known_ones) {
  const auto known = analysis::known_opcodes();
  const auto covered = analysis::covered_opcodes();
  EXPECT_GT(covered.size(), 60U);
  for (const auto opcode : covered) EXPECT_NE(std::find(known.begin(), known.end(), opcode), known.end()) << opcode;
}

}  // namespace
}  // namespace cucore::cpu
