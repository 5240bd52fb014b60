// Which basic blocks all ways to a block pass, and all ways from it to the end of the function.
#pragma once

#include <optional>
#include <vector>

#include "cpu/analysis/flow/control_flow.hpp"

namespace cucore::cpu::analysis {

class Dominators {
 public:
  Dominators(const ptx::Function& function, const ControlFlow& flow);

  /// The last one before a block that all ways to it pass. None for the entry, and for what is never reached.
  std::optional<BlockId> before(BlockId block) const { return parent_of(entry_tree_, block); }
  /// All ways to `block` pass `by`.
  bool comes_by(BlockId block, BlockId by) const { return is_below(entry_tree_, block, by); }
  /// All ways from `block` to the end pass `by`. Not so if there are none.
  bool leads_to(BlockId block, BlockId by) const { return is_below(exit_tree_, block, by); }

 private:
  /// By block, its parent, or itself for the root; `none` for what the root does not reach.
  using Tree = std::vector<BlockId>;
  static constexpr BlockId none = ~BlockId{0};

  static Tree make(const std::vector<std::vector<BlockId>>& next, BlockId root);
  static std::optional<BlockId> parent_of(const Tree& tree, BlockId block);
  static bool is_below(const Tree& tree, BlockId block, BlockId by);

  Tree entry_tree_, exit_tree_;
};

}  // namespace cucore::cpu::analysis
