// Reduction to a small range, then a polynomial of least relative error there: see approximations.hpp.
#include "cpu/compiler/emitters/approximations.hpp"

#include <initializer_list>

namespace cucore::cpu::compiler {

using llvm::Value;

namespace {

Value* number(FunctionEmitter& f, double value) { return llvm::ConstantFP::get(f.b.getFloatTy(), value); }
Value* fma(FunctionEmitter& f, Value* a, Value* b, Value* c) {
  return f.intrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}
Value* magnitude(FunctionEmitter& f, Value* a) { return f.intrinsic(llvm::Intrinsic::fabs, {a->getType()}, {a}); }
Value* bits_of(FunctionEmitter& f, Value* a) { return f.b.CreateBitCast(a, f.b.getInt32Ty()); }
Value* float_of(FunctionEmitter& f, Value* bits) { return f.b.CreateBitCast(bits, f.b.getFloatTy()); }

/// The highest power's coefficient first.
Value* polynomial(FunctionEmitter& f, Value* x, std::initializer_list<double> coefficients) {
  Value* sum = nullptr;
  for (const double coefficient : coefficients)
    sum = sum == nullptr ? number(f, coefficient) : fma(f, sum, x, number(f, coefficient));
  return sum;
}

/// The sine of an angle, `quarters` quarter turns further on.
Value* sine_further(FunctionEmitter& f, Value* angle, unsigned quarters) {
  // In doubles, of which two know pi / 2 to 2^-107. Where their distance is 1, a sum rounds to a whole number, which
  // then stands in its low bits.
  llvm::Type* const wide = f.b.getDoubleTy();
  auto constant = [&](double value) { return llvm::ConstantFP::get(wide, value); };
  Value* a = f.b.CreateFPExt(angle, wide);
  Value* unit_distance = constant(0x1.8p52);
  Value* sum = fma(f, a, constant(0x1.45f306dc9c883p-1), unit_distance);
  Value* whole = f.b.CreateFSub(sum, unit_distance);
  Value* rest = fma(f, whole, constant(-0x1.921fb54442d18p+0), a);
  rest = f.b.CreateFPTrunc(fma(f, whole, constant(-0x1.1a62633145c07p-54), rest), f.b.getFloatTy());
  rest = f.b.CreateSelect(f.b.CreateFCmpOGT(magnitude(f, rest), number(f, 0.8)), number(f, 0), rest);
  Value* quadrant = f.b.CreateTrunc(f.b.CreateBitCast(sum, f.b.getInt64Ty()), f.b.getInt32Ty());
  if (quarters != 0) quadrant = f.b.CreateAdd(quadrant, f.b.getInt32(quarters));

  // Zeros keep their sign, and tiny numbers their bits.
  Value* square = f.b.CreateFMul(rest, rest);
  Value* of_sine = polynomial(f, square, {-0x1.9956b2p-13, 0x1.11077ep-7, -0x1.555546p-3, 1});
  Value* sine_of_rest = f.b.CreateFMul(rest, of_sine);
  Value* cosine_of_rest = polynomial(f, square, {0x1.99e0e6p-16, -0x1.6c0c1ap-10, 0x1.55554ap-5, -0.5, 1});
  Value* is_odd = f.b.CreateIsNotNull(f.b.CreateAnd(quadrant, 1));
  Value* sign = f.b.CreateAnd(f.b.CreateShl(quadrant, 30), f.b.getInt32(0x80000000));
  Value* chosen = f.b.CreateSelect(is_odd, cosine_of_rest, sine_of_rest);
  return float_of(f, f.b.CreateXor(bits_of(f, chosen), sign));
}

}  // namespace

/// 2^fraction by a polynomial, scaled by 2^whole in two steps, so that a subnormal result is rounded once.
Value* power_of_two(FunctionEmitter& f, Value* a) {
  // Beyond these all results are zero or infinite; NaNs stay.
  Value* least = number(f, -151);
  Value* most = number(f, 129);
  a = f.b.CreateSelect(f.b.CreateFCmpOLT(a, least), least, a);
  a = f.b.CreateSelect(f.b.CreateFCmpOGT(a, most), most, a);
  // Where the distance of floats is 1, a sum rounds to a whole number, which then stands in its low bits.
  Value* unit_distance = number(f, 0x1.8p23);
  Value* sum = f.b.CreateFAdd(a, unit_distance);
  Value* whole = f.b.CreateSub(bits_of(f, sum), bits_of(f, unit_distance));
  Value* fraction = f.b.CreateFSub(a, f.b.CreateFSub(sum, unit_distance));
  Value* power = polynomial(
      f, fraction,
      {0x1.416b64p-13, 0x1.5f0830p-10, 0x1.3b2de0p-7, 0x1.c6af7cp-5, 0x1.ebfbdcp-3, 0x1.62e430p-1, 0x1.000000p+0});
  auto times_two_to = [&](Value* value, Value* exponent) {
    Value* bits = f.b.CreateShl(f.b.CreateAdd(exponent, f.b.getInt32(127)), 23);
    return f.b.CreateFMul(value, float_of(f, bits));
  };
  Value* half = f.b.CreateAShr(whole, 1);
  return times_two_to(times_two_to(power, half), f.b.CreateSub(whole, half));
}

/// Of a = m * 2^exponent with m between the roots of 1/2 and 2: exponent + (m - 1) times a polynomial of m - 1.
Value* base_two_logarithm(FunctionEmitter& f, Value* a) {
  constexpr std::uint32_t root_of_half = 0x3f3504f3;
  Value* is_tiny = f.b.CreateFCmpOLT(a, number(f, 0x1p-126));
  Value* bits = bits_of(f, f.b.CreateSelect(is_tiny, f.b.CreateFMul(a, number(f, 0x1p23)), a));
  Value* exponent = f.b.CreateAShr(f.b.CreateSub(bits, f.b.getInt32(root_of_half)), 23);
  Value* beyond_one = f.b.CreateFSub(float_of(f, f.b.CreateSub(bits, f.b.CreateShl(exponent, 23))), number(f, 1));
  exponent = f.b.CreateSub(exponent, f.b.CreateSelect(is_tiny, f.b.getInt32(23), f.b.getInt32(0)));
  Value* slope = polynomial(f, beyond_one,
                            {-0x1.4b553cp-4, 0x1.500eb8p-3, -0x1.8b9ccep-3, 0x1.ab8472p-3, -0x1.eb18cep-3,
                             0x1.273b10p-2, -0x1.7156c8p-2, 0x1.ec7202p-2, -0x1.715476p-1, 0x1.715476p+0});
  Value* result = fma(f, beyond_one, slope, f.b.CreateSIToFP(exponent, f.b.getFloatTy()));
  Value* const infinity = llvm::ConstantFP::getInfinity(f.b.getFloatTy());
  Value* const below = llvm::ConstantFP::getInfinity(f.b.getFloatTy(), /*Negative=*/true);
  Value* none = f.b.CreateSelect(f.b.CreateFCmpOEQ(a, number(f, 0)), below, llvm::ConstantFP::getNaN(a->getType()));
  result = f.b.CreateSelect(f.b.CreateFCmpOGT(a, number(f, 0)), result, none);
  return f.b.CreateSelect(f.b.CreateFCmpOEQ(a, infinity), infinity, result);
}

Value* sine(FunctionEmitter& f, Value* a) { return sine_further(f, a, 0); }
Value* cosine(FunctionEmitter& f, Value* a) { return sine_further(f, a, 1); }

/// By a polynomial where 1 - 2 / (e^2a + 1) would cancel.
Value* hyperbolic_tangent(FunctionEmitter& f, Value* a) {
  Value* square = f.b.CreateFMul(a, a);
  Value* near_zero = f.b.CreateFMul(
      a, polynomial(f, square, {-0x1.769df8p-8, 0x1.525328p-6, -0x1.b8439ap-5, 0x1.110762p-3, -0x1.555534p-2, 1}));
  Value* distance = magnitude(f, a);
  Value* power = power_of_two(f, f.b.CreateFMul(distance, number(f, 0x1.715476p+1)));
  Value* quotient = f.b.CreateFDiv(number(f, 2), f.b.CreateFAdd(power, number(f, 1)));
  Value* far = f.intrinsic(llvm::Intrinsic::copysign, {a->getType()}, {f.b.CreateFSub(number(f, 1), quotient), a});
  return f.b.CreateSelect(f.b.CreateFCmpOLT(distance, number(f, 0.625)), near_zero, far);
}

}  // namespace cucore::cpu::compiler
