// Removes checks that no access needs, and moves loads back to their checks: see prepare_checks.hpp.
#include "cpu/compiler/vector/steps/prepare_checks.hpp"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <cstddef>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/checks/marks.hpp"
#include "cpu/compiler/vector/analysis/checked_accesses.hpp"
#include "cpu/compiler/vector/analysis/ranges.hpp"
#include "cpu/compiler/vector/analysis/refusal.hpp"
#include "cpu/compiler/vector/analysis/state_fields.hpp"

namespace cucore::cpu::compiler {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

namespace {

bool has_accesses_only(const Value& address) {
  return std::all_of(address.user_begin(), address.user_end(), [&](const llvm::User* user) {
    const auto* instruction = llvm::dyn_cast<Instruction>(user);
    if (instruction == nullptr) return false;
    if (llvm::isa<llvm::GetElementPtrInst>(instruction)) return has_accesses_only(*instruction);
    return address_of_access(*instruction) == &address &&
           std::count(user->value_op_begin(), user->value_op_end(), &address) == 1;
  });
}

bool is_shared_window(const Value* pointer, const llvm::Function& scalar) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(pointer);
  return load != nullptr && block_field(load->getPointerOperand(), scalar) == offsetof(BlockState, shared);
}

/// Whether the access is in one of the variables and aligned for all threads of a block.
bool is_within(const std::vector<SharedVariable>& shared, const LaneMark& mark, const llvm::Function& scalar,
               const VectorWidth& width) {
  llvm::ConstantRange place(llvm::APInt(64, 0));
  unsigned zeros = 4;  // of the window
  const Value* address = mark.address;
  while (const auto* offset = llvm::dyn_cast<llvm::GetElementPtrInst>(address)) {
    if (!offset->getSourceElementType()->isIntegerTy(8) || offset->getNumIndices() != 1) return false;
    const Value* index = offset->getOperand(1);
    if (!index->getType()->isIntegerTy(64)) return false;
    place = place.add(range_in_block(index, scalar, width));
    zeros = std::min(zeros, llvm::computeKnownBits(index, scalar.getDataLayout()).countMinTrailingZeros());
    address = offset->getPointerOperand();
  }
  if (!is_shared_window(address, scalar) || place.isFullSet() || place.isWrappedSet()) return false;
  if (mark.alignment > std::uint64_t{1} << zeros) return false;
  const std::uint64_t first = place.getUnsignedMin().getZExtValue();
  const std::uint64_t last = place.getUnsignedMax().getZExtValue();
  const std::uint64_t bytes = llvm::cast<llvm::ConstantInt>(mark.bytes)->getZExtValue();
  return std::any_of(shared.begin(), shared.end(), [&](const SharedVariable& variable) {
    return first >= variable.offset && bytes <= variable.bytes && last - variable.offset <= variable.bytes - bytes;
  });
}

/// The optimiser may have moved loads to where their results are used, behind a loop: back to where they were asked
/// for.
void bring_loads_to_checks(llvm::Function& scalar) {
  std::vector<Instruction*> addresses;
  for (Instruction& instruction : llvm::instructions(scalar))
    if (is_mark(instruction, lanes_mark)) addresses.push_back(&instruction);
  for (std::size_t n = 0; n < addresses.size(); ++n) {
    Instruction& address = *addresses[n];
    for (llvm::User* const user : address.users()) {
      auto* const moved = llvm::dyn_cast<Instruction>(user);
      const auto* const part = llvm::dyn_cast_or_null<llvm::GetElementPtrInst>(moved);
      if (part != nullptr && part->hasAllConstantIndices()) {
        addresses.push_back(moved);
      } else if (!llvm::isa_and_nonnull<llvm::LoadInst>(moved)) {
        continue;
      }
      if (moved->getParent() != address.getParent()) moved->moveAfter(&address);
    }
  }
}

/// Whether each access by an address with a check can be told from the code alone.
bool checks_stay_with_accesses(const llvm::Function& scalar) {
  for (const llvm::BasicBlock& block : scalar)
    for (const Instruction& instruction : block)
      if (is_mark(instruction, lanes_mark) && !has_accesses_only(instruction)) return false;
  return true;
}

/// Removes checks that always hold in such a block: of addresses in the static `shared` variables that are computed
/// from the thread's index.
void drop_needless_checks(llvm::Function& scalar, const VectorWidth& width, const std::vector<SharedVariable>& shared) {
  std::vector<CallInst*> needless;
  for (Instruction& instruction : llvm::instructions(scalar)) {
    if (!is_mark(instruction, lanes_mark)) continue;
    auto& call = llvm::cast<CallInst>(instruction);
    if (is_within(shared, LaneMark(call), scalar, width)) needless.push_back(&call);
  }
  for (CallInst* const call : needless) {
    const LaneMark mark(*call);
    call->replaceAllUsesWith(mark.address);
    call->eraseFromParent();
    for (Value* const value : {mark.first, mark.interval}) llvm::RecursivelyDeleteTriviallyDeadInstructions(value);
  }
}

}  // namespace

Result<void> prepare_checks(llvm::Function& scalar, const std::uint32_t* block,
                            const std::vector<SharedVariable>& shared) {
  VectorWidth width;
  std::copy_n(block, 3, width.block);
  drop_needless_checks(scalar, width, shared);
  bring_loads_to_checks(scalar);
  if (!checks_stay_with_accesses(scalar)) return refusal("an address of several checked accesses");
  return {};
}

}  // namespace cucore::cpu::compiler
