// From the table's row of an instruction to its generator, and checks around it: see body_steps.hpp.
#include "cpu/compiler/instructions/body_steps.hpp"

#include "cpu/analysis/instructions/instruction_table.hpp"
#include "cpu/compiler/checks/emit_checks.hpp"
#include "cpu/compiler/checks/number_marks.hpp"
#include "cpu/compiler/instructions/generators.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::find_form;

/// By Generator.
constexpr Generate generators[] = {
#define CUCPU_GENERATOR(name) name,
#include "cpu/analysis/instructions/generators.def"
#undef CUCPU_GENERATOR
};

void emit_with_access_checks(FunctionEmitter& f, const ptx::Instruction& instruction) {
  const Generate generate = generators[static_cast<std::size_t>((*find_form(instruction))->generator)];
  if (f.module.checks != 0) {
    emit_checked(f, instruction, generate);
  } else {
    generate(f, instruction);
  }
}

void emit_instruction(FunctionEmitter& f, const ptx::Instruction& instruction) {
  if (f.module.checks_numbers)
    emit_with_number_marks(f, instruction, emit_with_access_checks);
  else
    emit_with_access_checks(f, instruction);
}

}  // namespace

const BodySteps body_steps{.emit_instruction = emit_instruction, .emit_enter = emit_enter, .emit_leave = emit_leave};

}  // namespace cucore::cpu::compiler
