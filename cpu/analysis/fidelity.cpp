// Which instructions of a kernel are exact, and which are not: see fidelity.hpp.
#include "cpu/analysis/fidelity.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "cpu/analysis/flow/reach.hpp"
#include "cpu/analysis/instructions/not_supported.hpp"
#include "cpu/analysis/unsupported.hpp"

namespace cucore::cpu::analysis {
namespace {

using M = ptx::Modifier;
using O = ptx::Opcode;

bool is_float_in_few_bits(ptx::Type type) { return ptx::is_float(type) && type != ptx::Type::F64; }

/// Whether its results are a GPU's bit for bit; if not, what differs.
Result<void> check_exact(const ptx::Instruction& instruction) {
  if (instruction.has(M::Approx) || instruction.has(M::Full))
    return not_supported("within the documented error, in other bits");
  const bool multiplies = instruction.opcode == O::Mma || (instruction.opcode == O::Wmma && instruction.has(M::Mma)) ||
                          (instruction.opcode == O::Wgmma && instruction.has(M::Sp));
  if (multiplies && std::any_of(instruction.types.begin(), instruction.types.end(), is_float_in_few_bits))
    return not_supported("a GPU adds up matrix products with fewer bits");
  if (instruction.opcode == O::Tex &&
      std::any_of(instruction.types.begin(), instruction.types.end(), [](auto type) { return ptx::is_float(type); }))
    return not_supported("a GPU filters textures with fewer bits (point sampling is exact)");
  return {};
}

}  // namespace

std::vector<InstructionUse> fidelity_of(const ptx::Module& module, ptx::FunctionId kernel) {
  std::vector<InstructionUse> uses;
  for (const ptx::FunctionId id : find_reach(module, kernel).functions) {
    const ptx::Function& function = module.functions[id];
    std::map<std::pair<std::uint32_t, std::string>, std::string> unsupported;  // by line and spelling
    for (Unsupported& one : find_unsupported_in(module, function))
      unsupported.emplace(std::pair(one.line, std::move(one.instruction)), std::move(one.reason));
    std::map<std::pair<std::string, Fidelity>, std::size_t> known;
    for (const ptx::Instruction& instruction : function.body) {
      std::string spelling = ptx::spelling(instruction);
      const std::uint32_t line = instruction.position.line;
      Fidelity fidelity = Fidelity::Exact;
      std::string reason;
      if (const auto found = unsupported.find({line, spelling}); found != unsupported.end()) {
        fidelity = Fidelity::Unsupported;
        reason = found->second;
      } else if (const Result<void> exact = check_exact(instruction); !exact) {
        fidelity = Fidelity::Approximate;
        reason = exact.failure().sentence();
      }
      const auto [place, is_new] = known.emplace(std::pair(spelling, fidelity), uses.size());
      if (is_new)
        uses.push_back({.instruction = std::move(spelling),
                        .function = std::string(function.name),
                        .fidelity = fidelity,
                        .reason = std::move(reason),
                        .lines = {}});
      uses[place->second].lines.push_back(line);
    }
  }
  return uses;
}

std::vector<Unsupported> find_unsupported(const ptx::Module& module, ptx::FunctionId kernel) {
  std::vector<Unsupported> found;
  for (const ptx::FunctionId id : find_reach(module, kernel).functions) {
    for (Unsupported& one : find_unsupported_in(module, module.functions[id])) found.push_back(std::move(one));
  }
  return found;
}

std::vector<Unsupported> find_approximate(const ptx::Module& module, ptx::FunctionId kernel) {
  std::vector<Unsupported> found;
  for (const ptx::FunctionId id : find_reach(module, kernel).functions) {
    const ptx::Function& function = module.functions[id];
    for (const ptx::Instruction& instruction : function.body) {
      if (const Result<void> exact = check_exact(instruction); !exact)
        found.push_back({.function = std::string(function.name),
                         .instruction = ptx::spelling(instruction),
                         .line = instruction.position.line,
                         .reason = exact.failure().sentence()});
    }
  }
  return found;
}

}  // namespace cucore::cpu::analysis
