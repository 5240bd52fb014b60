// Which instructions write a register: see register_writers.hpp.
#include "cpu/analysis/flow/register_writers.hpp"

#include <algorithm>

#include "cpu/ptx/tree/register_uses.hpp"

namespace cucore::cpu::analysis {

using ptx::RegisterId;

RegisterWriters::RegisterWriters(const ptx::Function& function, const ControlFlow& flow)
    : function_(function), flow_(flow), writers_(ptx::RegisterUses(function).writers) {}

std::vector<std::uint32_t> RegisterWriters::last(RegisterId reg) const {
  std::vector<std::uint32_t> left;
  for (const std::uint32_t writer : writers_[reg]) {
    const bool writes_over =
        !left.empty() && !function_.body[writer].guard && flow_.block_at[left.back()] == flow_.block_at[writer];
    if (writes_over) left.pop_back();
    left.push_back(writer);
  }
  return left;
}

const std::vector<BlockId>& RegisterWriters::sources(BlockId block) {
  if (sources_.empty()) {
    sources_.resize(flow_.blocks.size());
    for (BlockId from = 0; from < flow_.blocks.size(); ++from)
      for (const BlockId next : flow_.blocks[from].successors) sources_[next].push_back(from);
  }
  return sources_[block];
}

std::optional<std::uint32_t> RegisterWriters::last_in(RegisterId reg, BlockId block, std::uint32_t end) const {
  const std::vector<std::uint32_t>& writers = writers_[reg];
  const auto behind = std::lower_bound(writers.begin(), writers.end(), end);
  if (behind == writers.begin() || *(behind - 1) < flow_.blocks[block].first) return {};
  return *(behind - 1);
}

std::optional<std::uint32_t> RegisterWriters::only(RegisterId reg, std::uint32_t at) {
  const std::vector<std::uint32_t>& writers = writers_[reg];
  const auto unless_guarded = [&](std::optional<std::uint32_t> writer) {
    return writer && !function_.body[*writer].guard ? writer : std::nullopt;
  };
  if (writers.empty()) return {};
  if (writers.size() == 1) return unless_guarded(writers[0]);
  const BlockId block = flow_.block_at[at];
  if (const auto near = last_in(reg, block, at)) return unless_guarded(near);
  const auto [found, is_new] = before_.try_emplace({reg, block});
  if (is_new) found->second = only_before(reg, block);
  return unless_guarded(found->second);
}

std::optional<std::uint32_t> RegisterWriters::only_before(RegisterId reg, BlockId block) {
  std::vector<bool> seen(flow_.blocks.size(), false);
  std::vector<BlockId> open{block};
  std::optional<std::uint32_t> found;
  while (!open.empty()) {
    const BlockId to = open.back();
    open.pop_back();
    for (const BlockId from : sources(to)) {
      if (const auto writer = last_in(reg, from, flow_.blocks[from].end)) {
        if (function_.body[*writer].guard || (found && found != writer)) return {};
        found = writer;
      } else if (!seen[from]) {
        seen[from] = true;
        open.push_back(from);
      }
    }
  }
  return found;
}

}  // namespace cucore::cpu::analysis
