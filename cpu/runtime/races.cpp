// Data races: see races.hpp.
#include "cpu/runtime/races.hpp"

#include <algorithm>
#include <string>

#include "cpu/codegen/checks.hpp"
#include "cpu/runtime/checker.hpp"
#include "cpu/runtime/fault_reports.hpp"
#include "cpu/runtime/grid.hpp"
#include "cpu/runtime/shadow.hpp"

namespace cucore::cpu::runtime {

namespace {

namespace bits = check_access;

constexpr std::uint32_t kWarp = 32;
constexpr std::uint64_t kWord = 4;

std::atomic<std::uint64_t> next_serial{1};

void raise(std::map<std::uint32_t, std::uint32_t>& steps, std::uint32_t thread, std::uint32_t step) {
  std::uint32_t& known = steps[thread];
  known = std::max(known, step);
}

void join(View& into, const View& other) {
  for (const auto& [block, view] : other) into[block].join(view);
}

}  // namespace

bool BlockView::knows(std::uint32_t thread, std::uint32_t step) const {
  if (step <= floor) return true;
  const auto found = threads.find(thread);
  return found != threads.end() && step <= found->second;
}

void BlockView::join(const BlockView& other) {
  floor = std::max(floor, other.floor);
  for (const auto& [thread, step] : other.threads) raise(threads, thread, step);
}

// ---- what blocks share ----------------------------------------------------------------------------------------------

LaunchRaces::LaunchRaces() : serial_(next_serial.fetch_add(1)) {}

LaunchRaces::Page& LaunchRaces::page_at(std::uint64_t address) {
  struct Last {
    std::uint64_t serial = 0;
    std::uint64_t number = 0;
    Page* page = nullptr;
  };
  thread_local Last last;
  const std::uint64_t number = address / kPageBytes;
  if (last.serial == serial_ && last.number == number) return *last.page;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  last = {serial_, number, page.get()};
  return *page;
}

void LaunchRaces::publish(std::uint64_t word, const View& view) {
  const std::lock_guard lock(mutex_);
  join(published_[word], view);
}

bool LaunchRaces::find_published(std::uint64_t word, View* view) {
  const std::lock_guard lock(mutex_);
  const auto found = published_.find(word);
  if (found == published_.end()) return false;
  *view = found->second;
  return true;
}

// ---- one block ------------------------------------------------------------------------------------------------------

BlockRaces::BlockRaces(Grid& grid)
    : grid_(grid),
      launch_(*grid.races),
      warp_floors_((grid.threads_per_block + kWarp - 1) / kWarp),
      threads_(grid.threads_per_block),
      shared_(grid.state.total_shared / kWord + 1) {}

void BlockRaces::begin(std::uint32_t block) {
  block_ = block;
  step_ = 1;
  floor_ = 0;
  std::fill(warp_floors_.begin(), warp_floors_.end(), 0);
  if (knows_more_) std::fill(threads_.begin(), threads_.end(), Knowledge{});
  knows_more_ = false;
  foreign_.clear();
  fenced_ = {};
  std::fill(shared_.begin(), shared_.end(), RaceCell{});
  published_.clear();
}

bool BlockRaces::knows(std::uint32_t thread, const RaceEntry& entry) const {
  const Knowledge& more = threads_[thread];
  if (entry.block == block_) {
    if (entry.thread == thread || entry.step <= floor_) return true;
    if (entry.thread / kWarp == thread / kWarp && entry.step <= warp_floors_[thread / kWarp]) return true;
    const auto found = more.own.find(entry.thread);
    return found != more.own.end() && entry.step <= found->second;
  }
  for (const View* view : {&foreign_, &more.foreign}) {
    const auto found = view->find(entry.block);
    if (found != view->end() && found->second.knows(entry.thread, entry.step)) return true;
  }
  return false;
}

bool BlockRaces::update(RaceCell& cell, const RaceEntry& now, std::uint32_t access, Conflict* conflict) {
  const auto conflicts = [&](const RaceEntry& other) {
    return other.step != 0 && (other.bytes & now.bytes) != 0 && !(other.is_strong && now.is_strong) &&
           !knows(now.thread, other);
  };
  const auto is_same = [&](const RaceEntry& other) {
    return other.step == now.step && other.thread == now.thread && other.block == now.block;
  };
  const bool writes = (access & bits::kWrites) != 0;
  bool found = false;
  if (conflicts(cell.writer) && !(writes && (access & bits::kUnchanged) != 0)) {
    *conflict = {cell.writer, true};
    found = true;
  }
  if (writes) {
    for (const RaceEntry& reader : cell.readers) {
      if (found || !conflicts(reader)) continue;
      *conflict = {reader, false};
      found = true;
    }
    const std::uint8_t before = is_same(cell.writer) ? cell.writer.bytes : std::uint8_t{0};
    const bool both_strong = now.is_strong && (before == 0 || cell.writer.is_strong);
    cell.writer = now;
    cell.writer.bytes = static_cast<std::uint8_t>(now.bytes | before);
    cell.writer.is_strong = both_strong;
  }
  if ((access & bits::kReads) == 0) return found;
  for (RaceEntry& reader : cell.readers) {
    const bool mine = reader.block == now.block && reader.thread == now.thread;
    if (reader.step != 0 && !mine && !knows(now.thread, reader)) continue;
    const bool joins = is_same(reader);
    const std::uint8_t before = joins ? reader.bytes : std::uint8_t{0};
    const bool is_strong = now.is_strong && (!joins || reader.is_strong);
    reader = now;
    reader.bytes = static_cast<std::uint8_t>(now.bytes | before);
    reader.is_strong = is_strong;
    break;
  }
  return found;
}

void BlockRaces::access(const ThreadState& thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access,
                        std::uint32_t line) {
  const auto window = reinterpret_cast<std::uintptr_t>(thread.block->shared);
  const bool is_shared = address >= window && address - window < grid_.state.total_shared;
  if (!is_shared && Fiber::current()) {
    const auto stack = reinterpret_cast<std::uintptr_t>(Fiber::current()->stack().low);
    if (address >= stack && address - stack < Fiber::current()->stack().size) return;  // the thread's own
  }
  RaceEntry now{.block = block_,
                .step = step_,
                .line = line,
                .thread = static_cast<std::uint16_t>(thread.linear),
                .bytes = 0,
                .is_strong = (access & bits::kStrong) != 0};
  Conflict conflict;
  bool found = false;
  for (std::uint64_t at = address, end = address + bytes; at < end;) {
    const std::uint64_t stop = std::min(end, (at / kWord + 1) * kWord);
    now.bytes = static_cast<std::uint8_t>(((1u << (stop - at)) - 1) << (at % kWord));
    if (is_shared) {
      const std::uint64_t cell = (at - window) / kWord;
      if (cell < shared_.size()) found |= update(shared_[cell], now, access, &conflict);
    } else {
      LaunchRaces::Page& page = launch_.page_at(at);
      const std::lock_guard lock(page.mutex);
      found |= update(page.cells[at % LaunchRaces::kPageBytes / kWord], now, access, &conflict);
    }
    at = stop;
  }
  if (found) add_finding(thread, address, access, line, is_shared, conflict);
  if (!now.is_strong) return;
  for (std::uint64_t word = address / kWord; word * kWord < address + bytes; ++word) {
    if ((access & bits::kAcquires) != 0) acquire(thread.linear, word, is_shared);
    if ((access & bits::kOwnFence) != 0) fence(thread.linear);
    if ((access & bits::kReleases) != 0) release(thread.linear, word, is_shared);
  }
}

void BlockRaces::fence(std::uint32_t thread) {
  fenced_.floor = std::max(fenced_.floor, floor_);
  for (const auto& [other, step] : threads_[thread].own) raise(fenced_.threads, other, step);
  fenced_.threads[thread] = step_++;
}

void BlockRaces::release(std::uint32_t thread, std::uint64_t word, bool is_shared) {
  View view = foreign_;
  join(view, threads_[thread].foreign);
  BlockView& own = view[block_];
  own.floor = fenced_.floor;
  for (const auto& [other, step] : fenced_.threads) {
    RaceEntry entry{.block = block_, .step = step, .thread = static_cast<std::uint16_t>(other)};
    if (knows(thread, entry)) own.threads[other] = step;
  }
  if (own.floor == 0 && own.threads.empty() && view.size() == 1) return;
  if (is_shared)
    join(published_[word], view);
  else
    launch_.publish(word, view);
}

void BlockRaces::acquire(std::uint32_t thread, std::uint64_t word, bool is_shared) {
  View view;
  if (!is_shared && !launch_.find_published(word, &view)) return;
  if (is_shared) {
    const auto found = published_.find(word);
    if (found == published_.end()) return;
    view = found->second;
  }
  Knowledge& mine = threads_[thread];
  knows_more_ = true;
  if (const auto own = view.find(block_); own != view.end()) {
    for (const auto& [other, step] : own->second.threads) raise(mine.own, other, step);
    view.erase(own);
  }
  join(mine.foreign, view);
}

void BlockRaces::meet() {
  floor_ = step_++;
  if (!knows_more_) return;
  for (Knowledge& each : threads_) {
    join(foreign_, each.foreign);
    each = {};
  }
  knows_more_ = false;
}

void BlockRaces::meet(std::span<const std::uint32_t> threads,
                      std::span<const std::pair<std::uint32_t, std::uint32_t>> arrivals) {
  Knowledge all;
  for (const auto& [thread, step] : arrivals) raise(all.own, thread, step);
  for (const std::uint32_t thread : threads) {
    for (const auto& [other, step] : threads_[thread].own) raise(all.own, other, step);
    join(all.foreign, threads_[thread].foreign);
    all.own[thread] = step_;
  }
  ++step_;
  for (const std::uint32_t thread : threads) threads_[thread] = all;
  knows_more_ = true;
}

void BlockRaces::meet_warp(std::uint32_t first, std::uint32_t lanes) {
  const std::uint32_t count = std::min(kWarp, grid_.threads_per_block - first);
  const std::uint32_t whole = count == kWarp ? ~0u : (1u << count) - 1;
  if ((lanes & whole) == whole && !knows_more_) {
    warp_floors_[first / kWarp] = step_++;
    return;
  }
  std::vector<std::uint32_t> threads;
  for (std::uint32_t lane = 0; lane < count; ++lane)
    if ((lanes >> lane & 1) != 0) threads.push_back(first + lane);
  meet(threads, {});
}

void BlockRaces::add_finding(const ThreadState& thread, std::uint64_t address, std::uint32_t access, std::uint32_t line,
                             bool is_shared, const Conflict& conflict) {
  const bool writes = (access & bits::kWrites) != 0;
  checker::Finding finding;
  finding.headline = std::string("Race in ") + (is_shared ? "__shared__" : "__global__") +
                     " memory: " + (writes ? "write" : "read") + " and " + (conflict.other_writes ? "write" : "read") +
                     " by different threads that nothing orders";
  finding.line = line;
  if (grid_.findings.count_another(line, finding.headline)) return;
  const RaceEntry& other = conflict.other;
  ThreadState other_thread{};
  set_thread_id(other_thread, grid_, other.thread);
  BlockState block{};
  set_block_id(block, grid_, other.block);
  finding.details.push_back(std::string("the other ") + (conflict.other_writes ? "write" : "read") + ": thread " +
                            spelt(other_thread.thread_id) + " in block " + spelt(block.block_id) + " at " +
                            checker::place_of(grid_, other.line));
  if (is_shared) {
    const auto window = reinterpret_cast<std::uintptr_t>(thread.block->shared);
    finding.details.push_back("shared address " + hexadecimal(address - window));
  } else if (const auto [base, bytes] = shadow::allocation_at(address); bytes != 0) {
    finding.details.push_back(std::to_string(address - base) + " bytes into " + std::to_string(bytes) + " bytes at " +
                              hexadecimal(base));
  }
  checker::add(grid_, *thread.block, &thread, std::move(finding));
}

}  // namespace cucore::cpu::runtime
