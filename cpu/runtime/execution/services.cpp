// The services that generated code calls (cpu/abi/kernel_abi.hpp), on the fiber of the calling device thread.
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/abi/kernel_heap.hpp"
#include "cpu/runtime/blocks/block.hpp"
#include "cpu/runtime/blocks/cluster.hpp"
#include "cpu/runtime/blocks/resident.hpp"
#include "cpu/runtime/execution/device_printf.hpp"
#include "cpu/runtime/execution/kernel_heap.hpp"
#include "cpu/runtime/grid/fault_reports.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/objects/context.hpp"

namespace cucore::cpu {

namespace {

using runtime::Block;
using runtime::DeviceThread;
using runtime::Fiber;
using runtime::Grid;

/// Null in a plain loop, where no thread waits for another.
DeviceThread* fiber_of(ThreadState* thread) { return static_cast<DeviceThread*>(thread->runtime); }

/// The same, and notes where it stands if it waits: at the call that returns there.
DeviceThread* fiber_at(ThreadState* thread, const void* return_address) {
  DeviceThread* const fiber = fiber_of(thread);
  if (fiber) fiber->instruction = reinterpret_cast<std::uintptr_t>(return_address) - 1;
  return fiber;
}

Grid& grid_of(ThreadState* thread) { return *static_cast<Grid*>(thread->block->launch->runtime); }

/// The thread, and the instruction before the one that a service returns to.
std::string place_of(ThreadState* thread, const void* return_address) {
  const Grid& grid = grid_of(thread);
  return runtime::whereabouts(grid, *thread->block, thread) +
         runtime::place_in_words(grid, reinterpret_cast<std::uintptr_t>(return_address) - 1);
}

/// A block of one thread in a plain loop has no others to wait for.
std::uint64_t converge(ThreadState* thread, const void* return_address, Block::WarpOperation operation,
                       std::uint32_t mask, std::uint32_t value, std::uint32_t lane, std::uint32_t clamp) {
  DeviceThread* const fiber = fiber_at(thread, return_address);
  return fiber ? fiber->block->converge_warp(*fiber, operation, mask, value, lane, clamp) : value;
}

/// Lets others run. In a plain loop there are none.
void yield(ThreadState* thread, const void* return_address) {
  Grid& grid = grid_of(thread);
  DeviceThread* const fiber = fiber_at(thread, return_address);
  if (grid.is_abandoned()) {
    if (!grid.is_cancelled) Fiber::finish();
    if (!fiber) {
      grid.fail_cancelled(place_of(thread, return_address));
      Fiber::finish();
    }
  }
  if (fiber) fiber->block->poll(*fiber);
}

}  // namespace

extern "C" {

void cucpu_barrier(ThreadState* thread, std::uint32_t id, std::uint32_t count) {
  if (DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0)))
    fiber->block->wait_at_barrier(*fiber, id, count);
}

void cucpu_barrier_arrive(ThreadState* thread, std::uint32_t id, std::uint32_t count) {
  if (DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0)))
    fiber->block->arrive_at_barrier(*fiber, id, count);
}

std::uint32_t cucpu_barrier_reduce(ThreadState* thread, std::uint32_t id, std::uint32_t count, std::uint32_t op,
                                   std::uint32_t trues, std::uint32_t lanes) {
  DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0));
  return fiber ? fiber->block->reduce_at_barrier(*fiber, id, count, op, trues, lanes) : trues;
}

void cucpu_warp_sync(ThreadState* thread, std::uint32_t mask) {
  converge(thread, __builtin_return_address(0), Block::WarpOperation::Sync, mask, 0, 0, 0);
}

std::uint64_t cucpu_shuffle(ThreadState* thread, std::uint32_t mode, std::uint32_t value, std::uint32_t lane,
                            std::uint32_t clamp, std::uint32_t mask) {
  constexpr Block::WarpOperation modes[] = {Block::WarpOperation::ShuffleUp, Block::WarpOperation::ShuffleDown,
                                            Block::WarpOperation::ShuffleXor, Block::WarpOperation::ShuffleIndex};
  return converge(thread, __builtin_return_address(0), modes[mode & 3], mask, value, lane, clamp);
}

std::uint32_t cucpu_vote(ThreadState* thread, std::uint32_t mode, std::uint32_t predicate, std::uint32_t mask) {
  constexpr Block::WarpOperation modes[] = {Block::WarpOperation::All, Block::WarpOperation::Any,
                                            Block::WarpOperation::Uniform, Block::WarpOperation::Ballot};
  return static_cast<std::uint32_t>(
      converge(thread, __builtin_return_address(0), modes[mode & 3], mask, predicate != 0, 0, 0));
}

void cucpu_lockstep(ThreadState* thread, std::uint32_t place) {
  if (DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0)))
    fiber->block->keep_in_step(*fiber, place);
}

std::uint32_t cucpu_activemask(ThreadState* thread, std::uint32_t place) {
  DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0));
  return fiber ? fiber->block->converge(*fiber, place) : 1u << (thread->linear % runtime::lane_count);
}

void cucpu_warp_together(ThreadState* thread, void (*operation)(void* const* lanes), void* mine, std::uint64_t kind,
                         std::uint32_t mask) {
  if (DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0)))
    return fiber->block->work_together(*fiber, operation, mine, kind, mask);
  void* lanes[runtime::lane_count] = {};
  lanes[thread->linear % runtime::lane_count] = mine;
  operation(lanes);
}

void cucpu_warpgroup_together(ThreadState* thread, void (*operation)(void* const* threads), void* mine,
                              std::uint64_t kind) {
  DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0));
  if (fiber == nullptr || !fiber->block->converge_warpgroup(*fiber, operation, mine, kind))
    cucpu_fault(thread, KernelFault::IllegalInstruction,
                "wgmma needs four whole warps, all of whose threads come to the same instruction");
}

void cucpu_cluster_arrive(ThreadState* thread) {
  if (DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0))) fiber->block->cluster().arrive(*fiber);
}

void cucpu_cluster_wait(ThreadState* thread) {
  if (DeviceThread* const fiber = fiber_at(thread, __builtin_return_address(0))) fiber->block->cluster().wait(*fiber);
}

void cucpu_yield(ThreadState* thread) { yield(thread, __builtin_return_address(0)); }

void cucpu_lap(const BlockState* block) {
  static_cast<runtime::Resident*>(block->runtime)->lap(__builtin_return_address(0));
}

void cucpu_nanosleep(ThreadState* thread, std::uint32_t nanoseconds) {
  // The wait is a hint; others run meanwhile. In a plain loop there are no others.
  (void)nanoseconds;
  yield(thread, __builtin_return_address(0));
}

std::uint64_t cucpu_malloc(std::uint64_t bytes) { return runtime::kernel_heap::allocate(bytes); }

void cucpu_free(ThreadState* thread, std::uint64_t block) {
  {
    const std::optional<runtime::kernel_heap::Misuse> misuse = runtime::kernel_heap::release(*thread, block);
    if (!misuse) return;
    grid_of(thread).fail(misuse->error, place_of(thread, __builtin_return_address(0)) + ": " + misuse->what);
  }
  Fiber::finish();
}

std::int32_t cucpu_vprintf(ThreadState* thread, const char* format, const void* arguments) {
  return runtime::device_printf(grid_of(thread).context->printf_buffer, format, arguments);
}

void cucpu_assertfail(ThreadState* thread, const char* message, const char* file, std::uint32_t line,
                      const char* function, std::uint64_t char_size) {
  (void)char_size;  // always 1: wide assertions do not exist on the device
  const std::uint32_t* const b = thread->block->block_id;
  const std::uint32_t* const t = thread->thread_id;
  std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
               file ? file : "unknown", line, function ? function : "unknown", b[0], b[1], b[2], t[0], t[1], t[2],
               message ? message : "");
  grid_of(thread).fail(ErrorCode::Assert, place_of(thread, __builtin_return_address(0)) + ": assertion `" +
                                              (message ? message : "") + "` failed");
  if (DeviceThread* const fiber = fiber_of(thread)) {
    fiber->block->go_on_to_assertions();
    Fiber::finish();
  }
}

void cucpu_trap(ThreadState* thread) {
  grid_of(thread).fail(ErrorCode::LaunchFailed, place_of(thread, __builtin_return_address(0)) + ": trap");
  Fiber::finish();
}

void cucpu_fault(ThreadState* thread, KernelFault fault, const char* what) {
  const bool is_illegal = fault == KernelFault::IllegalInstruction;
  grid_of(thread).fail(is_illegal ? ErrorCode::IllegalInstruction : ErrorCode::MisalignedAddress,
                       place_of(thread, __builtin_return_address(0)) + ": " + what);
  Fiber::finish();
}

std::uint64_t cucpu_stack_end() {
  const runtime::FiberStack& stack = Fiber::current()->stack();
  return reinterpret_cast<std::uintptr_t>(stack.low + stack.size);
}

std::uint64_t cucpu_globaltimer() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // extern "C"

}  // namespace cucore::cpu
