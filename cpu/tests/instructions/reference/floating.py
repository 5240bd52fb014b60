"""Floating-point arithmetic that is exact or correctly rounded, for f16, bf16, f32, f64 and packed halves."""

from reference import ieee
from reference.ieee import FORMATS
from reference.kernel import Case
from reference.values import lane_type, operand_rows

SM_90 = {"version": "7.8", "target": "sm_90"}
ROUNDINGS = ("rn", "rz", "rm", "rp")


def modifiers(spelling):
    return spelling.split(".")[1:]


def arithmetic(exact):
    """A model on bits from an operation on exact Reals; rounding, ftz and sat come from the spelling."""

    def build(spelling, fmt):
        mods = modifiers(spelling)
        rounding = next((m for m in mods if m in ROUNDINGS), "rn")
        ftz, sat, relu = "ftz" in mods, "sat" in mods, "relu" in mods

        def model(*bits):
            result = exact(*(fmt.decode(b, ftz) for b in bits), rounding)
            if relu and result is not None and result.negative:
                return 0
            return fmt.round_real(result, rounding, ftz, sat)

        return model

    return build


ADD = arithmetic(ieee.add)
SUB = arithmetic(lambda x, y, r: ieee.add(x, ieee.negate(y), r))
MUL = arithmetic(lambda x, y, r: ieee.multiply(x, y))
FMA = arithmetic(lambda x, y, z, r: ieee.add(ieee.multiply(x, y), z, r))
DIV = arithmetic(lambda x, y, r: ieee.divide(x, y))
RCP = arithmetic(lambda x, r: ieee.divide(ieee.Real(False, ieee.power_of_two(0)), x))
SQRT = arithmetic(lambda x, r: ieee.square_root(x))
NEG = arithmetic(lambda x, r: ieee.negate(x))
ABS = arithmetic(lambda x, r: None if x is None else ieee.Real(False, x.magnitude))


def extreme(larger):
    """min and max: NaN gives way unless .NaN is spelt; .xorsign.abs compares magnitudes and gives the product's sign."""

    def build(spelling, fmt):
        mods = modifiers(spelling)
        ftz = "ftz" in mods

        def model(*bits):
            signs = (bits[0] ^ bits[1]) & fmt.sign if "xorsign" in mods else 0
            if "abs" in mods:
                bits = tuple(b & ~fmt.sign for b in bits)
            reals = [fmt.decode(b, ftz) for b in bits]
            if "NaN" in mods and any(r is None for r in reals):
                return fmt.nan
            picked = reals[0]
            for real in reals[1:]:
                picked = ieee.smaller(picked, real, larger)
            return fmt.round_real(picked, ftz=ftz) | (signs if picked is not None else 0)

        return model

    return build


MIN, MAX = extreme(False), extreme(True)


def packed(model):
    return lambda *bits: model(*(b & 0xFFFF for b in bits)) | model(*(b >> 16 for b in bits)) << 16


def case(spelling, says, operands, build, **more):
    """`operands` same-typed operands; the type is the spelling's last modifier that names a format."""
    type_name = next(m for m in reversed(modifiers(spelling)) if m in FORMATS or lane_type(m) in FORMATS)
    lane = lane_type(type_name)
    model = build(spelling, FORMATS[lane or type_name])
    names = "abc"[:operands]
    columns = " ".join(f"{n}:{type_name}" for n in names)
    body = f"{spelling} %d, {', '.join('%' + n for n in names)};"
    rows = operand_rows(spelling, [type_name] * operands, special=telling_rows(operands, type_name))
    return Case(spelling, says, columns, f"d:{type_name}", body, rows, packed(model) if lane else model, **more)


def telling_rows(operands, type_name):
    """Ties, double-rounding traps, results at the subnormal edge, and fma's single rounding."""
    fmt = FORMATS.get(type_name)
    if fmt is None:
        return []
    one, ulp, tiny = fmt.one, fmt.one + 1, fmt.smallest_normal
    half_ulp = one - ((fmt.mantissa + 1) << fmt.mantissa)
    if operands == 1:
        return [(one,), (ulp,), (tiny,), (tiny - 1,)]
    pairs = [
        (one, half_ulp),
        (ulp, half_ulp),
        (one, half_ulp + 1),
        (one, half_ulp | fmt.sign),
        (tiny, 1 | fmt.sign),
        (tiny, one - (1 << fmt.mantissa)),
        (tiny, one - 1),
        (tiny + 1, one - 2),
        (tiny - 1, ulp),
        (ulp, ulp),
        (fmt.largest, ulp),
        (fmt.largest, fmt.largest),
        (one, 3 << (fmt.mantissa - 1) | one),
    ]
    if operands == 2:
        return pairs
    return [
        (ulp, ulp, fmt.sign | (ulp + 1)),
        (ulp, one - 1, fmt.sign | one),
        (one, one, half_ulp),
        (fmt.largest, fmt.one + (1 << fmt.mantissa), fmt.sign | fmt.largest),
        (tiny, tiny, 0),
        (tiny, one - 1, 1),
        (tiny, one - 1, 0),
        (tiny + 1, one - 2, 0),
        (fmt.infinity, 0, one),
        (fmt.infinity, one, fmt.sign | fmt.infinity),
    ]


def cases():
    yield from binary_cases()
    yield from division_cases()
    yield from sign_cases()
    yield from half_cases()
    yield from test_property_cases()


def binary_cases():
    for t in ("f32", "f64"):
        for rounding in ("", "rn.", "rz.", "rm.", "rp."):
            said = {"": "nearest", "rn.": "nearest", "rz.": "towards zero", "rm.": "down", "rp.": "up"}[rounding]
            yield case(f"add.{rounding}{t}", f"d = a + b, rounded {said}", 2, ADD)
            yield case(f"sub.{rounding}{t}", f"d = a - b, rounded {said}", 2, SUB)
            yield case(f"mul.{rounding}{t}", f"d = a * b, rounded {said}", 2, MUL)
            if rounding:
                yield case(f"fma.{rounding}{t}", f"d = a * b + c, rounded once, {said}", 3, FMA)
                yield case(f"mad.{rounding}{t}", f"d = a * b + c, rounded once, {said}", 3, FMA)
    for more, said in (("ftz", "subnormals flushed"), ("sat", "clamped to [0, 1]"), ("ftz.sat", "flushed and clamped")):
        yield case(f"add.{more}.f32", f"d = a + b, {said}", 2, ADD)
        yield case(f"sub.{more}.f32", f"d = a - b, {said}", 2, SUB)
        yield case(f"mul.{more}.f32", f"d = a * b, {said}", 2, MUL)
        yield case(f"fma.rn.{more}.f32", f"d = a * b + c, {said}", 3, FMA)
    for t in ("f32", "f64"):
        yield case(f"min.{t}", "d = the smaller; a NaN gives way; -0 < +0", 2, MIN)
        yield case(f"max.{t}", "d = the larger; a NaN gives way; -0 < +0", 2, MAX)
    for name, build in (("min", MIN), ("max", MAX)):
        yield case(f"{name}.ftz.f32", f"d = {name}(a, b), subnormals flushed", 2, build)
        yield case(f"{name}.NaN.f32", f"d = {name}(a, b), NaN if either is", 2, build)
        yield case(
            f"{name}.xorsign.abs.f32",
            f"d = {name}(|a|, |b|) with the product's sign",
            2,
            build,
            version="7.2",
            target="sm_86",
        )


def division_cases():
    for t in ("f32", "f64"):
        for rounding in ROUNDINGS:
            yield case(f"div.{rounding}.{t}", f"d = a / b, {rounding}", 2, DIV)
            yield case(f"rcp.{rounding}.{t}", f"d = 1 / a, {rounding}", 1, RCP)
            yield case(f"sqrt.{rounding}.{t}", f"d = the root of a, {rounding}", 1, SQRT)
    yield case("div.rn.ftz.f32", "d = a / b, subnormals flushed", 2, DIV)
    yield case("rcp.rn.ftz.f32", "d = 1 / a, subnormals flushed", 1, RCP)
    yield case("sqrt.rn.ftz.f32", "d = the root of a, subnormals flushed", 1, SQRT)


def copy_sign(spelling, fmt):
    return lambda a, b: b & ~fmt.sign | a & fmt.sign


def sign_cases():
    for t in ("f32", "f64"):
        yield case(f"neg.{t}", "d = -a", 1, NEG)
        yield case(f"abs.{t}", "d = |a|", 1, ABS)
        yield case(f"copysign.{t}", "d = b with the sign of a", 2, copy_sign)
    yield case("neg.ftz.f32", "d = -a, subnormals flushed", 1, NEG)
    yield case("abs.ftz.f32", "d = |a|, subnormals flushed", 1, ABS)


def half_cases():
    for t in ("f16", "f16x2", "bf16", "bf16x2"):
        new = SM_90 if t.startswith("bf16") else {}
        for rounding in ("", "rn."):
            yield case(f"add.{rounding}{t}", "d = a + b", 2, ADD, **new)
            yield case(f"sub.{rounding}{t}", "d = a - b", 2, SUB, **new)
            yield case(f"mul.{rounding}{t}", "d = a * b", 2, MUL, **new)
        yield case(f"fma.rn.{t}", "d = a * b + c, rounded once", 3, FMA)
        yield case(f"fma.rn.relu.{t}", "d = max(a * b + c, 0), rounded once", 3, FMA)
        yield case(f"neg.{t}", "d = -a", 1, NEG)
        yield case(f"abs.{t}", "d = |a|", 1, ABS)
        yield case(f"min.{t}", "d = the smaller; a NaN gives way", 2, MIN)
        yield case(f"max.{t}", "d = the larger; a NaN gives way", 2, MAX)
        yield case(f"max.NaN.{t}", "d = the larger; NaN if either is", 2, MAX)
    for t in ("f16", "f16x2"):
        yield case(f"add.sat.{t}", "d = a + b, clamped to [0, 1]", 2, ADD)
        yield case(f"add.ftz.{t}", "d = a + b, subnormals flushed", 2, ADD)
        yield case(f"mul.ftz.sat.{t}", "d = a * b, flushed and clamped", 2, MUL)
        yield case(f"fma.rn.sat.{t}", "d = a * b + c, clamped to [0, 1]", 3, FMA)


def test_property_cases():
    for t in ("f32", "f64"):
        fmt = FORMATS[t]

        def parts(a, fmt=fmt):
            magnitude = a & ~fmt.sign
            return {
                "finite": magnitude < fmt.infinity,
                "infinite": magnitude == fmt.infinity,
                "number": magnitude <= fmt.infinity,
                "notanumber": magnitude > fmt.infinity,
                "normal": magnitude == 0 or fmt.smallest_normal <= magnitude < fmt.infinity,
                "subnormal": 0 < magnitude < fmt.smallest_normal,
            }

        for what in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
            yield Case(
                f"testp.{what}.{t}",
                f"p = a is {what}",
                f"a:{t}",
                "p:pred",
                f"testp.{what}.{t} %p, %a;",
                operand_rows(f"testp.{t}", [t], 40),
                lambda a, what=what, parts=parts: int(parts(a)[what]),
            )
