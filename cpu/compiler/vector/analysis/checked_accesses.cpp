// Which access a check stands before: see checked_accesses.hpp.
#include "cpu/compiler/vector/analysis/checked_accesses.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/checks/number_marks.hpp"

namespace cucore::cpu::compiler {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

Value* address_of_access(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::Load:
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return instruction.getOperand(0);
    case Instruction::Store:
      return instruction.getOperand(1);
    default:
      return nullptr;
  }
}

CallInst* check_of(const Instruction& access) {
  Value* address = address_of_access(access);
  while (auto* offset = llvm::dyn_cast<llvm::GetElementPtrInst>(address)) address = offset->getPointerOperand();
  auto* call = llvm::dyn_cast<CallInst>(address);
  return call != nullptr && is_mark(*call, lanes_mark) ? call : nullptr;
}

bool has_one_access(const Instruction& address) {
  if (!address.hasOneUse()) return false;
  const auto* user = llvm::cast<Instruction>(*address.user_begin());
  if (user->getParent() != address.getParent()) return false;
  return !llvm::isa<llvm::GetElementPtrInst>(user) || has_one_access(*user);
}

bool is_accessed_elsewhere(const Instruction& address, const llvm::BasicBlock& block) {
  return std::any_of(address.user_begin(), address.user_end(), [&](const llvm::User* user) {
    const auto& instruction = *llvm::cast<Instruction>(user);
    return instruction.getParent() != &block ||
           (llvm::isa<llvm::GetElementPtrInst>(instruction) && is_accessed_elsewhere(instruction, block));
  });
}

bool is_for_checks(const Instruction& instruction) {
  if (is_mark(instruction, lanes_mark) || is_number_mark(instruction)) return true;
  return !instruction.use_empty() && !llvm::isa<llvm::PHINode>(instruction) &&
         std::all_of(instruction.use_begin(), instruction.use_end(), [](const llvm::Use& use) {
           const auto& user = llvm::cast<Instruction>(*use.getUser());
           return is_for_checks(user) &&
                  !(is_mark(user, lanes_mark) && use == LaneMark(llvm::cast<CallInst>(user)).address);
         });
}

unsigned size_without_checks(const llvm::BasicBlock& block) {
  return static_cast<unsigned>(
      std::count_if(block.begin(), block.end(), [](const Instruction& each) { return !is_for_checks(each); }));
}

unsigned size_without_checks(const llvm::Function& scalar) {
  unsigned size = 0;
  for (const llvm::BasicBlock& block : scalar) size += size_without_checks(block);
  return size;
}

}  // namespace cucore::cpu::compiler
