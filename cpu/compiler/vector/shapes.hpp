// What is known at compile time about a value across the lanes of the vector form: the same for all, the same or a
// constant step apart within each chunk, or anything.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <cstdint>
#include <optional>

#include "cpu/compiler/vector/flow.hpp"

namespace cucore::cpu::codegen {

/// The form of one compile: lanes of a chunk, chunks of a group, and the block the code is for.
struct VectorWidth {
  unsigned lanes = 16;
  unsigned chunks = 2;
  std::uint32_t block[3] = {1, 1, 1};

  unsigned group() const { return lanes * chunks; }
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  std::uint32_t groups() const { return (threads() + group() - 1) / group(); }
  bool is_line() const { return block[1] == 1 && block[2] == 1; }
  bool has_rows() const { return !is_line() && block[0] % lanes == 0; }  ///< a chunk lies in one row of x
};

/// Whether a stride holds between all lanes of a warp or of the group, too, and low bits known to be zero in their
/// first lane.
struct Span {
  bool holds = false;
  unsigned zeros = 0;
  bool operator==(const Span&) const = default;
};

struct Shape {
  enum class Kind : std::uint8_t { Unknown, Uniform, Strided, Varying };
  Kind kind = Kind::Unknown;
  std::int64_t stride = 0;  ///< of Strided: what each lane adds to the one before, in bytes for pointers
  unsigned zeros = 0;  ///< low bits known to be zero in a Uniform value or the first lane of a Strided one's chunks
  Span warp;
  Span group;  ///< in the full version only: in the masked one chunks come and go

  static Shape uniform(unsigned zeros = 0) { return {Kind::Uniform, 0, zeros, {true, zeros}, {true, zeros}}; }
  static Shape strided(std::int64_t stride, unsigned zeros = 0, Span warp = {}, Span group = {}) {
    return {Kind::Strided, stride, zeros, warp.holds ? warp : Span{}, group.holds ? group : Span{}};
  }
  static Shape varying() { return {Kind::Varying, 0, 0, {}, {}}; }
  bool is_uniform() const { return kind == Kind::Uniform; }
  bool is_strided() const { return kind == Kind::Strided; }
  bool is_varying() const { return kind == Kind::Varying; }
  bool is_same_in_chunk() const { return is_uniform() || (is_strided() && stride == 0); }
  bool is_same_in_warp() const { return is_same_in_chunk() && warp.holds; }
  bool is_same_in_group() const { return is_same_in_chunk() && group.holds; }
  /// Whether one number tells the values of all lanes.
  bool spans_group() const { return !is_varying() && group.holds; }
  bool operator==(const Shape&) const = default;
};

/// Offset of a field of the ThreadState that `pointer` addresses, if it is one.
std::optional<std::uint64_t> thread_field(const llvm::Value* pointer, const llvm::Function& scalar);
/// The same of the thread's BlockState.
std::optional<std::uint64_t> block_field(const llvm::Value* pointer, const llvm::Function& scalar);

/// Shapes of all values of a kernel in one version of it. The full version runs while all lanes go the same way; it
/// takes it that extending a strided value does not wrap around inside a chunk, which the code checks where that is not
/// known (`checks`). In the masked version lanes come and go: what merges where they meet again varies.
class Shapes {
 public:
  Shapes(const VectorFlow& flow, llvm::Function& scalar, const VectorWidth& width, bool masked);

  Shape of(const llvm::Value* value) const;
  /// Blocks that end in a branch whose condition is not the same for all lanes.
  const Blocks& dividing() const { return dividing_; }
  /// Those of them that may divide the lanes of one warp.
  const Blocks& dividing_warps() const { return dividing_warps_; }
  bool checks(const llvm::Instruction* extension) const {
    return checks_.contains(extension) && of(extension).is_strided();
  }

 private:
  void settle();
  Shape transfer(llvm::Instruction& instruction);
  Shape transfer_load(llvm::Instruction& instruction);
  Shape transfer_binary(llvm::Instruction& instruction);
  Shape transfer_extension(llvm::Instruction& instruction);
  Shape transfer_comparison(llvm::Instruction& instruction);
  Shape transfer_address(llvm::Instruction& instruction);
  Shape transfer_call(llvm::Instruction& instruction);
  Shape of_operands(llvm::Instruction& instruction) const;
  Shape sum(Shape a, Shape b, int sign, unsigned width) const;

  const VectorFlow& flow_;
  llvm::Function& scalar_;
  const VectorWidth& width_;
  bool masked_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::DenseSet<const llvm::BasicBlock*> merges_;        ///< blocks whose phis vary
  llvm::DenseSet<const llvm::BasicBlock*> chunk_merges_;  ///< blocks to which each chunk comes as a whole
  llvm::DenseSet<const llvm::BasicBlock*> warp_splits_;   ///< of those: not each warp
  llvm::DenseSet<const llvm::Instruction*> checks_;
  Blocks dividing_;
  Blocks dividing_warps_;
};

}  // namespace cucore::cpu::codegen
