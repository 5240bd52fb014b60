// Types that accesses move.
#pragma once

#include <cstdint>

#include "cpu/compiler/ir/llvm.hpp"

namespace cucore::cpu::compiler {

/// Whether a type is that of two accesses made one (steps/join_pairs.hpp): two words in a small vector.
inline bool is_pair(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getNumElements() == 2 && vector->getScalarSizeInBits() == 32;
}

/// Of an element.
inline std::int64_t bytes_of(const llvm::Type* type) {
  return static_cast<std::int64_t>(type->getScalarSizeInBits() / 8);
}

/// Whether lanes are moved as a vector of such.
inline bool is_element(const llvm::Type* type) {
  return (type->isIntegerTy() && type->getScalarSizeInBits() % 8 == 0) || type->isFloatTy() || type->isDoubleTy() ||
         type->isPointerTy();
}

/// Whether all lanes of a load or store are moved as vectors. What lanes of a warp exchange (cpu/analysis/flow/
/// plain_exchanges.hpp) is volatile, so that nothing is kept in registers or reordered while the code is that of one
/// thread; here all of them have loaded or stored before the next access anyway.
inline bool moves_vectors(const llvm::Instruction& access) { return !access.isAtomic(); }

/// What is moved at once: a pair as a whole.
inline llvm::Type* element_of(llvm::Type* type) {
  return is_pair(type) ? llvm::Type::getInt64Ty(type->getContext()) : type;
}

}  // namespace cucore::cpu::compiler
