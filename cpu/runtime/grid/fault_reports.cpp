// Failures of a running grid in words: see fault_reports.hpp.
#include "cpu/runtime/grid/fault_reports.hpp"

#include <signal.h>

#include <optional>
#include <utility>

#include "cpu/loader/ptx_place.hpp"
#include "cpu/runtime/address_space/address_space.hpp"
#include "cpu/runtime/grid/checker.hpp"
#include "cpu/runtime/grid/grid.hpp"
#include "cpu/runtime/memory/memory.hpp"
#include "cpu/runtime/objects/context.hpp"
#include "cpu/runtime/process/hexadecimal.hpp"
#include "cpu/runtime/process/process.hpp"
#include "cpu/runtime/process/settings.hpp"
#include "cpu/runtime/threads/faults.hpp"

namespace cucore::cpu::runtime {

void Grid::fail(ErrorCode error, std::string what) {
  if (has_failed.exchange(true)) return;
  report_fault(std::move(what));
  context->set_error(error);
}

void Grid::fail_cancelled(const std::string& where) {
  std::string why;
  switch (cancellation.load(std::memory_order_relaxed)) {
    case Cancellation::Timeout:
      why = std::string("The grid has run for longer than ") + variable_of(Setting::timeout) + "=" +
            setting(Setting::timeout).value_or("") + " allows (seconds)";
      break;
    case Cancellation::CtrlC:
      why = "The grid was ended by Ctrl-C (SIGINT), since the program waited for it";
      break;
    case Cancellation::InterpreterLeaves:
      why = "The grid was ended because the interpreter, which is leaving, waited for it";
      break;
  }
  fail(ErrorCode::LaunchTimeout, where + "\n" + why);
}

bool Grid::is_abandoned() const {
  return has_failed.load(std::memory_order_relaxed) || is_cancelled.load(std::memory_order_relaxed) ||
         is_shutting_down();
}

std::byte* aligned_shared(std::byte* buffer) {
  const auto address = reinterpret_cast<std::uintptr_t>(buffer);
  return buffer + (shared_alignment - address % shared_alignment) % shared_alignment;
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

std::string whereabouts(const Grid& grid, const BlockState& block, const ThreadState* thread) {
  std::string text = "kernel " + *grid.kernel + ", block " + spelt(block.block_id);
  if (thread) text += ", thread " + spelt(thread->thread_id);
  return text;
}

std::string place_in_words(const Grid& grid, std::uintptr_t host_instruction) {
  const PtxPlace place = grid.code_at(host_instruction).place_of(host_instruction, *grid.ptx);
  if (place.line != 0) return " at " + checker::place_of(grid, place.line);
  return place.next_line != 0 ? " just before the code for " + checker::place_of(grid, place.next_line) : "";
}

namespace {

/// Where memory was accessed, as far as that is known.
std::string place_of_access(const Grid& grid, const Fault& fault) {
  const PtxPlace place = grid.code_at(fault.instruction).place_of(fault.instruction, *grid.ptx);
  if (place.line == 0) {
    if (place.next_line == 0) return {};
    return " just before the code for " + checker::place_of(grid, place.next_line);
  }
  const bool may_read = fault.access != Fault::Access::Write, may_write = fault.access != Fault::Access::Read;
  const bool itself = (place.reads && may_read) || (place.writes && may_write);
  const bool may_load = may_read && !place.reads;
  const std::size_t loads = may_load && place.loads ? place.loads->size() : 0;
  if (!itself && loads == 1) return " at " + checker::place_of(grid, place.loads->front());
  std::string text = " at " + checker::place_of(grid, place.line);
  if (itself && (!may_load || (place.loads && loads == 0))) return text;
  if (loads == 0) return text + ", or at an access before it";
  const char* before = ", or at a load for it, at PTX line ";
  for (const std::uint32_t line : *place.loads) text += std::exchange(before, " or ") + std::to_string(line);
  return text;
}

/// Describes what lies around an address that is in no allocation.
std::string neighbour_of(std::uintptr_t address) {
  const std::optional<Allocation> nearest = nearest_allocation(address);
  if (!nearest) return {};
  const bool is_behind = nearest->base <= address;
  const std::uintptr_t distance = is_behind ? address - nearest->base - nearest->size : nearest->base - address;
  return ", " + std::to_string(distance) + (is_behind ? " bytes after the end of" : " bytes before") +
         " the allocation of " + std::to_string(nearest->size) + " bytes at " + hexadecimal(nearest->base);
}

}  // namespace

void fail_with_fault(Grid& grid, const BlockState& block, const ThreadState* thread, const Fault& fault) {
  std::string who = whereabouts(grid, block, thread);
  if (!thread) who += ", one of its " + std::to_string(grid.threads_per_block) + " threads";
  if (fault.signal == interrupt_signal) return grid.fail_cancelled(who + place_in_words(grid, fault.instruction));
  if (fault.is_stack_overflow) {
    return grid.fail(ErrorCode::HardwareStackError, who + ": the thread's stack overflowed; raise CU_LIMIT_STACK_SIZE");
  }
  if (fault.signal == SIGILL || fault.signal == SIGFPE) {
    return grid.fail(ErrorCode::IllegalInstruction, who + place_in_words(grid, fault.instruction) +
                                                        ": illegal instruction (signal " +
                                                        std::to_string(fault.signal) + ")");
  }
  std::string detail = ": access to ";
  if (!fault.names_address) {
    detail += "an address that no memory can have, or that is not aligned as the instruction wants it";
  } else {
    const bool ours = AddressSpace::instance().contains(fault.address);
    detail += "address " + hexadecimal(fault.address) + ", which is in no " +
              (ours ? "live device allocation" + neighbour_of(fault.address) : "accessible memory");
  }
  const std::string place = place_of_access(grid, fault);
  if (!grid.state.checks && (!thread || place.empty()))
    detail += "; run with CUCORE_CPU_CHECK=memory to learn the thread and the line";
  const PtxPlace line = grid.code_at(fault.instruction).place_of(fault.instruction, *grid.ptx);
  if (const std::string source = loader::source_text(*grid.ptx, line.line); !source.empty()) detail += "\n  " + source;
  grid.fail(ErrorCode::IllegalAddress, who + place + detail);
}

}  // namespace cucore::cpu::runtime
