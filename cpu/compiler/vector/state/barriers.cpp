// The frame of a group, and how it returns at a barrier and goes on behind it: see barriers.hpp.
#include "cpu/compiler/vector/state/barriers.hpp"

#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <bit>

#include "cpu/compiler/vector/analysis/state_fields.hpp"
#include "cpu/compiler/vector/analysis/versions.hpp"

namespace cucore::cpu::compiler {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

namespace {

/// Something that lives across barriers, and across which.
struct Waiting {
  std::uint64_t bytes;
  std::uint64_t alignment;
  llvm::SmallVector<std::uint64_t, 4> barriers;  ///< bits
  std::uint64_t offset = 0;

  bool waits_with(const Waiting& other) const {
    for (std::size_t word = 0; word < barriers.size(); ++word) {
      if ((barriers[word] & other.barriers[word]) != 0) return true;
    }
    return false;
  }
};

/// The lowest place that is free across the same barriers. The largest values come first.
std::uint64_t place(std::vector<Waiting>& all) {
  std::vector<Waiting*> by_size;
  for (Waiting& each : all) by_size.push_back(&each);
  std::sort(by_size.begin(), by_size.end(), [](const Waiting* a, const Waiting* b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;  // of the same size in the order of `all`
  });
  std::uint64_t total = 0;
  for (std::size_t n = 0; n < by_size.size(); ++n) {
    Waiting& mine = *by_size[n];
    std::vector<const Waiting*> taken;
    for (std::size_t other = 0; other < n; ++other) {
      if (mine.waits_with(*by_size[other])) taken.push_back(by_size[other]);
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

Barriers::Barriers(EmissionContext& context, VectorValues& values) : c_(context), values_(values), b(context.b) {
  if (!compiler::groups_wait(c_.flow, c_.width)) return;
  for (BasicBlock* block : c_.flow.order) {
    if (is_block_barrier(block->front())) barriers_.push_back(block);
  }
  lay_out_frame();
}

std::vector<Instruction*> Barriers::alive_after(BasicBlock* barrier, Version version) const {
  if (version == Masked && !c_.masked_blocks.has(barrier)) return {};
  std::vector<Instruction*> live = c_.flow.live_in().lookup(barrier->getSingleSuccessor());
  std::erase_if(live, [&](Instruction* value) {
    return llvm::isa<llvm::AllocaInst>(value) || thread_field(value, c_.scalar).has_value() ||
           (version == Masked && !c_.masked_blocks.needs(value));
  });
  return live;
}

/// Gives masks and all that lives across a barrier their places in the frame.
void Barriers::lay_out_frame() {
  const std::size_t words = (barriers_.size() * 2 + 63) / 64;
  const llvm::DataLayout& layout = c_.scalar.getDataLayout();
  std::vector<Waiting> waiting;
  std::vector<std::pair<Instruction*, Version>> owners;
  llvm::DenseMap<Instruction*, std::size_t> found[2];
  for (std::size_t n = 0; n < barriers_.size(); ++n) {
    for (const Version version : {Full, Masked}) {
      for (Instruction* value : alive_after(barriers_[n], version)) {
        auto [at, is_new] = found[version].try_emplace(value, waiting.size());
        if (is_new) {
          const Slots& slots = values_.slots_of(value, version);
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
  // Masks first, then what shares; then come local variables, which live from beginning to end.
  frame_bytes_ =
      llvm::alignTo(layout.getTypeAllocSize(c_.mask_type()).getFixedValue() * c_.width.chunks, frame_alignment);
  const std::uint64_t shared = place(waiting);
  for (std::size_t n = 0; n < waiting.size(); ++n) {
    const auto& [value, version] = owners[n];
    places_[version][value] = frame_bytes_ + waiting[n].offset;
  }
  frame_bytes_ = llvm::alignTo(frame_bytes_ + shared, frame_alignment);
}

Value* Barriers::in_frame(std::uint64_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), c_.frame(), offset);
}

Value* Barriers::place_local(std::uint64_t bytes) {
  Value* place = in_frame(frame_bytes_);
  frame_bytes_ += bytes;
  return place;
}

BasicBlock* Barriers::emit_resumption() {
  auto* start = c_.new_block("start");
  resumption_ = b.CreateSwitch(c_.point(), start);
  return start;
}

void Barriers::suspend(BasicBlock* barrier, const Slots& alive) {
  const auto number = std::find(barriers_.begin(), barriers_.end(), barrier) - barriers_.begin();
  llvm::ConstantInt* point = b.getInt32(first_barrier_point + 2 * static_cast<std::uint32_t>(number) + c_.version);
  const std::vector<Instruction*> live = alive_after(barrier, c_.version);
  auto for_each_part = [&](const auto& act) {
    for (Instruction* value : live) {
      const Slots& slots = values_.slots_of(value, c_.version);
      const std::uint64_t offset = places_[c_.version].lookup(value);
      const auto bytes = c_.scalar.getDataLayout().getTypeAllocSize(slots[0]->getAllocatedType()).getFixedValue();
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
    return in_frame(k * c_.scalar.getDataLayout().getTypeAllocSize(c_.mask_type()).getFixedValue());
  };
  if (c_.active.is_partial()) {
    for (unsigned k = 0; k < c_.width.chunks; ++k) b.CreateStore(c_.active.bits(k), mask_place(k));
  }
  b.CreateRet(point);

  auto* resumes = c_.new_block("resumes");
  resumption_->addCase(point, resumes);
  b.SetInsertPoint(resumes);
  c_.forget();
  for_each_part([&](llvm::AllocaInst* slot, Value* there, llvm::Align alignment) {
    b.CreateStore(b.CreateAlignedLoad(slot->getAllocatedType(), there, alignment), slot);
  });
  if (!c_.active.is_partial()) return;
  Parts waiting;
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    waiting.push_back(b.CreateLoad(c_.mask_type(), mask_place(k)));  // who waits here is who is alive
    b.CreateStore(waiting[k], alive[k]);
  }
  c_.active.set(waiting);
}

}  // namespace cucore::cpu::compiler
