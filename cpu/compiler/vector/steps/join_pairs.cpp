// Two accesses made one: see join_pairs.hpp.
#include "cpu/compiler/vector/steps/join_pairs.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "cpu/compiler/vector/analysis/state_fields.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

constexpr unsigned word = 32;  // bits: two of them are the widest element that is gathered or scattered

/// A simple access of one word: where, as an address and bytes from there.
struct Access {
  Instruction* instruction;
  const Value* base;
  std::int64_t offset;
  llvm::Type* type;
};

bool is_store(const Access& access) { return llvm::isa<llvm::StoreInst>(access.instruction); }

std::optional<Access> access_of(Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  if (!(load != nullptr && load->isSimple()) && !(store != nullptr && store->isSimple())) return {};
  llvm::Type* type = llvm::getLoadStoreType(&instruction);
  if (!(type->isIntegerTy(word) || type->isFloatTy())) return {};
  llvm::APInt offset(64, 0);
  const Value* base = llvm::getLoadStorePointerOperand(&instruction)
                          ->stripAndAccumulateConstantOffsets(instruction.getDataLayout(), offset, true);
  return Access{&instruction, base, offset.getSExtValue(), type};
}

bool is_thread_field(const Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load != nullptr && thread_field(load->getPointerOperand(), *load->getFunction()).has_value();
}

/// Loads of both words at the first, stores at the second: nothing between them touches memory but loads before loads.
void join(const Access& first, const Access& second) {
  const Access& low = first.offset < second.offset ? first : second;
  const Access& high = first.offset < second.offset ? second : first;
  auto* type = llvm::FixedVectorType::get(low.type, 2);
  Value* address = low.instruction->getOperand(is_store(low) ? 1 : 0);
  const llvm::Align alignment = llvm::getLoadStoreAlignment(low.instruction);
  llvm::IRBuilder<> b(is_store(first) ? second.instruction : first.instruction);
  if (is_store(first)) {
    Value* pair = llvm::PoisonValue::get(type);
    pair = b.CreateInsertElement(pair, low.instruction->getOperand(0), std::uint64_t{0});
    pair = b.CreateInsertElement(pair, high.instruction->getOperand(0), std::uint64_t{1});
    b.CreateAlignedStore(pair, address, alignment);
  } else {
    if (&low == &second) {  // an address that may be computed after the first load
      address = first.instruction->getOperand(0);
      address = b.CreateConstGEP1_64(b.getInt8Ty(), address, static_cast<std::uint64_t>(second.offset - first.offset));
    }
    Value* pair = b.CreateAlignedLoad(type, address, alignment);
    low.instruction->replaceAllUsesWith(b.CreateExtractElement(pair, std::uint64_t{0}));
    high.instruction->replaceAllUsesWith(b.CreateExtractElement(pair, std::uint64_t{1}));
  }
  low.instruction->eraseFromParent();
  high.instruction->eraseFromParent();
}

}  // namespace

bool join_pairs(const ControlFlow& flow, const StrideAnalysis& strides) {
  constexpr std::int64_t bytes = word / 8;
  bool changed = false;
  for (llvm::BasicBlock* block : flow.order) {
    std::vector<Access> open;  // loads, or one store, with no other access behind them
    for (Instruction& instruction : llvm::make_early_inc_range(*block)) {
      if (!instruction.mayReadOrWriteMemory() || is_thread_field(instruction)) continue;
      const auto access = access_of(instruction);
      if (!access || (!open.empty() && is_store(*access) != is_store(open.front()))) open.clear();
      if (!access) continue;
      const auto other = std::find_if(open.begin(), open.end(), [&](const Access& each) {
        return each.base == access->base && each.type == access->type &&
               std::abs(each.offset - access->offset) == bytes;
      });
      const Stride address = strides.of(llvm::getLoadStorePointerOperand(&instruction));
      const bool is_near = address.is_same_in_chunk() || (address.is_strided() && std::abs(address.step) < 2 * bytes);
      if (other != open.end() && !is_near) {
        join(*other, *access);
        open.erase(other);
        changed = true;
      } else {
        if (is_store(*access)) open.clear();
        open.push_back(*access);
      }
    }
  }
  return changed;
}

}  // namespace cucore::cpu::compiler
