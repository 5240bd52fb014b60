// Emits one PTX function as scalar LLVM IR: the reference form, one device thread per call.
//
// Every PTX register becomes a stack slot (LLVM's SROA makes SSA values of them), and every basic block of the PTX one
// LLVM block. Every instruction is emitted by its family's generator, which reads operands with `source` and writes
// results with `define`. Values travel in the LLVM type of their PTX type: integers of the same width for .b .u .s and
// packed types and halves, float and double, i1 for predicates.
#pragma once

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "cpu/analysis/flow/control_flow.hpp"
#include "cpu/analysis/flow/waiting_loops.hpp"
#include "cpu/analysis/instructions/number_checks.hpp"
#include "cpu/analysis/instructions/special_registers.hpp"
#include "cpu/compiler/emitters/check_groups.hpp"
#include "cpu/compiler/emitters/flushed_values.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

class FunctionEmitter;

/// A generator: emits one instruction at the emitter's position.
using Generate = void (*)(FunctionEmitter&, const ptx::Instruction&);

/// The parts of a body that folders above this one supply: an instruction, by its generator and with its checks; and in
/// checked code, the begin and end of a local variable's lifetime.
struct BodySteps {
  Generate emit_instruction;
  void (*emit_enter)(FunctionEmitter& f, llvm::Value* variable, const ptx::Variable& declared);
  void (*emit_leave)(FunctionEmitter& f, llvm::Value* variable, const ptx::Variable& declared);
};

class FunctionEmitter {
 public:
  FunctionEmitter(ModuleEmitter& module, ptx::FunctionId id, const BodySteps& steps);

  void emit();

  // What generators use.

  llvm::IRBuilder<> b;
  ModuleEmitter& module;
  const ptx::Function& function;
  const FlushedValues flushed_values;

  llvm::Type* type_of(ptx::Type type);
  llvm::IntegerType* bits_of(ptx::Type type);

  /// The value of an operand, read as `type`: registers of another type are reinterpreted, wider ones truncated.
  llvm::Value* source(const ptx::Operand& operand, ptx::Type type);
  llvm::Value* predicate(const ptx::Operand& operand) { return source(operand, ptx::Type::Pred); }

  /// Writes an operand. A wider register is extended by the signedness of `type`; `_` takes nothing.
  void define(const ptx::Operand& operand, llvm::Value* value, ptx::Type type);

  /// The elements of a `{...}` operand or of a whole vector register; any other operand is its only element.
  std::vector<ptx::Operand> elements(const ptx::Operand& operand) const;

  /// Host pointer for an `[address]` operand in the given space.
  llvm::Value* pointer(const ptx::Operand& address, ptx::Space space);

  /// From now on accesses by this operand use this pointer, if it is not null.
  void set_checked_pointer(const ptx::Operand* address, llvm::Value* pointer) {
    checked_address_ = address;
    checked_pointer_ = pointer;
  }

  /// Host pointer to a variable in any space.
  llvm::Value* variable_pointer(const ptx::Operand& operand);
  const ptx::Variable& variable(const ptx::Operand& operand) const;
  /// The address of a local variable, given its lowest 32 bits.
  llvm::Value* local_address(llvm::Value* lowest);

  llvm::Value* thread() const { return body_->getArg(0); }
  /// What `.shared` addresses are offsets from: the block's window, or in a kernel that names other blocks the windows
  /// of the cluster.
  llvm::Value* shared_base() const { return shared_base_; }
  /// The block's own window.
  llvm::Value* own_shared() const { return own_shared_; }
  llvm::Value* special(const ptx::SpecialRegister& special);

  /// The carry flag that .cc instructions write and addc, subc and madc read.
  llvm::AllocaInst* carry_flag();

  /// A stack slot of the function.
  llvm::AllocaInst* slot(llvm::Type* type, const llvm::Twine& name, unsigned alignment = 0);

  llvm::Value* call(std::string_view name, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Value* intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type*> types,
                         llvm::ArrayRef<llvm::Value*> arguments);

  /// The LLVM block to branch to from the current PTX block for `target`: its own, or one that yields first.
  llvm::BasicBlock* edge_to(analysis::BlockId target);
  llvm::BasicBlock* edge_to_label(ptx::LabelId label) { return edge_to(flow_.target(function, label)); }
  llvm::BasicBlock* new_block(const llvm::Twine& name);

  /// Leaves the function; `exited` says whether the thread ends with it.
  void leave(bool exited);
  /// Leaves with the thread ended if `exited` is true.
  void leave_if(llvm::Value* exited);

  /// A field of the launch or block, which nothing changes while a thread runs.
  llvm::Value* invariant_field(llvm::Type* type, llvm::Value* base, std::size_t offset);
  llvm::Value* thread_field(llvm::Type* type, std::size_t offset);
  /// An index of a thread, known to be less than `count` unless that is 0.
  llvm::Value* thread_index_field(std::size_t offset, std::uint32_t count);
  /// The group of accesses that an instruction's checks share with others, or null.
  CheckGroup* check_group(const ptx::Instruction& instruction) const;
  /// Whether a register only copies values, for checks of uninitialised reads: see copied_values.hpp.
  bool only_carries(const ptx::Operand& value) const;
  /// A volatile access by which lanes of a warp that run in step exchange values, in a kernel that relies on it; not
  /// one by which they wait for one another.
  bool is_exchange_in_lockstep(const ptx::Instruction& instruction) const;
  /// By a plain access, whose order among others must then stay (plain_exchanges.hpp).
  bool is_plain_exchange(const ptx::Instruction& instruction) const;
  /// Which numbers are looked at, in code that is checked so.
  const analysis::NumberChecks& number_checks() const { return *number_checks_; }
  llvm::Value* block_state() const { return block_state_; }
  llvm::Value* launch_state() const { return launch_state_; }

 private:
  struct Slot {
    llvm::AllocaInst* storage;
    llvm::Type* type;
  };

  void emit_prologue();
  void describe_variables();
  void emit_block(analysis::BlockId id);
  void emit_instruction(const ptx::Instruction& instruction);
  void emit_lockstep_point(const ptx::Instruction& instruction);
  std::uint32_t index_of(const ptx::Instruction& instruction) const {
    return static_cast<std::uint32_t>(&instruction - function.body.data());
  }
  llvm::Type* storage_type(ptx::RegisterId id) const;
  const Slot& slot_of(const ptx::Operand& operand);
  llvm::Value* literal(const ptx::Operand& operand, ptx::Type type);
  llvm::Value* convert_bits(llvm::Value* value, llvm::Type* to, bool sign_extend);

  ptx::FunctionId id_;
  const BodySteps& steps_;
  llvm::Function* body_;
  analysis::ControlFlow flow_;
  analysis::WaitingEdges waiting_edges_;
  std::set<analysis::BlockId> waiting_blocks_;  ///< where it matters for checks
  analysis::BlockId current_ = 0;
  std::vector<llvm::BasicBlock*> blocks_;
  std::vector<std::vector<Slot>> registers_;        ///< by register, one slot per component
  std::vector<std::int32_t> float_uses_;            ///< by register: uses as a float minus uses as an integer
  std::vector<llvm::Value*> variables_;             ///< by function variable: pointer, or null
  std::vector<ptx::VariableId> checked_variables_;  ///< whose life the checker follows
  std::vector<bool> only_carries_;                  ///< by register
  CheckGroups check_groups_;                        ///< of the current block, in checked code
  std::optional<analysis::NumberChecks> number_checks_;
  const ptx::Operand* checked_address_ = nullptr;
  llvm::Value* checked_pointer_ = nullptr;
  llvm::AllocaInst* carry_flag_ = nullptr;
  const ptx::Instruction* current_instruction_ = nullptr;
  llvm::Value* block_state_ = nullptr;
  llvm::Value* launch_state_ = nullptr;
  llvm::Value* shared_base_ = nullptr;
  llvm::DISubprogram* described_ = nullptr;  ///< for debuggers; null if it is not asked for
  llvm::Value* own_shared_ = nullptr;
};

}  // namespace cucore::cpu::compiler
