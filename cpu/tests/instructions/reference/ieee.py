"""Exact binary floating-point arithmetic on bit patterns, for every PTX format and rounding mode.

A value is decoded into an exact rational, the operation is done without error, and the result is rounded once. Nothing here
uses the host's own floating point, so the host's rounding, flushing and contraction cannot leak into the expected values.
"""

from fractions import Fraction
from math import isqrt

INFINITY = float("inf")


class Real:
    """A decoded number that is not a NaN: a sign and a magnitude (a Fraction, or INFINITY)."""

    def __init__(self, negative, magnitude):
        self.negative = bool(negative)
        self.magnitude = magnitude

    @property
    def infinite(self):
        return self.magnitude is INFINITY

    @property
    def zero(self):
        return self.magnitude == 0

    @property
    def value(self):
        """The signed rational; only for finite numbers."""
        return -self.magnitude if self.negative else self.magnitude


class Format:
    """An IEEE-like binary format: `width` bits, of which `exponent` bits of exponent and `mantissa` bits of fraction."""

    def __init__(self, name, width, exponent, mantissa, nan):
        self.name = name
        self.width = width
        self.mantissa = mantissa
        self.bias = (1 << (exponent - 1)) - 1
        self.exponent_mask = (1 << exponent) - 1
        self.sign = 1 << (width - 1)
        self.infinity = self.exponent_mask << mantissa
        self.largest = self.infinity - 1
        self.smallest_normal = 1 << mantissa
        self.one = self.bias << mantissa
        self.nan = nan
        self.lowest_exponent = 1 - self.bias - mantissa

    def decode(self, bits, ftz=False):
        """The Real that `bits` stand for, or None for a NaN."""
        negative = bits & self.sign
        exponent = (bits >> self.mantissa) & self.exponent_mask
        fraction = bits & ((1 << self.mantissa) - 1)
        if exponent == self.exponent_mask:
            return None if fraction else Real(negative, INFINITY)
        if exponent == 0:
            return Real(negative, Fraction(0) if ftz else power_of_two(self.lowest_exponent) * fraction)
        return Real(negative, power_of_two(exponent - 1 + self.lowest_exponent) * (fraction | (1 << self.mantissa)))

    def encode(self, negative, magnitude, rounding="rn", ftz=False, sat=False):
        """Rounds a sign and an exact magnitude to bits. `sat` clamps to [+0, 1]. `ftz` flushes what rounds below the normal
        numbers as if the exponent had no lower end: the subnormal rounding that could lift it to a normal never happens."""
        if sat and (negative or magnitude == 0):
            return 0
        if sat and (magnitude is INFINITY or magnitude >= 1):
            return self.one
        sign = self.sign if negative else 0
        if magnitude is INFINITY:
            return sign | self.infinity
        if magnitude == 0:
            return sign
        unbounded = floor_log2(magnitude) - self.mantissa
        quantum = unbounded if ftz else max(unbounded, self.lowest_exponent)
        scaled = magnitude / power_of_two(quantum)
        steps = round_magnitude(scaled, rounding, negative)
        # Adding the steps to the exponent field lets a carry out of the fraction raise the exponent by itself.
        bits = ((quantum - self.lowest_exponent) << self.mantissa) + steps
        if bits >= self.infinity:
            away = rounding == "rn" or (rounding == "rp" and not negative) or (rounding == "rm" and negative)
            bits = self.infinity if away else self.largest
        if ftz and bits < self.smallest_normal:
            bits = 0
        return sign | bits

    def round_real(self, real, rounding="rn", ftz=False, sat=False):
        if real is None:
            return 0 if sat else self.nan
        return self.encode(real.negative, real.magnitude, rounding, ftz, sat)

    def is_nan(self, bits):
        return (bits & ~self.sign) > self.infinity


F16 = Format("f16", 16, 5, 10, 0x7FFF)
BF16 = Format("bf16", 16, 8, 7, 0x7FFF)
F32 = Format("f32", 32, 8, 23, 0x7FFFFFFF)
F64 = Format("f64", 64, 11, 52, 0x7FF8000000000000)
FORMATS = {f.name: f for f in (F16, BF16, F32, F64)}


def power_of_two(exponent):
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(magnitude):
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if power_of_two(guess) <= magnitude else guess - 1


def round_magnitude(scaled, rounding, negative):
    """The integer that an exact magnitude rounds to; `rounding` is rn, rz, rm or rp of the signed value."""
    whole = scaled.numerator // scaled.denominator
    rest = scaled - whole
    if rest == 0:
        return whole
    if rounding == "rn":
        return whole + (1 if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1) else 0)
    if rounding == "rna":
        return whole + (1 if rest >= Fraction(1, 2) else 0)
    if rounding == "rz":
        return whole
    return whole + (1 if (rounding == "rm") == negative else 0)


def signed(value, zero_negative):
    """A Real from a signed rational; the sign of an exact zero is the caller's."""
    return Real(zero_negative if value == 0 else value < 0, abs(value))


def add(x, y, rounding="rn"):
    if x is None or y is None:
        return None
    if x.infinite or y.infinite:
        if x.infinite and y.infinite and x.negative != y.negative:
            return None
        return x if x.infinite else y
    both_negative_zero = x.zero and y.zero and x.negative and y.negative
    cancels_down = rounding == "rm" and not (x.zero and y.zero and not x.negative and not y.negative)
    return signed(x.value + y.value, both_negative_zero or cancels_down)


def negate(x):
    return None if x is None else Real(not x.negative, x.magnitude)


def multiply(x, y):
    if x is None or y is None:
        return None
    if x.infinite or y.infinite:
        return None if x.zero or y.zero else Real(x.negative != y.negative, INFINITY)
    return Real(x.negative != y.negative, x.magnitude * y.magnitude)


def divide(x, y):
    if x is None or y is None or (x.infinite and y.infinite) or (x.zero and y.zero):
        return None
    negative = x.negative != y.negative
    if x.infinite or y.zero:
        return Real(negative, INFINITY)
    return Real(negative, Fraction(0) if y.infinite else x.magnitude / y.magnitude)


def square_root(x, bits=200):
    """The root truncated to at least `bits` significant bits, with a sticky half step where it is inexact."""
    if x is None or (x.negative and not x.zero):
        return None
    if x.infinite or x.zero:
        return x
    shift = bits - floor_log2(x.magnitude) // 2
    scaled = x.magnitude * power_of_two(2 * shift)
    root = isqrt(scaled.numerator // scaled.denominator)
    sticky = Fraction(0) if root * root == scaled else Fraction(1, 2)
    return Real(False, (root + sticky) / power_of_two(shift))


def to_integral(x, rounding):
    """Rounds to an integer in floating point: the sign of zero is the operand's."""
    if x is None or x.infinite:
        return x
    return Real(x.negative, Fraction(round_magnitude(x.magnitude, rounding, x.negative)))


def smaller(x, y, want_larger=False):
    """minNum or maxNum: a NaN gives way to the other operand, and -0 is below +0."""
    if x is None or y is None:
        return y if x is None else x
    x_below = below(x, y) or (x.zero and y.zero and x.negative and not y.negative)
    return x if x_below != want_larger else y


def below(x, y):
    """x < y for two numbers."""
    return order(x) < order(y)


def order(x):
    if x.infinite:
        return (-1, 0) if x.negative else (1, 0)
    return (0, x.value)
