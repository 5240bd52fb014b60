// LLVM's passes over control flow: see normalise.hpp.
#include "cpu/compiler/vector/steps/normalise.hpp"

#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/Scalar/JumpThreading.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/UnifyFunctionExitNodes.h>

#include "cpu/compiler/cost/cost_model.hpp"
#include "cpu/compiler/ir/analyses.hpp"

namespace cucore::cpu::compiler {

void normalise(llvm::Function& scalar) {
  Analyses analyses;
  llvm::FunctionPassManager passes;
  // A test that was made before is not made again: reductions of libraries and what uses their result on one thread.
  passes.addPass(llvm::JumpThreadingPass(cost_model::most_copied_instructions));
  // Tests one after the other, as of an index on several axes, become one branch.
  passes.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().bonusInstThreshold(cost_model::cheap_test)));
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::UnifyFunctionExitNodesPass());
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.run(scalar, analyses.functions);
}

}  // namespace cucore::cpu::compiler
