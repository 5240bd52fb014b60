// What checked code calls: see check_services.hpp. On the fiber of the device thread.
#include "cpu/runtime/checker/check_services.hpp"
#include "cpu/runtime/process/check_settings.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/address_space/shadow.hpp"
#include "cpu/runtime/checker/block_checks.hpp"
#include "cpu/runtime/checker/numbers.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/objects/device.hpp"

namespace cucore::cpu::runtime {

namespace {

namespace bits = check_access;

Grid& checked_grid(const ThreadState* thread) { return *static_cast<Grid*>(thread->block->launch->runtime); }

CheckedSpace space_of(std::uint32_t access) {
  return static_cast<CheckedSpace>(access >> bits::space_shift & bits::field_mask);
}

std::uint64_t alignment_of(std::uint32_t access) {
  return std::uint64_t{1} << (access >> bits::align_shift & bits::field_mask);
}

bool lies_within(std::uintptr_t address, std::size_t bytes, const void* begin, std::size_t size) {
  const auto base = reinterpret_cast<std::uintptr_t>(begin);
  return address >= base && address - base <= size && bytes <= size - (address - base);
}

/// Bytes of the shared windows of the block's cluster.
std::size_t bytes_of_windows(const LaunchState& launch) {
  return std::size_t{launch.cluster_stride} * (launch.cluster_size - 1) + launch.total_shared;
}

bool is_in_shared(const ThreadState* thread, std::uint64_t address) {
  const BlockState& block = *thread->block;
  return lies_within(address, 0, block.cluster_shared, bytes_of_windows(*block.launch));
}

/// In the stack of the device thread that runs, or of the loop over threads.
bool is_in_stack(std::uint64_t address) {
  if (Fiber::current() == nullptr) return false;
  const FiberStack& stack = Fiber::current()->stack();
  return lies_within(address, 0, stack.low, stack.size);
}

/// "0x40", of another block of the cluster "0x40 of the cluster's block 1"
std::string shared_place(const ThreadState* thread, std::uint64_t address) {
  const BlockState& block = *thread->block;
  const LaunchState& launch = *block.launch;
  if (launch.cluster_size > 1 && is_in_shared(thread, address)) {
    const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(block.cluster_shared);
    const std::uint64_t rank = offset / launch.cluster_stride;
    if (rank != block.cluster_rank)
      return hexadecimal(offset % launch.cluster_stride) + " of the cluster's block " + std::to_string(rank);
  }
  return hexadecimal(address - reinterpret_cast<std::uintptr_t>(block.shared));
}

/// "__global__ write of size 4 bytes"
std::string spelt(const ThreadState* thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access) {
  const char* space = "__global__";
  switch (space_of(access)) {
    case CheckedSpace::Shared:
      space = "__shared__";
      break;
    case CheckedSpace::Local:
      space = "__local__";
      break;
    case CheckedSpace::Const:
      space = "__constant__";
      break;
    case CheckedSpace::Texture:
      space = "texture";
      break;
    case CheckedSpace::Surface:
      space = "surface";
      break;
    case CheckedSpace::Generic:
      if (is_in_shared(thread, address)) space = "__shared__";
      if (is_in_stack(address)) space = "__local__";
      break;
    case CheckedSpace::Global:
      break;
  }
  const std::uint32_t both = bits::reads_memory | bits::writes_memory;
  const char* const what = (access & both) == both ? "atomic" : (access & bits::writes_memory) != 0 ? "write" : "read";
  return std::string(space) + " " + what + " of size " + std::to_string(bytes) + " bytes";
}

std::vector<std::string> surroundings(const ThreadState* thread, std::uint64_t address, std::uint32_t bytes,
                                      std::uint32_t access) {
  const LaunchState& launch = *thread->block->launch;
  if (space_of(access) == CheckedSpace::Shared || is_in_shared(thread, address)) {
    const std::string size = std::to_string(launch.total_shared);
    return {"shared address " + shared_place(thread, address) + " is in no variable of the block's " + size +
            " bytes (" + std::to_string(launch.dynamic_shared) + " of them dynamic)" +
            (launch.cluster_size > 1 ? ", or the block has ended" : "")};
  }
  if (space_of(access) == CheckedSpace::Local) return {"the address is in no variable of the thread that is alive"};
  return shadow::describe(address, bytes);
}

void add_memory_finding(const ThreadState* thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access,
                        std::uint32_t line, bool is_misaligned) {
  checker::Finding finding;
  finding.headline = (is_misaligned ? "Misaligned " : "Invalid ") + spelt(thread, address, bytes, access);
  finding.line = line;
  if (checked_grid(thread).findings.count_another(line, finding.headline)) return;
  finding.error = is_misaligned ? ErrorCode::MisalignedAddress : ErrorCode::IllegalAddress;
  if (is_misaligned) {
    finding.details.push_back("address " + hexadecimal(address) + " is no multiple of " +
                              std::to_string(alignment_of(access)));
  } else {
    finding.details = surroundings(thread, address, bytes, access);
  }
  checker::add(checked_grid(thread), *thread->block, thread, std::move(finding));
}

/// Memory without a shadow: parameters, words of the launch, registered memory of the host.
bool is_known_host_memory(const Grid& grid, std::uint64_t address, std::uint32_t bytes, std::uint32_t access) {
  const bool is_parameter =
      lies_within(address, bytes, grid.params.data(), grid.params.size() * sizeof(std::max_align_t));
  if (is_parameter) return (access & bits::writes_memory) == 0;
  if (lies_within(address, bytes, grid.workspace.data(), grid.workspace.size() * sizeof(std::uint64_t))) return true;
  return is_device_range(address, bytes, Asked::InTurn);
}

struct Verdict {
  bool is_allowed;
  bool is_misaligned;
};

Verdict judge(const BlockState& block, std::uint64_t address, std::uint32_t bytes, std::uint32_t access) {
  const Grid& grid = *static_cast<const Grid*>(block.launch->runtime);
  const bool is_shared = space_of(access) == CheckedSpace::Shared;
  const std::byte* const windows = block.cluster_shared;
  const std::uint64_t base = is_shared ? reinterpret_cast<std::uintptr_t>(windows) : 0;
  bool is_allowed = shadow::is_allowed(address, bytes);
  if (is_shared) is_allowed = is_allowed && lies_within(address, bytes, windows, bytes_of_windows(grid.state));
  if (!AddressSpace::instance().contains(address)) is_allowed = is_known_host_memory(grid, address, bytes, access);
  return {is_allowed, ((address - base) & (alignment_of(access) - 1)) != 0};
}

std::uint32_t check_memory(const ThreadState* thread, CheckInterval* interval, std::uint64_t address,
                           std::uint32_t bytes, std::uint32_t access, std::uint32_t line) {
  if (bytes == 0) return 1;
  const auto [is_allowed, is_misaligned] = judge(*thread->block, address, bytes, access);
  if (is_allowed && interval) *interval = BlockChecks::of(*thread->block).interval_at(address);
  if (is_allowed && !is_misaligned) return 1;
  add_memory_finding(thread, address, bytes, access, line, is_allowed);
  if (BlockRaces* const races = BlockChecks::of(*thread->block).races())
    races->refused_access(*thread, address, access, line);
  return 0;
}

std::uint32_t check_lanes(const BlockState* block, CheckInterval* interval, const std::uint64_t* addresses,
                          std::uint32_t bytes, std::uint32_t access, std::uint32_t line, std::uint32_t first,
                          std::uint32_t lanes) {
  std::uint32_t allowed = 0;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const auto [is_allowed, is_misaligned] = judge(*block, addresses[lane], bytes, access);
    const bool is_elsewhere = interval && addresses[lane] - interval->begin >= interval->size;
    if (is_allowed && allowed == 0 && is_elsewhere) *interval = BlockChecks::of(*block).interval_at(addresses[lane]);
    if (is_allowed && !is_misaligned) {
      allowed |= 1U << lane;
      continue;
    }
    ThreadState thread{};
    thread.block = block;
    set_thread_id(thread, *static_cast<const Grid*>(block->launch->runtime), first + lane);
    add_memory_finding(&thread, addresses[lane], bytes, access, line, is_allowed);
  }
  return allowed;
}

void check_unwritten(ThreadState* thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access,
                     std::uint32_t line) {
  if (!AddressSpace::instance().contains(address)) return;
  const bool is_own = is_in_stack(address);
  if (is_own && (access & bits::carries) != 0) return;
  checker::Finding finding;
  finding.headline = "Uninitialized " + spelt(thread, address, bytes, access);
  finding.line = line;
  if (checked_grid(thread).findings.count_another(line, finding.headline)) return;
  if (is_own) {
    finding.details.emplace_back("nothing was written there since the thread's variable began to live");
  } else if (const auto [base, size] = shadow::allocation_at(address); size != 0) {
    finding.details.push_back("nothing was written " + std::to_string(address - base) + " bytes into the allocation");
  } else {
    finding.details.push_back("nothing was written at shared address " + shared_place(thread, address));
  }
  checker::add(checked_grid(thread), *thread->block, thread, std::move(finding));
}

void note_written(std::uint64_t address, std::uint32_t bytes) { shadow::mark_written(address, bytes); }

void check_race(ThreadState* thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access,
                std::uint32_t line) {
  if (BlockRaces* const races = BlockChecks::of(*thread->block).races())
    races->access(*thread, address, bytes, access, line);
}

std::uint32_t check_access(ThreadState* thread, std::uint64_t address, std::uint32_t bytes, std::uint32_t access) {
  const std::uint32_t line = thread->place & ~aligned_place;
  if (checker::checks(check_class::memory_checks) && check_memory(thread, nullptr, address, bytes, access, line) == 0)
    return 0;
  if ((access & bits::reads_memory) != 0 && shadow::is_unwritten(address, bytes))
    check_unwritten(thread, address, bytes, access, line);
  check_race(thread, address, bytes, access, line);
  if ((access & bits::writes_memory) != 0) shadow::mark_written(address, bytes);
  return 1;
}

void note_fence(ThreadState* thread) {
  if (BlockRaces* const races = BlockChecks::of(*thread->block).races()) races->fence(thread->linear);
}

void note_proxy_fence(ThreadState* thread) {
  if (BlockRaces* const races = BlockChecks::of(*thread->block).races()) races->proxy_fence(thread->linear);
}

void note_copies(ThreadState* thread, CopyStep step, std::uint32_t count) {
  if (BlockRaces* const races = BlockChecks::of(*thread->block).races()) races->copies(*thread, step, count);
}

void enter(std::uint64_t address, std::uint32_t bytes) { shadow::allow(address, bytes, true); }

void enter_unwritten(std::uint64_t address, std::uint32_t bytes) { shadow::allow(address, bytes, false); }

void leave(std::uint64_t address, std::uint32_t bytes) { shadow::forbid(address, bytes); }

ThreadState lane_state(const BlockState& block, std::uint32_t linear) {
  ThreadState thread{};
  thread.block = &block;
  set_thread_id(thread, *static_cast<const Grid*>(block.launch->runtime), linear);
  return thread;
}

void tell_numbers(const BlockState* block, std::uint64_t place, std::uint32_t first, std::uint32_t lanes,
                  const std::byte* values, std::uint32_t lane_count, std::uint32_t sizes) {
  LaunchNumbers& numbers = *static_cast<Grid*>(block->launch->runtime)->numbers;
  for (; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(lanes));
    std::uint64_t own[4] = {};
    std::size_t count = 0;
    for (std::uint32_t left = sizes; count < 4 && (left != 0 || count == 0); left >>= 4, ++count) {
      const std::size_t bytes = std::size_t{1} << (left & bits::field_mask);
      std::memcpy(&own[count], values + std::size_t{8} * lane_count * count + lane * bytes, bytes);
    }
    numbers.tell(*block, first + lane, place, own, count);
  }
}

void tell_product(const BlockState* block, std::uint32_t first, std::uint32_t line, const MatrixNumbers& product) {
  static_cast<Grid*>(block->launch->runtime)->numbers->tell_product(lane_state(*block, first), line, product);
}

std::uint64_t allocate(ThreadState* thread, std::uint64_t bytes, std::uint32_t line) {
  const Grid& grid = checked_grid(thread);
  std::string made_at = checker::place_of(grid, line);
  if (bytes == 0) return 0;
  const Result<std::uintptr_t> allocated = allocate_heap_memory(*grid.context, bytes, std::move(made_at));
  return allocated ? *allocated : 0;
}

void release(ThreadState* thread, std::uint64_t block, std::uint32_t line) {
  if (block == 0 || free_heap_memory(block, checker::place_of(checked_grid(thread), line))) return;
  checker::Finding finding;
  finding.headline = "Invalid free";
  finding.line = line;
  finding.error = ErrorCode::IllegalAddress;
  finding.details = shadow::describe(block, 1);
  checker::add(checked_grid(thread), *thread->block, thread, std::move(finding));
}

}  // namespace

const CheckTable* check_table() {
  static const CheckTable* const table = []() -> const CheckTable* {
    if (checker::classes() == 0) return nullptr;
    auto* const made = new CheckTable{};
    shadow::open(*made);
    made->memory = check_memory;
    made->lanes = check_lanes;
    made->unwritten = check_unwritten;
    made->wrote = note_written;
    made->race = check_race;
    made->access = check_access;
    made->fence = note_fence;
    made->proxy_fence = note_proxy_fence;
    made->copies = note_copies;
    made->enter = enter;
    made->enter_unwritten = enter_unwritten;
    made->leave = leave;
    made->numbers = tell_numbers;
    if ((checker::classes() & check_class::number_checks) != 0) made->products = tell_product;
    made->allocate = allocate;
    made->release = release;
    return made;
  }();
  return table;
}

}  // namespace cucore::cpu::runtime
