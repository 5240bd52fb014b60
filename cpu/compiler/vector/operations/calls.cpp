// Intrinsics and services for all lanes: see calls.hpp.
#include "cpu/compiler/vector/operations/calls.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/vector/analysis/refusal.hpp"

namespace cucore::cpu::compiler {

using llvm::Instruction;
using llvm::Value;

namespace {

/// The instructions' own number for a mode of the built-ins, and that they raise nothing.
std::uint32_t embedded(const Value* mode) {
  constexpr std::uint32_t no_exceptions = 8;
  constexpr std::uint32_t number[] = {0, 3, 1, 2};
  return number[llvm::cast<llvm::ConstantInt>(mode)->getZExtValue()] | no_exceptions;
}

/// Operations with a rounding mode, and the AVX-512 instructions on whole vectors that have one.
struct DirectedOperation {
  llvm::Intrinsic::ID on_vectors;
  std::uint32_t mode;
};

std::optional<DirectedOperation> directed_operation(const llvm::CallInst& call) {
  if (call.arg_size() < 2) return std::nullopt;
  const Value* mode = call.getArgOperand(call.arg_size() - 1);
  const auto number = [&] { return static_cast<std::uint32_t>(llvm::cast<llvm::ConstantInt>(mode)->getZExtValue()); };
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::x86_avx512_vfmadd_f32:
      return DirectedOperation{llvm::Intrinsic::x86_avx512_vfmadd_ps_512, number()};
    case llvm::Intrinsic::x86_avx512_vfmadd_f64:
      return DirectedOperation{llvm::Intrinsic::x86_avx512_vfmadd_pd_512, number()};
    default:
      break;
  }
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name == "cucpu_div_f64") return DirectedOperation{llvm::Intrinsic::x86_avx512_div_pd_512, embedded(mode)};
  if (name == "cucpu_sqrt_f64") return DirectedOperation{llvm::Intrinsic::x86_avx512_sqrt_pd_512, embedded(mode)};
  return std::nullopt;
}

}  // namespace

Result<void> Calls::emit(llvm::CallInst& call) {
  if (is_convergent(call)) return convergent_.emit(call);
  if (is_mark(call, lanes_mark)) return checks_.emit_mark(call);
  if (is_number_mark(call)) return numbers_.emit_mark(call);
  if (call.isLifetimeStartOrEnd() || call.getIntrinsicID() == llvm::Intrinsic::assume) return {};
  llvm::Function* callee = call.getCalledFunction();
  const llvm::StringRef name = callee->getName();
  const bool is_lap = name == "cucpu_lap";
  const bool takes_thread = call.arg_size() > 0 && call.getArgOperand(0) == c_.scalar.getArg(0);
  const bool has_effect = name == "cucpu_malloc" || name == "cucpu_copy_and_fill";
  if (name == "cucpu_nanosleep") return {};  // a hint; the loops that wait yield
  if (is_lap || takes_thread || has_effect) {
    if (Result<void> done = checks_.before_effect(); !done) return done;
  }
  if (is_lap) {
    b.CreateCall(callee, {c_.block_state()});
    return {};
  }
  if (takes_thread) {
    services_.emit(call);
    return {};
  }
  const Stride stride = c_.strides().of(&call);
  if (!has_effect && !stride.is_varying()) {
    values_.put(&call, arithmetic_.once(call, c_.parts_of(stride)));
    return {};
  }
  return has_effect ? emit_lane_by_lane(call) : emit_vectors(call);
}

Result<void> Calls::emit_vectors(llvm::CallInst& call) {
  VectorValue result{Stride::varying(), {}};
  for (unsigned k = 0; k < c_.width.chunks; ++k) {
    Value* part = vector_of_chunk(call, k);
    if (part == nullptr) return emit_lane_by_lane(call);
    result.parts.push_back(part);
  }
  values_.put(&call, std::move(result));
  return {};
}

Value* Calls::vector_of_chunk(llvm::CallInst& call, unsigned chunk) {
  const llvm::Intrinsic::ID id = call.getCalledFunction()->getIntrinsicID();
  if (const std::optional<DirectedOperation> directed = directed_operation(call); directed && c_.host.avx512f)
    return directed_vector(call, directed->on_vectors, directed->mode, chunk);
  if (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat) return saturating_conversion(call, chunk);
  if (id == llvm::Intrinsic::x86_vcvtps2ph_128) return narrowed_to_halves(call, chunk);
  if (id == llvm::Intrinsic::aarch64_neon_vcvtfp2hf) return narrowed_by_fours(call, chunk);
  if (!llvm::isTriviallyVectorizable(id) || call.getType()->isStructTy()) return nullptr;
  llvm::SmallVector<Value*, 4> arguments;
  llvm::SmallVector<llvm::Type*, 2> types;
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) types.push_back(c_.widened(call.getType()));
  for (unsigned n = 0; n < call.arg_size(); ++n) {
    const bool stays_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, n);
    arguments.push_back(stays_scalar ? call.getArgOperand(n) : values_.vector(call.getArgOperand(n), chunk));
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(n)))
      types.push_back(arguments.back()->getType());
  }
  return b.CreateIntrinsic(id, types, arguments);
}

/// Only the first of the four elements counts: see how halves are narrowed.
Value* Calls::narrowed_to_halves(llvm::CallInst& call, unsigned chunk) {
  const unsigned lanes = c_.width.lanes;
  if (lanes == 16 ? !c_.host.avx512f : lanes != 8) return nullptr;
  llvm::SmallVector<int, 16> firsts;
  for (unsigned lane = 0; lane < lanes; ++lane) firsts.push_back(static_cast<int>(4 * lane));
  Value* floats = b.CreateShuffleVector(values_.vector(call.getArgOperand(0), chunk), firsts);
  Value* mode = call.getArgOperand(1);
  Value* halves = nullptr;
  if (lanes == 8) {
    halves = b.CreateIntrinsic(llvm::Intrinsic::x86_vcvtps2ph_256, {}, {floats, mode});
  } else {
    Value* nothing = llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getInt16Ty(), 16));
    halves = b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_vcvtps2ph_512, {},
                               {floats, mode, nothing, b.getInt16(0xffff)});
  }
  llvm::SmallVector<int, 128> spread;
  for (unsigned n = 0; n < 8 * lanes; ++n) spread.push_back(n % 8 == 0 ? static_cast<int>(n / 8) : -1);
  return b.CreateShuffleVector(halves, spread);
}

/// The same on Arm, whose instruction takes four.
Value* Calls::narrowed_by_fours(llvm::CallInst& call, unsigned chunk) {
  constexpr unsigned at_once = 4;
  const unsigned lanes = c_.width.lanes;
  Value* floats = values_.vector(call.getArgOperand(0), chunk);
  Value* spread = llvm::PoisonValue::get(llvm::FixedVectorType::get(b.getInt16Ty(), at_once * lanes));
  for (unsigned start = 0; start < lanes; start += at_once) {
    llvm::SmallVector<int, at_once> firsts;
    for (unsigned n = 0; n < at_once; ++n) firsts.push_back(static_cast<int>(at_once * (start + n)));
    Value* halves =
        b.CreateIntrinsic(llvm::Intrinsic::aarch64_neon_vcvtfp2hf, {}, {b.CreateShuffleVector(floats, firsts)});
    for (unsigned n = 0; n < at_once; ++n)
      spread = b.CreateInsertElement(spread, b.CreateExtractElement(halves, n), at_once * (start + n));
  }
  return spread;
}

/// Emits an operation with its rounding mode, sixteen floats or eight doubles at a time.
Value* Calls::directed_vector(llvm::CallInst& call, llvm::Intrinsic::ID on_vectors, std::uint32_t mode,
                              unsigned chunk) {
  const unsigned at_once = call.getType()->isFloatTy() ? 16 : 8;
  if (c_.width.lanes % at_once != 0) return nullptr;
  llvm::SmallVector<Value*, 2> results;
  for (unsigned start = 0; start < c_.width.lanes; start += at_once) {
    llvm::SmallVector<int, 16> picks;
    for (unsigned n = 0; n < at_once; ++n) picks.push_back(static_cast<int>(start + n));
    llvm::SmallVector<Value*, 4> arguments;
    for (unsigned n = 0; n + 1 < call.arg_size(); ++n) {
      Value* argument = values_.vector(call.getArgOperand(n), chunk);
      arguments.push_back(at_once == c_.width.lanes ? argument : b.CreateShuffleVector(argument, picks));
    }
    arguments.push_back(b.getInt32(mode));
    results.push_back(b.CreateIntrinsic(on_vectors, {}, arguments));
  }
  if (results.size() == 1) return results[0];
  llvm::SmallVector<int, 16> all;
  for (unsigned n = 0; n < c_.width.lanes; ++n) all.push_back(static_cast<int>(n));
  return b.CreateShuffleVector(results[0], results[1], all);
}

/// To integers, the nearest one beyond their range and zero for NaN: the intrinsic, which LLVM takes apart lane by
/// lane.
Value* Calls::saturating_conversion(llvm::CallInst& call, unsigned chunk) {
  llvm::Type* from = call.getArgOperand(0)->getType();
  if (!from->isFloatTy() && !from->isDoubleTy()) return nullptr;  // which can hold all limits
  const bool is_signed = call.getIntrinsicID() == llvm::Intrinsic::fptosi_sat;
  const unsigned bits = call.getType()->getIntegerBitWidth();
  llvm::Type* to = c_.widened(call.getType());
  Value* value = values_.vector(call.getArgOperand(0), chunk);
  auto limit = [&](double number) { return llvm::ConstantFP::get(c_.widened(from), number); };
  const double end = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
  Value* above = b.CreateFCmpOGE(value, limit(end));
  Value* below = b.CreateFCmpOLT(value, limit(is_signed ? -end : 0.0));
  Value* inside = b.CreateAnd(b.CreateFCmpORD(value, value), b.CreateNot(b.CreateOr(above, below)));
  Value* safe = b.CreateSelect(inside, value, limit(0.0));
  Value* converted = is_signed ? b.CreateFPToSI(safe, to) : b.CreateFPToUI(safe, to);
  auto whole = [&](const llvm::APInt& number) { return llvm::ConstantInt::get(to, number); };
  const llvm::APInt most = is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  const llvm::APInt least = is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt(bits, 0);
  return b.CreateSelect(above, whole(most), b.CreateSelect(below, whole(least), converted));
}

Result<void> Calls::emit_lane_by_lane(llvm::CallInst& call) {
  llvm::SmallVector<Value*, 4> inputs(call.args());
  llvm::SmallVector<llvm::Type*, 2> results;
  if (auto* pair = llvm::dyn_cast<llvm::StructType>(call.getType())) {
    results.append(pair->element_begin(), pair->element_end());
  } else if (!call.getType()->isVoidTy()) {
    results.push_back(call.getType());
  }
  auto is_scalar = [](const llvm::Type* type) { return !type->isVectorTy() && !type->isStructTy(); };
  if (!std::all_of(results.begin(), results.end(), is_scalar) ||
      !std::all_of(inputs.begin(), inputs.end(), [&](Value* input) { return is_scalar(input->getType()); }))
    return refusal("a call with vectors: " + call.getCalledFunction()->getName().str());
  std::vector<VectorValue> wides =
      lanes_.for_each(inputs, results, [&](Value*, llvm::ArrayRef<Value*> arguments) -> Parts {
        Instruction* copy = copy_of(call);
        for (unsigned n = 0; n < arguments.size(); ++n) copy->setOperand(n, arguments[n]);
        Value* made = b.Insert(copy);
        if (results.empty()) return {};
        if (results.size() == 1) return {made};
        return {b.CreateExtractValue(made, 0), b.CreateExtractValue(made, 1)};
      });
  if (results.empty()) return {};
  VectorValue whole = wides[0];
  if (wides.size() == 2) whole.parts.append(wides[1].parts.begin(), wides[1].parts.end());
  values_.put(&call, std::move(whole));
  return {};
}

}  // namespace cucore::cpu::compiler
