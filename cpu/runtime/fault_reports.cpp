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

std::string spelt(const std::uint32_t (&coordinates)[3]) {
  return "(" + std::to_string(coordinates[0]) + "," + std::to_string(coordinates[1]) + "," +
         std::to_string(coordinates[2]) + ")";
}

void fail_with_fault(Grid& grid, const BlockState& block, const ThreadState* thread, const Fault& fault) {
  std::string what = "kernel " + *grid.kernel + ", block " + spelt(block.block_id);
  if (thread) what += ", thread " + spelt(thread->thread_id);
  char detail[128];
  CUresult error = CUDA_ERROR_ILLEGAL_ADDRESS;
  if (fault.is_stack_overflow) {
    error = CUDA_ERROR_HARDWARE_STACK_ERROR;
    std::snprintf(detail, sizeof detail, ": the thread's stack overflowed; raise CU_LIMIT_STACK_SIZE");
  } else if (fault.signal == SIGILL || fault.signal == SIGFPE) {
    error = CUDA_ERROR_ILLEGAL_INSTRUCTION;
    std::snprintf(detail, sizeof detail, ": illegal instruction (signal %d)", fault.signal);
  } else {
    const bool ours = AddressSpace::instance().contains(fault.address);
    std::snprintf(detail, sizeof detail, ": access to address 0x%llx, which is in no %s",
                  static_cast<unsigned long long>(fault.address),
                  ours ? "live device allocation" : "accessible memory");
  }
  grid.fail(error, what + detail);
}

}  // namespace cucore::cpu::runtime
