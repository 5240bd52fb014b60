// Store-to-load forwarding: see forward_stores.hpp.
#include "cpu/compiler/passes/forward_stores.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>
#include <optional>

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// Bytes from an address on.
struct Place {
  const Value* base;
  std::int64_t begin;
  std::int64_t end;
};

/// What a store left in memory.
struct Stored {
  std::int64_t end;
  Value* value;
  llvm::StoreInst* unread;  ///< the store if nothing can have read it from memory
};

/// A load of all lanes, or of those of a mask.
struct Load {
  Place place;  ///< from the first lane that is loaded to the last
  std::int64_t origin;
  Value* mask;  ///< null: all lanes
  Value* other_lanes;
};

std::int64_t size_of(const llvm::Type* type) { return static_cast<std::int64_t>(type->getScalarSizeInBits() / 8); }

std::int64_t elements_of(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr ? vector->getNumElements() : 1;
}

class ForwardStores {
 public:
  explicit ForwardStores(llvm::BasicBlock& block) : block_(block), layout_(block.getDataLayout()) {}

  bool run() {
    for (Instruction& instruction : llvm::make_early_inc_range(block_)) {
      if (!instruction.mayReadOrWriteMemory()) continue;
      if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store != nullptr && store->isSimple()) {
        keep(*store);
      } else if (const auto load = load_of(instruction)) {
        forward(instruction, *load);
      } else if (instruction.mayWriteToMemory()) {
        stored_.clear();
      } else {
        mark_all_read();
      }
    }
    return changed_;
  }

 private:
  static bool is_plain(const llvm::Type* type) {
    const llvm::Type* element = type->getScalarType();
    return (element->isIntegerTy() || element->isFloatingPointTy()) && element->getScalarSizeInBits() % 8 == 0 &&
           !llvm::isa<llvm::ScalableVectorType>(type);
  }

  Place place_of(const Value* pointer, llvm::Type* type) const {
    llvm::APInt offset(64, 0);
    const Value* base = pointer->stripAndAccumulateConstantOffsets(layout_, offset, true);
    const std::int64_t begin = offset.getSExtValue();
    return {base, begin, begin + static_cast<std::int64_t>(layout_.getTypeStoreSize(type).getFixedValue())};
  }

  std::optional<Load> load_of(Instruction& instruction) const {
    llvm::Type* type = instruction.getType();
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load != nullptr && load->isSimple()) {
      const Place place = place_of(load->getPointerOperand(), type);
      return Load{place, place.begin, nullptr, nullptr};
    }
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call == nullptr || call->getIntrinsicID() != llvm::Intrinsic::masked_load) return {};
    Place place = place_of(call->getArgOperand(0), type);
    const std::int64_t origin = place.begin;
    if (const auto* mask = llvm::dyn_cast<llvm::Constant>(call->getArgOperand(2))) {
      auto is_loaded = [&](std::int64_t lane) {
        return !mask->getAggregateElement(static_cast<unsigned>(lane))->isZeroValue();
      };
      while (place.begin < place.end && !is_loaded((place.begin - origin) / size_of(type)))
        place.begin += size_of(type);
      while (place.begin < place.end && !is_loaded((place.end - origin) / size_of(type) - 1))
        place.end -= size_of(type);
    }
    return Load{place, origin, call->getArgOperand(2), call->getArgOperand(3)};
  }

  /// The first of the stores, in order, that overlap a place.
  std::map<std::int64_t, Stored>::iterator first_at(const Place& place) {
    auto at = stored_.upper_bound(place.begin);
    if (at != stored_.begin() && std::prev(at)->second.end > place.begin) --at;
    return at;
  }

  void keep(llvm::StoreInst& store) {
    Value* value = store.getValueOperand();
    const Place place = place_of(store.getPointerOperand(), value->getType());
    if (place.base != base_) stored_.clear();  // it may be the same memory
    base_ = place.base;
    auto at = first_at(place);
    while (at != stored_.end() && at->first < place.end) {
      if (at->first >= place.begin && at->second.end <= place.end && at->second.unread != nullptr) {
        at->second.unread->eraseFromParent();
        changed_ = true;
      }
      at = stored_.erase(at);
    }
    if (is_plain(value->getType())) stored_[place.begin] = {place.end, value, &store};
  }

  void mark_all_read() {
    for (auto& [begin, each] : stored_) each.unread = nullptr;
  }

  void forward(Instruction& instruction, const Load& load) {
    if (load.place.base != base_) return mark_all_read();  // it may be the same memory
    if (Value* made = load.place.begin < load.place.end ? make(instruction, load) : nullptr) {
      instruction.replaceAllUsesWith(made);
      instruction.eraseFromParent();
      changed_ = true;
      return;
    }
    for (auto at = first_at(load.place); at != stored_.end() && at->first < load.place.end; ++at)
      at->second.unread = nullptr;
  }

  /// The loaded value of one store or two, where it is first used; null if they do not cover it or are of other types.
  Value* make(Instruction& instruction, const Load& load) {
    llvm::Type* type = instruction.getType();
    const auto first = first_at(load.place);
    if (first == stored_.end() || first->first > load.place.begin) return nullptr;
    const bool is_one = first->second.end >= load.place.end;
    const auto second = is_one ? first : std::next(first);
    if (second == stored_.end() || second->second.end < load.place.end ||
        (!is_one && second->first != first->second.end))
      return nullptr;
    Value* low = first->second.value;
    Value* high = second->second.value;
    const std::int64_t size = size_of(type);
    const std::int64_t start = load.origin - first->first;
    if (!is_plain(type) || low->getType() != high->getType() ||
        low->getType()->getScalarType() != type->getScalarType() || start % size != 0)
      return nullptr;
    if (load.mask == nullptr && is_one && low->getType() == type) return low;
    // One element of a vector is better loaded: that broadcasts it, too.
    if (!low->getType()->isVectorTy() || !type->isVectorTy()) return nullptr;
    llvm::IRBuilder<> b(first_use(instruction));
    llvm::SmallVector<int, 64> picks;
    for (std::int64_t lane = 0; lane < elements_of(type); ++lane) {
      const std::int64_t at = load.origin + lane * size;
      picks.push_back(at < load.place.begin || at >= load.place.end ? -1 : static_cast<int>(start / size + lane));
    }
    Value* made = b.CreateShuffleVector(low, high, picks);
    return load.mask == nullptr ? made : b.CreateSelect(load.mask, made, load.other_lanes);
  }

  Instruction* first_use(Instruction& instruction) const {
    Instruction* first = nullptr;
    for (llvm::User* user : instruction.users()) {
      auto* use = llvm::cast<Instruction>(user);
      if (use->getParent() != &block_ || llvm::isa<llvm::PHINode>(use)) return &instruction;
      if (first == nullptr || use->comesBefore(first)) first = use;
    }
    return first != nullptr ? first : &instruction;
  }

  llvm::BasicBlock& block_;
  const llvm::DataLayout& layout_;
  const Value* base_ = nullptr;  ///< of the last store: only what lies from there on is known
  std::map<std::int64_t, Stored> stored_;
  bool changed_ = false;
};

}  // namespace

llvm::PreservedAnalyses ForwardStoresPass::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  bool changed = false;
  for (llvm::BasicBlock& block : function) changed |= ForwardStores(block).run();
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace cucore::cpu::compiler
