// How wide groups are: see choose_width.hpp.
#include "cpu/compiler/vector/steps/choose_width.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <bit>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/checked_accesses.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"
#include "cpu/compiler/vector/analysis/versions.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;

namespace {

/// The widest chunks that lie in one row of x, or all native lanes where rows are too short or odd for that.
unsigned lanes_for(const std::uint32_t* block, unsigned native) {
  if (block[1] == 1 && block[2] == 1) return native;
  const unsigned row = std::min(native, 1U << static_cast<unsigned>(std::countr_zero(block[0])));
  return row >= 8 ? row : native;  // masks are integers that the host has
}

/// Vector registers that a chunk takes for what lives through the innermost loops; none if there are no loops.
unsigned registers_in_loops(const ControlFlow& flow, const StrideAnalysis& strides) {
  unsigned deepest = 0;
  for (const llvm::BasicBlock* block : flow.order) deepest = std::max(deepest, flow.loop_depth(block));
  if (deepest == 0) return 0;
  unsigned most = 0;
  for (llvm::BasicBlock* block : flow.order) {
    if (flow.loop_depth(block) < deepest) continue;
    unsigned registers = 0;
    auto count = [&](const Instruction* value) {
      if (!strides.of(value).is_varying()) return;
      const llvm::Type* type = value->getType();
      const auto bits = type->isPointerTy() ? 64 : static_cast<unsigned>(type->getPrimitiveSizeInBits());
      registers += std::max(1U, bits / 32);
    };
    for (const Instruction* value : flow.live_in().lookup(block)) count(value);
    for (const llvm::PHINode& phi : block->phis()) count(&phi);
    most = std::max(most, registers);
  }
  return most;
}

/// With convergent operations: the whole block in one group makes barriers no-ops. But all chunks take turns in each
/// loop, and what lives through it should stay in registers.
unsigned useful_with_convergent_operations(unsigned size, unsigned lanes) {
  const unsigned warps = size > cost_model::large_convergent_kernel    ? 1
                         : size > cost_model::middle_convergent_kernel ? cost_model::warps_of_middle_kernel
                                                                       : cost_model::warps_of_small_kernel;
  return std::min(warps * warp_lanes, cost_model::most_chunks * lanes);
}

unsigned most_with_registers(unsigned registers, HostFeatures host, unsigned lanes) {
  const unsigned chunks = std::bit_floor(host.native_vectors() / registers);
  return std::max(warp_lanes, chunks * lanes);
}

/// Elsewhere more than one chunk is work for idle units.
unsigned useful_without(unsigned size, std::size_t blocks, unsigned lanes) {
  if (size <= cost_model::small_kernel) return warp_lanes;
  const bool is_straight = blocks <= cost_model::most_blocks_of_straight_kernel;
  return is_straight && size <= cost_model::largest_kernel_of_two_chunks ? 2 * lanes : lanes;
}

/// Straight code costs what it computes, and less where the compiler knows each thread by its number.
unsigned chunks_of_straight_code(unsigned size, const VectorWidth& width, unsigned most) {
  const auto may_be_straight = [&](unsigned chunks, unsigned largest) {
    const unsigned threads = chunks * width.lanes;
    return threads <= most && width.threads() % threads == 0 && size * chunks <= largest;
  };
  // A whole block has no barriers left, which is worth as much code for narrow vectors as for wide ones.
  unsigned chunks = width.chunks;
  const unsigned all = width.threads() / width.lanes;
  if (all > chunks && std::has_single_bit(all) &&
      may_be_straight(all, cost_model::largest_straight_code * 16 / width.lanes))
    chunks = all;
  while (may_be_straight(2 * chunks, cost_model::largest_straight_code)) chunks *= 2;
  return chunks;
}

}  // namespace

unsigned smallest_group(const ControlFlow& flow, bool in_lockstep) {
  return flow.has_warp_operations() || in_lockstep ? warp_lanes : 1;
}

VectorWidth choose_width(llvm::Function& scalar, const ControlFlow& flow, const std::uint32_t* block, HostFeatures host,
                         unsigned least, unsigned most) {
  VectorWidth width;
  std::copy_n(block, 3, width.block);
  width.lanes = lanes_for(block, host.native_lanes());
  unsigned operations = 0, blocks = 0;
  for (const llvm::BasicBlock* each : flow.order) {
    if (flow.is_seldom_run(each)) continue;
    operations += size_without_checks(*each);
    ++blocks;
  }
  // Every block costs a choice of what runs next, and all of it for each chunk.
  const unsigned size = operations + cost_model::size_of_a_block * blocks;
  unsigned useful = 0;
  if (flow.has_convergent_operations()) {
    useful = useful_with_convergent_operations(size, width.lanes);
    const unsigned registers = registers_in_loops(flow, StrideAnalysis(flow, scalar, width, false));
    if (registers != 0) most = std::min(most, most_with_registers(registers, host, width.lanes));
  } else {
    useful = std::max(least, useful_without(size, blocks, width.lanes));
  }
  const unsigned wanted = std::max(warp_lanes, std::bit_ceil(width.threads()));
  width.chunks = std::max(least, std::min({most, useful, wanted})) / width.lanes;
  if (flow.has_barriers() && !may_leave_full_version(flow, StrideAnalysis(flow, scalar, width, false), width))
    width.chunks = chunks_of_straight_code(operations, width, most);
  return width;
}

}  // namespace cucore::cpu::compiler
