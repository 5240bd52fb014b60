// Instructions without a row in the table, and calls that lead nowhere: see unsupported.hpp.
#include "cpu/analysis/unsupported.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/analysis/instructions/instruction_table.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/layout/layout.hpp"

namespace cucore::cpu::analysis {
namespace {

/// Checks an instruction whose spelling is fine: a call must have a target.
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

/// Modules with 32-bit addresses: by .address_size, or older than that directive.
bool has_short_addresses(const ptx::Module& module) {
  return module.address_size == 32 || module.version.major < 2 ||
         (module.version.major == 2 && module.version.minor < 3);
}

/// Old modules run unless they use 32-bit addresses of memory outside the block, which the host does not have, or ask
/// for double precision to be demoted to single.
Result<void> check_old_module(const ptx::Module& module, const ptx::Function& function,
                              const ptx::Instruction& instruction) {
  const auto has_option = [&](std::string_view option) {
    return std::find(module.target_options.begin(), module.target_options.end(), option) != module.target_options.end();
  };
  if (has_option("map_f64_to_f32") &&
      std::find(instruction.types.begin(), instruction.types.end(), ptx::Type::F64) != instruction.types.end())
    return not_supported("double precision in a module of .target map_f64_to_f32");
  if (!has_short_addresses(module)) return {};
  const ptx::Space space = instruction.space();
  if (space == ptx::Space::Shared || space == ptx::Space::Param) return {};
  for (const ptx::Operand& operand : instruction.operands) {
    if (operand.kind != ptx::Operand::Kind::Address || operand.elements[0].kind != ptx::Operand::Kind::Register)
      continue;
    if (size_in_bytes(function.registers[operand.elements[0].reg].type) < 8) return not_supported("a 32-bit address");
  }
  return {};
}

Result<void> check_compiles(const ptx::Module& module, const ptx::Function& function,
                            const ptx::Instruction& instruction) {
  if (Result<const Form*> form = find_form(instruction); !form) return std::move(form).failure();
  if (Result<void> met = check_old_module(module, function, instruction); !met) return met;
  return check_callees(module, instruction);
}

}  // namespace

std::vector<Unsupported> find_unsupported_in(const ptx::Module& module, const ptx::Function& function) {
  std::vector<Unsupported> found;
  if (function.directives.blocksareclusters) {
    found.push_back({.function = std::string(function.name),
                     .instruction = ".blocksareclusters",
                     .line = function.position.line,
                     .reason = "a grid counted in clusters"});
  }
  for (const ptx::Instruction& instruction : function.body) {
    const Result<void> compiles = check_compiles(module, function, instruction);
    if (compiles) continue;
    found.push_back({.function = std::string(function.name),
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
#include "cpu/ptx/tree/opcodes.def"
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

}  // namespace cucore::cpu::analysis
