// Barriers of a block that several groups make up: a group returns at a barrier and goes on from there when its turn
// comes again. What lives across the barrier waits in the group's frame, where values that never wait together share
// memory. Between barriers LLVM sees straight code: what a stretch does not use is not fetched.
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <bit>

#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

/// Something that waits in the frame, and at which barriers.
struct Waiting {
  std::uint64_t bytes;
  std::uint64_t alignment;
  llvm::SmallVector<std::uint64_t, 4> barriers;  ///< bits
  std::uint64_t offset = 0;

  bool meets(const Waiting& other) const {
    for (std::size_t word = 0; word < barriers.size(); ++word) {
      if ((barriers[word] & other.barriers[word]) != 0) return true;
    }
    return false;
  }
};

/// The lowest place that nothing takes that waits at the same time. The largest come first.
std::uint64_t place(std::vector<Waiting>& all) {
  std::vector<Waiting*> by_size;
  for (Waiting& each : all) by_size.push_back(&each);
  std::stable_sort(by_size.begin(), by_size.end(),
                   [](const Waiting* a, const Waiting* b) { return a->bytes > b->bytes; });
  std::uint64_t total = 0;
  for (std::size_t n = 0; n < by_size.size(); ++n) {
    Waiting& mine = *by_size[n];
    std::vector<const Waiting*> taken;
    for (std::size_t other = 0; other < n; ++other) {
      if (mine.meets(*by_size[other])) taken.push_back(by_size[other]);
    }
    std::sort(taken.begin(), taken.end(), [](const Waiting* a, const Waiting* b) { return a->offset < b->offset; });
    for (const Waiting* other : taken) {
      if (mine.offset + mine.bytes <= other->offset) break;
      mine.offset = std::max(mine.offset, llvm::alignTo(other->offset + other->bytes, mine.alignment));
    }
    total = std::max(total, mine.offset + mine.bytes);
  }
  return total;
}

}  // namespace

std::vector<Instruction*> VectorEmitter::alive_after(BasicBlock* barrier) const {
  std::vector<Instruction*> live = flow_.live_in().lookup(barrier->getSingleSuccessor());
  std::erase_if(live, [&](Instruction* value) {
    return llvm::isa<llvm::AllocaInst>(value) || thread_field(value, scalar_).has_value();
  });
  return live;
}

/// Gives local variables, masks and all that lives across a barrier their places in the frame.
void VectorEmitter::lay_out_frame() {
  for (BasicBlock* block : flow_.order) {
    if (is_block_barrier(block->front())) barriers_.push_back(block);
  }
  auto number_of = [](const BasicBlock* barrier) {
    return llvm::cast<llvm::CallInst>(barrier->front()).getArgOperand(1);
  };
  if (std::any_of(barriers_.begin(), barriers_.end(),
                  [&](const BasicBlock* each) { return number_of(each) != number_of(barriers_.front()); }))
    return refuse("several barriers in a block of several groups");
  const std::size_t words = (barriers_.size() * 2 + 63) / 64;
  const llvm::DataLayout& layout = scalar_.getDataLayout();
  std::vector<Waiting> waiting;
  std::vector<std::pair<Instruction*, Version>> owners;
  llvm::DenseMap<Instruction*, std::size_t> found[2];
  for (std::size_t n = 0; n < barriers_.size(); ++n) {
    for (Instruction* value : alive_after(barriers_[n])) {
      for (const Version version : {Full, Masked}) {
        if (version == Masked && !has_masked_version_) continue;
        auto [at, is_new] = found[version].try_emplace(value, waiting.size());
        if (is_new) {
          const Slots& slots = slots_of(value, version);
          const auto part = layout.getTypeAllocSize(slots[0]->getAllocatedType()).getFixedValue();
          waiting.push_back({part * slots.size(), std::min<std::uint64_t>(std::bit_ceil(part), frame_alignment), {}});
          waiting.back().barriers.assign(words, 0);
          owners.emplace_back(value, version);
        }
        const std::size_t bit = 2 * n + version;
        waiting[at->second].barriers[bit / 64] |= std::uint64_t{1} << (bit % 64);
      }
    }
  }
  // Masks first, then what shares, then local variables, which live from beginning to end.
  frame_bytes_ = llvm::alignTo(layout.getTypeAllocSize(mask_type()).getFixedValue() * width_.chunks, frame_alignment);
  const std::uint64_t shared = place(waiting);
  for (std::size_t n = 0; n < waiting.size(); ++n) {
    const auto& [value, version] = owners[n];
    places_[version][value] = frame_bytes_ + waiting[n].offset;
  }
  frame_bytes_ = llvm::alignTo(frame_bytes_ + shared, frame_alignment);
}

Value* VectorEmitter::in_frame(std::uint64_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), group_->getArg(3), offset);
}

/// Returns at a barrier, and goes on behind it when called again with its number.
void VectorEmitter::emit_suspension(BasicBlock* barrier) {
  const auto number = std::find(barriers_.begin(), barriers_.end(), barrier) - barriers_.begin();
  llvm::ConstantInt* point = b.getInt32(first_barrier_point + 2 * static_cast<std::uint32_t>(number) + version_);
  const std::vector<Instruction*> live = alive_after(barrier);
  auto for_each_part = [&](const auto& act) {
    for (Instruction* value : live) {
      const Slots& slots = slots_of(value, version_);
      const std::uint64_t offset = places_[version_].lookup(value);
      const auto bytes = scalar_.getDataLayout().getTypeAllocSize(slots[0]->getAllocatedType()).getFixedValue();
      const llvm::Align alignment(std::min<std::uint64_t>(std::bit_ceil(bytes), frame_alignment));
      for (unsigned k = 0; k < slots.size(); ++k) {
        act(slots[k], in_frame(offset + k * bytes), llvm::commonAlignment(alignment, k * bytes));
      }
    }
  };
  for_each_part([&](llvm::AllocaInst* slot, Value* there, llvm::Align alignment) {
    b.CreateAlignedStore(b.CreateLoad(slot->getAllocatedType(), slot), there, alignment);
  });
  auto mask_place = [&](unsigned k) {
    return in_frame(k * scalar_.getDataLayout().getTypeAllocSize(mask_type()).getFixedValue());
  };
  if (is_masked()) {
    for (unsigned k = 0; k < width_.chunks; ++k) b.CreateStore(mask_[k], mask_place(k));
  }
  b.CreateRet(point);

  auto* resumes = new_block("resumes");
  resumption_->addCase(point, resumes);
  b.SetInsertPoint(resumes);
  known_.values.clear();
  known_.vectors.clear();
  mask_vectors_.assign(width_.chunks, nullptr);
  for_each_part([&](llvm::AllocaInst* slot, Value* there, llvm::Align alignment) {
    b.CreateStore(b.CreateAlignedLoad(slot->getAllocatedType(), there, alignment), slot);
  });
  if (!is_masked()) return;
  for (unsigned k = 0; k < width_.chunks; ++k) {
    mask_[k] = b.CreateLoad(mask_type(), mask_place(k));  // who waits here is who is alive
    b.CreateStore(mask_[k], alive_[k]);
  }
}

}  // namespace cucore::cpu::codegen
