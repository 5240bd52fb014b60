// What the vector form does lane by lane: a loop over the active lanes, through memory from which each takes its inputs
// and to which it gives its results.
#pragma once

#include <functional>
#include <vector>

#include "cpu/compiler/vector/state/values.hpp"

namespace cucore::cpu::compiler {

class LaneLoop {
 public:
  LaneLoop(EmissionContext& context, VectorValues& values) : c_(context), values_(values), b(context.b) {}

  /// Of a lane's number in the group and its inputs: its results.
  using Body = std::function<Parts(llvm::Value* lane, llvm::ArrayRef<llvm::Value*>)>;

  /// Runs `body` for each active lane in ascending order. If all lanes are active, an iteration takes several.
  std::vector<VectorValue> for_each(llvm::ArrayRef<llvm::Value*> inputs, llvm::ArrayRef<llvm::Type*> results,
                                    const Body& body, unsigned lanes_in_iteration = 1);

 private:
  /// A value of each lane, and the operations that make an input of it, the last one first.
  struct Input {
    llvm::Value* source;
    llvm::SmallVector<llvm::Instruction*, 4> operations;
  };

  /// Code for one lane or several from `lane` on, up to where `end` goes on to the next.
  struct Iteration {
    llvm::Value* lane;
    std::function<void()> end;
  };
  Iteration begin_all(unsigned at_once);
  Iteration begin_active();

  /// The value to store for a lane's input: perhaps the input itself. An address is often computed from an index of
  /// fewer bits, which takes less room.
  Input input_of(llvm::Value* input);
  /// The input of one lane, of its source.
  llvm::Value* made_of(llvm::Value* source, const Input& input);

  EmissionContext& c_;
  VectorValues& values_;
  llvm::IRBuilder<>& b;
};

}  // namespace cucore::cpu::compiler
