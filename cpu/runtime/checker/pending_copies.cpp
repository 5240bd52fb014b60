// Asynchronous copies that were issued and not waited for yet: see pending_copies.hpp.
#include "cpu/runtime/checker/pending_copies.hpp"

#include <algorithm>
#include <iterator>

namespace cucore::cpu::runtime {

void PendingCopies::begin(std::uint32_t threads, std::size_t words) {
  words_ = words;
  if (cells_.empty()) return;
  threads_.assign(threads, {});
  cells_.assign(words, {});
}

void PendingCopies::issue(std::uint32_t thread, std::uint64_t offset, std::uint32_t bytes, std::uint32_t line,
                          bool writes) {
  if (cells_.empty()) cells_.resize(words_);
  if (threads_.size() <= thread) threads_.resize(thread + 1);
  OfThread& mine = threads_[thread];
  mine.copies.push_back({offset, bytes, mine.groups[writes ? 1 : 0], line, writes});
  for_each_word(offset, bytes, [&](std::size_t word, std::uint8_t covered) {
    if (word < cells_.size()) cells_[word] = {line, static_cast<std::uint16_t>(thread), covered, writes};
  });
}

std::vector<PendingCopies::Copy> PendingCopies::step(std::uint32_t thread, CopyStep step, std::uint32_t count) {
  if (threads_.size() <= thread) return {};
  OfThread& mine = threads_[thread];
  const bool writes = step != CopyStep::CommitBulkGroup && step != CopyStep::WaitBulkGroup;
  std::uint32_t& groups = mine.groups[writes ? 1 : 0];
  if (step == CopyStep::CommitGroup || step == CopyStep::CommitBulkGroup || step == CopyStep::WaitAll) ++groups;
  if (step == CopyStep::CommitGroup || step == CopyStep::CommitBulkGroup) return {};
  const auto is_on_its_way = [&](const Copy& copy) { return copy.writes != writes || copy.group + count >= groups; };
  const auto done = std::partition(mine.copies.begin(), mine.copies.end(), is_on_its_way);
  std::vector<Copy> ended(done, mine.copies.end());
  mine.copies.erase(done, mine.copies.end());
  for (const Copy& copy : ended) {
    for_each_word(copy.offset, copy.bytes, [&](std::size_t word, std::uint8_t) {
      if (word < cells_.size() && cells_[word].thread == thread && cells_[word].writes == writes) cells_[word] = {};
    });
  }
  return ended;
}

const PendingCopies::Cell* PendingCopies::disturbed(std::size_t word, std::uint8_t bytes, bool writes) const {
  if (word >= cells_.size()) return nullptr;
  const Cell& cell = cells_[word];
  return (cell.bytes & bytes) != 0 && (cell.writes || writes) ? &cell : nullptr;
}

}  // namespace cucore::cpu::runtime
