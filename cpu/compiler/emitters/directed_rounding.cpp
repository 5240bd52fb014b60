// One way for each kind of operation, type and host: see directed_rounding.hpp.
#include "cpu/compiler/emitters/directed_rounding.hpp"

#include <llvm/IR/IntrinsicsX86.h>

#include <string>

namespace cucore::cpu::compiler {

using llvm::Value;
using ptx::Opcode;

namespace {

/// With the rounding in the instruction: compilers round this way inside expf.
Value* fma_by_instruction(FunctionEmitter& f, Value* a, Value* b, Value* c, Rounding rounding) {
  constexpr std::uint32_t no_exceptions = 8, down = 1, up = 2, zero = 3;
  const std::uint32_t mode = rounding == Rounding::Down ? down : rounding == Rounding::Up ? up : zero;
  const auto id =
      a->getType()->isFloatTy() ? llvm::Intrinsic::x86_avx512_vfmadd_f32 : llvm::Intrinsic::x86_avx512_vfmadd_f64;
  return f.intrinsic(id, {}, {a, b, c, f.b.getInt32(mode | no_exceptions)});
}

Value* widened(FunctionEmitter& f, Value* value) { return f.b.CreateFPExt(value, f.b.getDoubleTy()); }
Value* none(FunctionEmitter& f) { return llvm::ConstantFP::get(f.b.getDoubleTy(), 0.0); }

/// For floats: in doubles the product is exact, and so are its sum with c, as a pair of doubles, and the nearest
/// float's distance from that.
Value* fma_in_doubles(FunctionEmitter& f, Value* a, Value* b, Value* c, Rounding rounding) {
  Value* product = f.b.CreateFMul(widened(f, a), widened(f, b));
  Value* addend = widened(f, c);
  Value* sum = f.b.CreateFAdd(product, addend);
  Value* added = f.b.CreateFSub(sum, product);
  Value* lost = f.b.CreateFAdd(f.b.CreateFSub(product, f.b.CreateFSub(sum, added)), f.b.CreateFSub(addend, added));
  Value* nearest = f.intrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
  Value* away = f.b.CreateFAdd(f.b.CreateFSub(sum, widened(f, nearest)), lost);
  Value* result =
      step_from_nearest(f, nearest, f.b.CreateFCmpOGT(away, none(f)), f.b.CreateFCmpOLT(away, none(f)), rounding);
  if (rounding != Rounding::Down) return result;
  // The one rounding in which numbers that cancel make a negative zero.
  auto bits_of = [&](Value* value) { return f.b.CreateBitCast(value, f.b.getInt32Ty()); };
  Value* sign = f.b.CreateOr(f.b.CreateXor(bits_of(a), bits_of(b)), bits_of(c));
  Value* zero = f.b.CreateBitCast(f.b.CreateAnd(sign, f.b.getInt32(0x80000000)), f.b.getFloatTy());
  return f.b.CreateSelect(f.b.CreateFCmpOEQ(sum, none(f)), zero, result);
}

Value* fma_of(FunctionEmitter& f, Value* a, Value* b, Value* c, Rounding rounding) {
  return f.module.host.avx512f ? fma_by_instruction(f, a, b, c, rounding) : fma_in_doubles(f, a, b, c, rounding);
}

/// Of floats: a quotient is too small if its product with b, which doubles hold, is smaller than a.
Value* quotient_in_doubles(FunctionEmitter& f, Value* a, Value* b, Rounding rounding) {
  Value* nearest = f.b.CreateFDiv(a, b);
  Value* product = f.b.CreateFMul(widened(f, nearest), widened(f, b));
  Value* is_less = f.b.CreateFCmpOLT(product, widened(f, a));
  Value* is_more = f.b.CreateFCmpOGT(product, widened(f, a));
  Value* is_negative = f.b.CreateICmpSLT(f.b.CreateBitCast(b, f.b.getInt32Ty()), f.b.getInt32(0));
  return step_from_nearest(f, nearest, f.b.CreateSelect(is_negative, is_more, is_less),
                           f.b.CreateSelect(is_negative, is_less, is_more), rounding);
}

/// Of floats: likewise by its square.
Value* root_in_doubles(FunctionEmitter& f, Value* a, Rounding rounding) {
  Value* nearest = f.intrinsic(llvm::Intrinsic::sqrt, {a->getType()}, {a});
  Value* wide = widened(f, nearest);
  Value* square = f.b.CreateFMul(wide, wide);
  return step_from_nearest(f, nearest, f.b.CreateFCmpOLT(square, widened(f, a)),
                           f.b.CreateFCmpOGT(square, widened(f, a)), rounding);
}

/// Of doubles, on vectors only where the host rounds in instructions: a built-in switches the processor's mode around
/// the one operation.
Value* by_built_in(FunctionEmitter& f, Opcode opcode, std::vector<Value*> a, Rounding rounding) {
  std::string name(ptx::spelling(opcode == Opcode::Mad ? Opcode::Fma : opcode));
  if (opcode == Opcode::Rcp) {
    a.insert(a.begin(), llvm::ConstantFP::get(a[0]->getType(), 1.0));
    name = "div";
  }
  a.push_back(f.b.getInt32(static_cast<std::uint32_t>(rounding)));
  return f.call("cucpu_" + name + "_f64", a[0]->getType(), a);
}

}  // namespace

Value* step_from_nearest(FunctionEmitter& f, Value* nearest, Value* is_above, Value* is_below, Rounding rounding) {
  llvm::Type* const word = f.b.getInt32Ty();
  Value* bits = f.b.CreateBitCast(nearest, word);
  if (rounding == Rounding::Zero) {
    Value* is_negative = f.b.CreateICmpSLT(bits, f.b.getInt32(0));
    bits = f.b.CreateAdd(bits, f.b.CreateSExt(f.b.CreateSelect(is_negative, is_above, is_below), word));
  } else {
    const bool up = rounding == Rounding::Up;
    Value* upwards = f.b.CreateOr(f.b.CreateAShr(bits, 31), 1);
    Value* step = f.b.CreateSelect(up ? is_above : is_below, upwards, f.b.getInt32(0));
    bits = up ? f.b.CreateAdd(bits, step) : f.b.CreateSub(bits, step);
  }
  return f.b.CreateBitCast(bits, f.b.getFloatTy());
}

Value* directed_arithmetic(FunctionEmitter& f, Opcode opcode, const std::vector<Value*>& a, Rounding rounding) {
  llvm::Type* const type = a[0]->getType();
  const bool is_double = type->isDoubleTy();
  auto constant = [&](double number) { return llvm::ConstantFP::get(type, number); };
  const bool divides = opcode == Opcode::Div || opcode == Opcode::Rcp || opcode == Opcode::Sqrt;
  if (is_double && (divides || !f.module.host.avx512f)) return by_built_in(f, opcode, a, rounding);
  switch (opcode) {
    case Opcode::Add:
      return fma_of(f, a[0], constant(1), a[1], rounding);
    case Opcode::Sub:
      return fma_of(f, a[1], constant(-1), a[0], rounding);
    case Opcode::Mul:  // with the zero that changes no other
      return fma_of(f, a[0], a[1], constant(rounding == Rounding::Down ? 0.0 : -0.0), rounding);
    case Opcode::Div:
      return quotient_in_doubles(f, a[0], a[1], rounding);
    case Opcode::Rcp:
      return quotient_in_doubles(f, constant(1), a[0], rounding);
    case Opcode::Sqrt:
      return root_in_doubles(f, a[0], rounding);
    default:
      return fma_of(f, a[0], a[1], a[2], rounding);
  }
}

}  // namespace cucore::cpu::compiler
