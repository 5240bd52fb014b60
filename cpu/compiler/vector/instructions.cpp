// One instruction of the scalar form for all lanes: once if the operands are the same everywhere, on the first lane of
// each chunk if the result is strided, else on vectors.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <cmath>

#include "cpu/compiler/checks/mark_calls.hpp"
#include "cpu/compiler/emitters/module_emitter.hpp"
#include "cpu/compiler/vector/vector_emitter.hpp"

namespace cucore::cpu::codegen {

using llvm::Instruction;
using llvm::Value;

namespace {

/// A copy to give new operands: without the promises that the scalar form made about its own.
Instruction* copy_of(const Instruction& instruction) {
  Instruction* copy = instruction.clone();
  copy->dropPoisonGeneratingFlags();
  copy->dropUnknownNonDebugMetadata({llvm::LLVMContext::MD_invariant_load});
  return copy;
}

bool is_division(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem:
      return true;
    default:
      return false;
  }
}

}  // namespace

void VectorEmitter::emit_instruction(Instruction& instruction) {
  if (llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::AllocaInst>(instruction)) return;
  b.SetCurrentDebugLocation(instruction.getDebugLoc());
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return emit_load(*load);
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return emit_store(*store);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return emit_call(*call);
  switch (instruction.getOpcode()) {
    case Instruction::GetElementPtr:
      if (thread_field(&instruction, scalar_)) return;  // what is loaded from there is known
      break;
    case Instruction::ICmp:
      if (is_compared_late(instruction)) return;
      break;
    case Instruction::AtomicRMW:
    case Instruction::AtomicCmpXchg:
      return emit_atomic(instruction);
    case Instruction::Fence:
      flush_checks();
      can_restart_ = false;
      b.Insert(copy_of(instruction));
      return;
    case Instruction::ExtractValue: {
      // Pairs are kept as their elements, one after the other.
      auto& extract = llvm::cast<llvm::ExtractValueInst>(instruction);
      Wide pair = get(extract.getAggregateOperand());
      if (!pair.shape.is_varying() || pair.parts.size() != std::size_t{2} * width_.chunks) break;
      const auto first = pair.parts.begin() + extract.getIndices()[0] * width_.chunks;
      put(&instruction, {Shape::varying(), Parts(first, first + width_.chunks)});
      return;
    }
    default:
      break;
  }
  const Shape shape = shapes().of(&instruction);
  if (shape.is_varying()) {
    emit_vectors(instruction);
  } else {
    if (shapes().checks(&instruction)) {
      if (is_masked()) return emit_predicated_extension(instruction);
      emit_check(instruction);
    }
    emit_once(instruction, parts_of(shape));
  }
}

/// A copy of the instruction for the first lane of the group or of each chunk.
void VectorEmitter::emit_once(Instruction& instruction, unsigned parts) { put(&instruction, once(instruction, parts)); }

Wide VectorEmitter::once(Instruction& instruction, unsigned parts) {
  Wide result{shapes().of(&instruction), {}};
  for (unsigned k = 0; k < parts; ++k) {
    if (instruction.getOpcode() == Instruction::Or && result.shape.stride != 0) {  // no common bits: a sum
      result.parts.push_back(
          b.CreateAdd(first_lane(instruction.getOperand(0), k), first_lane(instruction.getOperand(1), k)));
      continue;
    }
    Instruction* copy = copy_of(instruction);
    for (unsigned n = 0; n < copy->getNumOperands(); ++n) {
      if (llvm::isa<llvm::Function>(copy->getOperand(n))) continue;
      Value* operand = first_lane(instruction.getOperand(n), k);
      // A chunk without lanes here may hold any divisor.
      if (is_masked() && n == 1 && is_division(instruction) && parts > 1) {
        operand = b.CreateSelect(is_chunk_active(k), operand, llvm::ConstantInt::get(operand->getType(), 1));
      }
      copy->setOperand(n, operand);
    }
    result.parts.push_back(b.Insert(copy));
  }
  return result;
}

/// Whether extending a strided value wraps around inside the group or a chunk. Nothing is done about it before the next
/// access.
void VectorEmitter::emit_check(Instruction& extension) {
  const Shape shape = shapes().of(&extension);
  llvm::Type* narrow = extension.getOperand(0)->getType();
  const bool is_signed = llvm::isa<llvm::SExtInst>(extension);
  const unsigned parts = parts_of(shape);
  const unsigned lanes = width_.group() / parts;
  const auto step = static_cast<std::uint64_t>(shape.stride > 0 ? shape.stride : -shape.stride) * (lanes - 1);
  const auto id = shape.stride > 0
                      ? (is_signed ? llvm::Intrinsic::sadd_with_overflow : llvm::Intrinsic::uadd_with_overflow)
                      : (is_signed ? llvm::Intrinsic::ssub_with_overflow : llvm::Intrinsic::usub_with_overflow);
  for (unsigned k = 0; k < parts; ++k) {
    Value* sum =
        b.CreateBinaryIntrinsic(id, first_lane(extension.getOperand(0), k), llvm::ConstantInt::get(narrow, step));
    Value* wraps = b.CreateExtractValue(sum, 1);
    unchecked_ = unchecked_ == nullptr ? wraps : b.CreateOr(unchecked_, wraps);
  }
}

/// Comes before everything that has an effect.
void VectorEmitter::flush_checks() {
  flush_wraps();
  flush_lane_checks();
}

/// Goes to the masked version, where nothing is taken for granted, if a check failed. Comes before every access.
void VectorEmitter::flush_wraps() {
  if (unchecked_ == nullptr) return;
  Value* failed = unchecked_;
  unchecked_ = nullptr;
  if (!can_restart_) {
    refuse("an index that may wrap around after an access in the same block");
    return;
  }
  auto* bails = new_block("wraps");
  auto* goes_on = new_block("no.wrap");
  b.CreateCondBr(failed, bails, goes_on);
  b.SetInsertPoint(bails);
  const Known before = known_;
  if (division_ != nullptr) {
    leave_full_version(*division_);
  } else {
    bail_out(current_);
  }
  known_ = before;
  b.SetInsertPoint(goes_on);
}

void VectorEmitter::emit_vectors(Instruction& instruction) {
  Wide result{Shape::varying(), {}};
  for (unsigned k = 0; k < width_.chunks; ++k) {
    Value* part = emit_vector(instruction, k);
    if (part == nullptr)
      return refuse(std::string("an operation without a vector form: ") + instruction.getOpcodeName());
    result.parts.push_back(part);
  }
  put(&instruction, std::move(result));
}

Value* VectorEmitter::emit_vector(Instruction& instruction, unsigned chunk) {
  auto operand = [&](unsigned n) { return vector(instruction.getOperand(n), chunk); };
  if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    Value* right = operand(1);
    if (is_masked() && is_division(instruction)) {
      // Not zero in other lanes either: a constant with a zero makes all lanes poison in LLVM's eyes.
      Value* one = llvm::ConstantInt::get(right->getType(), 1);
      right = b.CreateSelect(mask_vector(chunk), b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, right, one), one);
    }
    return b.CreateBinOp(operation->getOpcode(), operand(0), right);
  }
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    return b.CreateCast(cast->getOpcode(), operand(0), widened(cast->getType()));
  }
  if (auto* comparison = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    return b.CreateCmp(comparison->getPredicate(), operand(0), operand(1));
  }
  switch (instruction.getOpcode()) {
    case Instruction::FNeg:
      return b.CreateFNeg(operand(0));
    case Instruction::Freeze:
      return b.CreateFreeze(operand(0));
    case Instruction::Select: {
      Value* condition = instruction.getOperand(0);
      if (instruction.getType()->isVectorTy() && !condition->getType()->isVectorTy()) return nullptr;
      // A condition that is the same in a chunk chooses whole vectors.
      if (get(condition).shape.is_same_in_chunk() && !condition->getType()->isVectorTy()) {
        Value* chosen = first_lane(condition, chunk);
        return b.CreateSelect(is_masked() ? b.CreateFreeze(chosen) : chosen, operand(1), operand(2));
      }
      return b.CreateSelect(operand(0), operand(1), operand(2));
    }
    case Instruction::GetElementPtr: {
      auto& address = llvm::cast<llvm::GetElementPtrInst>(instruction);
      llvm::SmallVector<Value*, 4> indices;
      for (Value* index : address.indices()) {
        indices.push_back(llvm::isa<llvm::Constant>(index) ? index : vector(index, chunk));
      }
      const bool uniform_base = get(address.getPointerOperand()).shape.is_uniform();
      Value* base =
          uniform_base ? first_lane(address.getPointerOperand(), chunk) : vector(address.getPointerOperand(), chunk);
      Value* made = b.CreateGEP(address.getSourceElementType(), base, indices);
      return made->getType()->isVectorTy() ? made : splat(made);
    }
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
      return emit_element(instruction, chunk);
    default:
      return nullptr;
  }
}

/// Elements of small vectors, which packed halves are: the vectors of all lanes stand one after the other.
Value* VectorEmitter::emit_element(Instruction& instruction, unsigned chunk) {
  const bool extracts = llvm::isa<llvm::ExtractElementInst>(instruction);
  const auto* index = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(extracts ? 1 : 2));
  if (index == nullptr) return nullptr;
  const auto at = static_cast<int>(index->getZExtValue());
  const auto count =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(instruction.getOperand(0)->getType())->getNumElements());
  const int lanes = static_cast<int>(width_.lanes);
  llvm::SmallVector<int, 64> picks;
  if (extracts) {
    for (int lane = 0; lane < lanes; ++lane) picks.push_back(lane * count + at);
    return b.CreateShuffleVector(vector(instruction.getOperand(0), chunk), picks);
  }
  llvm::SmallVector<int, 64> spread;
  for (int n = 0; n < lanes * count; ++n) spread.push_back(n % count == at ? n / count : -1);
  for (int n = 0; n < lanes * count; ++n) picks.push_back(n % count == at ? lanes * count + n : n);
  Value* elements = b.CreateShuffleVector(vector(instruction.getOperand(1), chunk), spread);
  return b.CreateShuffleVector(vector(instruction.getOperand(0), chunk), elements, picks);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

void VectorEmitter::emit_call(llvm::CallInst& call) {
  llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) return refuse("a call through a pointer");
  if (is_meeting(call)) return emit_meeting(call);
  if (is_mark(call, lanes_mark)) return emit_lane_check(call);
  const llvm::StringRef name = callee->getName();
  if (callee->isIntrinsic()) {
    if (call.isLifetimeStartOrEnd() || callee->getIntrinsicID() == llvm::Intrinsic::assume) return;
    const bool reads_clock = callee->getIntrinsicID() == llvm::Intrinsic::readcyclecounter;
    if (!reads_clock && call.mayReadOrWriteMemory()) return refuse("the intrinsic " + name.str());
  }
  if (name == "cucpu_lap") {
    flush_checks();
    can_restart_ = false;
    b.CreateCall(callee, {group_->getArg(0)});
    return;
  }
  if (call.arg_size() > 0 && call.getArgOperand(0) == scalar_.getArg(0)) {
    if (name != "cucpu_vprintf" && name != "cucpu_assertfail" && name != "cucpu_trap")
      return refuse("a call of " + name.str());
    return emit_lane_service(call);
  }
  const Shape shape = shapes().of(&call);
  const bool has_effect = name == "cucpu_malloc" || name == "cucpu_free" || name == "cucpu_copy_and_fill";
  if (!callee->isIntrinsic() && !name.starts_with("cucpu_")) return refuse("a call of " + name.str());
  if (has_effect) {
    flush_checks();
    can_restart_ = false;
  } else if (!shape.is_varying()) {
    return emit_once(call, parts_of(shape));
  }
  if (!callee->isIntrinsic()) return emit_built_in(call);
  Wide result{Shape::varying(), {}};
  for (unsigned k = 0; k < width_.chunks; ++k) {
    Value* part = emit_vector_call(call, k);
    if (part == nullptr) return emit_built_in(call);
    result.parts.push_back(part);
  }
  put(&call, std::move(result));
}

Value* VectorEmitter::emit_vector_call(llvm::CallInst& call, unsigned chunk) {
  const llvm::Intrinsic::ID id = call.getCalledFunction()->getIntrinsicID();
  if (id == llvm::Intrinsic::x86_avx512_vfmadd_f32 || id == llvm::Intrinsic::x86_avx512_vfmadd_f64)
    return directed_fma(call, chunk);
  if (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat) return saturating_conversion(call, chunk);
  if (id == llvm::Intrinsic::x86_vcvtps2ph_128) {
    if (width_.lanes != 16 || !has_avx512_) return nullptr;
    // Only the first of the four elements counts: see how halves are narrowed.
    llvm::SmallVector<int, 16> firsts;
    for (int lane = 0; lane < 16; ++lane) firsts.push_back(4 * lane);
    Value* halves = b.CreateIntrinsic(
        llvm::Intrinsic::x86_avx512_mask_vcvtps2ph_512, {},
        {b.CreateShuffleVector(vector(call.getArgOperand(0), chunk), firsts), call.getArgOperand(1),
         llvm::Constant::getNullValue(llvm::FixedVectorType::get(b.getInt16Ty(), 16)), b.getInt16(0xffff)});
    llvm::SmallVector<int, 128> spread;
    for (int n = 0; n < 128; ++n) spread.push_back(n % 8 == 0 ? n / 8 : -1);
    return b.CreateShuffleVector(halves, spread);
  }
  if (!llvm::isTriviallyVectorizable(id) || call.getType()->isStructTy()) return nullptr;
  llvm::SmallVector<Value*, 4> arguments;
  llvm::SmallVector<llvm::Type*, 2> types;
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) types.push_back(widened(call.getType()));
  for (unsigned n = 0; n < call.arg_size(); ++n) {
    const bool stays_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, n);
    arguments.push_back(stays_scalar ? call.getArgOperand(n) : vector(call.getArgOperand(n), chunk));
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(n)))
      types.push_back(arguments.back()->getType());
  }
  return b.CreateIntrinsic(id, types, arguments);
}

/// The fma that rounds as the instruction says, sixteen floats or eight doubles at a time.
Value* VectorEmitter::directed_fma(llvm::CallInst& call, unsigned chunk) {
  const bool is_single = call.getType()->isFloatTy();
  const unsigned at_once = is_single ? 16 : 8;
  if (width_.lanes % at_once != 0) return nullptr;
  const auto id = is_single ? llvm::Intrinsic::x86_avx512_vfmadd_ps_512 : llvm::Intrinsic::x86_avx512_vfmadd_pd_512;
  llvm::SmallVector<Value*, 2> results;
  for (unsigned start = 0; start < width_.lanes; start += at_once) {
    llvm::SmallVector<int, 16> picks;
    for (unsigned n = 0; n < at_once; ++n) picks.push_back(static_cast<int>(start + n));
    llvm::SmallVector<Value*, 4> arguments;
    for (unsigned n = 0; n < 3; ++n) {
      Value* argument = vector(call.getArgOperand(n), chunk);
      arguments.push_back(at_once == width_.lanes ? argument : b.CreateShuffleVector(argument, picks));
    }
    arguments.push_back(call.getArgOperand(3));
    results.push_back(b.CreateIntrinsic(id, {}, arguments));
  }
  if (results.size() == 1) return results[0];
  llvm::SmallVector<int, 16> all;
  for (unsigned n = 0; n < width_.lanes; ++n) all.push_back(static_cast<int>(n));
  return b.CreateShuffleVector(results[0], results[1], all);
}

/// To integers, the nearest one beyond their range and zero for NaN: the intrinsic, which LLVM takes apart lane by
/// lane.
Value* VectorEmitter::saturating_conversion(llvm::CallInst& call, unsigned chunk) {
  llvm::Type* from = call.getArgOperand(0)->getType();
  if (!from->isFloatTy() && !from->isDoubleTy()) return nullptr;  // which can hold all limits
  const bool is_signed = call.getIntrinsicID() == llvm::Intrinsic::fptosi_sat;
  const unsigned bits = call.getType()->getIntegerBitWidth();
  llvm::Type* to = widened(call.getType());
  Value* value = vector(call.getArgOperand(0), chunk);
  auto limit = [&](double number) { return llvm::ConstantFP::get(widened(from), number); };
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

/// Anything that has no form for vectors: lane by lane.
void VectorEmitter::emit_built_in(Instruction& instruction) {
  auto& call = llvm::cast<llvm::CallInst>(instruction);
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
    return refuse("a call with vectors: " + call.getCalledFunction()->getName().str());
  std::vector<Wide> wides = for_each_lane(inputs, results, [&](Value*, llvm::ArrayRef<Value*> arguments) -> Parts {
    Instruction* copy = copy_of(call);
    for (unsigned n = 0; n < arguments.size(); ++n) copy->setOperand(n, arguments[n]);
    Value* made = b.Insert(copy);
    if (results.empty()) return {};
    if (results.size() == 1) return {made};
    return {b.CreateExtractValue(made, 0), b.CreateExtractValue(made, 1)};
  });
  if (results.empty()) return;
  Wide whole = wides[0];
  if (wides.size() == 2) whole.parts.append(wides[1].parts.begin(), wides[1].parts.end());
  put(&call, std::move(whole));
}

}  // namespace cucore::cpu::codegen
