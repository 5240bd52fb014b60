// The control-flow graph of one PTX function: basic blocks as index ranges of its body, and their successors.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

using BlockId = std::uint32_t;

struct PtxBlock {
  std::uint32_t first = 0;  ///< index of its first instruction
  std::uint32_t end = 0;    ///< one past its last
  std::vector<BlockId> successors;
};

/// Blocks in textual order; block 0 is the entry. The last one is empty and stands for the end of the body, where a
/// thread returns.
struct ControlFlow {
  std::vector<PtxBlock> blocks;
  std::vector<BlockId> block_at;  ///< by instruction index (body.size() included): the block that holds it

  explicit ControlFlow(const ptx::Function& function);

  BlockId target(const ptx::Function& function, ptx::LabelId label) const;
};

/// Ends a basic block, guarded or not.
bool is_terminator(ptx::Opcode opcode);

/// The labels an instruction may branch to: of `bra` one, of `brx.idx` its list.
std::vector<ptx::LabelId> branch_targets(const ptx::Function& function, const ptx::Instruction& instruction);

}  // namespace cucore::cpu::analysis
