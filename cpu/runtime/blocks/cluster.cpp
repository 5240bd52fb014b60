// One resident cluster: see cluster.hpp.
#include "cpu/runtime/blocks/cluster.hpp"

#include <algorithm>
#include <new>

#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"

namespace cucore::cpu::runtime {

Cluster::Cluster(Grid& grid, const Code& code, std::uint64_t first, std::uint32_t worker, StackPool& stacks)
    : grid_(grid), threads_(std::uint64_t{grid.threads_per_block} * grid.state.cluster_size) {
  const std::size_t bytes = std::size_t{grid.state.cluster_stride} * (grid.state.cluster_size - 1) +
                            grid.state.total_shared + shared_alignment;
  std::byte* windows = nullptr;
  if (grid.state.checks) {
    checked_bytes_ = bytes + shared_alignment;
    checked_memory_ = AddressSpace::instance().allocate(checked_bytes_);
    if (checked_memory_ == 0) throw std::bad_alloc();
    windows = aligned_shared(reinterpret_cast<std::byte*>(checked_memory_));
  } else {
    memory_.resize(bytes);
    windows = aligned_shared(memory_.data());
  }
  const auto index = static_cast<std::uint32_t>(first);
  if (grid.races) races_.emplace(index, grid.state.cluster_size, grid.threads_per_block);
  blocks_.reserve(grid.state.cluster_size);
  for (std::uint32_t rank = 0; rank < grid.state.cluster_size; ++rank)
    blocks_.push_back(std::make_unique<Block>(*this, grid, code, first + rank, windows, worker, stacks));
  if (!races_) return;
  for (std::uint32_t rank = 0; rank < blocks_.size(); ++rank) races_->blocks[rank] = blocks_[rank]->races();
}

Cluster::~Cluster() {
  blocks_.clear();
  if (checked_memory_ != 0) AddressSpace::instance().release(checked_memory_, checked_bytes_);
}

Cluster::Outcome Cluster::run() {
  for (auto& block : blocks_)
    if (block) block->begin_turn();
  for (;;) {
    bool has_blocks = false;
    bool is_polling = false;
    bool has_moved = false;
    bool is_over = false;
    for (auto& block : blocks_) {
      if (!block) continue;
      has_blocks = true;
      if (!block->can_run()) continue;
      switch (block->run()) {
        case Block::Outcome::Failed:
          if (grid_.is_cancelled) fail_cancelled();
          return Outcome::Failed;
        case Block::Outcome::Ended:
          if (races_) {
            block->races()->end();
            races_->blocks[block->state().cluster_rank] = nullptr;
          }
          block.reset();
          has_moved = true;
          break;
        case Block::Outcome::AtCluster:
          has_moved = true;
          break;
        case Block::Outcome::Polling:
          is_polling = true;
          break;
        case Block::Outcome::TurnOver:
          is_over = true;
          break;
      }
    }
    if (!has_blocks) return Outcome::Ended;
    if (is_over) return Outcome::TurnOver;
    if (has_moved) continue;
    if (is_polling) return Outcome::Polling;
    if (!grid_.is_abandoned()) report_deadlock();
    return Outcome::Failed;
  }
}

void Cluster::arrive(DeviceThread& thread) {
  if (thread.cluster_phase == phase_) return;  // once in a phase
  thread.cluster_phase = phase_;
  ++arrived_;
  if (BlockRaces* const races = thread.block->races()) races->arrive_at_cluster(thread.state.linear);
  end_phase_if_complete();
}

void Cluster::wait(DeviceThread& thread) {
  if (thread.cluster_phase == phase_) {
    waiting_.push_back(&thread);
    thread.block->wait_at_cluster(thread);
  }
  if (BlockRaces* const races = thread.block->races()) races->leave_cluster(thread.state.linear);
}

void Cluster::thread_ended(const DeviceThread& thread) {
  threads_ -= thread.count;
  if (thread.cluster_phase == phase_) --arrived_;
  if (races_) races_->end_thread(thread.state.block->cluster_rank, thread.state.linear);
  end_phase_if_complete();
}

void Cluster::end_phase_if_complete() {
  if (arrived_ == 0 || arrived_ < threads_) return;
  ++phase_;
  arrived_ = 0;
  if (races_) races_->end_phase();
  for (DeviceThread* const thread : waiting_) thread->block->leave_cluster_barrier(*thread);
  waiting_.clear();
}

std::string Cluster::standings() const {
  std::string text;
  for (const auto& block : blocks_)
    if (block) text += "block " + spelt(block->state().block_id) + ":\n" + block->standings();
  return text;
}

void Cluster::fail_cancelled() { grid_.fail_cancelled("kernel " + *grid_.kernel + ":\n" + standings()); }

void Cluster::report_deadlock() {
  std::string text = "kernel " + *grid_.kernel + ": deadlock of a cluster, no thread can go on (" +
                     std::to_string(arrived_) + " of " + std::to_string(threads_) + " threads arrived):\n" +
                     standings();
  grid_.fail(ErrorCode::LaunchFailed, std::move(text));
}

}  // namespace cucore::cpu::runtime
