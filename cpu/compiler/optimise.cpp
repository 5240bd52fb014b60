// The short pipeline: as good as -O2 on kernels at half the time. First each function's stack slots become values, then
// the kernel's body goes into its entry points, then what the loop over threads makes invariant moves out of it,
// in checked code the checks too.
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <utility>

#include "cpu/compiler/compile_budget.hpp"
#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/host_target.hpp"
#include "cpu/compiler/ir/analyses.hpp"
#include "cpu/compiler/passes/forward_stores.hpp"
#include "cpu/compiler/passes/hoist_checks.hpp"
#include "cpu/compiler/passes/mask_lanes.hpp"
#include "cpu/compiler/passes/narrow_masks.hpp"
#include "cpu/compiler/passes/opaque_masks.hpp"
#include "cpu/compiler/passes/promote_slots.hpp"

namespace cucore::cpu::compiler {
namespace {

llvm::FunctionPassManager slots_to_values(PromoteSlotsPass promote) {
  llvm::FunctionPassManager passes;
  passes.addPass(std::move(promote));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  return passes;
}

llvm::FunctionPassManager whole_function(bool checked, bool has_mask_registers) {
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(ForwardStoresPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::GVNPass());
  if (checked) {
    passes.addPass(HoistChecksPass());
    passes.addPass(llvm::EarlyCSEPass());
  }
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(NarrowMasksPass());
  passes.addPass(ForwardStoresPass());
  if (!has_mask_registers) passes.addPass(MaskLanesPass());
  passes.addPass(OpaqueMasksPass(has_mask_registers));
  return passes;
}

}  // namespace

bool HostTarget::optimise(llvm::Module& ir, bool checked, const CompileTime& time) const {
  llvm::PassInstrumentationCallbacks callbacks;
  bool has_slots_left = false;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef, const llvm::Any&) { return !has_slots_left && !time.is_up(); });
  PromoteSlotsPass promote([&] { return time.seconds() < cost_model::most_seconds_of_slots; }, &has_slots_left);
  Analyses analyses(machine_.get(), &callbacks);
  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(slots_to_values(std::move(promote))));
  pipeline.addPass(llvm::AlwaysInlinerPass(false));
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(whole_function(checked, has_feature("avx512f"))));
  pipeline.run(ir, analyses.modules);
  return !has_slots_left && !time.is_up();
}

}  // namespace cucore::cpu::compiler
