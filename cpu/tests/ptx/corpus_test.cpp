// PTX that NVRTC 13.0 made: see tools/make_ptx_corpus.py.
#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "cpu/tests/ptx/sources.hpp"

namespace cucore::cpu::ptx {
namespace {

std::vector<std::string> corpus() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CUCORE_TEST_DATA "/corpus")) {
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string corpus_file(const std::string& name) { return read_file(CUCORE_TEST_DATA "/corpus/" + name); }

TEST(PtxCorpus, every_file_of_the_corpus_is_accepted) {
  const auto paths = corpus();
  EXPECT_GE(paths.size(), 20U);
  for (const std::string& path : paths) {
    const ParseResult result = parse(read_file(path));
    EXPECT_NE(result.module, nullptr) << path << "\n" << format(result.diagnostics);
  }
}

TEST(PtxCorpus, every_label_use_and_register_of_the_corpus_is_resolved) {
  for (const std::string& path : corpus()) {
    const ParseResult result = parse(read_file(path));
    ASSERT_NE(result.module, nullptr) << path;
    for (const Function& f : result.module->functions) {
      for (const Label& label : f.labels) EXPECT_LE(label.instruction, f.body.size());
      for (const Instruction& instruction : f.body) {
        for (const Operand& operand : instruction.operands) {
          if (operand.kind == Operand::Kind::Register) {
            EXPECT_LT(operand.reg, f.registers.size());
          }
          if (operand.kind == Operand::Kind::Label) {
            EXPECT_LT(operand.label, f.labels.size());
          }
        }
        if (instruction.opcode == Opcode::Bra) {
          EXPECT_EQ(instruction.operands[0].kind, Operand::Kind::Label);
        }
      }
    }
  }
}

TEST(PtxCorpus, the_header_of_a_compiled_module_is_read) {
  const ParseResult result = accept(corpus_file("elementwise.sm_90.ptx"));
  EXPECT_EQ(result.module->version.major, 9U);
  EXPECT_EQ(result.module->version.minor, 0U);
  EXPECT_EQ(result.module->target, "sm_90");
  EXPECT_EQ(result.module->address_size, 64U);
}

TEST(PtxCorpus, parameters_of_a_compiled_kernel_have_their_sizes) {
  const ParseResult result = accept(corpus_file("elementwise.sm_80.ptx"));
  const Function& pick = function(result, "pick");
  ASSERT_EQ(pick.parameters.size(), 5U);
  EXPECT_TRUE(pick.is_entry);
  EXPECT_EQ(pick.linkage, Linkage::Visible);
  const std::uint64_t sizes[] = {32, 1, 2, 8, 8};
  const std::uint32_t alignments[] = {8, 1, 2, 8, 8};
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(pick.variables[pick.parameters[i]].size, sizes[i]) << i;
    EXPECT_EQ(pick.variables[pick.parameters[i]].alignment, alignments[i]) << i;
  }
  EXPECT_EQ(pick.directives.maxntid[0], 128U);
  EXPECT_EQ(pick.directives.minnctapersm, 4U);
}

TEST(PtxCorpus, shared_memory_of_a_compiled_module_is_found) {
  const ParseResult result = accept(corpus_file("elementwise.sm_80.ptx"));
  const Variable* dynamic = result.module->find_variable("dynamic_shared");
  ASSERT_NE(dynamic, nullptr);
  EXPECT_EQ(dynamic->space, Space::Shared);
  EXPECT_EQ(dynamic->linkage, Linkage::Extern);
  EXPECT_EQ(dynamic->size, 0U);
  EXPECT_EQ(dynamic->alignment, 16U);
}

TEST(PtxCorpus, source_lines_follow_loc) {
  const ParseResult result = accept(corpus_file("elementwise.lineinfo.ptx"));
  const Function& saxpy = function(result, "saxpy");
  std::set<std::uint32_t> lines;
  for (const Instruction& instruction : saxpy.body) {
    ASSERT_GT(instruction.source.file, 0U);
    lines.insert(instruction.source.line);
  }
  EXPECT_TRUE(lines.contains(11));
  ASSERT_GT(result.module->files.size(), saxpy.body[0].source.file);
  EXPECT_NE(result.module->files[saxpy.body[0].source.file].find("elementwise.cu"), std::string::npos);
}

TEST(PtxCorpus, initial_values_of_compiled_variables_are_read) {
  const ParseResult result = accept(corpus_file("module_memory.sm_80.ptx"));
  const auto variable = [&](std::string_view name) {
    const Variable* found = result.module->find_variable(name);
    EXPECT_NE(found, nullptr) << name;
    static const Variable none;
    return found == nullptr ? none : *found;
  };
  EXPECT_EQ(variable("counter").initial, (std::vector<std::uint8_t>{7, 0, 0, 0}));
  EXPECT_EQ(variable("bytes").initial, (std::vector<std::uint8_t>{1, 2, 255, 0, 0}));
  EXPECT_EQ(variable("weights").space, Space::Const);
  EXPECT_TRUE(variable("shared_with_host").managed);
  const Variable pointer = variable("pointer_to_counter");
  ASSERT_EQ(pointer.relocations.size(), 1U);
  EXPECT_EQ(result.module->variables[pointer.relocations[0].variable].name, "counter");
  EXPECT_TRUE(pointer.relocations[0].generic);
  const Variable inside = variable("inside");
  ASSERT_EQ(inside.relocations.size(), 1U);
  EXPECT_EQ(inside.relocations[0].addend, 16);
}

TEST(PtxCorpus, calls_through_pointers_have_their_prototypes) {
  const ParseResult result = accept(corpus_file("calls.sm_80.ptx"));
  const Function& kernel = function(result, "call_all");
  std::size_t direct = 0;
  std::size_t indirect = 0;
  for (const Instruction& instruction : kernel.body) {
    if (instruction.opcode != Opcode::Call) continue;
    ASSERT_GE(instruction.operands.size(), 3U);
    EXPECT_EQ(instruction.operands[0].kind, Operand::Kind::List);
    EXPECT_EQ(instruction.operands[2].kind, Operand::Kind::List);
    if (instruction.operands[1].kind == Operand::Kind::Function) {
      ++direct;
    } else {
      ++indirect;
      ASSERT_EQ(instruction.operands.size(), 4U);
      EXPECT_EQ(instruction.operands[3].kind, Operand::Kind::Prototype);
      EXPECT_LT(instruction.operands[3].integer, kernel.prototypes.size());
    }
  }
  EXPECT_GE(direct, 2U);
  EXPECT_GE(indirect, 2U);
}

}  // namespace
}  // namespace cucore::cpu::ptx
