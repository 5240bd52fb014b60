// Which accesses of a block race: see races.hpp.
#include "cpu/runtime/checker/races.hpp"

#include <algorithm>
#include <string>

#include "cpu/abi/checks.hpp"
#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"

namespace cucore::cpu::runtime {

namespace {

namespace bits = check_access;

constexpr std::uint32_t is_of_atomic = bits::is_strong | bits::reads_memory | bits::writes_memory;

/// "8 bytes into 400 bytes at 0x7f00", or nothing
std::string global_place(std::uint64_t address) {
  const auto [base, bytes] = shadow::allocation_at(address);
  if (bytes == 0) return {};
  return std::to_string(address - base) + " bytes into " + std::to_string(bytes) + " bytes at " + hexadecimal(base);
}

}  // namespace

BlockRaces::BlockRaces(Grid& grid)
    : grid_(grid),
      launch_(*grid.races),
      warp_floors_((grid.threads_per_block + lanes_of_warp - 1) / lanes_of_warp),
      threads_(grid.threads_per_block),
      acquired_(grid.threads_per_block),
      shared_(grid.state.total_shared / word_bytes + 1) {}

void BlockRaces::begin(std::uint32_t block) {
  block_ = block;
  step_ = 1;
  floor_ = 0;
  std::fill(warp_floors_.begin(), warp_floors_.end(), 0);
  if (knows_more_) std::fill(threads_.begin(), threads_.end(), Knowledge{});
  knows_more_ = false;
  std::fill(acquired_.begin(), acquired_.end(), Acquired{});
  open_.clear();
  foreign_ = {};
  fenced_ = proxy_fenced_ = {};
  std::fill(shared_.begin(), shared_.end(), RaceCell{});
  pending_.begin(grid_.threads_per_block, shared_.size());
  remote_.clear();
  published_.clear();
}

void BlockRaces::join_cluster(ClusterRaces* cluster, std::uint32_t rank) {
  cluster_ = cluster;
  rank_ = rank;
}

std::optional<BlockRaces::SharedPlace> BlockRaces::find_shared(const ThreadState& thread, std::uint64_t address) {
  const BlockState& block = *thread.block;
  if (const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(block.shared);
      offset < grid_.state.total_shared)
    return SharedPlace{this, rank_, offset};
  if (cluster_ == nullptr) return std::nullopt;
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(block.cluster_shared);
  const std::uint64_t stride = grid_.state.cluster_stride;
  const auto rank = static_cast<std::uint32_t>(std::min<std::uint64_t>(offset / stride, cluster_->blocks.size()));
  if (rank == cluster_->blocks.size() || offset % stride >= grid_.state.total_shared) return std::nullopt;
  return SharedPlace{cluster_->blocks[rank], rank, offset % stride};
}

bool BlockRaces::knows(std::uint32_t thread, const RaceEntry& entry) const {
  const Knowledge& more = threads_[thread];
  if (entry.block == block_ && !entry.is_copy) {
    if (entry.thread == thread || entry.step <= floor_) return true;
    if (entry.thread / lanes_of_warp == thread / lanes_of_warp && entry.step <= warp_floors_[thread / lanes_of_warp])
      return true;
    const auto found = more.own.find(entry.thread);
    if (found != more.own.end() && entry.step <= found->second) return true;
  }
  return foreign_.knows(entry) || more.foreign.knows(entry);
}

bool BlockRaces::is_unfenced(const RaceEntry& write, std::uint8_t bytes) const {
  return write.step != 0 && write.is_generic && write.block == block_ && (write.bytes & bytes) != 0 &&
         !proxy_fenced_.knows(write.thread, write.step);
}

std::optional<BlockRaces::Conflict> BlockRaces::conflict_with(const RaceCell& cell, const RaceEntry& now,
                                                              std::uint32_t access) const {
  const bool writes = (access & bits::writes_memory) != 0;
  const auto conflict = [&](const RaceEntry& other, bool other_writes) -> std::optional<Conflict> {
    if (other.step == 0 || (other.bytes & now.bytes) == 0 || knows(now.thread, other)) return std::nullopt;
    const bool of_one_warp = other.block == now.block && other.thread / lanes_of_warp == now.thread / lanes_of_warp;
    const bool in_lockstep = other.in_lockstep && now.in_lockstep && of_one_warp;
    if (in_lockstep && !checker::reports_lockstep()) return std::nullopt;
    const bool is_strong = other.is_strong && now.is_strong;
    if (is_strong && (!in_lockstep || (writes && other_writes))) return std::nullopt;
    return Conflict{other, other_writes, in_lockstep, is_strong};
  };
  if (!(writes && (access & bits::unchanged) != 0) || cell.writer.is_atomic)
    if (const auto found = conflict(cell.writer, true)) return found;
  if (!writes) return std::nullopt;
  for (const RaceEntry& reader : cell.readers)
    if (const auto found = conflict(reader, false)) return found;
  return std::nullopt;
}

void BlockRaces::remember(RaceCell& cell, const RaceEntry& now, std::uint32_t access) {
  const auto is_same = [&](const RaceEntry& other) {
    return other.step == now.step && other.thread == now.thread && other.owner() == now.owner();
  };
  const auto remember_reader = [&](const RaceEntry& reads) {
    for (RaceEntry& reader : cell.readers) {
      const bool mine = reader.block == reads.block && reader.thread == reads.thread;
      if (reader.step != 0 && !mine && !knows(now.thread, reader)) continue;
      const bool joins = is_same(reader) && &reads == &now;
      const std::uint8_t before = joins ? reader.bytes : std::uint8_t{0};
      const bool is_strong = reads.is_strong && (!joins || reader.is_strong);
      reader = reads;
      reader.bytes = static_cast<std::uint8_t>(reads.bytes | before);
      reader.is_strong = is_strong;
      break;
    }
  };
  if ((access & bits::writes_memory) != 0) {
    // An atomic that another one follows is before all that this one is before; what only writes does not follow it.
    if (cell.writer.is_atomic && !now.is_atomic && !knows(now.thread, cell.writer)) remember_reader(cell.writer);
    const std::uint8_t before = is_same(cell.writer) ? cell.writer.bytes : std::uint8_t{0};
    const bool both_strong = now.is_strong && (before == 0 || cell.writer.is_strong);
    cell.writer = now;
    cell.writer.bytes = static_cast<std::uint8_t>(now.bytes | before);
    cell.writer.is_strong = both_strong;
  }
  if ((access & bits::reads_memory) != 0 && !now.is_atomic) remember_reader(now);
}

template <typename Visit>
void BlockRaces::for_each_cell(std::uint64_t offset, std::uint32_t bytes, const Visit& visit) {
  for_each_word(offset, bytes, [&](std::uint64_t word, std::uint8_t covered) {
    if (word < shared_.size()) visit(word, shared_[word], covered);
  });
}

void BlockRaces::access_shared(const ThreadState& thread, const SharedPlace& place, RaceEntry now, std::uint32_t bytes,
                               std::uint32_t access) {
  if (place.rank != rank_) access_remote(thread, place, now, access);
  if (place.owner == nullptr) return;
  std::optional<Conflict> conflict;
  const PendingCopies::Cell* copy = nullptr;
  std::optional<RaceEntry> unfenced;
  const bool writes = (access & bits::writes_memory) != 0;
  const bool happens_later = (access & (bits::until_waited | bits::until_delivered)) != 0;
  place.owner->for_each_cell(place.offset, bytes, [&](std::uint64_t word, RaceCell& cell, std::uint8_t covered) {
    now.bytes = covered;
    if (copy == nullptr) copy = place.owner->pending_.disturbed(word, covered, writes);
    if (!conflict) conflict = conflict_with(cell, now, access);
    if ((access & bits::async_proxy) != 0 && is_unfenced(cell.writer, covered)) unfenced = cell.writer;
    if (!happens_later) remember(cell, now, access);
  });
  if (conflict) add_race(thread, access, now.line, true, *conflict, spelt(place));
  if (copy != nullptr) add_disturbance(thread, access, now.line, *copy, spelt(place));
  if (unfenced && !conflict) add_unfenced(thread, now.line, *unfenced, spelt(place));
  if ((access & bits::until_waited) != 0) pending_.issue(thread.linear, place.offset, bytes, now.line, writes);
  if ((access & bits::until_delivered) != 0) undelivered_.push_back({place, bytes, now.line});
}

void BlockRaces::access(const ThreadState& thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access,
                        std::uint32_t line) {
  const std::optional<SharedPlace> place = find_shared(thread, address);
  if (place || (access & bits::acquires) == 0 || acquired_[thread.linear].word != address / word_bytes)
    acquire_again(thread.linear);
  if (!place && Fiber::current()) {
    const auto stack = reinterpret_cast<std::uintptr_t>(Fiber::current()->stack().low);
    if (address >= stack && address - stack < Fiber::current()->stack().size) return;  // the thread's own
  }
  RaceEntry now{.block = block_,
                .step = step_,
                .line = line,
                .thread = static_cast<std::uint16_t>(thread.linear),
                .bytes = 0,
                .is_strong = (access & bits::is_strong) != 0,
                .is_atomic = (access & is_of_atomic) == is_of_atomic,
                .is_generic = true,
                .in_lockstep = (access & bits::is_in_lockstep) != 0 && (place || (access & bits::is_strong) == 0)};
  if (place) {
    access_shared(thread, *place, now, bytes, access);
  } else {
    std::optional<Conflict> conflict;
    for_each_word(address, bytes, [&](std::uint64_t word, std::uint8_t covered) {
      now.bytes = covered;
      LaunchRaces::Page& page = launch_.page_at(word * word_bytes);
      const std::lock_guard lock(page.mutex);
      RaceCell& cell = page.cells[word * word_bytes % LaunchRaces::page_bytes / word_bytes];
      if (!conflict) conflict = conflict_with(cell, now, access);
      remember(cell, now, access);
    });
    if (conflict) add_race(thread, access, line, false, *conflict, global_place(address));
  }
  if (!now.is_strong) return;
  for (std::uint64_t word = address / word_bytes; word * word_bytes < address + bytes; ++word) {
    if ((access & bits::acquires) != 0) acquire(thread.linear, word, place.has_value());
    if ((access & bits::own_fence) != 0) fence(thread.linear);
    if ((access & bits::releases) != 0) release(thread.linear, word, place.has_value());
  }
  if (place && (access & bits::releases) != 0 && (access & bits::until_delivered) == 0)
    deliver(thread.linear, *place, address / word_bytes);
}

void BlockRaces::deliver(std::uint32_t thread, const SharedPlace& barrier, std::uint64_t word) {
  for (const Undelivered& copy : undelivered_) {
    if (barrier.owner == nullptr || copy.place.owner == nullptr) continue;
    RaceEntry now{.block = barrier.owner->block_,
                  .step = barrier.owner->step_,
                  .line = copy.line,
                  .thread = static_cast<std::uint16_t>(barrier.offset / sizeof(std::uint64_t)),
                  .is_copy = true};
    copy.place.owner->for_each_cell(copy.place.offset, copy.bytes,
                                    [&](std::uint64_t, RaceCell& cell, std::uint8_t covered) {
                                      now.bytes = covered;
                                      remember(cell, now, bits::writes_memory);
                                    });
    if (copy.place.owner != this) copy.place.owner->note_remote({now, block_, thread, true});
    published()[word].blocks[now.owner()].raise(now.thread, now.step);
  }
  if (!undelivered_.empty() && barrier.owner != nullptr) ++barrier.owner->step_;
  undelivered_.clear();
}

void BlockRaces::access_remote(const ThreadState& thread, const SharedPlace& place, const RaceEntry& now,
                               std::uint32_t access) {
  const std::uint32_t other = block_ - rank_ + place.rank;
  const bool writes = (access & bits::writes_memory) != 0;
  const Knowledge& mine = threads_[thread.linear];
  if (place.owner == nullptr) return add_remote(*thread.block, thread, now.line, writes, other, /*has_ended=*/true);
  if (!foreign_.knows_of_block(other) && !mine.foreign.knows_of_block(other))
    add_remote(*thread.block, thread, now.line, writes, other, /*has_ended=*/false);
  if ((access & bits::until_delivered) == 0) place.owner->note_remote({now, block_, thread.linear, writes});
}

void BlockRaces::end() {
  for (const auto& [who, remote] : remote_) {
    std::uint32_t thread = 0;
    while (thread < threads_.size() && !knows(thread, remote.entry)) ++thread;
    if (thread < threads_.size()) continue;
    ThreadState by{};
    BlockState from{};
    set_thread_id(by, grid_, remote.thread);
    set_block_id(from, grid_, remote.block);
    add_remote(from, by, remote.entry.line, remote.writes, block_, /*has_ended=*/true);
  }
}

void BlockRaces::refused_access(const ThreadState& thread, std::uint64_t address, std::uint32_t access,
                                std::uint32_t line) {
  const std::optional<SharedPlace> place = find_shared(thread, address);
  if (place && place->owner == nullptr) access_remote(thread, *place, {.line = line}, access);
}

void BlockRaces::copies(const ThreadState& thread, CopyStep step, std::uint32_t count) {
  for (const PendingCopies::Copy& copy : pending_.step(thread.linear, step, count)) {
    RaceEntry now{
        .block = block_, .step = step_, .line = copy.line, .thread = static_cast<std::uint16_t>(thread.linear)};
    for_each_cell(copy.offset, copy.bytes, [&](std::uint64_t, RaceCell& cell, std::uint8_t covered) {
      now.bytes = covered;
      remember(cell, now, copy.writes ? bits::writes_memory : bits::reads_memory);
    });
  }
}

}  // namespace cucore::cpu::runtime
