// Which instructions write a register, and which of them made what it holds at a place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cpu/analysis/flow/control_flow.hpp"
#include "cpu/ptx/tree/ast.hpp"

namespace cucore::cpu::analysis {

class RegisterWriters {
 public:
  RegisterWriters(const ptx::Function& function, const ControlFlow& flow);

  /// All of them, in ascending order.
  const std::vector<std::uint32_t>& all(ptx::RegisterId reg) const { return writers_[reg]; }

  /// Without those whose value is written over before their block ends.
  std::vector<std::uint32_t> last(ptx::RegisterId reg) const;

  /// The one that made the value at instruction `at`, if that is the same on all ways there and nothing guards it.
  std::optional<std::uint32_t> only(ptx::RegisterId reg, std::uint32_t at);

  /// Blocks from which control comes to one.
  const std::vector<BlockId>& sources(BlockId block);

 private:
  /// What reaches the begin of a block.
  std::optional<std::uint32_t> only_before(ptx::RegisterId reg, BlockId block);
  /// The last one in a block before instruction `end`.
  std::optional<std::uint32_t> last_in(ptx::RegisterId reg, BlockId block, std::uint32_t end) const;

  const ptx::Function& function_;
  const ControlFlow& flow_;
  std::vector<std::vector<std::uint32_t>> writers_;  ///< by register
  std::vector<std::vector<BlockId>> sources_;        ///< by block; found when first asked for
  std::map<std::pair<ptx::RegisterId, BlockId>, std::optional<std::uint32_t>> before_;
};

}  // namespace cucore::cpu::analysis
