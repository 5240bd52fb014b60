// Instructions without a row in the table, and calls that lead nowhere: see unsupported.hpp.
#include "cpu/analysis/unsupported.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cpu/analysis/instruction_table.hpp"
#include "cpu/analysis/layout.hpp"
#include "cpu/analysis/not_supported.hpp"
#include "cpu/analysis/reach.hpp"

namespace cucore::cpu::codegen {

namespace {

/// Of an instruction whose spelling is fine: a call must lead somewhere.
Result<void> check_callees(const ptx::Module& module, const ptx::Instruction& instruction) {
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.kind != ptx::Operand::Kind::Function) continue;
    const Callee callee = resolve(module, operand.function);
    if (instruction.opcode != ptx::Opcode::Call && !callee.function)
      return not_supported("address of a function without a body");
    if (!callee.function && !callee.runtime) {
      return not_supported("function " + std::string(module.functions[operand.function].name) + " has no body here");
    }
  }
  return {};
}

Result<void> check_compiles(const ptx::Module& module, const ptx::Instruction& instruction) {
  if (Result<const Form*> form = find_form(instruction); !form) return std::move(form).failure();
  return check_callees(module, instruction);
}

}  // namespace

std::vector<Unsupported> find_unsupported_in(const ptx::Module& module, const ptx::Function& function) {
  std::vector<Unsupported> found;
  if (function.directives.blocksareclusters) {
    found.push_back({.kernel = std::string(function.name),
                     .instruction = ".blocksareclusters",
                     .line = function.position.line,
                     .reason = "a grid counted in clusters"});
  }
  for (const ptx::Instruction& instruction : function.body) {
    const Result<void> compiles = check_compiles(module, instruction);
    if (compiles) continue;
    found.push_back({.kernel = std::string(function.name),
                     .instruction = ptx::spelling(instruction),
                     .line = instruction.position.line,
                     .reason = compiles.failure().sentence()});
  }
  return found;
}

std::vector<Unsupported> find_unsupported(const ptx::Module& module) {
  std::vector<Unsupported> found;
  for (const ptx::Function& function : module.functions) {
    for (Unsupported& one : find_unsupported_in(module, function)) found.push_back(std::move(one));
  }
  return found;
}

std::vector<std::string_view> known_opcodes() {
  return {
#define PTX_OPCODE(enumerator, spelling) spelling,
#include "cpu/ptx/opcodes.def"
#undef PTX_OPCODE
  };
}

std::vector<std::string_view> covered_opcodes() {
  std::vector<std::string_view> spellings;
  for (const Form& form : instruction_table()) {
    const std::string_view spelling = ptx::spelling(form.opcode);
    if (std::find(spellings.begin(), spellings.end(), spelling) == spellings.end()) spellings.push_back(spelling);
  }
  return spellings;
}

}  // namespace cucore::cpu::codegen
