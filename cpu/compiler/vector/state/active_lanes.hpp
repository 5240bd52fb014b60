// The lanes for which code is emitted: all of the group, or those of a mask.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// By chunk, or one for all of them.
using Parts = llvm::SmallVector<llvm::Value*, 8>;

class ActiveLanes {
 public:
  ActiveLanes(llvm::IRBuilder<>& builder, unsigned lanes, unsigned chunks) : b(builder), lanes_(lanes) {
    set_all(chunks);
  }

  enum class Kind : std::uint8_t { All, Some, SomeOrNone };

  void set_all() { set_all(static_cast<unsigned>(bits_.size())); }
  void set(Parts bits, Kind kind = Kind::Some);
  /// Vectors made of the mask are known in one LLVM block only.
  void forget_vectors() { vectors_.assign(bits_.size(), nullptr); }

  /// Whether there is a mask.
  bool is_partial() const { return kind_ != Kind::All; }
  bool may_be_none() const { return kind_ == Kind::SomeOrNone; }
  llvm::ArrayRef<llvm::Value*> bits() const { return bits_; }
  llvm::Value* bits(unsigned chunk) const { return bits_[chunk]; }
  /// The lanes of a whole warp, as 32 bits.
  llvm::Value* bits_of_warp(unsigned warp);
  /// The lanes of a chunk as a vector of i1.
  llvm::Value* vector(unsigned chunk);
  llvm::Value* is_chunk_active(unsigned chunk) { return b.CreateIsNotNull(bits_[chunk]); }
  llvm::Value* any();
  /// The highest lane of a chunk that is active; any lane if none is.
  llvm::Value* last(unsigned chunk);

  /// What it was, to return to it.
  struct State {
    Kind kind;
    Parts bits;
    Parts vectors;
  };
  State state() const { return {kind_, bits_, vectors_}; }
  void restore(const State& state);

 private:
  void set_all(unsigned chunks);

  llvm::IRBuilder<>& b;
  unsigned lanes_;
  Kind kind_ = Kind::All;
  Parts bits_;
  Parts vectors_;
};

/// Whether any bit of the masks is set.
llvm::Value* is_any_set(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> masks);
/// Whether masks are as expected.
llvm::Value* are_equal(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> masks, llvm::ArrayRef<llvm::Value*> expected);

}  // namespace cucore::cpu::compiler
