// Instructions that numbers are asked of, and what their operands come from: see number_places.hpp.
#include "cpu/runtime/checker/number_places.hpp"

#include <algorithm>
#include <set>

#include "cpu/loader/ptx_place.hpp"
#include "cpu/ptx/tree/register_uses.hpp"

namespace cucore::cpu::runtime {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;

std::uint64_t place_of(const Instruction& i) { return std::uint64_t{i.position.column} << 32 | i.position.line; }

/// Instructions that hand a value on as it is, or with another sign, or choose one.
bool hands_on(Opcode opcode) {
  switch (opcode) {
    case Opcode::Mov:
    case Opcode::Selp:
    case Opcode::Slct:
    case Opcode::Shfl:
    case Opcode::Abs:
    case Opcode::Neg:
    case Opcode::Copysign:
    case Opcode::Min:
    case Opcode::Max:
    case Opcode::Cvt:
    case Opcode::Prmt:
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor:
      return true;
    default:
      return false;
  }
}

bool is_product(Opcode opcode) { return opcode == Opcode::Mma || opcode == Opcode::Wmma || opcode == Opcode::Wgmma; }

}  // namespace

NumberPlaces::Analysed::Analysed(const ptx::Function& function)
    : checks(function), definitions(ptx::RegisterUses(function).writers) {}

NumberPlaces::Analysed& NumberPlaces::analysed(const ptx::Function& function) {
  std::unique_ptr<Analysed>& found = analysed_[&function];
  if (!found) found = std::make_unique<Analysed>(function);
  return *found;
}

NumberSources NumberPlaces::sources_of(const ptx::Function& function, const Operand& operand) {
  NumberSources sources;
  const Analysed& known = analysed(function);
  std::set<ptx::RegisterId> seen;
  std::vector<ptx::RegisterId> left;
  const auto visit = [&](ptx::RegisterId reg) {
    if (seen.insert(reg).second) left.push_back(reg);
  };
  for_each_register(operand, visit);
  while (!left.empty()) {
    const ptx::RegisterId reg = left.back();
    left.pop_back();
    for (const std::uint32_t index : known.definitions[reg]) {
      const Instruction& made = function.body[index];
      const bool is_load = made.opcode == Opcode::Ld || made.opcode == Opcode::Ldu;
      if (is_load && made.space() == ptx::Space::Param) {
        sources.parameter_line = made.position.line;
      } else if (is_load || known.checks.any_at(index) != nullptr || is_product(made.opcode)) {
        sources.makers.push_back(place_of(made));
      } else if (hands_on(made.opcode)) {
        if (made.opcode == Opcode::Shfl) sources.is_exchanged = true;
        for (std::size_t n = 1; n < made.operands.size(); ++n) {
          if (analysis::is_spelt_special(made.operands[n])) sources.constant_line = made.position.line;
          for_each_register(made.operands[n], visit);
        }
      }
    }
  }
  return sources;
}

const NumberPlace* NumberPlaces::at(std::uint64_t place) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<NumberPlace>& known = known_[place];
  if (known) return known->instruction != nullptr ? known.get() : nullptr;
  known = std::make_unique<NumberPlace>();
  const auto line = static_cast<std::uint32_t>(place);
  const auto column = static_cast<std::uint32_t>(place >> 32);
  for (const ptx::Function& function : module_.functions) {
    const auto first =
        std::lower_bound(function.body.begin(), function.body.end(), line,
                         [](const Instruction& i, std::uint32_t wanted) { return i.position.line < wanted; });
    for (auto i = first; i != function.body.end() && i->position.line == line; ++i) {
      if (column != 0 ? i->position.column != column : !is_product(i->opcode)) continue;
      known->function = &function;
      known->instruction = &*i;
      known->check = analysed(function).checks.any_at(static_cast<std::uint32_t>(i - function.body.begin()));
      known->text = loader::place_in_words(module_, line);
      if (known->check != nullptr) {
        for (const std::uint8_t n : known->check->operands)
          known->sources.push_back(sources_of(function, i->operands[n]));
        return known.get();
      }
      const bool stores = i->opcode == Opcode::St;
      if (!stores && i->opcode != Opcode::Ld && i->opcode != Opcode::Ldu) return known.get();
      for_each_register(i->operands[stores ? 1 : 0], [&](ptx::RegisterId reg) {
        if (!known->held) known->held = analysed(function).checks.format_of(reg);
      });
      if (stores) known->sources.push_back(sources_of(function, i->operands[1]));
      return known.get();
    }
  }
  return nullptr;
}

}  // namespace cucore::cpu::runtime
