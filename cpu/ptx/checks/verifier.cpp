// Most instructions are checked by their row of instruction_rules.def; moves, conversions, memory accesses, barriers
// and calls have functions of their own in operand_checks.cpp.
#include "cpu/ptx/checks/verifier.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cpu/ptx/checks/instruction_rules.hpp"
#include "cpu/ptx/checks/operand_checks.hpp"
#include "cpu/ptx/checks/video_form.hpp"

namespace cucore::cpu::ptx {

namespace {

constexpr std::size_t max_diagnostics = 50;

/// The rules list the types and modifiers of this version; later ones add some.
constexpr Version rules_version = {9, 0};

/// The first for that many operands.
std::optional<std::string_view> find_pattern(const InstructionRule& rule, std::size_t operands) {
  std::optional<std::string_view> found;
  for_each_part(rule.operands, '|', [&](std::string_view pattern) {
    if (!found && pattern.size() == operands) found = pattern;
  });
  return found;
}

std::string count_of(const InstructionRule& rule) {
  std::string text;
  for_each_part(rule.operands, '|', [&](std::string_view pattern) {
    if (!text.empty()) text += " or ";
    text += std::to_string(pattern.size());
  });
  return text == "1" ? "one operand" : text == "0" ? "no operand" : text + " operands";
}

bool has_comparison(const Instruction& instruction) {
  using enum Modifier;
  return std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                     [](Modifier m) { return (m >= Eq && m <= Nan) || m == Lo || m == Hi; });
}

bool has_rounding(const Instruction& instruction) {
  return instruction.has(Modifier::Rn) || instruction.has(Modifier::Rz) || instruction.has(Modifier::Rm) ||
         instruction.has(Modifier::Rp);
}

/// What the ISA says must be spelt.
Result<void> check_modifiers(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Set:
    case Opcode::Setp:
      if (!has_comparison(instruction)) return invalid("needs a comparison such as '.eq'");
      return {};
    case Opcode::Mul:
    case Opcode::Mad:
      if (is_integer(instruction.type()) && !instruction.has(Modifier::Lo) && !instruction.has(Modifier::Hi) &&
          !instruction.has(Modifier::Wide)) {
        return invalid("needs '.lo', '.hi' or '.wide'");
      }
      return {};
    case Opcode::Fma:
      if (!has_rounding(instruction)) return invalid("needs a rounding such as '.rn'");
      return {};
    default:
      return {};
  }
}

bool has_boolean(const Instruction& instruction) {
  return instruction.has(Modifier::And) || instruction.has(Modifier::Or) || instruction.has(Modifier::Xor);
}

class ModuleVerifier {
 public:
  ModuleVerifier(const Module& module, std::vector<Diagnostic>& diagnostics)
      : module_(module), diagnostics_(diagnostics) {}

  void run() {
    for (const Function& function : module_.functions) {
      for (const Instruction& instruction : function.body) {
        if (diagnostics_.size() >= max_diagnostics) return;
        const Result<void> checked = check(function, instruction);
        if (checked) continue;
        diagnostics_.push_back({Diagnostic::Kind::Semantic, instruction.position,
                                "instruction '" + spelling(instruction) + "' " + checked.failure().sentence()});
      }
    }
  }

 private:
  /// What is wrong is said in words that follow the instruction's name.
  Result<void> check(const Function& function, const Instruction& instruction) const {
    if (const InstructionRule* rule = find_rule(instruction.opcode)) return check_rule(*rule, function, instruction);
    return check_operands(module_, function, instruction);
  }

  Result<void> check_rule(const InstructionRule& rule, const Function& function, const Instruction& instruction) const {
    if (std::pair(module_.version.major, module_.version.minor) <=
        std::pair(rules_version.major, rules_version.minor)) {
      for (const Modifier modifier : instruction.modifiers) {
        if (!rule.allows(modifier)) return invalid("cannot have modifier '." + std::string(spelling(modifier)) + "'");
      }
      for (const Type type : instruction.types) {
        if (!rule.allows(type)) return invalid("cannot have type '." + std::string(spelling(type)) + "'");
      }
      if (instruction.types.empty() && rule.needs_type()) return invalid("needs a type");
    }
    if (Result<void> spelt = check_modifiers(instruction); !spelt) return spelt;
    const std::optional<std::string_view> pattern = find_pattern(rule, instruction.operands.size());
    if (!pattern) {
      return invalid("takes " + count_of(rule) + ", not " + std::to_string(instruction.operands.size()));
    }
    const bool compares = instruction.opcode == Opcode::Setp || instruction.opcode == Opcode::Set;
    if (compares && instruction.operands.size() == 4 && !has_boolean(instruction)) {
      return invalid("needs '.and', '.or' or '.xor' for its fourth operand");
    }
    // `add.f32.f16` and the like mix two types in ways of their own.
    const bool mixed =
        instruction.types.size() > 1 &&
        (instruction.opcode == Opcode::Add || instruction.opcode == Opcode::Sub || instruction.opcode == Opcode::Fma);
    if (mixed) return {};
    for (std::size_t i = 0; i < pattern->size(); ++i) {
      Result<void> operand = check_operand(function, instruction, instruction.operands[i], (*pattern)[i]);
      if (!operand) return at_operand(i, std::move(operand));
    }
    if (!is_video(instruction.opcode)) return {};
    Result<VideoForm> form = read_video_form(instruction);
    if (!form) return std::move(form).failure();
    return {};
  }

  const Module& module_;
  std::vector<Diagnostic>& diagnostics_;
};

}  // namespace

void verify(const Module& module, std::vector<Diagnostic>& diagnostics) { ModuleVerifier(module, diagnostics).run(); }

}  // namespace cucore::cpu::ptx
