// From the scalar form to the vector form, a step a line: see vectorise.hpp.
#include "cpu/compiler/vector/vectorise.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "cpu/abi/checks.hpp"
#include "cpu/analysis/vector_limits.hpp"
#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/vector/analysis/polls.hpp"
#include "cpu/compiler/vector/analysis/refusal.hpp"
#include "cpu/compiler/vector/analysis/stride_analysis.hpp"
#include "cpu/compiler/vector/emission/entry.hpp"
#include "cpu/compiler/vector/emission/group_emitter.hpp"
#include "cpu/compiler/vector/steps/assume_rows.hpp"
#include "cpu/compiler/vector/steps/choose_form.hpp"
#include "cpu/compiler/vector/steps/choose_width.hpp"
#include "cpu/compiler/vector/steps/flatten_branches.hpp"
#include "cpu/compiler/vector/steps/isolate_convergent_operations.hpp"
#include "cpu/compiler/vector/steps/join_pairs.hpp"
#include "cpu/compiler/vector/steps/normalise.hpp"
#include "cpu/compiler/vector/steps/place_checks.hpp"
#include "cpu/compiler/vector/steps/prepare_checks.hpp"
#include "cpu/compiler/vector/steps/recompute_behind_barriers.hpp"

namespace cucore::cpu::compiler {
namespace {

using analysis::largest_group_frames;

bool has_reducing_barriers(const ControlFlow& flow) {
  return std::any_of(flow.order.begin(), flow.order.end(),
                     [](const llvm::BasicBlock* block) { return is_reducing_barrier(block->front()); });
}

/// What is known of the scalar form; out of date when a step changes it.
struct Analysed {
  std::unique_ptr<const ControlFlow> flow;
  unsigned least;  ///< threads of a group
  VectorWidth width;
  StrideAnalysis strides;  ///< of the full version
};

unsigned smallest_group(const ControlFlow& flow, const VectorRequest& request) {
  const unsigned least = compiler::smallest_group(flow, request.in_lockstep);
  const std::uint32_t* const block = request.options.block;
  return request.in_one_group ? std::max(least, std::bit_ceil(block[0] * block[1] * block[2])) : least;
}

Result<Analysed> analyse(llvm::Function& scalar, const VectorRequest& request, unsigned most) {
  auto flow = std::make_unique<const ControlFlow>(scalar);
  if (!flow->is_reducible()) return refusal("a loop with two entries");
  const unsigned least = smallest_group(*flow, request);
  const auto width_up_to = [&](unsigned threads) {
    return choose_width(scalar, *flow, request.options.block, request.host, least, threads);
  };
  VectorWidth width = width_up_to(most);
  if (request.in_one_group && width.groups() > 1) return refusal("what one thread stores where others have loaded");
  // Groups that take turns from one barrier to the next would not know what the others bring.
  const bool reduces = width.groups() > 1 && has_reducing_barriers(*flow);
  if (reduces) width = width_up_to(std::min(most, warp_lanes));
  width.on_fibers = reduces || has_polls(scalar);
  if (width.on_fibers && request.options.checks != 0)
    return refusal(reduces ? "checks at a barrier that reduces" : waits_for_threads);
  if (std::uint64_t{request.local_bytes} * width.group() > largest_group_frames)
    return refusal("large local variables");
  StrideAnalysis strides(*flow, scalar, width, /*masked=*/false);
  // In lockstep the scalar form has a fiber for each lane.
  const bool may_be_faster = request.options.form == FormOfCode::Auto && !request.in_lockstep;
  if (may_be_faster && is_scalar_form_faster(*flow, strides)) return refusal("its scattered accesses");
  return Analysed{std::move(flow), least, width, std::move(strides)};
}

/// Analyse → flatten branches → join pairs → recompute → split before checks → gather checks: repeated until no step
/// changes the code, so that the result is true of it.
Result<Analysed> prepare(llvm::Function& scalar, const VectorRequest& request, unsigned most) {
  for (;;) {
    Result<Analysed> kernel = analyse(scalar, request, most);
    if (!kernel) return kernel;
    const auto& [flow, least, width, strides] = *kernel;
    if (request.options.checks == 0 && flatten_branches(*flow, strides)) continue;
    if (join_pairs(*flow, strides)) continue;
    if (width.groups() > 1 && !width.on_fibers && recompute_behind_barriers(*flow, strides)) continue;
    if (split_before_checks(scalar, strides)) continue;
    gather_checks(scalar, strides);
    return kernel;
  }
}

/// In kernels without convergent operations, which stay where all threads come together.
bool assume_rows(llvm::Function& scalar, const VectorRequest& request) {
  const ControlFlow flow(scalar);
  if (!flow.is_reducible() || flow.has_convergent_operations()) return false;
  const unsigned least = smallest_group(flow, request);
  const VectorWidth width = choose_width(scalar, flow, request.options.block, request.host, least, most_threads);
  return compiler::assume_rows(scalar, StrideAnalysis(flow, scalar, width, /*masked=*/false));
}

bool is_too_large(const llvm::Function& group) {
  return group.getInstructionCount() > cost_model::largest_group ||
         std::any_of(group.begin(), group.end(), [](const llvm::BasicBlock& block) {
           const auto slots = llvm::count_if(block, [](const auto& each) { return llvm::isa<llvm::AllocaInst>(each); });
           return block.size() - static_cast<std::size_t>(slots) > cost_model::largest_block;
         });
}

/// Values that are not in registers: at most one vector of 64 bits a lane for each result and operand of an instruction
/// of each version.
std::uint32_t frame_bytes(const llvm::Function& scalar, const VectorWidth& width) {
  std::uint32_t values = 0;
  for (const llvm::BasicBlock& block : scalar) {
    for (const llvm::Instruction& instruction : block) values += 1 + instruction.getNumOperands();
  }
  return values * 2 * 8 * width.group();
}

/// Puts the entry point that calls the group in the place of the scalar form.
Result<VectorForm> finish(llvm::Function& scalar, const VectorRequest& request, const Analysed& kernel,
                          const EmittedGroup& group) {
  const auto& [flow, least, width, strides] = kernel;
  const std::uint64_t waiting_bytes = group.frame_bytes * width.groups();
  if (waiting_bytes > cost_model::largest_waiting_bytes) return refusal("what its groups keep across barriers");
  VectorForm form{};
  form.runs_rows = request.options.checks == 0 && may_run_rows(scalar, *flow, strides, width);
  form.waiting_bytes = static_cast<std::uint32_t>(waiting_bytes);
  form.frame_bytes = frame_bytes(scalar, width) + 2 * request.local_bytes * width.group() + form.waiting_bytes;
  form.threads_of_fiber = width.on_fibers ? width.group() : 0;
  group.function->addFnAttr(llvm::Attribute::AlwaysInline);
  if (width.on_fibers)
    emit_run_fiber(group.function);
  else
    emit_run_block(group.function, width, group.frame_bytes, form.runs_rows);
  scalar.eraseFromParent();
  return form;
}

}  // namespace

Result<VectorForm> vectorise(llvm::Function& scalar, const VectorRequest& request) {
  const CompileOptions& options = request.options;
  if (scalar.getInstructionCount() > cost_model::largest_kernel) return refusal("its size");
  if ((options.checks & check_class::access_checks) != 0) {
    if (Result<void> done = prepare_checks(scalar, options.block, request.shared); !done)
      return std::move(done).failure();
  }
  normalise(scalar);
  const bool waits = has_polls(scalar);
  if (options.checks == 0 && !waits && assume_rows(scalar, request)) normalise(scalar);
  isolate_convergent_operations(scalar);
  bool masked = options.form == FormOfCode::Masked;
  for (unsigned most = waits ? warp_lanes : most_threads;;) {
    Result<Analysed> kernel = prepare(scalar, request, most);
    if (!kernel) return std::move(kernel).failure();
    Result<EmittedGroup> group = emit_group(scalar, *kernel->flow, kernel->width, request.host, masked);
    if (!group) return std::move(group).failure();
    if (!is_too_large(*group->function)) return finish(scalar, request, *kernel, *group);
    const bool is_narrowest = kernel->width.group() == std::max(kernel->least, kernel->width.lanes);
    // The scalar form has a fiber for each lane, which costs more than masks.
    const bool is_slow_without = request.in_lockstep || kernel->flow->has_convergent_operations();
    if (is_narrowest && (masked || !is_slow_without)) return refusal("its size in the vector form");
    group->function->eraseFromParent();
    if (is_narrowest)
      masked = true;
    else
      most = kernel->width.group() / 2;
  }
}

bool is_for_waiting(const Failure& refusal) { return refusal.sentence() == waits_for_threads; }

}  // namespace cucore::cpu::compiler
