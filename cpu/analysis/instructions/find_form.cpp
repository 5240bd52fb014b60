// Which row of the table takes an instruction, and what the closest one does not accept: see instruction_table.hpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "cpu/analysis/instructions/instruction_table.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/instructions/special_registers.hpp"
#include "cpu/analysis/instructions/spelling_sets.hpp"
#include "cpu/ptx/checks/video_form.hpp"
#include "cpu/ptx/tree/words.hpp"

namespace cucore::cpu::analysis {

using ptx::Instruction;
using ptx::ModifierSet;
using ptx::Operand;
using ptx::Type;
using M = ptx::Modifier;
using O = ptx::Opcode;

namespace {

namespace sets = spelling_sets;

/// Modifiers of which an instruction can have one.
constexpr ModifierSet alternatives[] = {
    sets::rounding | ModifierSet{M::Rni, M::Rzi, M::Rmi, M::Rpi, M::Rna, M::Approx, M::Full},
    sets::comparison | ModifierSet{M::Wide},
    sets::atomic_operation | ModifierSet{M::Popc},
    sets::load_order | sets::store_order | ModifierSet{M::AcqRel, M::Sc},
    sets::scopes | ModifierSet{M::Gl},
    {M::Up, M::Down, M::Bfly, M::Idx},
    {M::All, M::Any, M::Uni, M::Ballot},
    {M::L, M::R},
    {M::Clamp, M::Wrap},
    {M::Sync, M::Arrive, M::Red},
    {M::Finite, M::Infinite, M::Number, M::Notanumber, M::Normal, M::Subnormal},
    {M::F4e, M::B4e, M::Rc8, M::Ecl, M::Ecr, M::Rc16},
    sets::geometry,
    {M::Base, M::Level, M::Grad},
    {M::R, M::G, M::B, M::A, M::P},
    sets::out_of_bounds,
};

bool has_conflict(const Instruction& instruction) {
  // .xor.popc is one operation of theirs, and their forms say the rest.
  if (instruction.opcode == O::Mma || instruction.opcode == O::Wmma || instruction.opcode == O::Wgmma) return false;
  return std::any_of(std::begin(alternatives), std::end(alternatives), [&](const ModifierSet& group) {
    return std::count_if(instruction.modifiers.begin(), instruction.modifiers.end(),
                         [&](M modifier) { return group.contains(modifier); }) > 1;
  });
}

std::size_t types_of(const Form& form) {
  const O opcode = form.opcode;
  if (form.modifiers.contains(M::Pack)) return 3;
  if (opcode == O::Mma || opcode == O::Wmma) return 4;
  if (opcode == O::Wgmma) return 3;
  if (ptx::is_video(opcode)) return 3;
  const bool two = opcode == O::Set || opcode == O::Slct || opcode == O::Cvt || opcode == O::Dp4a ||
                   opcode == O::Dp2a || opcode == O::Tex || opcode == O::Tld4 || opcode == O::Tensormap ||
                   opcode == O::Clusterlaunchcontrol;
  return two ? 2 : 1;
}

bool takes_types(const Form& form, const Instruction& instruction) {
  return std::all_of(instruction.types.begin(), instruction.types.end(),
                     [&](Type type) { return form.types.contains(type); });
}

/// The fault of a row that does not take the types.
Failure other_type(const Form& form, const Instruction& instruction) {
  const auto type = std::find_if(instruction.types.begin(), instruction.types.end(),
                                 [&](Type each) { return !form.types.contains(each); });
  return not_supported("type ." + std::string(ptx::spelling(*type)));
}

/// The fault of a row that takes the types: the rest of the mnemonic.
Result<void> check_spelling(const Form& form, const Instruction& instruction) {
  for (M modifier : instruction.modifiers) {
    if (!form.modifiers.contains(modifier)) return not_supported("modifier ." + std::string(ptx::spelling(modifier)));
  }
  if (has_conflict(instruction)) return not_supported("modifiers that exclude each other");
  const bool barrier = form.opcode == O::Bar || form.opcode == O::Barrier;
  if (instruction.types.size() > types_of(form)) return not_supported("number of types");
  return require(!instruction.types.empty() || form.types.empty() || barrier, "no type");
}

/// The fault of a row that takes the spelling: the operands.
Result<void> check_use(const Form& form, const Instruction& instruction) {
  const std::size_t operands = instruction.operands.size();
  if (operands < form.least_operands || operands > form.most_operands) return not_supported("number of operands");
  if (!form.accesses_memory) {
    if (!instruction.spaces.empty()) return not_supported("state space");
    if (instruction.vector_width != 1) return not_supported("vector width");
  }
  if (form.requirement == nullptr) return {};
  return form.requirement(instruction);
}

Result<void> check_special_registers(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands) {
    if (operand.kind == Operand::Kind::Special && !find_special(operand.special))
      return not_supported("special register " + std::string(operand.special.name));
    if (Result<void> known = check_special_registers(operand.elements); !known) return known;
  }
  return {};
}

}  // namespace

Result<const Form*> find_form(const Instruction& instruction) {
  const auto rows = rows_of(instruction.opcode);
  const std::span<const Form> table = instruction_table();
  if (rows.empty()) return not_supported("opcode");
  // Of rows that come equally close, the first one's fault is reported.
  std::optional<Failure> of_spelling;
  std::optional<Failure> of_use;
  for (const std::uint16_t row : rows) {
    const Form* const form = &table[row];
    if (!takes_types(*form, instruction)) continue;
    if (Result<void> spelling = check_spelling(*form, instruction); !spelling) {
      if (!of_spelling) of_spelling = std::move(spelling).failure();
    } else if (Result<void> use = check_use(*form, instruction); !use) {
      if (!of_use) of_use = std::move(use).failure();
    } else {
      if (Result<void> known = check_special_registers(instruction.operands); !known) return std::move(known).failure();
      return form;
    }
  }
  if (of_use) return *std::move(of_use);
  if (of_spelling) return *std::move(of_spelling);
  return other_type(table[rows.front()], instruction);
}

}  // namespace cucore::cpu::analysis
