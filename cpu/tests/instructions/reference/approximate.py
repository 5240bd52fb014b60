"""Approximate instructions: the expected value is the true one rounded, the tolerance is NVIDIA's documented bound.

The true values come from `decimal` with 60 digits, far beyond any format here.
"""

import random
from decimal import Decimal, localcontext
from fractions import Fraction

from reference import ieee
from reference.ieee import BF16, F16, F32, F64, FORMATS
from reference.kernel import Case
from reference.values import lane_type, number, operand_rows

DIGITS = 60
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")


def to_decimal(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def real_of(decimal, negative_zero=False):
    fraction = Fraction(decimal)
    return ieee.signed(fraction, negative_zero)


def precise(function):
    """Wraps a function of Decimal so that it runs with enough digits and yields an exact Real."""

    def run(x):
        with localcontext() as context:
            context.prec = DIGITS
            return real_of(function(to_decimal(x.value)))

    return run


exp2 = precise(lambda x: (x * Decimal(2).ln()).exp())
log2 = precise(lambda x: x.ln() / Decimal(2).ln())


@precise
def sine(x):
    return taylor(x % (2 * PI), first=1)


@precise
def cosine(x):
    return taylor(x % (2 * PI), first=0)


@precise
def hyperbolic_tangent(x):
    if abs(x) > 100:
        return Decimal(1).copy_sign(x)
    if abs(x) < Decimal("1e-15"):
        return x
    e = (2 * x).exp()
    return (e - 1) / (e + 1)


def taylor(x, first):
    term = x if first else Decimal(1)
    total, n = term, first
    while abs(term) > Decimal(10) ** -DIGITS:
        term = -term * x * x / ((n + 1) * (n + 2))
        total += term
        n += 2
    return total


ONE = ieee.Real(False, Fraction(1))


def ex2(x):
    if x is None:
        return None
    if x.infinite:
        return ieee.Real(False, Fraction(0)) if x.negative else x
    if x.magnitude > 20000:
        return ieee.Real(False, Fraction(0) if x.negative else ieee.INFINITY)
    if x.magnitude < ieee.power_of_two(-60):
        return ONE
    return exp2(x)


def lg2(x):
    if x is None or (x.negative and not x.zero):
        return None
    if x.zero:
        return ieee.Real(True, ieee.INFINITY)
    return x if x.infinite else log2(x)


def sin(x):
    if x is None or x.infinite:
        return None
    return x if x.magnitude < ieee.power_of_two(-30) else sine(x)


def cos(x):
    if x is None or x.infinite:
        return None
    return ONE if x.magnitude < ieee.power_of_two(-30) else cosine(x)


def tanh(x):
    if x is None or x.zero:
        return x
    return ieee.Real(x.negative, Fraction(1)) if x.infinite else hyperbolic_tangent(x)


def rcp(x):
    return ieee.divide(ONE, x)


def rsqrt(x):
    if x is not None and x.zero:
        return ieee.Real(x.negative, ieee.INFINITY)
    return rcp(ieee.square_root(x))


def unary(spelling, says, exact, tolerance, rows=None, notes=None, **more):
    type_name = spelling.split(".")[-1]
    fmt = FORMATS[lane_type(type_name) or type_name]
    ftz = ".ftz" in spelling

    def model(bits):
        return fmt.round_real(exact(fmt.decode(bits, ftz)), ftz=ftz)

    both = lambda bits: model(bits & 0xFFFF) | model(bits >> 16) << 16  # noqa: E731
    return Case(
        spelling,
        says,
        f"a:{type_name}",
        f"d:{type_name}",
        f"{spelling} %d, %a;",
        rows or operand_rows(spelling, [type_name], 64),
        both if lane_type(type_name) else model,
        tolerance=tolerance,
        notes=notes,
        **more,
    )


def spread(seed, fmt, low, high, count=40):
    """Evenly random values in a range, both signs where the range has them."""
    rng = random.Random(seed)
    return [(number(fmt, Fraction(rng.randint(0, 1 << 30), 1 << 30) * (high - low) + low),) for _ in range(count)]


def cases():
    yield from exponential_cases()
    yield from circular_cases()
    yield from root_cases()
    yield from division_cases()


def exponential_cases():
    edges = [(b,) for b in (0, F32.sign, F32.infinity, F32.infinity | F32.sign, F32.nan, 1, F32.sign | 1, F32.largest)]
    whole = [
        (number(F32, n),)
        for n in (1, -1, 2, 3, 10, -10, 127, 128, -126, -127, -140, -149, -151, 0.5, -0.5, 1e-8, -1e-8)
    ]
    for ftz, said in (("", ""), ("ftz.", ", subnormals flushed")):
        yield unary(
            f"ex2.approx.{ftz}f32",
            f"d = 2 ^ a{said}",
            ex2,
            "ulp 2",
            edges + whole + spread("ex2", F32, -30, 30) + spread("ex2 wide", F32, -148, 128, 20),
        )
        near_one = [(number(F32, Fraction(n, 16)),) for n in range(8, 33)]
        yield unary(
            f"lg2.approx.{ftz}f32",
            f"d = log2 a{said}",
            lg2,
            "rel 2^-22",
            edges + near_one + operand_rows("lg2", ["f32"], 40) + spread("lg2", F32, Fraction(1, 2), 2, 20),
            notes=near_one_tolerance,
        )
    yield unary("ex2.approx.f16", "d = 2 ^ a", ex2, "rel 2^-9.9")
    yield unary("ex2.approx.f16x2", "both halves: d = 2 ^ a", ex2, "rel 2^-9.9")
    yield unary("ex2.approx.ftz.bf16", "d = 2 ^ a", ex2, "rel 2^-7", version="7.8", target="sm_90")


def near_one_tolerance(bits):
    x = F32.decode(bits)
    return "~abs 2^-22" if x is not None and not x.negative and Fraction(1, 2) < x.magnitude < 2 else ""


def circular_cases():
    edges = [
        (b,)
        for b in (0, F32.sign, F32.infinity, F32.infinity | F32.sign, F32.nan, 1, F32.sign | 1, F32.smallest_normal)
    ]
    turns = [(number(F32, Fraction(to_fraction_of_pi(n, 12))),) for n in range(-24, 25)]
    far = spread("far", F32, -314, 314, 24)
    for ftz in ("", "ftz."):
        for name, exact in (("sin", sin), ("cos", cos)):
            yield unary(
                f"{name}.approx.{ftz}f32",
                f"d = {name} a",
                exact,
                "abs 2^-20.5",
                edges + turns + spread(name, F32, -6, 6, 32) + far,
                notes=far_tolerance,
            )
    small = spread("tanh", F32, -4, 4, 40) + [(number(F32, n),) for n in (1e-5, 1e-3, -1e-3, 9, -9, 30, 0.25, 1)]
    yield unary("tanh.approx.f32", "d = tanh a", tanh, "rel 2^-10.987", edges[:5] + small)
    yield unary("tanh.approx.f16", "d = tanh a", tanh, "rel 2^-9.9")
    yield unary("tanh.approx.f16x2", "both halves: d = tanh a", tanh, "rel 2^-9.9")
    yield unary("tanh.approx.bf16", "d = tanh a", tanh, "rel 2^-7", version="7.8", target="sm_90")


def to_fraction_of_pi(n, parts):
    return Fraction(PI) * n / parts


def far_tolerance(bits):
    x = F32.decode(bits)
    beyond = x is not None and not x.infinite and x.magnitude > to_fraction_of_pi(2, 1)
    return "~abs 2^-14.7; beyond 2 pi" if beyond else ""


def root_cases():
    for ftz in ("", "ftz."):
        yield unary(f"rcp.approx.{ftz}f32", "d = 1 / a", rcp, "ulp 1", notes=small_result)
        yield unary(f"sqrt.approx.{ftz}f32", "d = the root of a", ieee.square_root, "rel 2^-23")
        yield unary(f"rsqrt.approx.{ftz}f32", "d = 1 / the root of a", rsqrt, "rel 2^-22.9")
    yield unary("rcp.approx.ftz.f64", "d = 1 / a, in the upper 32 bits alone", lambda x: rcp(x), "rel 2^-20")
    yield unary("rsqrt.approx.f64", "d = 1 / the root of a, roughly", rsqrt, "rel 2^-20")
    yield unary("rsqrt.approx.ftz.f64", "d = 1 / the root of a, in the upper 32 bits alone", rsqrt, "rel 2^-20")


def small_result(bits):
    """A reciprocal that is subnormal has few bits, and one ulp of it is all that is promised."""
    x = F32.decode(bits)
    return (
        "" if x is None or x.infinite or x.zero or 1 / x.magnitude >= ieee.power_of_two(-126) else "~ulp 1; subnormal"
    )


def approximate_quotient(ftz):
    def model(a, b):
        x, y = F32.decode(a, ftz), F32.decode(b, ftz)
        if x is not None and y is not None and not y.infinite and y.magnitude > ieee.power_of_two(126):
            return F32.nan if x.infinite else F32.sign & (a ^ b)
        return F32.round_real(ieee.divide(x, y), ftz=ftz)

    return model


def huge_divisor(a, b):
    y = F32.decode(b)
    if y is None or y.infinite or y.zero:
        return ""
    if y.magnitude > ieee.power_of_two(126):
        return "divisor above 2^126: 0 or NaN is documented"
    return "~ulp 3; tiny divisor, no documented bound" if y.magnitude < ieee.power_of_two(-126) else ""


def division_cases():
    for ftz in ("", "ftz."):
        yield Case(
            f"div.approx.{ftz}f32",
            "d = a / b to 2 ulp; 0 for a huge b",
            "a:f32 b:f32",
            "d:f32",
            f"div.approx.{ftz}f32 %d, %a, %b;",
            operand_rows(f"div.approx.{ftz}", ["f32", "f32"]),
            approximate_quotient(bool(ftz)),
            tolerance="ulp 2",
            notes=huge_divisor,
        )
        yield Case(
            f"div.full.{ftz}f32",
            "d = a / b to 2 ulp over the whole range",
            "a:f32 b:f32",
            "d:f32",
            f"div.full.{ftz}f32 %d, %a, %b;",
            operand_rows(f"div.full.{ftz}", ["f32", "f32"]),
            lambda a, b, ftz=bool(ftz): F32.round_real(ieee.divide(F32.decode(a, ftz), F32.decode(b, ftz)), ftz=ftz),
            tolerance="ulp 2",
        )


__all__ = ["BF16", "F16", "F64", "cases"]
