// How far the results of a kernel's instructions agree with a GPU's. No LLVM, no compile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpu/analysis/unsupported.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

/// Exact: the bits that a GPU gives, NaN payloads aside. Approximate: within what NVIDIA documents, but other bits.
enum class Fidelity : std::uint8_t { Exact, Approximate, Unsupported };

/// One spelling of an instruction in one function that a kernel reaches.
struct InstructionUse {
  std::string instruction;  ///< without operands
  std::string function;
  Fidelity fidelity = Fidelity::Exact;
  std::string reason;                ///< why it is not exact
  std::vector<std::uint32_t> lines;  ///< of the PTX, in order: as many as there are uses
};

/// All that `kernel` may execute, by function and spelling, in order of first appearance.
std::vector<InstructionUse> fidelity_of(const ptx::Module& module, ptx::FunctionId kernel);

/// The instructions that `kernel` reaches and that cannot be compiled.
std::vector<Unsupported> find_unsupported(const ptx::Module& module, ptx::FunctionId kernel);

/// The approximate instructions that `kernel` reaches.
std::vector<Unsupported> find_approximate(const ptx::Module& module, ptx::FunctionId kernel);

}  // namespace cucore::cpu::analysis
