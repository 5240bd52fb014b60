// Fragments of a warp as arrays in memory: see fragment_operations.hpp.
#include "cpu/compiler/vector/operations/fragment_operations.hpp"

#include <llvm/IR/Instructions.h>

#include <cstdint>
#include <utility>

#include "cpu/abi/kernel_abi.hpp"
#include "cpu/compiler/vector/analysis/width.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

/// It tells the checker of numbers what it makes, and so wants to know which warp it is.
constexpr llvm::StringLiteral checked_multiply = "cucpu_fragments_multiply_checked";

/// As many registers as an operand has at most, of 64 bits in all lanes.
constexpr std::uint64_t largest_array = std::uint64_t{most_fragment_registers} * 8 * warp_lanes;

std::uint64_t bytes_of(const llvm::Type* type) {
  return type->isPointerTy() ? 8 : type->getPrimitiveSizeInBits().getFixedValue() / 8;
}

}  // namespace

llvm::AllocaInst* FragmentOperations::array(unsigned number) {
  while (arrays_.size() <= number) {
    arrays_.push_back(c_.slot(llvm::ArrayType::get(b.getInt8Ty(), largest_array), "fragments"));
    arrays_.back()->setAlignment(llvm::Align(64));
  }
  return arrays_[number];
}

Result<void> FragmentOperations::emit(llvm::CallInst& call) {
  const auto counts = static_cast<std::uint32_t>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  auto* result_type = llvm::dyn_cast<llvm::StructType>(call.getType());
  const unsigned results = result_type == nullptr ? 0 : result_type->getNumElements();
  const unsigned parts = warp_lanes / c_.width.lanes;
  const auto place = [&](Value* base, std::uint64_t register_number, unsigned part, std::uint64_t bytes) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), base,
                                        (register_number * warp_lanes + part * c_.width.lanes) * bytes);
  };
  VectorValue made{Stride::varying(), Parts(std::size_t{results} * c_.width.chunks, nullptr)};
  for (unsigned warp = 0; warp < c_.width.chunks / parts; ++warp) {
    llvm::SmallVector<Value*, 8> arguments{call.getArgOperand(0), c_.active.bits_of_warp(warp)};
    unsigned operand = 2;
    unsigned used = 0;
    for (std::uint32_t left = counts; left != 0; left >>= 8) {
      llvm::AllocaInst* to = array(used++);
      for (std::uint32_t n = 0; n < (left & 0xff); ++n, ++operand) {
        Value* value = call.getArgOperand(operand);
        for (unsigned part = 0; part < parts; ++part)
          b.CreateAlignedStore(values_.vector(value, warp * parts + part),
                               place(to, n, part, bytes_of(value->getType())), llvm::Align(32));
      }
      arguments.push_back(to);
    }
    llvm::AllocaInst* from = nullptr;
    if (results != 0) arguments.push_back(from = array(used));
    const llvm::StringRef name = call.getCalledFunction()->getName().split('.').first;
    if (name == checked_multiply)
      arguments.append({c_.block_state(), b.CreateAdd(c_.first_thread(), b.getInt32(warp * warp_lanes))});
    llvm::SmallVector<llvm::Type*, 8> types;
    for (const Value* argument : arguments) types.push_back(argument->getType());
    b.CreateCall(c_.group->getParent()->getOrInsertFunction(name, llvm::FunctionType::get(b.getVoidTy(), types, false)),
                 arguments);
    for (unsigned n = 0; n < results; ++n) {
      llvm::Type* type = result_type->getElementType(n);
      for (unsigned part = 0; part < parts; ++part)
        made.parts[std::size_t{n} * c_.width.chunks + warp * parts + part] =
            b.CreateAlignedLoad(c_.widened(type), place(from, n, part, bytes_of(type)), llvm::Align(32));
    }
  }
  if (results != 0) values_.put(&call, std::move(made));
  return {};
}

}  // namespace cucore::cpu::compiler
