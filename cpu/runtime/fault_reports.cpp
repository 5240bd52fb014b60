// Failures of a running grid in words: see fault_reports.hpp.
#include "cpu/runtime/fault_reports.hpp"

#include <signal.h>

#include <cstdio>

#include "cpu/runtime/address_space.hpp"
#include "cpu/runtime/context.hpp"
#include "cpu/runtime/grid.hpp"
#include "cpu/runtime/process.hpp"

namespace cucore::cpu::runtime {

void Grid::fail(CUresult error, std::string what) {
  CUresult none = CUDA_SUCCESS;
  if (!failure.compare_exchange_strong(none, error)) return;
  report(std::move(what));
  context->set_error(error);
}

bool Grid::is_abandoned() const {
  return failure.load(std::memory_order_relaxed) != CUDA_SUCCESS || is_shutting_down();
}

std::byte* aligned_shared(std::byte* buffer) {
  const auto address = reinterpret_cast<std::uintptr_t>(buffer);
  return buffer + (kSharedAlignment - address % kSharedAlignment) % kSharedAlignment;
}

void set_block_id(BlockState& block, const Grid& grid, std::uint64_t index) {
  const std::uint32_t* const grid_size = grid.state.grid;
  const std::uint32_t* const size = grid.state.cluster;
  const std::uint64_t cluster = index / grid.state.cluster_size;
  const auto rank = static_cast<std::uint32_t>(index % grid.state.cluster_size);
  const std::uint64_t width = grid_size[0] / size[0];
  const std::uint64_t height = grid_size[1] / size[1];
  block.cluster_id[0] = static_cast<std::uint32_t>(cluster % width);
  block.cluster_id[1] = static_cast<std::uint32_t>(cluster / width % height);
  block.cluster_id[2] = static_cast<std::uint32_t>(cluster / width / height);
  block.cluster_block_id[0] = rank % size[0];
  block.cluster_block_id[1] = rank / size[0] % size[1];
  block.cluster_block_id[2] = rank / size[0] / size[1];
  block.cluster_rank = rank;
  for (int axis = 0; axis < 3; ++axis)
    block.block_id[axis] = block.cluster_id[axis] * size[axis] + block.cluster_block_id[axis];
}

void set_thread_id(ThreadState& thread, const Grid& grid, std::uint32_t linear) {
  const std::uint32_t* const size = grid.state.block;
  thread.thread_id[0] = linear % size[0];
  thread.thread_id[1] = linear / size[0] % size[1];
  thread.thread_id[2] = linear / size[0] / size[1];
  thread.linear = linear;
}

void advance_block_id(BlockState& block, const Grid& grid) {
  int axis = 0;
  for (; axis < 2 && block.block_id[axis] + 1 == grid.state.grid[axis]; ++axis)
    block.block_id[axis] = block.cluster_id[axis] = 0;
  block.cluster_id[axis] = ++block.block_id[axis];
}

std::string spelt(const std::uint32_t (&coordinates)[3]) {
  return "(" + std::to_string(coordinates[0]) + "," + std::to_string(coordinates[1]) + "," +
         std::to_string(coordinates[2]) + ")";
}

std::string hexadecimal(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string whereabouts(const Grid& grid, const BlockState& block, const ThreadState* thread) {
  std::string text = "kernel " + *grid.kernel + ", block " + spelt(block.block_id);
  if (thread) text += ", thread " + spelt(thread->thread_id);
  return text;
}

void fail_with_fault(Grid& grid, const BlockState& block, const ThreadState* thread, const Fault& fault) {
  std::string detail;
  CUresult error = CUDA_ERROR_ILLEGAL_ADDRESS;
  if (fault.is_stack_overflow) {
    error = CUDA_ERROR_HARDWARE_STACK_ERROR;
    detail = ": the thread's stack overflowed; raise CU_LIMIT_STACK_SIZE";
  } else if (fault.signal == SIGILL || fault.signal == SIGFPE) {
    error = CUDA_ERROR_ILLEGAL_INSTRUCTION;
    detail = ": illegal instruction (signal " + std::to_string(fault.signal) + ")";
  } else {
    const bool ours = AddressSpace::instance().contains(fault.address);
    detail = ": access to address " + hexadecimal(fault.address) + ", which is in no " +
             (ours ? "live device allocation" : "accessible memory");
  }
  grid.fail(error, whereabouts(grid, block, thread) + detail);
}

}  // namespace cucore::cpu::runtime
