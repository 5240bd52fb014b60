// Steps three and four: declare everything a kernel reaches in one LLVM module, then emit the bodies and the entry
// points that the run-time calls.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cpu/abi/symbols.hpp"
#include "cpu/analysis/flow/reach.hpp"
#include "cpu/analysis/layout/layout.hpp"
#include "cpu/compiler/debug/debug_information.hpp"
#include "cpu/compiler/debug/instruction_lines.hpp"
#include "cpu/compiler/ir/llvm.hpp"
#include "cpu/error/result.hpp"

namespace cucore::cpu::compiler {

struct BodySteps;

/// Instructions of the host that generators use directly.
struct HostFeatures {
  bool f16c = false;     ///< conversion of halves
  bool avx512f = false;  ///< a rounding mode in the instruction
  bool fpclass = false;  ///< classes of numbers in vectors of any width
};

/// Every PTX function becomes `i1 name(ptr thread, ptr result..., ptr parameter...)`: results and parameters are
/// passed in memory that the caller owns, as PTX has it; the returned bit says that the thread has exited.
class ModuleEmitter {
 public:
  /// `block`: the shape of block that the code is for, or null if it is for any. `checks`: of check_class.
  ModuleEmitter(const ptx::Module& module, const analysis::Reach& reach, const analysis::Layout& layout,
                llvm::LLVMContext& context, llvm::Module& ir, HostFeatures host, const std::uint32_t* block = nullptr,
                std::uint32_t checks = 0);

  /// Has debug information emitted with the rest, in place of the numbers of instructions; to be called first.
  void describe_for_debuggers() { debug_ = std::make_unique<DebugInformation>(module, ir); }

  void declare();
  /// InvalidPtx, with the line, for the first instruction that turns out to have no meaning.
  Result<void> emit_bodies(const BodySteps& steps);
  void emit_entry_points(bool by_thread);
  llvm::Function* kernel() const { return functions_.at(reach.functions.front()); }

  const ptx::Module& module;
  const analysis::Reach& reach;
  const analysis::Layout& layout;
  llvm::LLVMContext& context;
  llvm::Module& ir;
  const HostFeatures host;
  const std::uint32_t* const block_shape;
  const std::uint32_t checks;  ///< of check_class::access_checks, to be emitted
  const bool checks_numbers;

  /// Null if it is not asked for.
  DebugInformation* debug() const { return debug_.get(); }

  /// Notes that `instruction` cannot be emitted after all.
  void fail(std::string_view what, const ptx::Instruction& instruction);

  llvm::Function* function(ptx::FunctionId id) const { return functions_.at(id); }
  /// Of a function's first instruction (instruction_lines.hpp).
  std::uint32_t first_number(ptx::FunctionId id) const { return first_numbers_.at(id); }
  llvm::Constant* variable(ptx::VariableId id);
  llvm::Constant* kernel_address(ptx::FunctionId id);

  /// A service or built-in, declared on first use with the types of its arguments.
  llvm::FunctionCallee external(std::string_view name, llvm::Type* result, llvm::ArrayRef<llvm::Type*> arguments);

 private:
  llvm::Constant* address(const std::string& symbol);
  void emit_run_thread();
  void emit_run_block();

  std::map<ptx::FunctionId, llvm::Function*> functions_;
  std::map<ptx::FunctionId, std::uint32_t> first_numbers_;
  std::optional<InstructionLines> lines_;  ///< if there is no debug_
  std::unique_ptr<DebugInformation> debug_;
  Result<void> emitted_;  ///< or the first failure
};

}  // namespace cucore::cpu::compiler
