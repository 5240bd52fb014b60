// Trees of dominators: see dominators.hpp. As Cooper, Harvey and Kennedy find them.
#include "cpu/analysis/flow/dominators.hpp"

#include <algorithm>
#include <utility>

namespace cucore::cpu::analysis {
namespace {

bool may_leave(const ptx::Function& function, const PtxBlock& block) {
  if (block.end == block.first) return true;
  const ptx::Opcode last = function.body[block.end - 1].opcode;
  return block.end == function.body.size() || last == ptx::Opcode::Ret || last == ptx::Opcode::Exit ||
         last == ptx::Opcode::Trap;
}

}  // namespace

Dominators::Dominators(const ptx::Function& function, const ControlFlow& flow) {
  // One more block stands for the end.
  const auto end = static_cast<BlockId>(flow.blocks.size());
  std::vector<std::vector<BlockId>> forward(end + 1), backward(end + 1);
  for (BlockId block = 0; block < end; ++block) {
    forward[block] = flow.blocks[block].successors;
    if (may_leave(function, flow.blocks[block])) forward[block].push_back(end);
    for (const BlockId next : forward[block]) backward[next].push_back(block);
  }
  entry_tree_ = make(forward, 0);
  exit_tree_ = make(backward, end);
}

Dominators::Tree Dominators::make(const std::vector<std::vector<BlockId>>& next, BlockId root) {
  std::vector<BlockId> order;  // each after all that it leads to, but for ways back
  std::vector<std::size_t> rank(next.size(), 0);
  std::vector<bool> seen(next.size(), false);
  std::vector<std::pair<BlockId, std::size_t>> path{{root, 0}};
  seen[root] = true;
  while (!path.empty()) {
    auto& [block, at] = path.back();
    if (at == next[block].size()) {
      rank[block] = order.size();
      order.push_back(block);
      path.pop_back();
      continue;
    }
    const BlockId successor = next[block][at++];
    if (!seen[successor]) path.emplace_back(successor, 0);
    seen[successor] = true;
  }
  std::vector<std::vector<BlockId>> sources(next.size());
  for (const BlockId block : order)
    for (const BlockId successor : next[block]) sources[successor].push_back(block);

  Tree tree(next.size(), none);
  tree[root] = root;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto block = order.rbegin(); block != order.rend(); ++block) {
      if (*block == root) continue;
      BlockId parent = none;
      for (BlockId source : sources[*block]) {
        if (tree[source] == none) continue;
        if (parent == none) parent = source;
        while (source != parent) {
          while (rank[source] < rank[parent]) source = tree[source];
          while (rank[parent] < rank[source]) parent = tree[parent];
        }
      }
      changed |= std::exchange(tree[*block], parent) != parent;
    }
  }
  return tree;
}

std::optional<BlockId> Dominators::parent_of(const Tree& tree, BlockId block) {
  if (tree[block] == none || tree[block] == block) return {};
  return tree[block];
}

bool Dominators::is_below(const Tree& tree, BlockId block, BlockId by) {
  for (std::optional<BlockId> at = block; at; at = parent_of(tree, *at))
    if (*at == by) return true;
  return false;
}

}  // namespace cucore::cpu::analysis
