// The short pipeline: as good as -O2 on kernels at half the time. First each function's stack slots become values, then
// the kernel's body goes into its entry points, then what the loop over threads makes invariant moves out of it.
#include <llvm/IR/PassManager.h>
#include <llvm/Passes/PassBuilder.h>
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

#include "cpu/codegen/host_target.hpp"

namespace cucore::cpu::codegen {

void HostTarget::optimise(llvm::Module& ir) const {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager call_graph;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine_.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(call_graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, call_graph, modules);

  llvm::FunctionPassManager to_values;
  to_values.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  to_values.addPass(llvm::EarlyCSEPass());
  to_values.addPass(llvm::SimplifyCFGPass());
  to_values.addPass(llvm::InstCombinePass());

  llvm::FunctionPassManager whole;
  whole.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  whole.addPass(llvm::EarlyCSEPass(true));
  whole.addPass(llvm::SimplifyCFGPass());
  whole.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  whole.addPass(llvm::GVNPass());
  whole.addPass(llvm::SimplifyCFGPass());
  whole.addPass(llvm::InstCombinePass());

  llvm::ModulePassManager pipeline;
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(to_values)));
  pipeline.addPass(llvm::AlwaysInlinerPass(false));
  pipeline.addPass(llvm::GlobalDCEPass());
  pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(whole)));
  pipeline.run(ir, modules);
}

}  // namespace cucore::cpu::codegen
