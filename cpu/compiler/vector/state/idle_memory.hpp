// Memory for inactive lanes to access where an access must be made.
#pragma once

#include "cpu/compiler/vector/state/context.hpp"

namespace cucore::cpu::compiler {

class IdleMemory {
 public:
  explicit IdleMemory(EmissionContext& context)
      : c_(context), slot_(c_.slot(llvm::ArrayType::get(c_.b.getInt8Ty(), 64), "idle")) {
    slot_->setAlignment(llvm::Align(64));
  }

  llvm::Value* address() const { return slot_; }
  /// The address, or idle memory for a chunk that has no active lane.
  llvm::Value* instead_if_idle(llvm::Value* address, unsigned chunk) {
    return c_.active.is_partial() ? c_.b.CreateSelect(c_.active.is_chunk_active(chunk), address, slot_) : address;
  }
  /// The address, or idle memory if no lane is active.
  llvm::Value* instead_if_none(llvm::Value* address) { return c_.b.CreateSelect(c_.active.any(), address, slot_); }

 private:
  EmissionContext& c_;
  llvm::AllocaInst* const slot_;
};

}  // namespace cucore::cpu::compiler
