// Shuffles, votes and other convergent operations as vector arithmetic: see convergent_operations.hpp.
#include "cpu/compiler/vector/operations/convergent_operations.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "cpu/compiler/vector/analysis/refusal.hpp"

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

enum ShuffleMode : unsigned { Up, Down, Xor, Index };
enum VoteMode : unsigned { All, Any, Uniform, Ballot };

/// Own lane (an i32 or a vector of them) and operands → source lane and whether it is in range: the PTX ISA's
/// definition of shfl.sync, as in the run-time.
struct Source {
  Value* lane;
  Value* in_range;

  Source(llvm::IRBuilder<>& b, unsigned mode, Value* own, Value* operand, Value* clamp_operand) {
    auto number = [&](std::uint64_t n) { return llvm::ConstantInt::get(own->getType(), n); };
    Value* by = b.CreateAnd(operand, number(31));
    Value* clamp = b.CreateAnd(clamp_operand, number(31));
    Value* segment = b.CreateAnd(b.CreateLShr(clamp_operand, number(8)), number(31));
    Value* highest = b.CreateOr(b.CreateAnd(own, segment), b.CreateAnd(clamp, b.CreateNot(segment)));
    switch (mode) {
      case Up:
        lane = b.CreateSub(own, by);
        in_range = b.CreateICmpSGE(lane, highest);
        break;
      case Down:
        lane = b.CreateAdd(own, by);
        in_range = b.CreateICmpSLE(lane, highest);
        break;
      case Xor:
        lane = b.CreateXor(own, by);
        in_range = b.CreateICmpSLE(lane, highest);
        break;
      default:
        lane = b.CreateOr(b.CreateAnd(own, segment), b.CreateAnd(by, b.CreateNot(segment)));
        in_range = b.CreateICmpSLE(lane, highest);
    }
  }
};

}  // namespace

Result<void> ConvergentOperations::emit(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name == "cucpu_shuffle") return emit_shuffle(call);
  if (name == "cucpu_vote") return emit_vote(call);
  if (name == "cucpu_warp_sync") return {};
  if (name == "cucpu_yield" || (name == "cucpu_barrier" && c_.width.on_fibers)) {
    llvm::SmallVector<Value*, 3> arguments(call.args());
    arguments[0] = c_.fiber();
    b.CreateCall(call.getCalledFunction(), arguments);
    return {};
  }
  if (name.starts_with(of_fragments)) return fragments_.emit(call);
  if (name == "cucpu_barrier_reduce") return emit_reducing_barrier(call);
  if (name != "cucpu_barrier") return emit_together(call);
  if (barriers_.groups_wait()) barriers_.suspend(call.getParent(), blocks_.alive());
  return {};
}

/// cucpu_shuffle(thread, mode, value, lane, clamp, mask): the result in the low word, the predicate in bit 32.
Result<void> ConvergentOperations::emit_shuffle(llvm::CallInst& call) {
  const auto mode = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  if (!values_.get(call.getArgOperand(5)).stride.is_same_in_chunk())
    return refusal("a shuffle whose lanes name different masks");
  const unsigned parts = warp_lanes / c_.width.lanes;
  VectorValue result{Stride::varying(), {}};
  llvm::Type* warp_type = llvm::FixedVectorType::get(b.getInt32Ty(), warp_lanes);
  llvm::SmallVector<llvm::Constant*, 32> lanes;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) lanes.push_back(b.getInt32(lane));
  Value* own = llvm::ConstantVector::get(lanes);
  for (unsigned warp = 0; warp < c_.width.chunks / parts; ++warp) {
    auto whole = [&](Value* operand) -> Value* {
      if (values_.get(operand).stride.is_uniform())
        return b.CreateVectorSplat(warp_lanes, values_.first_lane(operand, 0));
      std::vector<Value*> pieces;
      for (unsigned k = 0; k < parts; ++k) pieces.push_back(values_.vector(operand, warp * parts + k));
      return llvm::concatenateVectors(b, pieces);
    };
    Value* values = whole(call.getArgOperand(2));
    const Source source(b, mode, own, whole(call.getArgOperand(3)), whole(call.getArgOperand(4)));
    Value* from = b.CreateSelect(source.in_range, source.lane, own);
    Value* taken = nullptr;
    if (auto* fixed = llvm::dyn_cast<llvm::Constant>(from)) {
      llvm::SmallVector<int, 32> picks;
      for (unsigned lane = 0; lane < warp_lanes; ++lane) {
        picks.push_back(static_cast<int>(
            llvm::cast<llvm::ConstantInt>(fixed->getAggregateElement(lane))->getZExtValue() % warp_lanes));
      }
      taken = b.CreateShuffleVector(values, picks);
    } else {
      from = b.CreateAnd(b.CreateFreeze(from), llvm::ConstantInt::get(warp_type, warp_lanes - 1));
      taken = permuted(values, from);
    }
    Value* members = whole(call.getArgOperand(5));
    const auto* fixed_members = llvm::dyn_cast<llvm::Constant>(members);
    if (c_.active.is_partial() || fixed_members == nullptr || !fixed_members->isAllOnesValue()) {
      // A lane that does not participate has no value: undefined in PTX, 0 on GPUs and here.
      Value* here = b.getInt32(0);
      for (unsigned k = 0; k < parts; ++k) {
        Value* bits = b.CreateZExt(c_.active.bits(warp * parts + k), b.getInt32Ty());
        here = b.CreateOr(here, b.CreateShl(bits, k * c_.width.lanes));
      }
      Value* bit = b.CreateLShr(b.CreateAnd(b.CreateVectorSplat(warp_lanes, here), members), from);
      Value* gives = b.CreateTrunc(bit, llvm::FixedVectorType::get(b.getInt1Ty(), warp_lanes));
      llvm::Constant* nothing = llvm::Constant::getNullValue(warp_type);
      taken = b.CreateSelect(gives, taken, b.CreateSelect(source.in_range, nothing, values));
    }
    llvm::Type* wide = llvm::FixedVectorType::get(b.getInt64Ty(), warp_lanes);
    Value* both = b.CreateOr(b.CreateZExt(taken, wide),
                             b.CreateShl(b.CreateZExt(source.in_range, wide), llvm::ConstantInt::get(wide, 32)));
    for (unsigned k = 0; k < parts; ++k) result.parts.push_back(piece_of(both, k * c_.width.lanes));
  }
  values_.put(&call, std::move(result));
  return {};
}

/// The words of a warp that `from` numbers, in its order.
Value* ConvergentOperations::permuted(Value* words, Value* from) {
  const unsigned lanes = c_.width.lanes;
  const bool by_halves = c_.host.avx512f && 2 * lanes == warp_lanes;
  if (!by_halves && !(c_.host.avx2 && 4 * lanes == warp_lanes)) return permuted_in_memory(words, from);
  Parts pieces, results;
  for (unsigned start = 0; start < warp_lanes; start += lanes) pieces.push_back(piece_of(words, start));
  for (unsigned start = 0; start < warp_lanes; start += lanes) {
    Value* numbers = piece_of(from, start);
    if (by_halves) {
      results.push_back(
          b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {pieces[0], numbers, pieces[1]}));
      continue;
    }
    // Of each piece the words that the numbers' low bits say; a bit more says which of two pieces has the right one.
    Parts left;
    for (Value* piece : pieces)
      left.push_back(b.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {piece, numbers}));
    for (unsigned bit = 3; left.size() > 1; ++bit) {
      llvm::Constant* nothing = llvm::Constant::getNullValue(numbers->getType());
      Value* is_second = b.CreateICmpSLT(b.CreateShl(numbers, 31 - bit), nothing);
      Parts chosen;
      for (std::size_t n = 0; n < left.size(); n += 2)
        chosen.push_back(b.CreateSelect(is_second, left[n + 1], left[n]));
      left = std::move(chosen);
    }
    results.push_back(left[0]);
  }
  return llvm::concatenateVectors(b, results);
}

/// The lanes of a chunk, of a warp's.
Value* ConvergentOperations::piece_of(Value* warp, unsigned start) {
  llvm::SmallVector<int, 16> picks;
  for (unsigned n = 0; n < c_.width.lanes; ++n) picks.push_back(static_cast<int>(start + n));
  return b.CreateShuffleVector(warp, picks);
}

Value* ConvergentOperations::permuted_in_memory(Value* words, Value* from) {
  auto* array = c_.slot(words->getType(), "shuffled");
  b.CreateStore(words, array);
  Value* taken = llvm::PoisonValue::get(words->getType());
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    Value* at = b.CreateGEP(b.getInt32Ty(), array, b.CreateExtractElement(from, lane));
    taken = b.CreateInsertElement(taken, b.CreateLoad(b.getInt32Ty(), at), lane);
  }
  return taken;
}

/// cucpu_barrier_reduce(thread, id, count, operation, trues, lanes): a group is the whole block, or on a fiber.
Result<void> ConvergentOperations::emit_reducing_barrier(llvm::CallInst& call) {
  Value* trues = b.getInt32(0);
  Value* lanes = b.getInt32(0);
  for (unsigned chunk = 0; chunk < c_.width.chunks; ++chunk) {
    auto count = [&](Value* bits) {
      return b.CreateZExtOrTrunc(b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits), b.getInt32Ty());
    };
    trues = b.CreateAdd(trues, count(bits_where_true(call.getArgOperand(4), chunk)));
    lanes = b.CreateAdd(lanes, count(c_.active.bits(chunk)));
  }
  const auto operation = llvm::cast<llvm::ConstantInt>(call.getArgOperand(3))->getZExtValue();
  Value* result = trues;
  if (c_.width.on_fibers)
    result = b.CreateCall(call.getCalledFunction(), {c_.fiber(), call.getArgOperand(1), call.getArgOperand(2),
                                                     call.getArgOperand(3), trues, lanes});
  else if (operation != 0)
    result = b.CreateZExt(operation == 1 ? b.CreateICmpEQ(trues, lanes) : b.CreateIsNotNull(trues), b.getInt32Ty());
  values_.put(&call, VectorValue::uniform(result));
  return {};
}

/// The active lanes of a chunk that hold a number other than zero.
Value* ConvergentOperations::bits_where_true(Value* predicate, unsigned chunk) {
  if (!values_.get(predicate).stride.is_varying()) {
    Value* first = values_.first_lane(predicate, chunk);
    if (c_.active.is_partial()) first = b.CreateFreeze(first);
    return b.CreateSelect(b.CreateIsNotNull(first), c_.active.bits(chunk), llvm::ConstantInt::get(c_.mask_type(), 0));
  }
  Value* lanes = b.CreateIsNotNull(values_.vector(predicate, chunk));
  if (c_.active.is_partial())
    lanes = b.CreateSelect(c_.active.vector(chunk), lanes, llvm::Constant::getNullValue(lanes->getType()));
  return b.CreateBitCast(lanes, c_.mask_type());
}

/// cucpu_vote(thread, mode, predicate, mask): all, any, uni, ballot over the named lanes that are here.
Result<void> ConvergentOperations::emit_vote(llvm::CallInst& call) {
  const auto mode = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
  Value* predicate = call.getArgOperand(2);
  if (!values_.get(call.getArgOperand(3)).stride.is_same_in_chunk())
    return refusal("a vote whose lanes name different masks");
  const unsigned parts = warp_lanes / c_.width.lanes;
  VectorValue result{c_.strides().of(&call), {}};
  for (unsigned warp = 0; warp < c_.width.chunks / parts; ++warp) {
    Value* votes = b.getInt32(0);
    Value* here = b.getInt32(0);
    for (unsigned k = 0; k < parts; ++k) {
      const unsigned chunk = warp * parts + k;
      auto add_to = [&](Value* bits, Value* own) {
        return b.CreateOr(bits, b.CreateShl(b.CreateZExt(own, b.getInt32Ty()), k * c_.width.lanes));
      };
      votes = add_to(votes, bits_where_true(predicate, chunk));
      if (mode != Any && mode != Ballot) here = add_to(here, c_.active.bits(chunk));
    }
    for (unsigned k = 0; k < parts; ++k) {
      Value* members = values_.first_lane(call.getArgOperand(3), warp * parts + k);
      Value* named = b.CreateAnd(votes, members);
      auto are_all = [&] { return b.CreateICmpEQ(named, b.CreateAnd(here, members)); };
      auto is_any = [&] { return b.CreateIsNotNull(named); };
      result.parts.push_back(mode == All   ? b.CreateZExt(are_all(), b.getInt32Ty())
                             : mode == Any ? b.CreateZExt(is_any(), b.getInt32Ty())
                             : mode == Ballot
                                 ? named
                                 : b.CreateZExt(b.CreateOr(are_all(), b.CreateNot(is_any())), b.getInt32Ty()));
    }
  }
  values_.put(&call, std::move(result));
  return {};
}

/// An operand of all lanes of a warp, zero where lanes are not here.
std::vector<Value*> ConvergentOperations::values_here(Value* operand, unsigned warp) {
  const unsigned parts = warp_lanes / c_.width.lanes;
  std::vector<Value*> values;
  for (unsigned chunk = warp * parts; chunk < (warp + 1) * parts; ++chunk) {
    Value* value = values_.vector(operand, chunk);
    if (c_.active.is_partial())
      value = b.CreateSelect(c_.active.vector(chunk), value, llvm::Constant::getNullValue(value->getType()));
    values.push_back(value);
  }
  return values;
}

/// Operations whose last argument is the member mask; cucpu_activemask takes all active lanes.
Result<void> ConvergentOperations::emit_together(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  constexpr llvm::StringLiteral redux("cucpu_redux_");
  const bool names_members = name != "cucpu_activemask";
  Value* mask = call.getArgOperand(call.arg_size() - 1);
  if (names_members && !values_.get(mask).stride.is_same_in_warp())
    return refusal(name.substr(sizeof "cucpu_" - 1).str() + " whose lanes name different masks");
  const unsigned parts = warp_lanes / c_.width.lanes;
  VectorValue result{c_.strides().of(&call), {}};
  for (unsigned warp = 0; warp < c_.width.chunks / parts; ++warp) {
    Value* members = c_.active.bits_of_warp(warp);
    if (names_members) members = b.CreateAnd(members, values_.first_lane(mask, warp * parts));
    if (name == "cucpu_match_any") {
      result.parts.append(equal_lanes(values_here(call.getArgOperand(1), warp), members));
      continue;
    }
    Value* made = members;
    if (name == "cucpu_elect") made = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, members, b.getFalse());
    if (name == "cucpu_match_all") made = all_if_equal(values_here(call.getArgOperand(1), warp), members);
    if (name.starts_with(redux))
      made = reduction(name.substr(redux.size()), values_here(call.getArgOperand(1), warp), members);
    result.parts.append(parts, made);
  }
  values_.put(&call, std::move(result));
  return {};
}

/// Those of `bits` for one part of a warp, as a vector of truths.
Value* ConvergentOperations::truths_of(Value* bits, std::size_t part) {
  Value* own = b.CreateLShr(bits, part * c_.width.lanes);
  return b.CreateBitCast(b.CreateTrunc(own, c_.mask_type()), llvm::FixedVectorType::get(b.getInt1Ty(), c_.width.lanes));
}

Value* ConvergentOperations::reduction(llvm::StringRef operation, llvm::ArrayRef<Value*> values, Value* members) {
  struct Kind {
    llvm::Intrinsic::ID of_vector;
    std::uint32_t neutral;
  };
  const Kind kind = llvm::StringSwitch<Kind>(operation)
                        .Case("add", {llvm::Intrinsic::vector_reduce_add, 0})
                        .Case("and", {llvm::Intrinsic::vector_reduce_and, ~0U})
                        .Case("or", {llvm::Intrinsic::vector_reduce_or, 0})
                        .Case("xor", {llvm::Intrinsic::vector_reduce_xor, 0})
                        .Case("min_u32", {llvm::Intrinsic::vector_reduce_umin, ~0U})
                        .Case("max_u32", {llvm::Intrinsic::vector_reduce_umax, 0})
                        .Case("min_s32", {llvm::Intrinsic::vector_reduce_smin, 0x7fffffffU})
                        .Default({llvm::Intrinsic::vector_reduce_smax, 0x80000000U});
  std::vector<Value*> named;
  for (std::size_t part = 0; part < values.size(); ++part) {
    Value* neutral = llvm::ConstantInt::get(values[part]->getType(), kind.neutral);
    named.push_back(b.CreateSelect(truths_of(members, part), values[part], neutral));
  }
  Value* warp = llvm::concatenateVectors(b, named);
  return b.CreateIntrinsic(kind.of_vector, {warp->getType()}, {warp});
}

/// For each lane, which members hold what it does.
Parts ConvergentOperations::equal_lanes(llvm::ArrayRef<Value*> values, Value* members) {
  Parts results;
  for (Value* mine : values) {
    Value* equal = llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getInt32Ty(), c_.width.lanes));
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      Value* other = b.CreateExtractElement(values[lane / c_.width.lanes], std::uint64_t{lane % c_.width.lanes});
      Value* is_equal = b.CreateICmpEQ(mine, b.CreateVectorSplat(c_.width.lanes, other));
      Value* bit = llvm::ConstantInt::get(equal->getType(), 1U << lane);
      equal = b.CreateSelect(is_equal, b.CreateOr(equal, bit), equal);
    }
    results.push_back(b.CreateAnd(equal, b.CreateVectorSplat(c_.width.lanes, members)));
  }
  return results;
}

/// The members if all hold the same, else 0.
Value* ConvergentOperations::all_if_equal(llvm::ArrayRef<Value*> values, Value* members) {
  Value* warp = llvm::concatenateVectors(b, values);
  auto* array = c_.slot(warp->getType(), "matched");
  b.CreateStore(warp, array);
  Value* first = b.CreateAnd(b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, members, b.getFalse()), warp_lanes - 1);
  llvm::Type* const element = llvm::cast<llvm::VectorType>(warp->getType())->getElementType();
  Value* wanted = b.CreateVectorSplat(warp_lanes, b.CreateLoad(element, b.CreateGEP(element, array, first)));
  Value* equal = b.CreateBitCast(b.CreateICmpEQ(warp, wanted), b.getInt32Ty());
  return b.CreateSelect(b.CreateICmpEQ(b.CreateAnd(equal, members), members), members, b.getInt32(0));
}

}  // namespace cucore::cpu::compiler
